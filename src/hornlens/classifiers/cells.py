"""Cells and what the classifier says of each: all of a grid, or a list of some.

A cell has a level of every feature. What may be the class inside a box of cells is a set of bits,
one for each class; a box with one bit is a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.answering import BLOCK, Classifier
from hornlens.classifiers.columns import Column, Table
from hornlens.classifiers.features import Box, Feature

Levels = NDArray[np.intp]
"""Cells in rows: a column for each feature."""
OUTSIDE = -1
"""What stands for a class where a cell does not occur."""


class Labelled(Protocol):
    """Cells with their classes."""

    features: tuple[Feature, ...]

    def classes_in(self, box: Box) -> int:
        """Return the classes of the cells in a box, as bits; 0 if there are none."""
        ...

    def count_in(self, box: Box) -> int:
        """Return how many cells a box has."""
        ...

    def grown(self, cell: Sequence[int], place: int, order: Sequence[int]) -> Box:
        """Return a box around a cell, all of its class, that cannot be made wider."""
        ...


def shape_of(features: Sequence[Feature]) -> tuple[int, ...]:
    """Return how many levels each feature has."""
    return tuple(feature.size for feature in features)


@dataclass(frozen=True, eq=False)
class Binned:
    """A classifier over levels: what it says of a cell is what it says of the cell's point.

    `every` has a feature for each column; those with one level say nothing, and are no part of a
    cell: `features` are the others.
    """

    classifier: Classifier
    every: tuple[Feature, ...]

    @cached_property
    def telling(self) -> tuple[int, ...]:
        """The places of the features that have several levels."""
        return tuple(place for place, feature in enumerate(self.every) if feature.size > 1)

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The features that have several levels."""
        return tuple(self.every[place] for place in self.telling)

    @property
    def cell_count(self) -> int:
        """How many cells there are."""
        return prod(shape_of(self.features))

    def columns(self, cells: Levels) -> list[Column]:
        """Return the points of cells, as columns of the classifier."""
        made = [feature.column(np.zeros(len(cells), dtype=np.intp)) for feature in self.every]
        for axis, place in enumerate(self.telling):
            made[place] = self.every[place].column(cells[:, axis])
        return made

    def ask(self, cells: Levels) -> Levels:
        """Return the class of each cell."""
        return self.classifier.decide(self.columns(cells))

    def places(self, table: Table) -> Levels:
        """Return the cell that each row lies in."""
        columns = [self.every[p].places(table.columns[p]) for p in range(len(self.every))]
        if not self.telling:
            return np.zeros((len(table), 0), dtype=np.intp)
        return np.column_stack([columns[place] for place in self.telling])

    def label_grid(self) -> NDArray[np.int8]:
        """Return the class of every cell, as an array with an axis for each feature."""
        shape, count = shape_of(self.features), self.cell_count
        labels = np.empty(count, dtype=np.int8)
        for start in range(0, count, BLOCK):
            flat = np.arange(start, min(count, start + BLOCK))
            labels[start : start + len(flat)] = self.ask(cells_at(flat, shape))
        return labels.reshape(shape)


def cells_at(flat: NDArray[np.intp], shape: tuple[int, ...]) -> Levels:
    """Return the cells at these places of a grid."""
    if not shape:
        return np.zeros((len(flat), 0), dtype=np.intp)
    return np.column_stack(np.unravel_index(flat, shape))


