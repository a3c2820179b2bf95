"""Every rule with at most K conditions of an ensemble of trees, where cells cannot all be asked.

For each set of at most K features, what may be said in each of its cells: refuted by random cells
at first, and what these leave is proved or refuted by `Vote`. Each refutation is a cell more that
refutes others.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from hornlens.exact.boxes.axes import Axis
from hornlens.exact.boxes.cells import OPEN, Levels, ListedCells, distinct_cells
from hornlens.exact.boxes.rulesets import (
    Bits,
    BoxRule,
    short_rules_of_table,
    subsets,
    table_of_list,
)
from hornlens.limits import Stopped
from hornlens.targets.classifiers.voting import Vote

POOL = 20_000
"""How many random cells are asked first."""
MOST_CELLS = 5_000_000
"""So many cells of sets of features are gone through, where nobody wants rules of one length."""
CHUNK = 4_096
"""How many questions are put together."""
MIXED = np.uint64((1 << 64) - 1)
"""What stands for "more than one class"."""


class ShortRules(NamedTuple):
    """The rules; how many sets of conditions were proved, and how many given up."""

    rules: list[BoxRule]
    proved: int
    unsettled: int


def longest_within_reach(axes: Sequence[Axis], most: int) -> int:
    """Return how many conditions rules may have so that their cells are not too many to go through.

    At most `most`; each set of so many features has a cell for each of their levels.
    """
    cells = [1] + [0] * most
    for axis in axes:
        if axis.size > 1:
            for count in range(most, 0, -1):
                cells[count] += axis.size * cells[count - 1]
    return max(count for count in range(most + 1) if max(cells[: count + 1]) <= MOST_CELLS)


def random_cells(vote_features: Sequence[int], count: int, rng: np.random.Generator) -> Levels:
    """Return random cells: each feature uniform over its levels."""
    parts = [rng.integers(0, size, count) for size in vote_features]
    return np.column_stack(parts) if parts else np.zeros((count, 0), dtype=np.intp)


class KnownCells(NamedTuple):
    """Cells whose classes are known: those of the rows of X, and the same with random ones."""

    rows: ListedCells
    pool: ListedCells


def known_cells(vote: Vote, rows: Levels, seed: int = 0) -> KnownCells:
    """Ask the cells of rows and random ones; of limited questions, half are left for proofs."""
    axes, meter = vote.binned.axes, vote.binned.meter
    cells, _, _ = distinct_cells(rows, vote.binned.shape)
    cells = cells[vote.occur(cells)]
    labels = vote.binned.ask_first(cells)
    listed = ListedCells(axes, cells[: len(labels)], labels)
    if len(labels) < len(cells):
        return KnownCells(listed, listed)
    room = None if meter is None else meter.room
    count = POOL if room is None else min(POOL, room // 2)
    drawn = random_cells([axis.size for axis in axes], POOL, np.random.default_rng(seed))[:count]
    drawn = np.unique(drawn, axis=0)
    new = drawn[vote.occur(drawn) & (listed.at(drawn) == OPEN)]
    labels = vote.binned.ask_first(new)
    pool = ListedCells(
        axes,
        np.concatenate([listed.cells, new[: len(labels)]]),
        np.concatenate([listed.labels, labels]),
    )
    return KnownCells(listed, pool)


def short_rules_of_vote(vote: Vote, most: int, known: KnownCells) -> ShortRules:
    """Return every rule of the ensemble with at most so many conditions, each proved.

    If a limit is reached, those are returned that are proved by then.
    """
    return _Search(vote, most, known.pool).run()


class _Search:
    def __init__(self, vote: Vote, most: int, pool: ListedCells):
        self.vote, self.most, self.axes, self.pool = vote, most, vote.binned.axes, pool
        self.tables: dict[tuple[int, ...], Bits] = {}
        self.rules: list[BoxRule] = []
        self.proved = self.unsettled = 0

    def run(self) -> ShortRules:
        with suppress(Stopped):
            self._search()
        return ShortRules(self.rules, self.proved, self.unsettled)

    def _search(self) -> None:
        waiting: list[tuple[int, ...]] = []
        questions, size = 0, 0
        for some in subsets(self.axes, self.most):
            if len(some) > size:  # what shorter ones say is used
                self._settle(waiting)
                waiting, questions, size = [], 0, len(some)
            waiting.append(some)
            questions += int(np.prod([self.axes[place].size for place in some]))
            if questions >= CHUNK:
                self._settle(waiting)
                waiting, questions = [], 0
        self._settle(waiting)

    def _settle(self, waiting: list[tuple[int, ...]]) -> None:
        """Find out what may be said in the cells of sets of features."""
        if not waiting:
            return
        self.vote.binned.check(len(self.rules))
        asked: list[tuple[tuple[int, ...], int]] = []
        boxes: list[list[int]] = []
        places: list[int] = []
        for some in waiting:
            table = self._begun(some)
            known = self.tables[some]
            open_ = (known == 0) & ((table & (table - np.uint64(1))) == 0)
            known[(known == 0) & ~open_] = MIXED
            for at in np.flatnonzero(open_.ravel()).tolist():
                asked.append((some, at))
                boxes.append(self._box(some, known.shape, at))
                places.append(int(table.flat[at]).bit_length() - 1)
        if asked:
            self._ask(asked, boxes, places)
        for some in waiting:
            known = self.tables[some]
            if (known != MIXED).any():
                self.rules += short_rules_of_table(self.axes, some, known)
            if len(some) == self.most:
                del self.tables[some]

    def _begun(self, some: tuple[int, ...]) -> Bits:
        """Return what the pool says, and note what follows from fewer features."""
        table = table_of_list(self.pool, some)
        known = np.zeros(table.shape, dtype=np.uint64)
        for axis in range(len(some)):
            fewer = self.tables[some[:axis] + some[axis + 1 :]]
            decided = np.where(fewer == MIXED, np.uint64(0), fewer)
            known |= np.expand_dims(decided, axis)
        if self.vote.forbidden:  # where nothing occurs, nothing follows
            for at in np.flatnonzero(((known != 0) & (table == 0)).ravel()).tolist():
                if self.vote.cell_in(self._box(some, known.shape, at)) is None:
                    known.flat[at] = 0
        self.tables[some] = known
        return table

    def _box(self, some: tuple[int, ...], shape: tuple[int, ...], at: int) -> list[int]:
        """Return a cell of some features as a box of all, as sets of levels."""
        box = [(1 << axis.size) - 1 for axis in self.axes]
        for place, level in zip(some, np.unravel_index(at, shape), strict=True):
            box[place] = 1 << int(level)
        return box

    def _ask(
        self, asked: list[tuple[tuple[int, ...], int]], boxes: list[list[int]], places: list[int]
    ) -> None:
        vote = self.vote
        wanted = np.array(places)
        unseen = np.flatnonzero(wanted < 0)
        if len(unseen):  # no cell of the pool is there: ask for one
            parts = {row: vote.cell_in(boxes[row]) for row in unseen.tolist()}
            there = {row: cell for row, cell in parts.items() if cell is not None}
            if there:
                wanted[list(there)] = vote.binned.ask(np.stack(list(there.values())))
        # Where nothing occurs, nothing is said.
        some_are = np.flatnonzero(wanted >= 0).tolist()
        asked, wanted = [asked[row] for row in some_are], wanted[some_are]
        cells, status = vote.others_among([boxes[row] for row in some_are], wanted.tolist())
        for (some, at), place, what in zip(asked, wanted.tolist(), status.tolist(), strict=True):
            self.tables[some].flat[at] = np.uint64(1 << place) if what == 0 else MIXED
        self.proved += int(np.count_nonzero(status == 0))
        self.unsettled += int(np.count_nonzero(status == -1))
        if (status == 1).any():
            new = np.unique(cells[status == 1], axis=0)
            labels = vote.binned.ask_first(new)
            self.pool = ListedCells(
                self.axes,
                np.concatenate([self.pool.cells, new[: len(labels)]]),
                np.concatenate([self.pool.labels, labels]),
            )
