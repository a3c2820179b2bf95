"""Pairs of cells that differ on one axis only, as boxes with one axis more.

The last axis is the level of the second cell on the axis that changes; all others are shared. So
what holds of both cells are sums over the same boxes, and the search for one cell finds pairs.

A sum more is by how much the change lowers the lead of a class. A tree that does not ask about the
axis adds nothing to it: few trees decide, and where none of them helps, no pair is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.occurring import Occurrence, Occurrences
from hornlens.targets.classifiers.bounding.rows import Flags, Floats, Places
from hornlens.targets.classifiers.bounding.tables import Sum

HELPS = 1e-300
"""What stands for a change that may help, however little."""
BLOCKED = 1_000_000
"""How far a pair is from one that counts if its levels may not change that way."""


@dataclass(frozen=True)
class AxisChange:
    """A change of one of so many axes, which has `size` levels, the first `known` not missing.

    `up`: to a higher known level; False: to a lower one; None: to any other. `steps`: only to the
    next level, which is enough if each level between two occurs.
    """

    axis: int
    axes: int
    size: int
    known: int
    up: bool | None
    steps: bool

    @cached_property
    def can(self) -> Flags:
        """Say which levels may change to which."""
        level = np.arange(self.size)
        before, after = level[:, None], level[None, :]
        can = before != after
        if self.steps:
            can = np.abs(before - after) == 1
        if self.up is not None:
            can &= (before < self.known) & (after < self.known)
            can &= before < after if self.up else before > after
        return np.asarray(can)

    @cached_property
    def _before(self) -> NDArray[np.int32]:
        """How many such changes there are among the first levels of both."""
        sums = np.zeros((self.size + 1, self.size + 1), dtype=np.int32)
        sums[1:, 1:] = self.can.cumsum(axis=0).cumsum(axis=1)
        return sums

    def possible(self, lows: Levels, highs: Levels) -> Flags:
        """Say of boxes of pairs whether the axis can change that way in them."""
        sums, here, there = self._before, self.axis, self.axes
        low, high = lows[:, here], highs[:, here] + 1
        first, last = lows[:, there], highs[:, there] + 1
        many = sums[high, last] - sums[low, last] - sums[high, first] + sums[low, first]
        return np.asarray(many > 0)

    def first(self, low: Levels, high: Levels) -> tuple[int, int]:
        """Return the first change in a box of pairs."""
        here, there = int(low[self.axis]), int(low[self.axes])
        part = self.can[here : int(high[self.axis]) + 1, there : int(high[self.axes]) + 1]
        one, other = np.argwhere(part)[0].tolist()
        return here + one, there + other

    def ends(self, pairs: Levels) -> tuple[Levels, Levels]:
        """Return the two cells of each pair, or the boxes of cells of each box of pairs."""
        first = pairs[:, : self.axes]
        second = first.copy()
        second[:, self.axis] = pairs[:, self.axes]
        return first, second

    # --- sums ---

    def of_first(self, one: Sum) -> Sum:
        """Return a sum of the first cell of a pair."""
        return one._replace(levels=lambda axis: None if axis == self.axes else one.levels(axis))

    def of_second(self, one: Sum) -> Sum:
        """Return a sum of the second cell of a pair."""

        def levels(axis: int) -> Flags | None:
            if axis == self.axis:
                return None
            return one.levels(self.axis if axis == self.axes else axis)

        return one._replace(levels=levels)

    def lowered(self, one: Sum, scores: Floats, tolerance: float) -> Sum:
        """Return half of how much the change lowers a lead, which its leaves' `scores` make.

        Where no tree helps, each adds the very same to both cells, or raises the lead past all
        rounding: then the class is the same, or the lead is clear.
        """
        own = one.levels(self.axis)
        first, second, starts = self._leaf_pairs(one, own)
        values = (one.values[first] - one.values[second]) / 2
        helps = (values >= -tolerance) & (scores[first] != scores[second]).any(axis=1)
        values = np.where(helps, np.maximum(values, HELPS), values)
        inside = None if own is None else (own[first], own[second])

        def levels(axis: int) -> Flags | None:
            if axis in (self.axis, self.axes):
                return None if inside is None else inside[int(axis == self.axes)]
            shared = one.levels(axis)
            return None if shared is None else shared[first] & shared[second]

        return Sum(values, starts, levels, helping=True)

    def _leaf_pairs(self, one: Sum, own: Flags | None) -> tuple[Places, Places, Places]:
        """Return the leaves that a pair of cells can reach together, and where a tree's begin."""
        joined = [] if own is None else [(own, self.can)]
        for axis in range(self.axes):
            shared = None if axis == self.axis else one.levels(axis)
            if shared is not None:
                joined.append((shared, np.eye(shared.shape[1], dtype=np.bool_)))
        firsts: list[Places] = []
        seconds: list[Places] = []
        ends = np.append(one.starts[1:], len(one.values))
        for start, end in zip(one.starts.tolist(), ends.tolist(), strict=True):
            first = second = np.array([start])  # if it does not ask, it adds nothing
            if own is not None and not own[start:end].all():
                meet = np.ones((end - start, end - start), dtype=np.bool_)
                for inside, can in joined:
                    levels = inside[start:end].astype(np.float32)
                    if not levels.all():
                        meet &= (levels @ can.astype(np.float32) @ levels.T) > 0
                first, second = (start + part for part in np.nonzero(meet))
            firsts.append(first)
            seconds.append(second)
        many = np.array([len(part) for part in firsts], dtype=np.intp)
        return np.concatenate(firsts), np.concatenate(seconds), np.cumsum(many) - many


@dataclass(frozen=True, eq=False)
class PairOccurrence(Occurrences):
    """Pairs that count: both cells occur, and the axis changes as it should."""

    change: AxisChange
    cells: Occurrence

    @cached_property
    def asked(self) -> Flags:
        """On which axes it depends whether a pair counts."""
        asked = np.append(self.cells.asked, True)
        asked[self.change.axis] = True
        return asked

    def possible(self, lows: Levels, highs: Levels) -> Flags:
        """Say of boxes whether they may have a pair that counts."""
        possible = self.change.possible(lows, highs)
        ends = zip(self.change.ends(lows), self.change.ends(highs), strict=True)
        for low, high in ends:
            possible &= self.cells.possible(low, high)
        return possible

    def excess(self, pairs: Levels) -> NDArray[np.intp]:
        """Return how far pairs are from one that counts: 0 if they do."""
        first, second = self.change.ends(pairs)
        can = self.change.can[first[:, self.change.axis], second[:, self.change.axis]]
        return np.where(can, 0, BLOCKED) + self.cells.excess(first) + self.cells.excess(second)

    def drawn(self, low: Levels, high: Levels, rng: np.random.Generator) -> Levels:
        """Return random pairs of a box, all with the first change in it."""
        pairs = super().drawn(low, high, rng)
        pairs[:, [self.change.axis, self.change.axes]] = self.change.first(low, high)
        return pairs

    def cut_in(self, low: Levels, high: Levels) -> tuple[int, int]:
        """Return where to cut a box: where what occurs changes, or in the midst of a change."""
        for end, own in enumerate(
            zip(self.change.ends(low[None]), self.change.ends(high[None]), strict=True)
        ):
            if (cut := self.cells.cut_in(own[0][0], own[1][0])) is not None:
                axis = cut[0]
                return (self.change.axes if end and axis == self.change.axis else axis), cut[1]
        wide = max(
            (self.change.axis, self.change.axes), key=lambda axis: int(high[axis] - low[axis])
        )
        return wide, int(low[wide] + high[wide]) // 2
