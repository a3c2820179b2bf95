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
        blocked, levels, union = self._blocked[place], 1 << cell[line], np.bitwise_or.reduce
        box = [slice(level, level + 1) for level in cell]
        box[line] = slice(None)
        found = [(level, level) for level in cell]
        for axis in order:
            feature = self.features[axis]
            if axis == line:
                hit = int(union(blocked[tuple(box)], axis=None))
                hits = [hit >> at & 1 for at in range(feature.size)]
            else:
                box[axis] = slice(None)
                hits = [
                    hit & levels for hit in union(blocked[tuple(box)], self._but[axis]).tolist()
                ]
            low, high = found[axis] = _widest(feature, cell[axis], hits)
            if axis == line:
                levels = (1 << high + 1) - (1 << low)
            else:
                box[axis] = slice(low, high + 1)
        return tuple(found)

    @cached_property
    def _but(self) -> list[tuple[int, ...]]:
        """For each axis, all others."""
        every = range(self.labels.ndim)
        return [tuple(other for other in every if other != axis) for axis in every]

    def _grown_slowly(self, cell: Sequence[int], place: int, order: Sequence[int]) -> Box:
        fits = (self.labels == place) | (self.labels == OUTSIDE)
        box = [slice(level, level + 1) for level in cell]
        for axis in order:
            feature = self.features[axis]
            box[axis] = slice(None)
            blocked = (~fits[tuple(box)]).any(axis=self._but[axis])
            low, high = _widest(feature, cell[axis], blocked.tolist())
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
        return _Blocked(self.labels, self._line)


class _Blocked(dict[int, NDArray[np.uint64]]):
    """For each class, which levels of a line are of another class, as bits; one word a line."""

    def __init__(self, labels: NDArray[np.int8], line: int):
        super().__init__()
        self._labels, self._line = np.moveaxis(labels, line, 0), line

    def __missing__(self, place: int) -> NDArray[np.uint64]:
        bits = np.zeros(self._labels.shape[1:], dtype=np.uint64)
        for level, of in enumerate(self._labels):
            bits |= ((of != place) & (of != OUTSIDE)).astype(np.uint64) << np.uint64(level)
        self[place] = np.expand_dims(bits, self._line)
        return self[place]


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
            hits = np.zeros(feature.size, dtype=np.bool_)
            hits[others[only, axis]] = True
            box[axis] = _widest(feature, cell[axis], hits.tolist())
            low, high = box[axis]
            now = (others[:, axis] < low) | (others[:, axis] > high)
            misses -= outside[:, axis].astype(misses.dtype) - now
            outside[:, axis] = now
        return tuple(box)


def _widest(feature: Feature, level: int, hits: Sequence[int]) -> tuple[int, int]:
    """Return the widest range around a level in which no level is hit."""
    if not any(hits):
        return feature.whole
    known = feature.known
    if not feature.is_ranged or level == known:
        return level, level
    low = high = level
    while low > 0 and not hits[low - 1]:
        low -= 1
    while high + 1 < known and not hits[high + 1]:
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
