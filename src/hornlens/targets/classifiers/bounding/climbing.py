"""A first look for a cell: random ones, and from the best of them uphill, one axis at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.rows import Floats
from hornlens.targets.classifiers.bounding.stacks import Intervals

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
WORK = 1 << 22
"""About so many words are looked at together."""


def drawn_cells(
    search: BoxSearch, boxes: Intervals, rng: np.random.Generator
) -> tuple[Levels, NDArray[np.bool_]]:
    """Return for each box a random cell, and whether it is surely as wanted."""
    lows, highs, _ = boxes
    cells = lows.astype(np.intp)
    sure = np.zeros(len(lows), dtype=np.bool_)
    step = max(1, TOGETHER // DRAWN)
    for start in range(0, len(lows), step):
        search.check()
        rows = np.arange(start, min(start + step, len(lows)))
        drawn = rng.integers(lows[rows], highs[rows] + 1, (DRAWN, len(rows), lows.shape[1]))
        flat: Levels = drawn.reshape(-1, lows.shape[1])
        heights = heights_of(search, flat, search.tables.sums_at(flat)).reshape(DRAWN, len(rows))
        best = heights.argmax(axis=0)
        cells[rows] = drawn[best, np.arange(len(rows))]
        sure[rows] = heights.max(axis=0) > search.tolerance
    return cells, sure


def climb(
    search: BoxSearch, cell: Levels, low: Levels, high: Levels, rng: np.random.Generator
) -> Levels | None:
    """Return a cell of a box that is surely as wanted, if climbing from some comes to one."""
    height = float(heights_of(search, cell[None], search.tables.sums_at(cell[None]))[0])
    cell, height = _uphill(search, cell, height, (low, high), search.tolerance)
    if height > search.tolerance:
        return cell
    cells: Levels = rng.integers(low, high + 1, (STARTS, len(low)))
    heights = heights_of(search, cells, search.tables.sums_at(cells))
    for start in np.argsort(-heights, kind="stable")[:CLIMBS].tolist():
        cell, height = cells[start], float(heights[start])
        cell, height = _uphill(search, cell, height, (low, high), search.tolerance)
        if height > search.tolerance:
            return cell
    return None


def extremes(search: BoxSearch, cells: Levels, count: int, rng: np.random.Generator) -> Levels:
    """Return so many of the highest cells that are surely as wanted, half of them by climbing."""
    if len(cells) > TOGETHER:
        cells = cells[rng.choice(len(cells), TOGETHER, replace=False)]
    drawn = rng.integers(0, search.tables.sizes, (STARTS, cells.shape[1]))
    every = np.concatenate([cells, drawn])
    heights = heights_of(search, every, search.tables.sums_at(every))
    order = np.argsort(-heights, kind="stable")
    tops = list(every[order[: (count + 1) // 2]])
    highest = [float(height) for height in heights[order[: (count + 1) // 2]]]
    whole = np.zeros_like(search.tables.sizes), search.tables.sizes - 1
    for start in rng.permutation(len(every))[: count // 2].tolist():
        search.check()
        cell, height = _uphill(search, every[start], float(heights[start]), whole, np.inf)
        tops.append(cell)
        highest.append(height)
    order = np.argsort(-np.array(highest), kind="stable")
    kept = [tops[place] for place in order.tolist() if highest[place] > search.tolerance]
    return np.array(kept, dtype=np.intp).reshape(len(kept), cells.shape[1])


def _uphill(
    search: BoxSearch,
    cell: Levels,
    height: float,
    box: tuple[Levels, Levels],
    enough: float,
) -> tuple[Levels, float]:
    """Change axes to better levels, until the cell is high enough or a top."""
    for _ in range(ROUNDS):
        if height > enough:
            break
        before = height
        cell, height = _round(search, cell, height, *box, enough)
        if height <= before:
            break
    return cell, height


def heights_of(search: BoxSearch, cells: Levels, sums: Floats) -> Floats:
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
    enough: float,
) -> tuple[Levels, float]:
    """Change the axes that raise a cell most, as many of them together as raise it further."""
    tables = search.tables
    axes = np.flatnonzero((low < high) & (tables.asked | search.occurring.asked))
    if not len(axes):
        return cell, height
    levels, tops = _raised(search, cell, axes, low, high)
    order = np.argsort(-tops, kind="stable")
    order = order[tops[order] > height]
    if not len(order) or tops[order[0]] > enough:
        order = order[:1]
    cells = np.repeat(cell[None], len(order), axis=0)
    for place, number in enumerate(order.tolist()):
        cells[place:, axes[number]] = levels[number]
    together = heights_of(search, cells, tables.sums_at(cells))
    if not len(order) or together.max() <= height:
        return cell, height
    top = int(together.argmax())
    return cells[top], float(together[top])


def _raised(
    search: BoxSearch, cell: Levels, axes: Levels, low: Levels, high: Levels
) -> tuple[Levels, Floats]:
    """Return for each axis the level that raises a cell most, and how high it is then."""
    tables = search.tables
    sums_of = tables.changes(cell, axes)
    many = high[axes] - low[axes] + 1
    levels, tops = np.zeros(len(axes), dtype=np.intp), np.zeros(len(axes))
    ends = np.cumsum(many * len(tables.full)) // WORK
    for part in np.split(np.arange(len(axes)), np.flatnonzero(np.diff(ends)) + 1):
        row = np.repeat(part, many[part])
        starts = np.cumsum(many[part]) - many[part]
        level = low[axes[row]] + np.arange(len(row)) - np.repeat(starts, many[part])
        cells = np.repeat(cell[None], len(row), axis=0)
        cells[np.arange(len(row)), axes[row]] = level
        own = heights_of(search, cells, sums_of(row, level))
        tops[part] = np.maximum.reduceat(own, starts)
        is_top = np.flatnonzero(own == tops[row])
        first = is_top[np.unique(row[is_top], return_index=True)[1]]
        levels[part] = level[first]
    return levels, tops
