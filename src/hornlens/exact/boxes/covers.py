"""Covers: rules that together decide every cell, each as general as it can be.

Boxes are grown around cells that no rule decides yet. In a grid, axes that hardly matter are
widened first: their cells are the bits of a row, and the other axes say which row. So a box is
grown by a look at one row, one pass over the grid, and a look at which rows this leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.bitboxes import BitBoxes, widest
from hornlens.exact.boxes.cells import OPEN, OUTSIDE, GridCells, Levels, ListedCells
from hornlens.exact.boxes.rulesets import BoxRule, Stops, never

Words = NDArray[np.uint64]
WORD = np.dtype("<u8")
UNION = np.bitwise_or.reduce
AXES = tuple(-1 - axis for axis in range(64))
ROW = 1 << 14
"""How many cells are bits of one row at most."""
LEAST, MOST = 1 << 6, 1 << 16
"""How many cells are looked through at once for one that is still open."""


def cover_of_grid(cells: GridCells, first: Levels, stops: Stops = never) -> list[BoxRule]:
    """Return rules that together decide every cell of a grid; none of them can be spared.

    A cell that is open belongs to no rule, and is left open. Cells in `first` (rows of X, the
    commonest first) are seen to before the others. If it is stopped, some cells are not decided.
    """
    grid = _Grid(cells)
    shape, labels = cells.labels.shape, cells.labels.ravel()
    seeds = np.zeros(0, np.intp)
    if shape and len(first):
        seeds = np.ravel_multi_index(tuple(first.T), shape)
    boxes = []
    for cell in _in_turn(seeds, grid):
        if stops():
            break
        grown = grid.grown(cell, int(labels[cell]))
        grid.decide(grown)
        boxes.append(grown)
    boxes.sort(key=lambda one: _volume(one.rule.box))
    return [one.rule for one in _without_spare(boxes, grid)]


class _Grown(NamedTuple):
    """A rule in a grid, the cell it was grown from, and where its cells are: words of some rows."""

    rule: BoxRule
    cell: int
    where: tuple[slice, ...]
    words: Words


class _Grid:
    """The cells of a grid as bits in rows, and which of them rules decide."""

    def __init__(self, cells: GridCells):
        labels, order = cells.labels, _by_influence(cells.labels)
        axes = [cells.axes[place] for place in order]
        sizes = [axis.size for axis in axes]
        near = max(count for count in range(len(order) + 1) if prod(sizes[:count]) <= ROW)
        self._near, self._far = BitBoxes(axes[:near]), axes[near:]
        self._places = [order.index(place) for place in range(len(order))]
        turned = labels.transpose(order[::-1])
        self._labels = turned.reshape(-1, self._near.count)
        width = -(-self._near.count // 64)
        self._row = width * 64
        self._shape = (*reversed(sizes[near:]), width)
        back = [len(order) - 1 - at for at in self._places]
        bits = np.arange(self._near.count, dtype=np.int32)
        rows = np.arange(len(self._labels), dtype=np.int32)[:, None] * (self._row // 8)
        self.bytes = (rows + (bits >> 3)).reshape(turned.shape).transpose(back).ravel()
        masks = np.broadcast_to((1 << (bits & 7)).astype(np.uint8), self._labels.shape)
        self.masks = masks.reshape(turned.shape).transpose(back).ravel()
        """Where the bit of each cell is."""
        self.outside = self._packed(self._labels < 0)
        self.once, self.twice = self.outside.copy(), self.outside.copy()
        """The cells that one rule or more decides, and two; what no rule owes is in both."""
        self._others: dict[int, Words] = {}

    def _packed(self, cells: NDArray[np.bool_]) -> Words:
        rows = np.packbits(cells, axis=1, bitorder="little")
        made = np.zeros((len(rows), self._row // 8), dtype=np.uint8)
        made[:, : rows.shape[1]] = rows
        return made.view(WORD).reshape(self._shape)

    def _blocked(self, place: int) -> Words:
        """Return the cells of all classes but one."""
        if place not in self._others:
            wrong = (self._labels != place) & (self._labels != OUTSIDE)
            self._others[place] = self._packed(wrong)
        return self._others[place]

    def grown(self, cell: int, place: int) -> _Grown:
        """Return a box around a cell, all of its class, that cannot be made wider."""
        row, bit = divmod(int(self.bytes[cell]), self._row // 8)
        bit = bit * 8 + int(self.masks[cell]).bit_length() - 1
        where: list[Any] = [slice(None)]
        for axis in self._far:
            row, level = divmod(row, axis.size)
            where.insert(0, level)
        blocked = self._blocked(place)
        here = int.from_bytes(blocked[tuple(where)].tobytes(), "little")
        box, bits, first, last = self._near.grown(bit, here)
        first, last = first >> 6, (last >> 6) + 1
        whole = (bits >> first * 64).to_bytes((last - first) * 8, "little")
        words = np.frombuffer(whole, dtype=WORD)
        where[-1] = slice(first, last)
        for done, axis in enumerate(self._far, 1):
            level, where[-1 - done] = where[-1 - done], slice(None)
            hits = UNION(blocked[tuple(where)] & words, AXES[:done]).tolist()
            low, high = span = widest(axis, level, hits.__getitem__)
            where[-1 - done] = slice(low, high + 1)
            box.append(span)
        rule = BoxRule(tuple([box[at] for at in self._places]), place)
        return _Grown(rule, cell, tuple(where), words)

    def decide(self, one: _Grown) -> None:
        """Note that a rule decides its cells."""
        once, twice = self.once[one.where], self.twice[one.where]
        np.bitwise_or(twice, once & one.words, out=twice)
        np.bitwise_or(once, one.words, out=once)


def _in_turn(seeds: NDArray[np.intp], grid: _Grid) -> Iterator[int]:
    """Yield the seeds, then all cells, that no rule decides when their turn comes."""
    decided = grid.once.reshape(-1).view(np.uint8)
    for order in (seeds, None):
        places, masks = grid.bytes, grid.masks
        if order is not None:
            places, masks = places[order], masks[order]
        at, length = 0, LEAST
        while at < len(places):
            decisions = decided[places[at : at + length]] & masks[at : at + length]
            where = int(decisions.argmin())
            if decisions[where]:
                at, length = at + length, min(MOST, 2 * length)
                continue
            at, length = at + where + 1, LEAST
            yield at - 1 if order is None else int(order[at - 1])


def _by_influence(labels: NDArray[np.int8]) -> list[int]:
    """Return the axes, those first whose neighbouring levels differ least in their labels."""
    changes = []
    for axis in range(labels.ndim):
        along = np.moveaxis(labels, axis, 0)
        # A part of a large grid tells enough of it.
        step = max(1, along[0].size // 200_000)
        few = along.reshape(len(along), -1)[:, ::step]
        changes.append(np.count_nonzero(few[1:] != few[:-1]) / max(1, few.size))
    return sorted(range(labels.ndim), key=lambda axis: (changes[axis], axis))


def _without_spare(boxes: list[_Grown], grid: _Grid) -> list[_Grown]:
    """Return the rules without those whose cells all lie in others, the first ones left out first.

    What decides a cell alone stays. Of the others one may be spared only because another is not.
    """
    twice = grid.twice.reshape(-1).view(np.uint8)
    cells = np.array([one.cell for one in boxes], dtype=np.intp)
    alone = (twice[grid.bytes[cells]] & grid.masks[cells] == 0).tolist()
    for place, one in enumerate(boxes):
        alone[place] = alone[place] or bool((one.words & ~grid.twice[one.where]).any())
    if all(alone):
        return boxes
    doubtful = [one for one, sure in zip(boxes, alone, strict=True) if not sure]
    later = grid.outside.copy()
    for one, sure in zip(boxes, alone, strict=True):
        if sure:
            later[one.where] |= one.words
    own = []
    for one in reversed(doubtful):  # what is left to each, if all that come after it stay
        mine = (one.words & ~later[one.where]).ravel()
        own.append((mine.nonzero()[0], mine[mine != 0]))
        later[one.where] |= one.words
    kept, spare = np.zeros_like(grid.once), set()
    for one, (where, mine) in zip(doubtful, reversed(own), strict=True):
        if (mine & ~kept[one.where].ravel()[where]).any():
            kept[one.where] |= one.words
        else:
            spare.add(one.cell)
    return [one for one in boxes if one.cell not in spare]


def cover_of_list(
    cells: ListedCells, weights: NDArray[np.intp], stops: Stops = never
) -> list[BoxRule]:
    """Return rules that together decide every cell of a list; none of them can be spared.

    A cell that is open belongs to no rule, and is left open. If it is stopped, others are, too.
    """
    open_ = cells.labels != OPEN
    inside: list[NDArray[np.bool_]] = []
    rules: list[BoxRule] = []
    spread = [len(np.unique(cells.cells[:, axis])) for axis in range(len(cells.axes))]
    order = sorted(range(len(cells.axes)), key=lambda axis: (-spread[axis], axis))
    for seed in np.argsort(-weights, kind="stable").tolist():
        if not open_[seed]:
            continue
        if stops():
            break
        place = int(cells.labels[seed])
        box = cells.grown(cells.cells[seed].tolist(), place, order)
        inside.append(cells.inside(box))
        open_ &= ~inside[-1]
        rules.append(BoxRule(box, place))
    times = np.sum(inside, axis=0) if inside else np.zeros(0)
    kept = []
    for one, where in sorted(zip(rules, inside, strict=True), key=lambda pair: int(pair[1].sum())):
        if times[where].min() > 1:
            times[where] -= 1
        else:
            kept.append(one)
    return kept


def _volume(box: Box) -> int:
    return prod(high - low + 1 for low, high in box)
