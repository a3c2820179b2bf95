"""Branch and bound in networks: see `search`. What is known of a box is its levels.

A box is cut in the middle of an axis: of a few that move units around 0, the one is taken whose
halves lose most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hornlens.exact.boxes.cells import Levels
from hornlens.exact.networks.network import Network
from hornlens.exact.networks.relaxing import Relaxation, cells_of_most, ranges, slack
from hornlens.targets.classifiers.bounding.climbing import heights_of
from hornlens.targets.classifiers.bounding.rows import Flags, Floats, Words
from hornlens.targets.classifiers.bounding.search import SMALL, BoxSearch
from hornlens.targets.classifiers.bounding.stacks import Intervals

CANDIDATES = 8
"""On so many axes cuts of a box are tried."""
LINEAR = 1e-3
"""How much an axis counts that moves a line, beside one that moves a unit around 0."""
WORK = 1 << 22
"""About so many numbers are worked on together."""


class NetworkTables:
    """Sums of a network over boxes of cells; the words of a box are its levels."""

    def __init__(self, network: Network, unit: float):
        """Note how far rounding may move sums, if `unit` is the error of the model's operations."""
        self.network, self.sizes, self.sums = network, network.sizes, network.sums
        self.full: Words = np.zeros(2 * len(self.sizes), dtype=np.uint64)
        self.asked: Flags = self.sizes > 1
        whole = np.zeros((1, len(self.sizes)), dtype=np.intp), (self.sizes - 1)[None]
        self.tolerance = float(slack(network, *whole, unit)[0]) + 16 * unit
        self.bytes = sum(each.numbers.nbytes for each in network.inputs)

    def reach(self, lows: Levels, highs: Levels) -> Words:
        """Return what is known of boxes."""
        return np.concatenate([lows, highs], axis=1).astype(np.uint64)

    def bounds(self, reached: Words) -> Floats:
        """Return the most that each sum can be in each box."""
        lows, highs = np.split(reached.astype(np.intp), 2, axis=1)
        return self.most(lows, highs)

    def most(self, lows: Levels, highs: Levels) -> Floats:
        """Return the most that each sum can be in each box, some boxes at a time."""
        units = max(map(len, self.network.biases))
        step = max(1, WORK // units**2)
        parts = [
            Relaxation(self.network, lows[start : start + step], highs[start : start + step])
            for start in range(0, len(lows), step)
        ]
        return np.concatenate([np.zeros((0, self.sums)), *(part.most().most for part in parts)])

    def sums_at(self, cells: Levels) -> Floats:
        """Return the sums of cells."""
        return self.network.at(cells)

    def changes(self, cell: Levels, axes: Levels) -> Callable[[Levels, Levels], Floats]:
        """Return what says the sums of a cell if one of its levels changes."""

        def sums(places: Levels, levels: Levels) -> Floats:
            cells = np.repeat(cell[None], len(levels), axis=0)
            cells[np.arange(len(levels)), axes[places]] = levels
            return self.sums_at(cells)

        return sums


@dataclass(eq=False)
class NetworkSearch(BoxSearch):
    """Sums of a network."""

    tables: NetworkTables

    def _look(self, boxes: Intervals, reached: Words, bounds: Floats) -> None:
        """Settle boxes, or cut them in two; the cell where a line is highest is looked at."""
        tables = self.tables
        np.add.at(self._looked, boxes.of, 1)
        relaxed = Relaxation(tables.network, boxes.lows, boxes.highs)
        sure = np.all(relaxed.least() > self.tolerance, axis=1)
        single = np.all(boxes.lows == boxes.highs, axis=1)
        for row in np.flatnonzero(sure | single).tolist():
            self._settle(boxes, row, bounds[row], bool(sure[row]))
        most, every = relaxed.most(), np.arange(len(boxes.of))
        by = most.by[every, most.most.argmin(axis=1)]
        cells = cells_of_most(tables.network, by, boxes.lows, boxes.highs)
        high = heights_of(self, cells, tables.sums_at(cells)) > self.tolerance
        high &= self._status[boxes.of] == 0
        self._note(boxes.of[high], cells[high])
        split = np.flatnonzero(~(sure | single) & (self._status[boxes.of] == 0))
        if len(split):
            self._push(*self._best_halves(boxes.some(split), bounds[split], by[split]))

    def _best_halves(
        self, boxes: Intervals, bounds: Floats, by: Floats
    ) -> tuple[Intervals, Words, Floats]:
        """Return the halves of each box, cut in the middle of the axis that takes most."""
        tables = self.tables
        row, axis = self._tried(boxes, by)
        lows, highs, every = boxes.lows[row], boxes.highs[row], np.arange(len(row))
        cut = (lows[every, axis] + highs[every, axis]) // 2
        ends, begins = highs.copy(), lows.copy()
        ends[every, axis], begins[every, axis] = cut, cut + 1
        low_bounds, high_bounds = tables.most(lows, ends), tables.most(begins, highs)
        slack = bounds[row] + self.tolerance + SMALL
        left = np.clip((low_bounds + self.tolerance) / slack, 0, 1).min(axis=1)
        right = np.clip((high_bounds + self.tolerance) / slack, 0, 1).min(axis=1)
        merit = (1 - left + SMALL) * (1 - right + SMALL)
        order = np.lexsort((-merit, row))
        first = order[np.append(True, row[order][1:] != row[order][:-1])]
        lows, highs = (
            np.concatenate(pair)
            for pair in ((lows[first], begins[first]), (ends[first], highs[first]))
        )
        halves = Intervals(lows, highs, np.concatenate([boxes.of, boxes.of]))
        return (
            halves,
            tables.reach(lows, highs),
            np.concatenate([low_bounds[first], high_bounds[first]]),
        )

    def _tried(self, boxes: Intervals, by: Floats) -> tuple[Levels, Levels]:
        """Return axes on which cuts of boxes are tried: those that move units around 0 most."""
        network = self.tables.network
        least, most = ranges(network, boxes.lows, boxes.highs)
        spread = most - least
        low, high = network.first + least.sum(axis=1), network.first + most.sum(axis=1)
        crossing = (low < 0) & (high > 0)
        gap = np.where(crossing, -low * high / np.where(crossing, high - low, 1.0), 0.0)
        if network.layers:
            gap *= np.abs(network.layers[0].weights).sum(axis=1)
        share = spread / np.maximum(spread.sum(axis=1), SMALL)[:, None]
        influence = (share * gap[:, None]).sum(axis=2)
        influence += LINEAR * (spread * np.abs(by)[:, None]).sum(axis=2)
        wide = boxes.lows < boxes.highs
        influence = np.where(wide, influence, -1.0)
        many = min(CANDIDATES, influence.shape[1])
        top = np.argpartition(-influence, many - 1, axis=1)[:, :many]
        row = np.repeat(np.arange(len(top)), many).reshape(top.shape)
        valid = np.take_along_axis(wide, top, 1)
        return row[valid], top[valid]
