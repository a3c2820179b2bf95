"""A space in levels: what a cell says of each attribute, and which conditions that meets.

A *level* is what one cell says of one attribute: any of its choices, or one of its leaves in a
complete space. A *condition* is a choice that says something; the levels that meet it are its part
of the axis. Conditions met by the same levels are one condition, the most general of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.space import Space

Cells = NDArray[np.int64]
"""Cells in levels: a row each, a column an attribute."""
Flags = NDArray[np.bool_]
Box = tuple[Flags | None, ...]
"""For each attribute the levels that are meant; None for all."""
MOST_COMBINED = 200_000
"""So many combinations of the attributes that the background speaks of are laid out at most."""


@dataclass(frozen=True, eq=False)
class LevelAxis:
    """One attribute: the masks of its levels and conditions, and which level meets which."""

    levels: tuple[int, ...]
    conditions: tuple[int, ...]
    meets: Flags
    """For each level and condition whether it is met."""

    @classmethod
    def of(cls, attribute: Attribute, at: int, complete: bool) -> LevelAxis:
        """Return the axis of an attribute whose first variable is the bit `at`."""
        levels = attribute.leaves if complete else attribute.choices
        kept: dict[bytes, int] = {}
        columns: list[Flags] = []
        masks = np.array(levels, dtype=object)
        for choice in attribute.choices:
            if not choice:
                continue
            column = np.array([choice & ~level == 0 for level in masks], dtype=np.bool_)
            if column.any() and not column.all() and column.tobytes() not in kept:
                kept[column.tobytes()] = choice
                columns.append(column)
        meets = np.array(columns, dtype=np.bool_).reshape(len(columns), len(levels)).T
        return cls(
            tuple(level << at for level in levels),
            tuple(choice << at for choice in kept.values()),
            meets,
        )

    @classmethod
    def of_values(cls, attribute: Nominal, at: int, complete: bool) -> LevelAxis:
        """The same of an attribute whose values stand alone, without comparing any two."""
        levels = attribute.leaves if complete else attribute.choices
        meets = np.array(levels)[:, None] == np.array(attribute.choices[1:])[None, :]
        conditions = attribute.choices[1:] if len(levels) > 1 else ()
        return cls(
            tuple(level << at for level in levels),
            tuple(choice << at for choice in conditions),
            meets[:, : len(conditions)],
        )

    @property
    def size(self) -> int:
        """How many levels there are."""
        return len(self.levels)

    @cached_property
    def is_plain(self) -> bool:
        """Whether each level meets exactly one condition, each another: levels are conditions."""
        square = self.meets.shape[0] == self.meets.shape[1]
        return square and bool((self.meets == np.eye(self.size, dtype=np.bool_)).all())

    @cached_property
    def meets_as_numbers(self) -> NDArray[np.float32]:
        """The same as `meets`, 1 for yes."""
        return self.meets.astype(np.float32)

    @cached_property
    def met(self) -> NDArray[np.int64]:
        """For each level the conditions that it meets, -1 behind them."""
        most = int(self.meets.sum(axis=1).max(initial=0))
        table = np.full((self.size, most), -1, dtype=np.int64)
        for level, row in enumerate(self.meets):
            places = np.flatnonzero(row)
            table[level, : len(places)] = places
        return table

    @cached_property
    def covers(self) -> NDArray[np.int64]:
        """For each condition the next weaker ones, -1 for none: then it can only be left out."""
        parts = self.meets.T
        count = len(parts)
        if self.is_plain or parts.sum(axis=1).max(initial=0) <= 1:
            return np.full((count, 1), -1, dtype=np.int64)
        floats = parts.astype(np.float32)
        within = (floats @ (1 - floats).T) == 0
        np.fill_diagonal(within, False)
        longer = (within.astype(np.float32) @ within.astype(np.float32)) > 0
        direct = within & ~longer
        most = max(1, int(direct.sum(axis=1).max(initial=0)))
        table = np.full((count, most), -1, dtype=np.int64)
        for place, row in enumerate(direct):
            wider = np.flatnonzero(row)
            table[place, : len(wider)] = wider
        return table

    @cached_property
    def is_top(self) -> Flags:
        """For each condition whether there is no weaker one on this axis."""
        return self.covers[:, 0] < 0

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """For each condition how many stronger steps it is from saying nothing."""
        depth = np.ones(len(self.conditions), dtype=np.int64)
        for place in np.argsort(-self.meets.sum(axis=0), kind="stable"):
            wider = self.covers[place][self.covers[place] >= 0]
            if len(wider):
                depth[place] = 1 + depth[wider].max()
        return depth


@dataclass(frozen=True, eq=False)
class Ground:
    """The cells of a space in levels: how many there are in a box, the number-th of them, masks.

    Where the background lays out few combinations, the cells of a box are counted exactly and
    numbered: the attributes that it does not speak of first, each by its levels, and then the
    combinations of the others, in order. Else `counted` is false, and `room` counts what the
    background forbids, too.
    """

    space: Space
    axes: tuple[LevelAxis, ...]

    @classmethod
    def of(cls, space: Space) -> Ground:
        """Return the ground of a space."""
        pairs = zip(space.attributes, space.offsets, strict=False)
        return cls(
            space,
            tuple(
                LevelAxis.of_values(a, at, space.complete)
                if isinstance(a, Nominal) and len(a.variables) < 63
                else LevelAxis.of(a, at, space.complete)
                for a, at in pairs
            ),
        )

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many levels each attribute has."""
        return np.array([axis.size for axis in self.axes], dtype=np.int64)

    # --- masks and levels ---

    def masks(self, cells: Cells) -> list[int]:
        """Return cells as masks."""
        levels = [axis.levels for axis in self.axes]
        return [
            sum(own[place] for own, place in zip(levels, row, strict=True))
            for row in cells.tolist()
        ]

    @cached_property
    def _places(self) -> list[tuple[int, dict[int, int]]]:
        groups = self.space.groups
        return [
            (groups[i], {mask: place for place, mask in enumerate(axis.levels)})
            for i, axis in enumerate(self.axes)
        ]

    def levels(self, masks: Sequence[int]) -> Cells:
        """Return masks of cells as levels; a KeyError if one is no cell."""
        rows = [[place[mask & group] for group, place in self._places] for mask in masks]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.axes))

    # --- the background ---

    @cached_property
    def _assumed(self) -> list[tuple[list[tuple[int, Flags]], list[tuple[int, Flags]]]]:
        """For each assumed rule the levels that have its left side's part, and its right side's.

        Rules that every combination of levels obeys are left out: files need not list them, and
        they must not change how cells are numbered.
        """
        rules = []
        for rule in self.space.assumed:
            left, right = [], []
            for i, axis in enumerate(self.axes):
                group = self.space.groups[i]
                if part := rule.antecedent & group:
                    left.append((i, np.array([part & ~x == 0 for x in axis.levels])))
                if not rule.is_negative and (part := rule.consequent & group):
                    right.append((i, np.array([part & ~x == 0 for x in axis.levels])))
            if rule.is_negative:
                right = [(-1, np.zeros(1, np.bool_))]
            if _can_be_broken(dict(left), right):
                rules.append((left, right))
        return rules

    def allows(self, cells: Cells) -> Flags:
        """Say of each cell whether the background allows it."""
        fine = np.ones(len(cells), dtype=np.bool_)
        for left, right in self._assumed:
            applies = np.ones(len(cells), dtype=np.bool_)
            for i, having in left:
                applies &= having[cells[:, i]]
            if not applies.any():
                continue
            holds = np.ones(len(cells), dtype=np.bool_)
            for i, having in right:
                holds &= having[cells[:, i]] if i >= 0 else False
            fine &= ~applies | holds
        return fine

    @cached_property
    def bound(self) -> tuple[int, ...]:
        """The attributes that the background speaks of, beside what each says of itself."""
        touched = {i for left, right in self._assumed for i, _ in (*left, *right) if i >= 0}
        return tuple(sorted(touched))

    @cached_property
    def counted(self) -> bool:
        """Whether the cells of a box can be counted."""
        return prod(int(self.sizes[i]) for i in self.bound) <= MOST_COMBINED

    @cached_property
    def combined(self) -> Cells:
        """What the background allows, of the attributes that it speaks of."""
        if not self.bound or not self.counted:
            return np.zeros((1, 0), dtype=np.int64)
        rows = np.array(
            list(product(*(range(int(self.sizes[i])) for i in self.bound))), dtype=np.int64
        )
        cells = np.zeros((len(rows), len(self.axes)), dtype=np.int64)
        cells[:, self.bound] = rows
        # The others are not spoken of: whatever they are set to, nothing changes.
        return rows[self.allows(cells)]

    # --- boxes ---

    def _free(self) -> list[int]:
        spoken = set(self.bound) if self.counted else set()
        return [i for i in range(len(self.axes)) if i not in spoken]

    def _inside(self, box: Box) -> NDArray[np.intp]:
        """Return which of `combined` lie in a box."""
        fine = np.ones(len(self.combined), dtype=np.bool_)
        if self.counted:
            for column, i in enumerate(self.bound):
                part = box[i]
                if part is not None:
                    fine &= part[self.combined[:, column]]
        return np.flatnonzero(fine)

    def room(self, box: Box) -> int:
        """Return how many cells a box has: of thousands of axes, more than a float can hold."""
        own = [box[i] for i in self._free()]
        sizes = (
            int(self.sizes[i]) if part is None else int(part.sum())
            for i, part in zip(self._free(), own, strict=True)
        )
        return prod(sizes) * len(self._inside(box))

    def numbered(self, box: Box) -> Numbered:
        """Return the cells of a box, by their numbers."""
        free = self._free()
        places = [
            np.arange(self.sizes[i]) if (part := box[i]) is None else np.flatnonzero(part)
            for i in free
        ]
        return Numbered(len(self.axes), tuple(free), tuple(places), self.bound, self._combined(box))

    def _combined(self, box: Box) -> Cells:
        return self.combined[self._inside(box)]

    def holds(self, box: Box, cells: Cells) -> Flags:
        """Say of each cell whether it lies in a box."""
        inside = np.ones(len(cells), dtype=np.bool_)
        for i, part in enumerate(box):
            if part is not None:
                inside &= part[cells[:, i]]
        return inside


