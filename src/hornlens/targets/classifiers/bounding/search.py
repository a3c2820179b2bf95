"""Branch and bound: is there a cell in a box in which every sum is large enough?

A box is left as soon as one of the sums cannot be large enough in it, or nothing in it occurs. It
has a cell as wanted as soon as even the least that they can be is enough. Else it is cut in two.
How the sums are bounded, and where boxes are cut, is for those who know what they are made of.

Sums within the rounding band of zero decide nothing: there, boxes are cut until nothing is left to
cut, and who asks is asked about one cell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.limits import Stopped
from hornlens.targets.classifiers.bounding.climbing import climb, drawn_cells
from hornlens.targets.classifiers.bounding.occurring import Occurrences, TooHard
from hornlens.targets.classifiers.bounding.rows import Flags, Floats, Words
from hornlens.targets.classifiers.bounding.stacks import Intervals, Stack

WORK = 1 << 24
"""About so many words are looked at together."""
FEWEST, MOST = 16, 512
"""So few and so many boxes are looked at together, whatever they take."""
CLIMBED = 32
"""Of up to so many boxes, each is climbed in for a cell before any is cut."""
SMALL = 1e-9

Confirm = Callable[[Levels, Levels], Levels | None]
"""Given a box in which rounding decides: returns a cell of it as wanted, if there is one."""


class Verdicts(NamedTuple):
    """What became of each box: 1 it has such a cell, 0 it has none (proved), -1 that is open.

    `bounds` is the most that the least of the sums can be in a box, as far as that is known: in one
    that has such a cell, infinity.
    """

    status: NDArray[np.int8]
    cells: Levels
    bounds: Floats
    stopped: Stopped | None = None
    """The limit that ended it, if one did."""


class BoundedSums(Protocol):
    """Sums over cells, and what is known of them in boxes: words, from which bounds follow."""

    full: Words
    """What is known of all cells."""
    sizes: Levels
    asked: Flags
    """On which axes it depends what the sums are."""
    sums: int

    def reach(self, lows: Levels, highs: Levels, /) -> Words:
        """Return what is known of boxes."""

    def bounds(self, reached: Words, /) -> Floats:
        """Return the most that each sum can be in each box."""

    def sums_at(self, cells: Levels, /) -> Floats:
        """Return the sums of cells."""

    def changes(self, cell: Levels, axes: Levels, /) -> Callable[[Levels, Levels], Floats]:
        """Return what says the sums of a cell if one of its levels changes.

        It takes the places of the axes that change, and their new levels.
        """


@dataclass(eq=False)
class BoxSearch(ABC):
    """Sums, which cells occur, and how close to zero a sum may be for rounding to decide.

    `check` is called now and then, and raises Stopped if a limit is reached.
    """

    tables: BoundedSums
    occurring: Occurrences
    tolerance: float
    confirm: Confirm
    check: Callable[[], object]
    patience: int
    _status: NDArray[np.int8] = field(init=False)

    def run(self, boxes: Intervals, count: int, climbs: bool = True) -> Verdicts:
        """Look in boxes for cells; `boxes.of` says of each which of `count` queries it is part of.

        Args:
            boxes: Where to look.
            count: How many queries there are.
            climbs: Whether random cells are looked at before boxes are cut.
        """
        axes = boxes.lows.shape[1]
        self._status = np.zeros(count, dtype=np.int8)
        self._cells = np.zeros((count, axes), dtype=np.intp)
        self._closed = np.full(count, -np.inf)
        self._looked = np.zeros(count, dtype=np.intp)
        self._hard = np.zeros(count, dtype=np.bool_)
        self._rng = np.random.default_rng(0)
        self._stack = Stack(axes, len(self.tables.full), self.tables.sums)
        stopped: Stopped | None = None
        step, start = max(FEWEST, WORK // max(1, len(self.tables.full)) // 16), 0
        try:
            self.check()
            while start < len(boxes.of):
                part = boxes.some(slice(start, start + step))
                self._push(part, self.tables.reach(part.lows, part.highs))
                start += step
                if climbs:
                    self._climb()
                self._empty(until=step)
            self._empty()
        except Stopped as limit:
            stopped = limit
            self._give_up(boxes.of[start:], np.full((len(boxes.of[start:]), 1), np.inf))
            self._give_up(self._stack.waiting.of, self._stack.keys[:, None])
        status = np.where((self._status == 0) & self._hard, -1, self._status).astype(np.int8)
        self._closed[status == 1] = np.inf
        return Verdicts(status, self._cells, self._closed, stopped)

    def _empty(self, until: int = 0) -> None:
        """Look at the boxes that wait, until so few are left."""
        size = max(FEWEST, min(MOST, WORK // max(1, len(self.tables.full)) // 256))
        while self._stack.size > until:
            self.check()
            boxes, reached, bounds = self._stack.take(size)
            given_up = self._looked[boxes.of] > self.patience
            self._give_up(boxes.of[given_up], bounds[given_up])
            alive = (self._status[boxes.of] == 0) & ~given_up
            if not alive.any():
                continue
            boxes, reached, bounds = boxes.some(alive), reached[alive], bounds[alive]
            try:
                self._look(boxes, reached, bounds)
            except Stopped:
                self._give_up(boxes.of, bounds)
                raise

    # --- one batch ---

    @abstractmethod
    def _look(self, boxes: Intervals, reached: Words, bounds: Floats) -> None:
        """Settle boxes, or cut them in two."""

    def _settle(self, boxes: Intervals, row: int, bounds: Floats, sure: bool) -> None:
        """Look for a cell that occurs in a box in which all are as wanted, or rounding decides."""
        query, low, high = int(boxes.of[row]), boxes.lows[row], boxes.highs[row]
        if self._status[query]:
            return
        try:
            if sure:
                cell = self.occurring.cell_in(low, high, self.check)
            else:
                cell = self.confirm(low, high)
        except TooHard:
            self._give_up(boxes.of[row : row + 1], bounds[None])
            return
        if cell is not None:
            self._cells[query], self._status[query] = cell, 1
        else:
            self._close(boxes.of[row : row + 1], bounds[None])

    def _close(self, of: Levels, bounds: Floats) -> None:
        """Note the bounds of boxes that are left."""
        if len(of):
            np.maximum.at(self._closed, of, bounds.min(axis=1, initial=np.inf))

    def _give_up(self, of: Levels, bounds: Floats) -> None:
        """Leave boxes that are open."""
        self._hard[of] = True
        self._close(of, bounds)

    def _push(self, boxes: Intervals, reached: Words, bounds: Floats | None = None) -> None:
        """Put boxes on the stack in which there may be cells as wanted."""
        if bounds is None:
            bounds = self.tables.bounds(reached)
        possible = (bounds >= -self.tolerance).all(axis=1)
        self._close(boxes.of[~possible], bounds[~possible])
        rows = np.flatnonzero(possible)
        rows = rows[self.occurring.possible(boxes.lows[rows], boxes.highs[rows])]
        self._stack.push(boxes.some(rows), reached[rows], bounds[rows])

    def _climb(self) -> None:
        """Look for cells as wanted by chance, and from the best of these uphill."""
        boxes = self._stack.waiting
        boxes = boxes.some(self._status[boxes.of] == 0)
        cells, sure = drawn_cells(self, boxes, self._rng)
        self._note(boxes.of[sure], cells[sure])
        if len(sure) > CLIMBED:
            return
        for row in np.flatnonzero(~sure).tolist():
            if self._status[boxes.of[row]]:
                continue
            self.check()
            cell = climb(self, cells[row], boxes.lows[row], boxes.highs[row], self._rng)
            if cell is not None:
                self._note(boxes.of[row : row + 1], cell[None])

    def _note(self, of: Levels, cells: Levels) -> None:
        self._cells[of], self._status[of] = cells, 1
