"""Sets of positives: their closure under intersection, what generates it, and its DG basis.

A set of positives is what a Horn theory can express exactly if and only if it is closed under
intersection; the envelope of any other set is the theory of its closure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from hornlens.logic.basis import in_canonical_order
from hornlens.logic.batch import contains, pack
from hornlens.logic.bits import BOTTOM, intersection
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory, forward_chain


def closure_in(positives: Iterable[int], x: int) -> int:
    """Return the intersection of all `positives` above `x`; BOTTOM if there are none."""
    return intersection(positive for positive in positives if x & ~positive == 0)


def intersection_closure(positives: Iterable[int]) -> set[int]:
    """Return all intersections of one or more of the `positives`. May be exponentially many."""
    closed: set[int] = set()
    for positive in positives:
        closed |= {positive & other for other in closed}
        closed.add(positive)
    return closed


def characteristic(positives: Iterable[int]) -> tuple[int, ...]:
    """Return the positives that are not intersections of others, ascending.

    They have the same closure under intersection as all `positives`, and no fewer positives do.
    """
    distinct = sorted(set(positives))
    if not distinct:
        return ()
    rows = pack(distinct, max(distinct).bit_length())
    kept = []
    for i, positive in enumerate(distinct):
        above = contains(rows, rows[i])
        above[i] = False
        if not np.array_equal(np.bitwise_and.reduce(rows[above], axis=0), rows[i]):
            kept.append(positive)
    return tuple(kept)


def dg_basis_of_positives(
    positives: Iterable[int], width: int, background: Theory | None = None
) -> Theory:
    """Return the DG basis of a set of positives (all obeying `background`), relative to it.

    Ganter's NextClosure: walks through all closed sets, so the time grows with their number.
    """
    generators = characteristic(positives)
    return dg_basis_of_closure(lambda x: closure_in(generators, x), width, background)


def dg_basis_of_closure(
    closure: Callable[[int], int], width: int, background: Theory | None = None
) -> Theory:
    """Return the DG basis of a closure operator, given as a function on interpretations."""
    rules = list(background or ())
    first_found = len(rules)
    x = forward_chain(rules, 0)
    while x != BOTTOM:
        closed = closure(x)
        if closed != x:
            rules.append(Rule(x, closed))  # x obeys all rules so far, yet is not closed
        x = next_closed(rules, x, width)
    return in_canonical_order(Theory(width, tuple(rules[first_found:])))


def next_closed(rules: Sequence[Rule], x: int, width: int, exclusive: Sequence[int] = ()) -> int:
    """Return the first set after `x` in lectic order that obeys `rules`; BOTTOM at the end.

    Lectic order here has the highest variable count least: the first difference from below decides.
    Of each group in `exclusive` a set has one variable at most.
    """
    for index in reversed(range(width)):
        bit = 1 << index
        if x & bit:
            x &= ~bit
            continue
        candidate = forward_chain(rules, x | bit, exclusive)
        if candidate != BOTTOM and (candidate & ~x) & (bit - 1) == 0:
            return candidate
    return BOTTOM