def _can_be_broken(left: dict[int, Flags], right: list[tuple[int, Flags]]) -> bool:
    """Say whether some levels have a rule's left side, and not its right one."""
    lacking = (~having if i not in left else left[i] & ~having for i, having in right)
    return all(having.any() for having in left.values()) and any(part.any() for part in lacking)


@dataclass(frozen=True, eq=False)
class Numbered:
    """The cells of a box, numbered from 0: `room` many."""

    width: int
    free: tuple[int, ...]
    places: tuple[NDArray[np.intp], ...]
    bound: tuple[int, ...]
    combined: Cells

    @cached_property
    def room(self) -> int:
        """How many there are."""
        return prod(map(len, self.places)) * len(self.combined)

    def any(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return one of them by chance."""
        cell = np.zeros(self.width, dtype=np.int64)
        if self.combined.shape[1]:
            cell[list(self.bound)] = self.combined[rng.integers(len(self.combined))]
        for i, own in zip(self.free, self.places, strict=True):
            cell[i] = own[rng.integers(len(own))]
        return cell

    def cell(self, number: int) -> NDArray[np.int64]:
        """Return the cell of a number."""
        cell = np.zeros(self.width, dtype=np.int64)
        number, last = divmod(number, len(self.combined))
        if self.combined.shape[1]:
            cell[list(self.bound)] = self.combined[last]
        for i, own in zip(reversed(self.free), reversed(self.places), strict=True):
            number, place = divmod(number, len(own))
            cell[i] = own[place]
        return cell
