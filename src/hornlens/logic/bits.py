"""Sets of variables as integers: bit i is variable i.

`BOTTOM`, the contradiction ⊥, is -1: the integer with every bit set, and more bits than any
vocabulary has variables. So it behaves as logic wants without special cases. Everything is a
subset of it (⊥ entails all), joining it with anything gives it back, and it is the neutral element
of intersection: the intersection of *no* positives is ⊥, which is how the paper defines the
consequent of a rule that no positive example covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

BOTTOM = -1
LONG, MANY = 512, 32
"""Of a mask that is longer, all variables after so many are found in one pass over its digits."""


def bits(mask: int) -> Iterator[int]:
    """Yield the indices of the variables in `mask`, smallest first. BOTTOM has no such list."""
    if mask < 0:
        raise ValueError("the variables of BOTTOM cannot be listed")
    few = MANY if mask.bit_length() > LONG else -1
    while mask:
        if few == 0:
            yield from _bits_of_text(f"{mask:b}"[::-1])
            return
        few -= 1
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _bits_of_text(digits: str) -> Iterator[int]:
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)


def mask_of(indices: Iterable[int]) -> int:
    """Return the set of the given variable indices."""
    mask = 0
    for index in indices:
        mask |= 1 << index
    return mask


def intersection(masks: Iterable[int]) -> int:
    """Return what all `masks` have in common; BOTTOM if there are none."""
    common = BOTTOM
    for mask in masks:
        common &= mask
    return common


def canonical(mask: int) -> tuple[int, tuple[int, ...]]:
    """Return the sort key used everywhere: smaller sets first, then vocabulary order."""
    if mask < 0 or mask.bit_length() > LONG:
        return mask.bit_count(), tuple(bits(mask))
    indices = []  # as `bits` does, without the cost of a generator: this sorts millions of rules
    rest = mask
    while rest:
        low = rest & -rest
        indices.append(low.bit_length() - 1)
        rest ^= low
    return len(indices), tuple(indices)
