"""Every rule with at most K conditions of an ensemble of trees, where cells cannot all be asked.

For each set of at most K features, what may be said in each of its cells. Cells that lead far show
at once which classes most of these have. What is left is put together to boxes, and `Vote` proves
or refutes them; each refutation shows the classes of the cells around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from hornlens.targets.classifiers.around import Around
from hornlens.targets.classifiers.bounding.occurring import TooHard
from hornlens.targets.classifiers.bounding.stacks import Intervals
from hornlens.targets.classifiers.provers import PATIENCE
from hornlens.targets.classifiers.voting import Vote

POOL = 20_000
"""How many random cells are asked first."""
MOST_CELLS = 5_000_000
"""So many cells of sets of features are gone through, where nobody wants rules of one length."""
EXTREMES = 8
"""So many cells of each class are looked around first."""
WITNESSES = 16
"""So many of the last refutations are looked around for other sets of features, too."""
FEWEST, MOST = 16, 512
"""So few and so many boxes are put to proof together."""
CHUNK = 1 << 18
"""How many cells are looked at together."""
MIXED = np.uint64((1 << 64) - 1)
"""What stands for "more than one class"."""
NONE = np.uint64(0)


class ShortProofs(NamedTuple):
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


def short_rules_of_vote(vote: Vote, most: int, known: KnownCells) -> ShortProofs:
    """Return every rule of the ensemble with at most so many conditions, each proved.

    If a limit is reached, those are returned that are proved by then.
    """
    return _Search(vote, most, known.pool).run()


class _Table:
    """What is known of the cells of some features: classes that occur there, and those proved.

    `empty` are those in which nothing occurs; `looked` is how many witnesses were looked around.
    """

    def __init__(self, some: tuple[int, ...], seen: Bits, known: Bits):
        self.some, self.seen, self.known = some, seen, known
        self.empty = np.zeros(seen.shape, dtype=np.bool_)
        self.looked = 0

    def unseen(self, blocked: bool) -> Bits:
        """Return 1 where no class was seen, and one has to be."""
        wanted = (self.seen == 0) & ~self.empty
        if not blocked:
            wanted &= self.known == 0
        return np.asarray(wanted, dtype=np.uint64)

    @property
    def open(self) -> Bits:
        """Return the only class that was seen where it is not proved; 0 elsewhere."""
        one = (self.seen & (self.seen - np.uint64(1))) == 0
        return np.asarray(np.where(one & (self.known == 0) & ~self.empty, self.seen, NONE))


class _Part(NamedTuple):
    """A box of the cells of a table: first and last places on each of its axes."""

    table: _Table
    low: tuple[int, ...]
    high: tuple[int, ...]

    @classmethod
    def all_of(cls, table: _Table) -> _Part:
        """Return all cells of a table."""
        last = tuple(size - 1 for size in table.seen.shape)
        return cls(table, (0,) * len(last), last)

    @property
    def at(self) -> tuple[slice, ...]:
        return tuple(slice(low, high + 1) for low, high in zip(self.low, self.high, strict=True))

    def inner(self, bits: Bits) -> Iterator[_Part]:
        """Yield the boxes of equal bits in it that are not 0."""
        for low, high in _boxes_of(bits[self.at]):
            first = tuple(map(sum, zip(self.low, low, strict=True)))
            yield _Part(self.table, first, tuple(map(sum, zip(self.low, high, strict=True))))

    def halves(self) -> list[_Part]:
        """Return both halves along its longest axis; nothing for one cell."""
        sizes = [high - low for low, high in zip(self.low, self.high, strict=True)]
        if not any(sizes):
            return []
        axis = sizes.index(max(sizes))
        middle = (self.low[axis] + self.high[axis]) // 2
        first, second = list(self.high), list(self.low)
        first[axis], second[axis] = middle, middle + 1
        return [self._replace(high=tuple(first)), self._replace(low=tuple(second))]


class _Search:
    def __init__(self, vote: Vote, most: int, pool: ListedCells):
        self.vote, self.most, self.axes, self.pool = vote, most, vote.binned.axes, pool
        self.extremes: list[Around] = []
        self.witnesses: list[Around] = []
        self.known: dict[tuple[int, ...], Bits] = {}
        self.rules: list[BoxRule] = []
        self.proved = self.unsettled = 0

    def run(self) -> ShortProofs:
        with suppress(Stopped):
            self._search()
        return ShortProofs(self.rules, self.proved, self.unsettled)

    def _search(self) -> None:
        for place in range(self.vote.classes):
            tops = self.vote.extreme_cells(place, self.pool.cells, EXTREMES)
            self.extremes += [Around(self.vote, cell, self.most) for cell in tops]
        waiting: list[tuple[int, ...]] = []
        cells, size = 0, 0
        for some in subsets(self.axes, self.most):
            if len(some) > size:  # what shorter ones say is used
                self._settle(waiting)
                waiting, cells, size = [], 0, len(some)
            waiting.append(some)
            cells += int(np.prod([self.axes[place].size for place in some]))
            if cells >= CHUNK:
                self._settle(waiting)
                waiting, cells = [], 0
        self._settle(waiting)

    def _settle(self, waiting: list[tuple[int, ...]]) -> None:
        """Find out what may be said in the cells of sets of features."""
        if not waiting:
            return
        tables = []
        for some in waiting:
            self.vote.binned.check(len(self.rules))
            tables.append(self._begun(some))
        self._see(tables)
        self._prove(tables)
        for table in tables:
            table.known[(table.known == 0) & ~table.empty] = MIXED
            table.known[table.empty] = NONE
            if len(table.some) < self.most:
                self.known[table.some] = table.known
            if (table.known != MIXED).any():
                self.rules += short_rules_of_table(self.axes, table.some, table.known)

    def _begun(self, some: tuple[int, ...]) -> _Table:
        """Return what follows from fewer features, and what is seen around extreme cells."""
        seen = table_of_list(self.pool, some)
        known = np.zeros(seen.shape, dtype=np.uint64)
        for axis in range(len(some)):
            fewer = self.known[some[:axis] + some[axis + 1 :]]
            decided = np.where(fewer == MIXED, NONE, fewer)
            known |= np.expand_dims(decided, axis)
        table = _Table(some, seen, known)
        self._update(table, self.extremes)
        return table

    def _update(self, table: _Table, cells: Sequence[Around]) -> None:
        """Note the classes around some cells, as long as there is something to know."""
        for around in cells:
            if not table.open.any() and not table.unseen(bool(self.vote.forbidden)).any():
                break
            table.seen |= around.classes(table.some)

    def _inner(self, part: _Part) -> list[_Part]:
        """Return what is open of a part, after all that is known by now."""
        table = part.table
        new = self.witnesses[max(table.looked, len(self.witnesses) - WITNESSES) :]
        table.looked = len(self.witnesses)
        self._update(table, new)
        return list(part.inner(table.open))

    def _see(self, tables: Sequence[_Table]) -> None:
        """Look for a cell where no class was seen, until there is one or nothing occurs."""
        blocked = bool(self.vote.forbidden)
        waiting = [_Part.all_of(table) for table in tables]
        while parts := [
            inner for part in waiting for inner in part.inner(part.table.unseen(blocked))
        ]:
            cells: list[tuple[_Part, Levels]] = []
            waiting = []
            boxes = self._intervals(parts)
            for part, low, high in zip(parts, boxes.lows, boxes.highs, strict=True):
                try:
                    cell = self.vote.occurring.cell_in(low, high, self.vote.binned.check)
                except TooHard:
                    waiting += self._given_up(part)
                    continue
                if cell is None:
                    part.table.empty[part.at] = True
                else:
                    cells.append((part, cell))
            if cells:
                labels = self.vote.binned.ask(np.stack([cell for _, cell in cells]))
                for (part, cell), label in zip(cells, labels.tolist(), strict=True):
                    self._look_around(part, cell, np.uint64(1 << label))
                    waiting.append(part)

    def _prove(self, tables: Sequence[_Table]) -> None:
        """Prove where one class was seen that there is no other, or look around a witness."""
        waiting = [_Part.all_of(table) for table in reversed(tables)]
        together = FEWEST
        while waiting:
            self.vote.binned.check(len(self.rules))
            parts: list[_Part] = []
            while waiting and len(parts) < together:
                parts += self._inner(waiting.pop())
            waiting += parts[together:]
            parts = parts[:together]
            if not parts:
                continue
            classes = [int(part.table.seen[part.low]).bit_length() - 1 for part in parts]
            places = np.array(classes, dtype=np.intp)
            status, cells, _ = self.vote.outcomes_in(self._intervals(parts), places, PATIENCE)
            # A witness shows the classes of many cells: where there are some, few are looked at.
            refuted = int(np.count_nonzero(status == 1))
            together = FEWEST if 4 * refuted > len(parts) else min(MOST, 2 * together)
            for part, place, cell, outcome in zip(
                parts, classes, cells, status.tolist(), strict=True
            ):
                if outcome == 0:
                    here = part.table.open[part.at]
                    part.table.known[part.at] |= here
                    self.proved += int(np.count_nonzero(here))
                elif outcome == 1:
                    self._look_around(part, cell, MIXED ^ np.uint64(1 << place))
                    waiting.append(part)
                else:
                    waiting += self._given_up(part)

    def _given_up(self, part: _Part) -> list[_Part]:
        """Return the halves of a part that is too hard; one cell is left open."""
        halves = part.halves()
        if not halves:
            part.table.known[part.low] = MIXED
            part.table.seen[part.low] = MIXED
            self.unsettled += 1
        return halves

    def _look_around(self, part: _Part, cell: Levels, classes: np.uint64) -> None:
        """Note the classes of a cell, and those of the cells around it."""
        table = part.table
        table.seen[tuple(cell[list(table.some)].tolist())] |= classes
        around = Around(self.vote, cell, self.most)
        table.seen |= around.classes(table.some)
        self.witnesses.append(around)

    def _intervals(self, parts: Sequence[_Part]) -> Intervals:
        """Return parts of tables as boxes of all features."""
        count = len(parts)
        lows = np.zeros((count, len(self.axes)), dtype=np.intp)
        highs = np.array([[axis.size - 1 for axis in self.axes]] * count, dtype=np.intp)
        for row, part in enumerate(parts):
            own = list(part.table.some)
            lows[row, own], highs[row, own] = part.low, part.high
        return Intervals(lows, highs.reshape(lows.shape), np.arange(count))


def _boxes_of(bits: Bits) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield boxes of equal bits that are not 0, which together have all of these."""
    if not bits.ndim:
        if bits:
            yield (), ()
        return
    lines = bits.reshape(-1, bits.shape[-1])
    begun: dict[tuple[int, int, int], tuple[int, int]] = {}
    height = bits.shape[-2] if bits.ndim > 1 else 1
    done: list[tuple[int, int, int, int]] = []
    for line in np.flatnonzero(lines.any(axis=1)).tolist():
        for run in _runs_of(lines[line]):
            first, last = begun.get(run, (line, -1))
            if last != line - 1 or line % height == 0:
                if last >= 0:
                    done.append((first, last, *run[:2]))
                first = line
            begun[run] = first, line
    done += [(first, last, *run[:2]) for run, (first, last) in begun.items()]
    for first, last, low, high in done:
        start = np.unravel_index(first, bits.shape[:-1]) if bits.ndim > 1 else ()
        end = np.unravel_index(last, bits.shape[:-1]) if bits.ndim > 1 else ()
        yield (*map(int, start), low), (*map(int, end), high)


def _runs_of(line: Bits) -> Iterator[tuple[int, int, int]]:
    """Yield the first and the last place of equal bits in a line that are not 0, and these."""
    change = np.flatnonzero(line[1:] != line[:-1]) + 1
    starts = np.concatenate([[0], change])
    ends = np.append(change, len(line)) - 1
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if line[start]:
            yield start, end, int(line[start])