@dataclass(frozen=True, eq=False)
class GridCells:
    """All cells of a grid; those that do not occur have OUTSIDE for a class."""

    features: tuple[Feature, ...]
    labels: NDArray[np.int8]

    def classes_in(self, box: Box) -> int:
        """Return the classes in a box, as bits."""
        found = np.unique(self.labels[_slices(box)]).tolist()
        return sum(1 << place for place in found if place != OUTSIDE)

    def count_in(self, box: Box) -> int:
        """Return how many cells a box has."""
        return int(np.count_nonzero(self.labels[_slices(box)] != OUTSIDE))

    def grown(self, cell: Sequence[int], place: int, order: Sequence[int]) -> Box:
        """Return a box around a cell, all of its class, that cannot be made wider.

        Features are widened one after another. What blocks a small box blocks a larger one, so
        once around is enough.
        """
        line = self._line
        if line is None:
            return self._grown_slowly(cell, place, order)
        blocked, levels = self._blocked[place], np.uint64(1 << cell[line])
        places = [axis for axis in range(len(cell)) if axis != line]
        box = [slice(cell[axis], cell[axis] + 1) for axis in places]
        found = [(level, level) for level in cell]
        for axis in order:
            feature = self.features[axis]
            if feature.size == 1:
                continue
            if axis == line:
                hit = int(np.bitwise_or.reduce(blocked[tuple(box)], axis=None))
                low, high = _widest(
                    feature, cell[axis], [not hit >> at & 1 for at in range(feature.size)]
                )
                levels = np.uint64((1 << high + 1) - (1 << low))
            else:
                at = places.index(axis)
                box[at] = slice(None)
                others = tuple(a for a in range(len(places)) if a != at)
                hits = np.bitwise_or.reduce(blocked[tuple(box)], axis=others) & levels
                low, high = _widest(feature, cell[axis], (hits == 0).tolist())
                box[at] = slice(low, high + 1)
            found[axis] = (low, high)
        return tuple(found)

    def _grown_slowly(self, cell: Sequence[int], place: int, order: Sequence[int]) -> Box:
        fits = (self.labels == place) | (self.labels == OUTSIDE)
        box = [slice(level, level + 1) for level in cell]
        for axis in order:
            feature = self.features[axis]
            if feature.size == 1:
                continue
            box[axis] = slice(None)
            part = fits[tuple(box)]
            others = tuple(a for a in range(part.ndim) if a != axis)
            low, high = _widest(feature, cell[axis], part.all(axis=others).tolist())
            box[axis] = slice(low, high + 1)
        return tuple((one.start, one.stop - 1) for one in box)

    @cached_property
    def _line(self) -> int | None:
        """The longest axis whose levels fit into a word: it is looked at as bits, all at once."""
        fitting = [axis for axis, size in enumerate(self.labels.shape) if 1 < size <= 64]
        return max(fitting, key=lambda axis: self.labels.shape[axis], default=None)

    @cached_property
    def _blocked(self) -> _Blocked:
        assert self._line is not None
        return _Blocked(np.moveaxis(self.labels, self._line, -1))


class _Blocked(dict[int, NDArray[np.uint64]]):
    """For each class, which levels of the last axis are of another class, as bits."""

    def __init__(self, labels: NDArray[np.int8]):
        super().__init__()
        self._labels = labels

    def __missing__(self, place: int) -> NDArray[np.uint64]:
        bits = np.zeros(self._labels.shape[:-1], dtype=np.uint64)
        for level in range(self._labels.shape[-1]):
            of = self._labels[..., level]
            bits |= ((of != place) & (of != OUTSIDE)).astype(np.uint64) << np.uint64(level)
        self[place] = bits
        return bits


@dataclass(frozen=True, eq=False)
class ListedCells:
    """Some cells, of a grid that may be far too large to be written down."""

    features: tuple[Feature, ...]
    cells: Levels
    labels: Levels

    def inside(self, box: Box) -> NDArray[np.bool_]:
        """Say of each cell whether it lies in a box."""
        return rows_in(self.cells, box, self.features)

    def classes_in(self, box: Box) -> int:
        """Return the classes in a box, as bits."""
        return sum(1 << place for place in np.unique(self.labels[self.inside(box)]).tolist())

    def count_in(self, box: Box) -> int:
        """Return how many cells a box has."""
        return int(np.count_nonzero(self.inside(box)))

    def grown(self, cell: Sequence[int], place: int, order: Sequence[int]) -> Box:
        """Return a box around a cell, all of its class, that cannot be made wider."""
        others = self.cells[self.labels != place]
        box = [(level, level) for level in cell]
        outside = others != np.asarray(cell)
        misses = outside.sum(axis=1)
        for axis in order:
            feature = self.features[axis]
            # What only this feature keeps out, stays out.
            only = (misses == 1) & outside[:, axis]
            free = np.ones(feature.size, dtype=np.bool_)
            free[others[only, axis]] = False
            box[axis] = _widest(feature, cell[axis], free.tolist())
            low, high = box[axis]
            now = (others[:, axis] < low) | (others[:, axis] > high)
            misses -= outside[:, axis].astype(misses.dtype) - now
            outside[:, axis] = now
        return tuple(box)


def _widest(feature: Feature, level: int, free: Sequence[bool]) -> tuple[int, int]:
    """Return the widest range around a level of which every level is free."""
    if all(free):
        return feature.whole
    known = feature.known
    if not feature.is_ranged or level == known:
        return level, level
    low = high = level
    while low > 0 and free[low - 1]:
        low -= 1
    while high + 1 < known and free[high + 1]:
        high += 1
    return low, high


def rows_in(cells: Levels, box: Box, features: Sequence[Feature]) -> NDArray[np.bool_]:
    """Say of each row of levels whether it lies in a box."""
    found = np.ones(len(cells), dtype=np.bool_)
    for axis, (feature, (low, high)) in enumerate(zip(features, box, strict=True)):
        if (low, high) != feature.whole:
            found &= (cells[:, axis] >= low) & (cells[:, axis] <= high)
    return found


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(low, high + 1) for low, high in box)
