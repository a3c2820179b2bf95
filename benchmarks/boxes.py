"""Black boxes with known rules, over spaces that nobody can enumerate.

A box answers by planted rules, the first that applies, and elsewhere by a score. Everything follows
from a seed. Cells come as masks; `Reader` turns a batch of them into levels, an array with one
column for each attribute, by one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import Decision
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.targets.functions import row_of

Levels: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int64]
Range: TypeAlias = tuple[int, int]
"""The levels that a condition allows: the first and the last."""
TRIED = 20_000
"""In so many random cells of a rule its exceptions are counted."""
CLASH = 200
"""In so many random cells where two planted rules meet, the winner is looked for."""


class Planted(NamedTuple):
    """Where every attribute named here has a level in its range, the answer is the label."""

    where: Mapping[int, Range]
    label: int

    def applies(self, levels: Levels) -> NDArray[np.bool_]:
        """Return for each row whether it has all the conditions."""
        inside = np.ones(len(levels), dtype=np.bool_)
        for column, (low, high) in self.where.items():
            inside &= (levels[:, column] >= low) & (levels[:, column] <= high)
        return inside


class Reader:
    """Turns masks of cells into levels.

    In a complete space the levels of an attribute count from 0; in an ordinary one, level 0 is
    unset, and the values count from 1.

    >>> space = Space((Nominal("a", ("a0", "a1", "a2")), Nominal("b", ("b0", "b1"))))
    >>> Reader(space)([0b01_100, 0b10_000]).tolist()
    [[3, 1], [0, 2]]
    """

    def __init__(self, space: Space):
        """Write down the level that each variable stands for."""
        self._bytes = (space.width + 7) // 8
        weights = np.zeros((8 * self._bytes, len(space.attributes)), dtype=np.float32)
        for column, (attribute, at) in enumerate(
            zip(space.attributes, space.offsets, strict=False)
        ):
            if isinstance(attribute, Ordered):  # above so many cuts: the levels are in order
                weights[at : at + len(attribute.levels) - 1, column] = 1
            else:
                count, first = len(attribute.variables), int(not space.complete)
                weights[at : at + count, column] = np.arange(first, first + count)
        self._weights = weights

    def __call__(self, cells: Sequence[int]) -> Levels:
        """Return the levels of cells, a row each."""
        packed = b"".join([cell.to_bytes(self._bytes, "little") for cell in cells])
        rows = np.frombuffer(packed, dtype=np.uint8).reshape(len(cells), self._bytes)
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        return (bits.astype(np.float32) @ self._weights).astype(np.int64)


@dataclass(frozen=True)
class Box:
    """A target that answers by planted rules, and elsewhere by `otherwise`."""

    name: str
    space: Space
    planted: tuple[Planted, ...]
    otherwise: Callable[[Levels], Labels]

    # --- what it is as a target ---

    def identity(self) -> None:
        """Keep no answers."""

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Answer a batch of cells."""
        return [self._decisions[label] for label in self.answers(self._reader(cells)).tolist()]

    def show(self, cell: int) -> tuple[str, ...]:
        """Return a cell as a row."""
        return (row_of(self.space, cell),)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.space)

    @cached_property
    def _decisions(self) -> list[Decision]:
        return [Decision(label) for label in range(self.labels)]

    # --- what is known of it ---

    @property
    def labels(self) -> int:
        """How many labels it has."""
        assert self.space.label is not None
        return len(self.space.label.variables)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels of each attribute, unset among them in an ordinary space."""
        if self.space.complete:
            return tuple(len(attribute.leaves) for attribute in self.space.attributes)
        return tuple(attribute.count for attribute in self.space.attributes)

    def answers(self, levels: Levels) -> Labels:
        """Return the label of each row: by the first planted rule that applies, or otherwise."""
        labels = self.otherwise(levels)
        for rule in reversed(self.planted):
            labels[rule.applies(levels)] = rule.label
        return labels

    def draw(self, where: Mapping[int, Range], count: int, rng: np.random.Generator) -> Levels:
        """Draw cells, each level uniform among those that the conditions allow."""
        low = np.array([where.get(i, (0, 0))[0] for i in range(len(self.sizes))])
        high = [where.get(i, (0, size - 1))[1] for i, size in enumerate(self.sizes)]
        return rng.integers(low, np.array(high) + 1, (count, len(self.sizes)))

    def ranges(self, mask: int) -> dict[int, Range]:
        """Return what the attributes' part of a mask says, as ranges of levels."""
        where: dict[int, Range] = {}
        for i, attribute in enumerate(self.space.attributes):
            part = (mask & self.space.groups[i]) >> self.space.offsets[i]
            if not part:
                continue
            if isinstance(attribute, Ordered):
                cuts = len(attribute.levels) - 1
                below = part >> cuts
                lowest = (below & -below).bit_length() - 1 if below else cuts
                where[i] = ((part & ((1 << cuts) - 1)).bit_length(), lowest)
            else:
                level = part.bit_length() - int(self.space.complete)
                where[i] = (level, level)
        return where

    def mask(self, where: Mapping[int, Range]) -> int:
        """Return conditions as a mask: the way back from `ranges`."""
        mask = 0
        for i, (low, high) in where.items():
            attribute, at = self.space.attributes[i], self.space.offsets[i]
            if isinstance(attribute, Ordered):
                mask |= attribute.interval(low, high) << at
            else:
                mask |= 1 << at + low - int(not self.space.complete)
        return mask

    def broken(self, rule: Rule, levels: Levels) -> NDArray[np.bool_]:
        """Return for each row, all of which have the rule's conditions, whether it breaks it."""
        labels, first = self.answers(levels), self.space.offsets[-1]
        breaks = np.ones(len(levels), dtype=np.bool_)
        if rule.antecedent & self.space.label_mask:
            breaks = labels == (rule.antecedent >> first).bit_length() - 1
        if rule.is_negative:
            return breaks
        obeys = np.ones(len(levels), dtype=np.bool_)
        if said := (rule.new & self.space.label_mask) >> first:
            obeys = labels == said.bit_length() - 1
        for column, (low, high) in self.ranges(rule.new).items():
            obeys &= (levels[:, column] >= low) & (levels[:, column] <= high)
        return breaks & ~obeys

    def share_broken(self, rule: Rule, rng: np.random.Generator, count: int = TRIED) -> float:
        """Return the share of random cells with the rule's conditions that break it."""
        levels = self.draw(self.ranges(rule.antecedent), count, rng)
        return float(self.broken(rule, levels).mean())

    def short_rules(self, conditions: int) -> list[Rule]:
        """Return "P → never this label" for each planted P that no other planted rule breaks.

        Only those with so many conditions on attributes at most. An earlier rule with another
        label breaks a later one where both apply, unless a still earlier one agrees with it.
        """
        rng, rules = np.random.default_rng(0), []
        for i, rule in enumerate(self.planted):
            if len(rule.where) > conditions or any(
                self._clash(rule, earlier, rng) for earlier in self.planted[:i]
            ):
                continue
            others = [label for label in range(self.labels) if label != rule.label]
            bits = [1 << self.space.offsets[-1] + label for label in others]
            rules += [Rule(self.mask(rule.where) | bit, BOTTOM) for bit in bits]
        return list(dict.fromkeys(rules))

    def _clash(self, rule: Planted, earlier: Planted, rng: np.random.Generator) -> bool:
        if earlier.label == rule.label:
            return False
        both = dict(rule.where)
        for column, (low, high) in earlier.where.items():
            other = both.get(column, (0, self.sizes[column] - 1))
            both[column] = (max(low, other[0]), min(high, other[1]))
            if both[column][0] > both[column][1]:
                return False
        return bool((self.answers(self.draw(both, CLASH, rng)) != rule.label).any())

    def follows(self, rule: Rule, stated: Sequence[Rule]) -> bool:
        """Return whether "P → never this label" is a special case of a stated rule.

        With two labels, "P → this label" says the same as "P → never the other one".
        """
        label = rule.antecedent & self.space.label_mask
        for other in stated:
            if other.is_negative:
                forbids = other.antecedent & self.space.label_mask & ~label == 0
            else:  # it demands a label, and so forbids all others
                demanded = other.new & self.space.label_mask
                forbids = bool(demanded) and not demanded & label
            if forbids and self._within(rule.antecedent, other.antecedent):
                return True
        return False

    def _within(self, special: int, general: int) -> bool:
        """Return whether one conjunction of conditions says all that another one says."""
        inner = self.ranges(special)
        return all(
            column in inner and low <= inner[column][0] and inner[column][1] <= high
            for column, (low, high) in self.ranges(general).items()
        )


def candidates(sizes: Sequence[int], conditions: int, labels: int = 2) -> int:
    """Return how many rules "P → never this label" there are, each level a condition of its own."""
    return labels * sum(
        int(np.prod([sizes[i] for i in chosen], dtype=object)) if chosen else 1
        for count in range(conditions + 1)
        for chosen in combinations(range(len(sizes)), count)
    )
