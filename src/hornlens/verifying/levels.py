"""The cells of a space that is too large to go through: by places on axes, one for each attribute.

A *level* is what a cell says of an attribute. A *condition* of a rule is met by some levels of one
attribute and not by others; what is met by the same levels is the same condition. A *box* has for
each attribute the levels that it allows. Cells that the background rules out are in no box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.verifying.attributes import Rule
from hornlens.verifying.grids import Space, bits

Marks: TypeAlias = NDArray[np.bool_]
Box: TypeAlias = "tuple[Marks | None, ...]"
"""For each attribute which of its levels are in the box; None for all."""
MOST_TOGETHER = 200_000
"""Up to so many combinations of levels, those that the background allows are listed: of the
attributes that it is about. That is part of how draws are numbered."""
MOST_PAIRS = 40_000_000
"""Up to so many pairs of a level and a choice of an attribute are looked at."""


@dataclass(frozen=True, eq=False)
class Layout:
    """A space by levels, and the rules that are assumed beyond what each attribute demands."""

    space: Space
    background: Sequence[Rule]

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """For each attribute what a cell can say of it."""
        return self.space.levels

    @cached_property
    def sizes(self) -> list[int]:
        """How many levels each attribute has."""
        return [len(levels) for levels in self.levels]

    @cached_property
    def groups(self) -> list[int]:
        """For each attribute its variables."""
        axes = self.space.axes[: len(self.levels)]
        return [_union(axis) for axis in axes]

    @cached_property
    def attribute_of(self) -> list[int]:
        """For each variable the attribute that it belongs to; a label's to none, -1."""
        owners = [-1] * len(self.space.names)
        for i, group in enumerate(self.groups):
            for v in bits(group):
                owners[v] = i
        return owners

    @cached_property
    def _places(self) -> list[dict[int, int]]:
        return [{mask: place for place, mask in enumerate(own)} for own in self.levels]

    def places(self, cell: int) -> list[int]:
        """Return a cell by its levels; a KeyError if it is none."""
        pairs = zip(self._places, self.groups, strict=True)
        return [places[cell & group] for places, group in pairs]

    def mask(self, cell: Sequence[int]) -> int:
        """Return a cell as an interpretation."""
        return sum(own[place] for own, place in zip(self.levels, cell, strict=True))

    # --- boxes ---

    @cached_property
    def _variables(self) -> list[tuple[dict[int, int], Marks]]:
        """For each attribute its variables, with a column each, and which level has which."""
        tables = []
        for own, group in zip(self.levels, self.groups, strict=True):
            column = {v: k for k, v in enumerate(bits(group))}
            marks = np.zeros((len(own), len(column)), dtype=np.bool_)
            for place, mask in enumerate(own):
                marks[place, [column[v] for v in bits(mask)]] = True
            tables.append((column, marks))
        return tables

    def having(self, attribute: int, mask: int) -> Marks:
        """Return which levels of an attribute have all of some variables of it."""
        column, marks = self._variables[attribute]
        wanted = [column[v] for v in bits(mask & self.groups[attribute])]
        having: Marks = np.logical_and.reduce(marks[:, wanted], axis=1)
        return having

    def common(self, attribute: int, levels: Marks) -> int:
        """Return what all of some levels of an attribute have."""
        column, marks = self._variables[attribute]
        shared = np.logical_and.reduce(marks[levels], axis=0).tolist()
        return sum([1 << v for v, k in column.items() if shared[k]])

    def variables_of(self, attribute: int) -> range:
        """Return the variables of an attribute, which follow each other."""
        first = sum(len(column) for column, _ in self._variables[:attribute])
        return range(first, first + len(self._variables[attribute][0]))

    @cached_property
    def lacking(self) -> list[Marks]:
        """For each attribute a row for each of its variables: which levels lack it."""
        return [~marks.T for _, marks in self._variables]

    def box(self, mask: int) -> Box:
        """Return the box of all cells that have some variables."""
        return tuple(
            self.having(i, mask) if mask & group else None for i, group in enumerate(self.groups)
        )

    # --- conditions ---

    @cached_property
    def conditions(self) -> list[Marks]:
        """For each attribute its conditions: a row each, a column for each level."""
        return [self._conditions(i) for i in range(len(self.levels))]

    def _conditions(self, attribute: int) -> Marks:
        axis = self.space.axes[attribute]
        column, marks = self._variables[attribute]
        if len(axis) * len(marks) > MOST_PAIRS:
            raise InputError(
                f"has an attribute of {len(axis):,} choices, too many to count a sift again"
            )
        wanted = np.zeros((len(axis), len(column)), dtype=np.float32)
        for place, choice in enumerate(axis):
            wanted[place, [column[v] for v in bits(choice)]] = 1
        met = wanted @ marks.T.astype(np.float32) == wanted.sum(axis=1, keepdims=True)
        counts = met.sum(axis=1)
        met = met[(counts > 0) & (counts < len(marks))]
        packed = np.packbits(met, axis=1)
        _, first = np.unique(packed, axis=0, return_index=True) if len(met) else (None, [])
        chosen: Marks = met[np.sort(np.asarray(first, dtype=np.intp))]
        return chosen

    # --- the background ---

    @cached_property
    def _demands(self) -> list[tuple[dict[int, Marks], dict[int, Marks] | None]]:
        """For each assumed rule which levels its sides ask for; those that all cells obey are out.

        Where the right side is None, the rule rules out whatever has its left side.
        """
        demands = []
        for left, both in self.background:
            if (left, both) in self.space.own:
                continue
            wanted = {i: self.having(i, left) for i, g in enumerate(self.groups) if left & g}
            then = None
            if both is not None:
                then = {i: self.having(i, both) for i, g in enumerate(self.groups) if both & g}
            if all(marks.any() for marks in wanted.values()) and (
                then is None
                or any(
                    (wanted.get(i, np.ones_like(marks)) & ~marks).any() for i, marks in then.items()
                )
            ):
                demands.append((wanted, then))
        return demands

    @cached_property
    def bound(self) -> list[int]:
        """The attributes that assumed rules are about: those that some cell would break."""
        sides = [{*wanted, *(then or ())} for wanted, then in self._demands]
        return sorted(set[int]().union(*sides))

    @cached_property
    def counted(self) -> bool:
        """Whether what the background allows is listed, so that the cells of a box are counted."""
        return prod(self.sizes[i] for i in self.bound) <= MOST_TOGETHER

    def allowed(self, cells: NDArray[np.int64]) -> Marks:
        """Return which cells, a row of levels each, the background allows."""
        fine = np.ones(len(cells), dtype=np.bool_)
        for wanted, then in self._demands:
            applies = np.ones(len(cells), dtype=np.bool_)
            for i, marks in wanted.items():
                applies &= marks[cells[:, i]]
            holds = np.full(len(cells), then is not None)
            for i, marks in (then or {}).items():
                holds &= marks[cells[:, i]]
            fine &= ~applies | holds
        return fine

    @cached_property
    def together(self) -> NDArray[np.int64]:
        """What the background allows of the attributes that it is about, in order: a row each."""
        if not self.counted or not self.bound:
            return np.zeros((1, 0), dtype=np.int64)
        rows = list(product(*(range(self.sizes[i]) for i in self.bound)))
        cells = np.zeros((len(rows), len(self.sizes)), dtype=np.int64)
        cells[:, self.bound] = rows
        return cells[self.allowed(cells)][:, self.bound]

    # --- the cells of a box, by numbers ---

    def numbered(self, box: Box) -> Numbering:
        """Return the cells of a box in order.

        What the background is not about comes first, the first attribute varying last; then the
        combinations that it allows. Where these are not listed, cells that it rules out are among
        the numbers, too.
        """
        bound = self.bound if self.counted else []
        free = [i for i in range(len(self.sizes)) if i not in bound]
        inside = np.ones(len(self.together), dtype=np.bool_)
        for column, i in enumerate(bound):
            if (part := box[i]) is not None:
                inside &= part[self.together[:, column]]
        places = [
            list(range(self.sizes[i]))
            if (part := box[i]) is None
            else np.flatnonzero(part).tolist()
            for i in free
        ]
        return Numbering(len(self.sizes), free, places, bound, self.together[inside].tolist())

    def room(self, box: Box) -> int:
        """Return how many cells a box has; where that is not counted, with what is ruled out."""
        return self.numbered(box).count


@dataclass(frozen=True)
class Numbering:
    """The cells of a box, from number 0 on."""

    width: int
    free: list[int]
    places: list[list[int]]
    bound: list[int]
    together: list[list[int]]

    @cached_property
    def count(self) -> int:
        """How many numbers there are."""
        return prod(map(len, self.places)) * len(self.together)

    def cell(self, number: int) -> tuple[int, ...]:
        """Return the cell of a number, by its levels."""
        cell = [0] * self.width
        number, last = divmod(number, len(self.together))
        for i, level in zip(self.bound, self.together[last], strict=True):
            cell[i] = level
        for i, own in zip(reversed(self.free), reversed(self.places), strict=True):
            number, place = divmod(number, len(own))
            cell[i] = own[place]
        return tuple(cell)


def _union(axis: Any) -> int:
    union = 0
    for choice in axis:
        union |= choice
    return union
