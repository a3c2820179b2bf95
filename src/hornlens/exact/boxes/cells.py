"""Complete cells and the label of each: all of a grid, or a list of some.

A cell has a level of every axis. What may be the label inside a box of cells is a set of bits, one
for each label; a box with one bit is a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Axis, Box, shape_of
from hornlens.exact.boxes.bitboxes import widest

Levels = NDArray[np.intp]
"""Cells in rows: a column for each axis."""
Labels = NDArray[np.int8]
"""The label of every cell of a grid, by its place, or one of the following."""
OUTSIDE = -1
"""What stands for a label where a cell does not occur."""
OPEN = -2
"""What stands for a label where it is not known: not asked, or not decided."""


def distinct_cells(
    cells: Levels, shape: tuple[int, ...]
) -> tuple[Levels, NDArray[np.intp], NDArray[np.intp]]:
    """Return the cells that there are, in order, which of them each was, and how often it was."""
    _, first, where, counts = np.unique(
        cell_keys(cells, shape), return_index=True, return_inverse=True, return_counts=True
    )
    return cells[first], where.reshape(-1), counts


def cell_keys(cells: Levels, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return something for each cell that sorts as the cell does: its place in the grid, or bytes.

    Places are numbers as long as the grid is not too large for that.
    """
    if not shape:
        return np.zeros(len(cells), dtype=np.intp)
    if prod(shape) < 1 << 62:
        return np.asarray(np.ravel_multi_index(tuple(np.asarray(cells).T), shape))
    kind = np.dtype(">u2" if max(shape) <= 1 << 16 else ">u8")
    rows = np.ascontiguousarray(cells, dtype=kind)
    return rows.view(f"V{kind.itemsize * len(shape)}").reshape(len(cells))


def cells_at(flat: NDArray[np.intp], shape: tuple[int, ...]) -> Levels:
    """Return the cells at these places of a grid."""
    if not shape:
        return np.zeros((len(flat), 0), dtype=np.intp)
    return np.column_stack(np.unravel_index(flat, shape))


@dataclass(frozen=True, eq=False)
class GridCells:
    """All cells of a grid; those that do not occur have OUTSIDE for a label, open ones OPEN."""

    axes: tuple[Axis, ...]
    labels: Labels

    @cached_property
    def _all_occur(self) -> bool:
        return not bool((self.labels == OUTSIDE).any())

    @cached_property
    def classes(self) -> int:
        """All classes that there are, as bits."""
        return self.classes_in(tuple(axis.whole for axis in self.axes))

    def classes_in(self, box: Box) -> int:
        """Return the classes in a box, as bits."""
        labels = np.unique(self.labels[_slices(box)]).tolist()
        return sum(1 << place for place in labels if place >= 0)

    def count_in(self, box: Box) -> int:
        """Return how many cells a box has."""
        if self._all_occur:
            return prod(high - low + 1 for low, high in box)
        return int(np.count_nonzero(self.labels[_slices(box)] != OUTSIDE))

    def open_in(self, box: Box) -> int:
        """Return how many cells of a box are open."""
        return int(np.count_nonzero(self.labels[_slices(box)] == OPEN))

    @property
    def open(self) -> int:
        """How many cells are open."""
        return int(np.count_nonzero(self.labels == OPEN))

    @property
    def asked(self) -> Levels:
        """The cells with a label, in rows."""
        flat = np.flatnonzero(self.labels.reshape(-1) >= 0)
        return cells_at(flat, self.labels.shape)

    def at(self, cells: Levels) -> Levels:
        """Return the label of each of some cells."""
        if not self.labels.ndim:
            return np.full(len(cells), int(self.labels), dtype=np.intp)
        labels: Levels = self.labels[tuple(np.asarray(cells).T)].astype(np.intp)
        return labels


@dataclass(frozen=True, eq=False)
class ListedCells:
    """Some cells, of a grid that may be far too large to be written down; open ones have OPEN."""

    axes: tuple[Axis, ...]
    cells: Levels
    labels: Levels

    def inside(self, box: Box) -> NDArray[np.bool_]:
        """Say of each cell whether it lies in a box."""
        return rows_in(self.cells, box, self.axes)

    def classes_in(self, box: Box) -> int:
        """Return the classes in a box, as bits."""
        labels = np.unique(self.labels[self.inside(box)]).tolist()
        return sum(1 << place for place in labels if place >= 0)

    def count_in(self, box: Box) -> int:
        """Return how many cells a box has."""
        return int(np.count_nonzero(self.inside(box)))

    def open_in(self, box: Box) -> int:
        """Return how many cells of a box are open."""
        return int(np.count_nonzero(self.inside(box) & (self.labels == OPEN)))

    @property
    def open(self) -> int:
        """How many cells are open."""
        return int(np.count_nonzero(self.labels == OPEN))

    @property
    def asked(self) -> Levels:
        """The cells with a label, in rows."""
        cells: Levels = self.cells[self.labels >= 0]
        return cells

    def at(self, cells: Levels) -> Levels:
        """Return the label of each of some cells; OPEN where none is listed."""
        if not len(self.cells):
            return np.full(len(cells), OPEN, dtype=np.intp)
        order, keys = self._in_order
        wanted = cell_keys(np.asarray(cells), shape_of(self.axes))
        places = np.maximum(np.searchsorted(keys, wanted, side="right") - 1, 0)
        there = keys[places] == wanted
        return np.where(there, self.labels[order[places]], OPEN).astype(np.intp)

    @cached_property
    def _in_order(self) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """The places of the cells in their order, and their keys."""
        keys = cell_keys(self.cells, shape_of(self.axes))
        order = np.argsort(keys, kind="stable")
        return order, keys[order]

    def grown(self, cell: Sequence[int], place: int, order: Sequence[int]) -> Box:
        """Return a box around a cell, all of its class, that cannot be made wider."""
        others = self.cells[self.labels != place]
        box = [(level, level) for level in cell]
        outside = others != np.asarray(cell)
        misses = outside.sum(axis=1)
        for axis in order:
            # What only this axis keeps out, stays out.
            only = (misses == 1) & outside[:, axis]
            hits = np.zeros(self.axes[axis].size, dtype=np.bool_)
            hits[others[only, axis]] = True
            box[axis] = widest(self.axes[axis], cell[axis], hits.tolist().__getitem__)
            low, high = box[axis]
            now = (others[:, axis] < low) | (others[:, axis] > high)
            misses -= outside[:, axis].astype(misses.dtype) - now
            outside[:, axis] = now
        return tuple(box)


def rows_in(cells: Levels, box: Box, axes: Sequence[Axis]) -> NDArray[np.bool_]:
    """Say of each row of levels whether it lies in a box."""
    rows: NDArray[np.intp] | None = None
    for place, (axis, (low, high)) in enumerate(zip(axes, box, strict=True)):
        if (low, high) == axis.whole:
            continue
        levels = cells[:, place] if rows is None else cells[rows, place]
        kept = np.flatnonzero((levels >= low) & (levels <= high))
        rows = kept if rows is None else rows[kept]
    if rows is None:
        return np.ones(len(cells), dtype=np.bool_)
    inside = np.zeros(len(cells), dtype=np.bool_)
    inside[rows] = True
    return inside


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(low, high + 1) for low, high in box)
