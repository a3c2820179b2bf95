"""Branch and bound in ensembles of trees: see `search`.

A box is cut where one of the best leaves of the trees that leave most open begins or ends. Of all
such cuts, the one is taken whose halves lose most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.rows import Floats, Words
from hornlens.targets.classifiers.bounding.search import SMALL, BoxSearch
from hornlens.targets.classifiers.bounding.stacks import Intervals
from hornlens.targets.classifiers.bounding.tables import Tables

TREES = 6
"""So many trees propose cuts of a box."""


@dataclass(eq=False)
class TreeSearch(BoxSearch):
    """Sums of trees."""

    tables: Tables

    def _look(self, boxes: Intervals, reached: Words, bounds: Floats) -> None:
        """Settle boxes, or cut them in two."""
        tables = self.tables
        np.add.at(self._looked, boxes.of, 1)
        best, worst = tables.best(reached), tables.worst(reached)
        most, least = tables.added(best), tables.added(worst)
        sure = np.all(tables.summed(least) > self.tolerance, axis=1)
        single = np.all(best == worst, axis=1)
        for row in np.flatnonzero(sure | single).tolist():
            self._settle(boxes, row, bounds[row], bool(sure[row]))
        split = np.flatnonzero(~(sure | single) & (self._status[boxes.of] == 0))
        if not len(split):
            return
        boxes, reached, bounds = boxes.some(split), reached[split], bounds[split]
        spread = np.where(best == worst, -1.0, most - least)[split]
        slack = bounds + self.tolerance + SMALL
        spread /= np.where(spread > 0, slack[:, tables.sum_of], 1.0)
        halves, parts, values = self._halves(boxes, reached, bounds, best[split], spread)
        self._push(halves, parts, values)

    # --- cuts ---

    def _halves(
        self, boxes: Intervals, reached: Words, bounds: Floats, best: Levels, spread: Floats
    ) -> tuple[Intervals, Words, Floats]:
        """Return the halves of each box, cut where that takes most from the bounds."""
        tables = self.tables
        count = len(boxes.of)
        row, axis, cut = self._cuts(boxes, best, spread)
        lows, highs = boxes.lows[row, axis], boxes.highs[row, axis]
        below, above = tables.parted(axis, lows, cut, highs)
        added = tables.added(best)
        slack = bounds[row] + self.tolerance + SMALL
        left, right = (
            np.clip(1 - tables.falls(reached, row, half, added) / slack, 0, None).min(axis=1)
            for half in (below, above)
        )
        merit = (1 - left + SMALL) * (1 - right + SMALL)
        order = np.lexsort((-merit, row))
        first = order[np.append(True, row[order][1:] != row[order][:-1])]
        assert len(first) == count
        axis, cut, every = axis[first], cut[first], np.arange(count)
        lows_above, highs_below = boxes.lows.copy(), boxes.highs.copy()
        highs_below[every, axis], lows_above[every, axis] = cut, cut + 1
        halves = Intervals(
            np.concatenate([boxes.lows, lows_above]),
            np.concatenate([highs_below, boxes.highs]),
            np.concatenate([boxes.of, boxes.of]),
        )
        words = np.concatenate([reached & below[first], reached & above[first]])
        return halves, words, tables.bounds(words)

    def _cuts(
        self, boxes: Intervals, best: Levels, spread: Floats
    ) -> tuple[Levels, Levels, Levels]:
        """Return cuts of boxes that the trees propose that leave most open: rows, axes, levels."""
        count, trees = spread.shape
        most = min(TREES, trees)
        top = np.argpartition(-spread, most - 1, axis=1)[:, :most]
        leaves = np.take_along_axis(best, top, 1)
        axes, levels = self.tables.cuts_of(top.ravel(), leaves.ravel())
        row = np.repeat(np.arange(count), most)[:, None].repeat(axes.shape[1], axis=1)
        is_open = np.take_along_axis(spread, top, 1).ravel() >= 0
        valid = (axes >= 0) & is_open[:, None]
        valid &= (boxes.lows[row, axes] <= levels) & (levels < boxes.highs[row, axes])
        row, axis, cut = row[valid], axes[valid].astype(np.intp), levels[valid].astype(np.intp)
        key = (row * boxes.lows.shape[1] + axis) * int(self.tables.sizes.max(initial=1)) + cut
        _, first = np.unique(key, return_index=True)
        return row[first], axis[first], cut[first]
