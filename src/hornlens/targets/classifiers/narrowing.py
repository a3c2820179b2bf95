"""Boxes that hold as many rows of a class as can be: from the whole space, cut by cut.

First, cuts leave out all known cells of other classes. Of all cuts, the one is taken that leaves
out most of these for the rows that it loses. No such cell is left then, but the box is seldom
proved. So further cuts lower the plain bound on the lead of other classes, again for as few rows as
can be, until it is below zero: that box is proved. Each box between these two is one that may be
proved, the earlier the better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Axis, Box
from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.plain import PlainBounds
from hornlens.targets.classifiers.bounding.rows import Floats, Places
from hornlens.targets.classifiers.bounding.tables import Tables

BUCKETS = 12
"""On each side of an axis, cuts are sorted by the share of rows they keep into so many halvings."""
SPAN = 1.5
"""How often the rows may be halved by one cut of those that are looked at."""
FREE = 0.002
"""A cut that loses no row counts as one that loses about such a share."""
Weights = NDArray[np.float64]


class Weighed(NamedTuple):
    """Different cells, all of one class or of others than that, and how much each counts."""

    cells: Levels
    weights: Weights

    def within(self, axis: int, low: int, high: int) -> Weighed:
        """Return those with some levels of an axis."""
        levels = self.cells[:, axis]
        inside = (low <= levels) & (levels <= high)
        return Weighed(self.cells[inside], self.weights[inside])


class Path(NamedTuple):
    """Boxes, each within the one before it; `proved` if plain bounds prove the last one."""

    boxes: list[Box]
    proved: bool


class _Options(NamedTuple):
    """Ranges of one axis that a box may be cut to; those of one group lie in one another."""

    axes: Places
    lows: Places
    highs: Places
    groups: Places

    def some(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> _Options:
        return _Options(*(part[rows] for part in self))


class Narrowing:
    """Cuts boxes over some axes."""

    def __init__(self, axes: Sequence[Axis]):
        """Note every range that one cut can come to, and where each axis begins in a line."""
        self._sizes = np.array([axis.size for axis in axes], dtype=np.intp)
        self._begin = np.cumsum(self._sizes) - self._sizes
        lines = [
            (place, low, high, group)
            for place, axis in enumerate(axes)
            for low, high, group in _ranges(axis)
        ]
        axis, lows, highs, groups = np.array(lines, dtype=np.intp).reshape(len(lines), 4).T
        most = int(groups.max(initial=0)) + 1
        self._options = _Options(axis, lows, highs, axis * most + groups)

    def path(
        self, rows: Weighed, others: Levels, leads: Sequence[Tables], tolerance: float
    ) -> Path:
        """Return boxes around some of the rows; there is at least one row in each.

        Args:
            rows: Cells of a class, at least one.
            others: Cells of other classes: all boxes leave them out.
            leads: Tables of by how much each other class leads.
            tolerance: How far below zero the lead has to be.
        """
        low, high = np.zeros_like(self._sizes), self._sizes - 1
        rows = self._parted(rows, Weighed(others, np.ones(len(others))), low, high)
        bounds = PlainBounds(leads, low, high)
        boxes = [_box(low, high)]
        while bounds.bound >= -tolerance:
            options, kept = self._cuts(rows, low, high)
            options, kept = _thinned(options, kept / rows.weights.sum())
            if not len(kept):
                return Path(boxes, False)
            after = bounds.narrowed(options.axes, options.lows, options.highs)
            gain = bounds.bound - np.maximum(after, -tolerance)
            if gain.max() <= 0:  # the best leaves stay the best: a smaller box, at least
                gain = np.log((high - low + 1)[options.axes] / (options.highs - options.lows + 1))
            best = int((gain / (FREE - np.log(kept))).argmax())
            axis, first, last = (int(part[best]) for part in options[:3])
            low[axis], high[axis] = first, last
            bounds.narrow(axis, first, last, float(after[best]))
            rows = rows.within(axis, first, last)
            boxes.append(_box(low, high))
        return Path(boxes, True)

    def _parted(self, rows: Weighed, others: Weighed, low: Levels, high: Levels) -> Weighed:
        """Narrow a box until none of the others is in it; return the rows that are.

        Some may stay in it: where a model says more than one class of a cell.
        """
        while len(others.cells):
            options, kept = self._cuts(rows, low, high)
            if not len(kept):
                break
            left = self._counts(others, options)
            total, before = rows.weights.sum(), others.weights.sum()
            gain = np.log(before + 0.5) - np.log(left + 0.5)
            best = int((gain / (FREE - np.log(kept / total))).argmax())
            axis, first, last = (int(part[best]) for part in options[:3])
            low[axis], high[axis] = first, last
            rows, others = rows.within(axis, first, last), others.within(axis, first, last)
        return rows

    def _cuts(self, rows: Weighed, low: Levels, high: Levels) -> tuple[_Options, Floats]:
        """Return the ranges that make a box narrower and keep some rows, with how much they keep.

        A row that lies in the box, but for which the range of an axis has no name, is none.
        """
        every = self._options
        lows = np.maximum(every.lows, low[every.axes])
        highs = np.minimum(every.highs, high[every.axes])
        narrower = (lows > low[every.axes]) | (highs < high[every.axes])
        options = _Options(every.axes, lows, highs, every.groups).some((lows <= highs) & narrower)
        kept = self._counts(rows, options)
        some = kept > 0
        return options.some(some), kept[some]

    def _counts(self, cells: Weighed, options: _Options) -> Floats:
        """Return how much the cells in each of some ranges count."""
        line = (cells.cells + self._begin).ravel()
        weights = np.repeat(cells.weights, len(self._sizes))
        counts = np.bincount(line, weights, int(self._sizes.sum()))
        before = np.concatenate([[0.0], np.cumsum(counts)])
        begin = self._begin[options.axes]
        kept = before[begin + options.highs + 1] - before[begin + options.lows]
        return np.asarray(np.where(kept > SMALL, kept, 0.0))


SMALL = 1e-6
"""Sums of weights below this are none: they are off by rounding."""


def _ranges(axis: Axis) -> list[tuple[int, int, int]]:
    """Return the ranges that cuts come to, with the group of each.

    Those of numbers begin at the lowest one, or end at the highest; others stand for themselves.
    """
    if not axis.is_ranged:
        return [(*span, group) for group, span in enumerate(axis.ranges) if span != axis.whole]
    ranges = [(0, last, 0) for last in range(axis.known)]
    ranges += [(first, axis.known - 1, 1) for first in range(1, axis.known)]
    ranges += [(level, level, 2) for level in range(axis.known, axis.size)]
    return [one for one in ranges if one[:2] != axis.whole]


def _thinned(options: _Options, kept: Floats) -> tuple[_Options, Floats]:
    """Return fewer ranges, with the share of the rows that they keep.

    In each group, they keep clearly more or fewer rows. Of those that keep nearly as many, the
    narrowest is taken; but of those that lose most, the widest.
    """
    bucket = np.ceil(-np.log2(kept) * BUCKETS / SPAN - SMALL).astype(np.intp)
    last = bucket >= BUCKETS
    width = options.highs - options.lows
    order = np.lexsort((np.where(last, -width, width), np.minimum(bucket, BUCKETS), options.groups))
    key = options.groups[order] * (BUCKETS + 1) + np.minimum(bucket, BUCKETS)[order]
    _, first = np.unique(key, return_index=True)
    return options.some(order[first]), kept[order[first]]


def _box(low: Levels, high: Levels) -> Box:
    return tuple(zip(low.tolist(), high.tolist(), strict=True))
