"""A first look for a cell: random ones, and from the best of them uphill, one axis at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.stacks import Intervals
from hornlens.targets.classifiers.bounding.tables import Floats

if TYPE_CHECKING:
    from hornlens.targets.classifiers.bounding.search import BoxSearch

DRAWN = 8
"""So many random cells of each box are looked at first."""
STARTS = 64
"""So many random cells of one box are looked at; the best ones are climbed from."""
CLIMBS = 2
ROUNDS = 6
TOGETHER = 4_096
"""So many cells are looked at together."""


def drawn_cells(
    search: BoxSearch, boxes: Intervals, rng: np.random.Generator
) -> tuple[Levels, NDArray[np.bool_]]:
    """Return for each box a random cell, and whether it is surely as wanted."""
    lows, highs, _ = boxes
    cells = lows.astype(np.intp)
    sure = np.zeros(len(lows), dtype=np.bool_)
    for _ in range(DRAWN):
        for start in range(0, len(lows), TOGETHER):
            search.check()
            rows = start + np.flatnonzero(~sure[start : start + TOGETHER])
            if not len(rows):
                continue
            drawn = rng.integers(lows[rows], highs[rows] + 1)
            wanted = _heights(search, drawn, search.tables.sums_at(drawn)) > search.tolerance
            cells[rows[wanted]] = drawn[wanted]
            sure[rows] = wanted
    return cells, sure


def climb(search: BoxSearch, low: Levels, high: Levels, rng: np.random.Generator) -> Levels | None:
    """Return a cell of a box that is surely as wanted, if climbing comes to one."""
    cells: Levels = rng.integers(low, high + 1, (STARTS, len(low)))
    heights = _heights(search, cells, search.tables.sums_at(cells))
    for start in np.argsort(-heights, kind="stable")[:CLIMBS].tolist():
        cell, height = cells[start], float(heights[start])
        if height > search.tolerance:
            return np.asarray(cell)
        for _ in range(ROUNDS):
            before = height
            cell, height = _round(search, cell, height, low, high, rng)
            if height > search.tolerance:
                return cell
            if height <= before:
                break
    return None


def _heights(search: BoxSearch, cells: Levels, sums: Floats) -> Floats:
    """Return how high cells are: the least of their sums, less a lot for what does not occur."""
    heights = sums.min(axis=1, initial=np.finfo(np.float64).max)
    excess = search.occurring.excess(cells)
    return np.asarray(np.where(excess > 0, np.tanh(heights) - 1e12 * excess, heights))


def _round(
    search: BoxSearch,
    cell: Levels,
    height: float,
    low: Levels,
    high: Levels,
    rng: np.random.Generator,
) -> tuple[Levels, float]:
    """AxisChange one axis after the other to its best level; stop if the cell is as wanted."""
    tables = search.tables
    is_free = (low < high) & (tables.asked | search.occurring.asked)
    order = rng.permutation(np.flatnonzero(is_free))
    fixed = np.where(is_free, 0, cell), np.where(is_free, tables.sizes - 1, cell)
    rest = tables.reach(fixed[0][None], fixed[1][None])[0]
    own = tables.meeting(order, cell[order], cell[order])
    behind = np.bitwise_and.accumulate(own[::-1], axis=0)[::-1]
    for place, axis in enumerate(order.tolist()):
        levels = np.arange(low[axis], high[axis] + 1)
        reached = tables.meeting(np.full(len(levels), axis), levels, levels)
        reached &= rest & behind[place + 1] if place + 1 < len(order) else rest
        cells = np.repeat(cell[None], len(levels), axis=0)
        cells[:, axis] = levels
        heights = _heights(search, cells, tables.bounds(reached))
        top = int(heights.argmax())
        if heights[top] > height:
            height, cell = float(heights[top]), cells[top]
        rest = rest & tables.meeting(np.array([axis]), cell[[axis]], cell[[axis]])[0]
        if height > search.tolerance:
            break
    return cell, height
