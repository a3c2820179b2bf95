"""Cells and what the classifier says of each: all of a grid, or a list of some.

A cell has a level of every feature. What may be the class inside a box of cells is a set of bits,
one for each class; a box with one bit is a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.answering import BLOCK, Classifier
from hornlens.classifiers.bitboxes import widest
from hornlens.classifiers.columns import Column, Table
from hornlens.classifiers.features import Box, Feature

Levels = NDArray[np.intp]
"""Cells in rows: a column for each feature."""
Labels = NDArray[np.int8]
"""The class of every cell of a grid, with an axis for each feature."""
OUTSIDE = -1
"""What stands for a class where a cell does not occur."""


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

    def label_grid(self) -> Labels:
        """Return the class of every cell, as an array with an axis for each feature."""
        labels = np.empty(self.cell_count, dtype=np.int8)
        for start, columns in self._blocks():
            said = self.classifier.decide(columns)
            labels[start : start + len(said)] = said
        return labels.reshape(shape_of(self.features))

    def _blocks(self) -> Iterator[tuple[int, list[Column]]]:
        """Yield the points of all cells as columns, a block at a time, each with its first cell.

        The later features go round many times in a block: their columns are written once.
        """
        count, period, later = self.cell_count, 1, len(self.features)
        while later and period * self.features[later - 1].size <= BLOCK:
            later -= 1
            period *= self.features[later].size
        length = min(count, BLOCK) + period
        rounds = cells_at(np.arange(length) % period, shape_of(self.features[later:]))
        fixed = {
            place: feature.column(np.zeros(length, dtype=np.intp))
            for place, feature in enumerate(self.every)
        }
        for axis, place in enumerate(self.telling[later:]):
            fixed[place] = self.every[place].column(rounds[:, axis])
        early = shape_of(self.features[:later])
        for start in range(0, count, BLOCK):
            size, skipped = min(BLOCK, count - start), start % period
            columns = [fixed[place][skipped : skipped + size] for place in range(len(self.every))]
            last = (start + size - 1) // period
            slow = cells_at(np.arange(start // period, last + 1), early)
            for axis, place in enumerate(self.telling[:later]):
                column = self.every[place].column(slow[:, axis])
                columns[place] = np.repeat(column, period)[skipped : skipped + size]
            yield start, columns


def distinct(
    cells: Levels, shape: tuple[int, ...]
) -> tuple[Levels, NDArray[np.intp], NDArray[np.intp]]:
    """Return the cells that there are, in order, which of them each was, and how often it was."""
    if not shape or prod(shape) >= 1 << 62:
        found, where, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        return found, where.reshape(-1), counts
    flat = np.ravel_multi_index(tuple(cells.T), shape)
    found, where, counts = np.unique(flat, return_inverse=True, return_counts=True)
    return cells_at(found, shape), where, counts


def cells_at(flat: NDArray[np.intp], shape: tuple[int, ...]) -> Levels:
    """Return the cells at these places of a grid."""
    if not shape:
        return np.zeros((len(flat), 0), dtype=np.intp)
    return np.column_stack(np.unravel_index(flat, shape))


@dataclass(frozen=True, eq=False)
class GridCells:
    """All cells of a grid; those that do not occur have OUTSIDE for a class."""

    features: tuple[Feature, ...]
    labels: Labels

    def classes_in(self, box: Box) -> int:
        """Return the classes in a box, as bits."""
        found = np.unique(self.labels[_slices(box)]).tolist()
        return sum(1 << place for place in found if place != OUTSIDE)

    def count_in(self, box: Box) -> int:
        """Return how many cells a box has."""
        return int(np.count_nonzero(self.labels[_slices(box)] != OUTSIDE))


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
            box[axis] = widest(feature, cell[axis], hits.tolist().__getitem__)
            low, high = box[axis]
            now = (others[:, axis] < low) | (others[:, axis] > high)
            misses -= outside[:, axis].astype(misses.dtype) - now
            outside[:, axis] = now
        return tuple(box)


def rows_in(cells: Levels, box: Box, features: Sequence[Feature]) -> NDArray[np.bool_]:
    """Say of each row of levels whether it lies in a box."""
    found = np.ones(len(cells), dtype=np.bool_)
    for axis, (feature, (low, high)) in enumerate(zip(features, box, strict=True)):
        if (low, high) != feature.whole:
            found &= (cells[:, axis] >= low) & (cells[:, axis] <= high)
    return found


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(low, high + 1) for low, high in box)
