"""Boxes that wait: those with the best bound come first, as long as they are few."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.rows import Floats, Words

ROOM = 1 << 25
"""If those that wait take more bytes than this, the last ones come first: that takes least."""


class Intervals(NamedTuple):
    """Boxes as intervals of levels on each axis, and the query that each is part of."""

    lows: Levels
    highs: Levels
    of: Levels

    def some(self, rows: Any) -> Intervals:
        """Return some of the boxes."""
        return Intervals(self.lows[rows], self.highs[rows], self.of[rows])


class Stack:
    """Boxes that wait, with the leaves that they reach and the bounds of their sums."""

    def __init__(self, axes: int, words: int, sums: int):
        """Begin with none."""
        self.size = 0
        self._parts: list[Any] = [
            np.zeros((64, axes), dtype=np.int32),
            np.zeros((64, axes), dtype=np.int32),
            np.zeros(64, dtype=np.intp),
            np.zeros((64, words), dtype=np.uint64),
            np.zeros((64, sums)),
        ]
        self._few = max(256, ROOM // (8 * max(1, words + axes)))

    @property
    def waiting(self) -> Intervals:
        """All boxes that wait."""
        lows, highs, of = (part[: self.size] for part in self._parts[:3])
        return Intervals(lows, highs, of)

    @property
    def keys(self) -> Floats:
        """The least of the bounds of each box that waits."""
        return np.asarray(self._parts[4][: self.size].min(axis=1, initial=np.inf))

    def push(self, boxes: Intervals, reached: Words, bounds: Floats) -> None:
        """Add boxes."""
        end = self.size + len(boxes.of)
        if end > len(self._parts[2]):
            room = max(end, 2 * len(self._parts[2]))
            self._parts = [
                np.concatenate([part, np.zeros((room - len(part), *part.shape[1:]), part.dtype)])
                for part in self._parts
            ]
        order = np.argsort(bounds.min(axis=1, initial=np.inf), kind="stable")
        for part, new in zip(self._parts, (*boxes, reached, bounds), strict=True):
            part[self.size : end] = new[order]
        self.size = end

    def take(self, count: int) -> tuple[Intervals, Words, Floats]:
        """Take so many boxes off: the best ones, or the last ones if many wait."""
        count = min(count, self.size)
        if self.size <= self._few and count < self.size:
            keys = self.keys
            rows = np.argpartition(keys, self.size - count)[self.size - count :]
            rows = rows[np.argsort(keys[rows], kind="stable")]
        else:
            rows = np.arange(self.size - count, self.size)
        lows, highs, of, reached, bounds = (part[rows] for part in self._parts)
        left = self.size - count
        holes = rows[rows < left]
        kept = np.setdiff1d(np.arange(left, self.size), rows, assume_unique=True)
        for part in self._parts:
            part[holes] = part[kept]
        self.size = left
        boxes = Intervals(lows.astype(np.intp), highs.astype(np.intp), of)
        return boxes, reached, bounds
