"""Which cells of a box occur: those that lie in at most so many of some forbidden boxes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels

Flags = NDArray[np.bool_]
DRAWN = 32
"""So many random cells of a box are tried before it is split."""
HARD = 20_000
"""After so many boxes, the search for a cell that occurs is given up."""


class TooHard(Exception):
    """No cell of a box was found that occurs, and it was not shown that there is none."""


class Occurrences(ABC):
    """Which cells of a box occur, or which pairs of them, as boxes with one axis more."""

    @property
    @abstractmethod
    def asked(self) -> Flags:
        """On which axes it depends whether a cell occurs."""

    @abstractmethod
    def possible(self, lows: Levels, highs: Levels) -> Flags:
        """Say of boxes whether they may have a cell that occurs."""

    @abstractmethod
    def excess(self, cells: Levels) -> NDArray[np.intp]:
        """Return how far cells are from one that occurs: 0 if they do."""

    @abstractmethod
    def cut_in(self, low: Levels, high: Levels) -> tuple[int, int] | None:
        """Return an axis and a level after which to cut a box; None if all its cells are alike."""

    def drawn(self, low: Levels, high: Levels, rng: np.random.Generator) -> Levels:
        """Return random cells of a box."""
        return rng.integers(low, high + 1, (DRAWN, len(low)))

    def cell_in(
        self, low: Levels, high: Levels, check: Callable[[], object] = lambda: None
    ) -> Levels | None:
        """Return a cell of a box that occurs; None if there is none.

        Raise TooHard if that cannot be said within HARD boxes.
        """
        stack, rng = [(low, high)], np.random.default_rng(0)
        for _ in range(HARD):
            if not stack:
                return None
            check()
            low, high = stack.pop()
            if not self.possible(low[None], high[None])[0]:
                continue
            cells = self.drawn(low, high, rng)
            occur = np.flatnonzero(self.excess(cells) == 0)
            if len(occur):
                return np.asarray(cells[occur[0]], dtype=np.intp)
            cut = self.cut_in(low, high)
            assert cut is not None
            axis, level = cut
            stack += [
                (low, _with_level(high, axis, level)),
                (_with_level(low, axis, level + 1), high),
            ]
        raise TooHard


class Occurrence(Occurrences):
    """Cells that lie in at most `most` of some boxes of sets of levels, each as bits."""

    def __init__(self, boxes: Sequence[Sequence[int]], sizes: Sequence[int], most: int = 0):
        """Read the boxes: what each asks of an axis is one condition."""
        axes: list[int] = []
        masks: list[int] = []
        starts: list[int] = []
        always = 0
        full = [(1 << size) - 1 for size in sizes]
        for box in boxes:
            if not all(box):
                continue
            asked = [axis for axis, mask in enumerate(box) if mask != full[axis]]
            if not asked:
                always += 1
                continue
            starts.append(len(axes))
            axes += asked
            masks += [box[axis] for axis in asked]
        self.most = most - always
        self._axis = np.array(axes, dtype=np.intp)
        self._starts = np.array(starts, dtype=np.intp)
        longest = max(sizes, default=0)
        inside = np.zeros((len(axes), longest), dtype=np.bool_)
        for row, (axis, mask) in enumerate(zip(axes, masks, strict=True)):
            text = np.frombuffer(mask.to_bytes((sizes[axis] + 7) // 8, "little"), np.uint8)
            inside[row, : sizes[axis]] = np.unpackbits(text, bitorder="little")[: sizes[axis]]
        self._inside = inside
        self._before = np.zeros((len(axes), longest + 1), dtype=np.int32)
        np.cumsum(inside, axis=1, out=self._before[:, 1:])
        self._every = np.arange(len(axes))
        many = np.diff(np.append(self._starts, len(axes)))
        self._box, self._sizes = np.repeat(np.arange(len(starts)), many), sizes

    @cached_property
    def asked(self) -> Flags:
        """On which axes it depends whether a cell occurs."""
        asked = np.zeros(len(self._sizes), dtype=np.bool_)
        asked[self._axis] = True
        return asked

    @property
    def _is_all(self) -> bool:
        """Whether every cell occurs."""
        return self.most >= len(self._starts)

    def excess(self, cells: Levels) -> NDArray[np.intp]:
        """Return how many of the boxes less would have to have each cell, for it to occur."""
        if self._is_all:
            return np.zeros(len(cells), dtype=np.intp)
        broken = np.zeros(len(cells), dtype=np.intp)
        if len(self._starts):
            inside = self._inside[self._every, cells[:, self._axis]]
            broken = np.logical_and.reduceat(inside, self._starts, axis=1).sum(axis=1)
        return np.maximum(broken - self.most, 0)

    def occur(self, cells: Levels) -> Flags:
        """Say of each cell whether it occurs."""
        return np.asarray(self.excess(cells) == 0)

    def possible(self, lows: Levels, highs: Levels) -> Flags:
        """Say of boxes whether they may have a cell that occurs."""
        if self._is_all:
            return np.ones(len(lows), dtype=np.bool_)
        within = np.zeros(len(lows), dtype=np.intp)
        if len(self._starts):
            whole, _ = self._overlaps(lows, highs)
            within = np.logical_and.reduceat(whole, self._starts, axis=1).sum(axis=1)
        return np.asarray(within <= self.most)

    def _overlaps(self, lows: Levels, highs: Levels) -> tuple[Flags, Flags]:
        """Say of each box and condition whether all, and whether some of its levels meet it."""
        low, high = lows[:, self._axis], highs[:, self._axis] + 1
        common = self._before[self._every, high] - self._before[self._every, low]
        return common == high - low, common > 0

    def met_by(self, cell: Levels) -> Flags:
        """Say for each of the boxes on which axes it has the level of a cell."""
        met = np.ones((len(self._starts), len(self.asked)), dtype=np.bool_)
        met[self._box, self._axis] = self._inside[self._every, cell[self._axis]]
        return met

    def levels_of(self, boxes: NDArray[np.intp], axis: int) -> Flags:
        """Say for some of the boxes which levels of an axis they have."""
        levels = np.ones((len(self._starts), self._sizes[axis]), dtype=np.bool_)
        asked = np.flatnonzero(self._axis == axis)
        levels[self._box[asked]] = self._inside[asked, : self._sizes[axis]]
        return np.asarray(levels[boxes])

    def drawn(self, low: Levels, high: Levels, rng: np.random.Generator) -> Levels:
        """Return random cells of a box; its first one is enough where every cell occurs."""
        return low[None] if self._is_all else super().drawn(low, high, rng)

    def cut_in(self, low: Levels, high: Levels) -> tuple[int, int] | None:
        """Return an axis and a level after which to cut a box, which some of the boxes part."""
        if not len(self._starts):
            return None
        whole, some = (flags[0] for flags in self._overlaps(low[None], high[None]))
        meeting = np.logical_and.reduceat(some, self._starts)
        parted = np.add.reduceat(~whole, self._starts, dtype=np.intp)
        can = meeting & (parted > 0)
        if not can.any():
            return None
        nearest = int(np.where(can, parted, len(whole) + 1).argmin())
        ends = np.append(self._starts[1:], len(self._axis))
        own = slice(int(self._starts[nearest]), int(ends[nearest]))
        condition = own.start + int(np.flatnonzero(~whole[own])[0])
        axis = int(self._axis[condition])
        inside = self._inside[condition, low[axis] : high[axis] + 1]
        return axis, int(low[axis]) + int(np.flatnonzero(inside[1:] != inside[:-1])[0])


def _with_level(ends: Levels, axis: int, level: int) -> Levels:
    """Return ends of a box, with another one on an axis."""
    changed = ends.copy()
    changed[axis] = level
    return changed
