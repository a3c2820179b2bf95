"""Which short rules no recorded answer breaks: all sets of few conditions are gone through.

For each condition the answers that lie in it are bits, in the order of asking. A set of conditions
is broken where the bits of all its conditions meet among the answers that break what is said of it.
Sets are grown from those that are broken, a condition at a time: what is more special than a set
that no answer breaks is not broken either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.levels import Layout, Marks

Sets: TypeAlias = NDArray[np.int32]
"""Sets of conditions: a row each, padded with the condition that everything meets."""
Words: TypeAlias = NDArray[np.uint64]
CHUNK = 1 << 18
"""So many sets are looked at in one go."""


class Signs:
    """For each condition, and others beside them, the answers that meet it, as bits in order."""

    def __init__(self, marks: Marks):
        """Pack the marks: a row for each condition, a column for each answer."""
        rows, many = marks.shape
        padded = np.zeros((rows, -(-many // 64) * 64), dtype=np.bool_)
        padded[:, :many] = marks
        packed = np.packbits(padded, axis=1, bitorder="little")
        self.words: Words = np.ascontiguousarray(packed.view(np.uint64).T)
        """A row for each 64 answers, a column for each condition."""

    def first(self, sets: Sets) -> NDArray[np.int64]:
        """Return for each set the first answer that meets all its conditions; -1 for none."""
        first = np.full(len(sets), -1, dtype=np.int64)
        left = np.arange(len(sets))
        start, step = 0, 1
        while start < len(self.words) and len(left):
            some = self.words[start : start + step]
            met = some[:, sets[left, 0]]
            for column in range(1, sets.shape[1]):
                met = met & some[:, sets[left, column]]
            hit = met != 0
            any_hit = hit.any(axis=0)
            rows = hit[:, any_hit].argmax(axis=0)
            word = met[:, any_hit][rows, np.arange(len(rows))]
            lowest = word & (~word + np.uint64(1))
            bit = np.frexp(lowest.astype(np.float64))[1] - 1
            first[left[any_hit]] = (start + rows) * 64 + bit
            left = left[~any_hit]
            start += step
            step = max(1, min(2 * step, CHUNK // max(1, len(left))))
        return first

    def meets(self, sets: Sets) -> Marks:
        """Return which sets some answer lies in."""
        parts = [self.first(sets[k : k + CHUNK]) >= 0 for k in range(0, len(sets), CHUNK)]
        return np.concatenate([np.zeros(0, dtype=np.bool_), *parts])


@dataclass(frozen=True, eq=False)
class Conditions:
    """All conditions of a layout, numbered through; the last number is what everything meets."""

    layout: Layout
    most: int

    @cached_property
    def sizes(self) -> list[int]:
        """How many conditions each attribute has."""
        return [len(rows) for rows in self.layout.conditions]

    @cached_property
    def starts(self) -> list[int]:
        """The number of the first condition of each attribute, and behind the last one."""
        return [0, *np.cumsum(self.sizes).tolist()]

    @property
    def anything(self) -> int:
        """The number of the condition that everything meets."""
        return self.starts[-1]

    @cached_property
    def attribute(self) -> NDArray[np.int64]:
        """For each condition its attribute; -1 for what everything meets."""
        owners = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return np.append(owners, -1)

    @cached_property
    def weaker(self) -> NDArray[np.int32]:
        """For each condition the next weaker ones of its attribute: at least one, or anything.

        Rows are padded with the condition itself.
        """
        tables = [self._weaker(i) for i in range(len(self.sizes))]
        ways = max((table.shape[1] for table in tables), default=1)
        every = np.repeat(np.arange(self.anything + 1, dtype=np.int32)[:, None], ways, axis=1)
        for start, table in zip(self.starts, tables, strict=False):
            every[start : start + len(table), : table.shape[1]] = table
        return every

    def _weaker(self, attribute: int) -> NDArray[np.int32]:
        start, below = self.starts[attribute], self.implied[attribute].copy()
        np.fill_diagonal(below, False)
        numbers = below.astype(np.float32)
        direct = below & ~(numbers @ numbers > 0)
        ways = max(1, int(direct.sum(axis=1).max(initial=0)))
        own = np.arange(start, start + len(below), dtype=np.int32)
        table = np.repeat(own[:, None], ways, axis=1)
        for row, above in enumerate(direct):
            numbers_above = np.flatnonzero(above) + start
            table[row, : len(numbers_above)] = numbers_above
            if not len(numbers_above):
                table[row, 0] = self.anything
        return table

    @cached_property
    def implied(self) -> list[Marks]:
        """For each attribute which condition implies which: all that meet one meet the other."""
        tables = []
        for rows in self.layout.conditions:
            numbers = rows.astype(np.float32)
            tables.append(numbers @ (1 - numbers).T == 0)
        return tables

    def generalised(self, sets: Sets) -> Iterator[Sets]:
        """Yield sets that are each one step more general than those given, for each way once.

        Where there is no such step in some way, a set comes as it is.
        """
        for column in range(sets.shape[1]):
            for way in range(self.weaker.shape[1]):
                changed = sets.copy()
                changed[:, column] = self.weaker[sets[:, column], way]
                yield changed

    # --- how many there are, and all of them ---

    def count(self, attributes: Iterable[int] | None = None, most: int | None = None) -> int:
        """Return how many sets of at most `most` conditions there are, of some attributes."""
        chosen = range(len(self.sizes)) if attributes is None else attributes
        limit = self.most if most is None else most
        counts = [1]
        for i in chosen:
            longer = [n * self.sizes[i] for n in counts]
            counts = [a + b for a, b in zip([*counts, 0], [0, *longer], strict=True)][: limit + 1]
        return sum(counts) if limit >= 0 else 0

    @cached_property
    def longest(self) -> int:
        """How many conditions a set can have, each on another attribute."""
        return min(self.most, sum(map(bool, self.sizes)))

    @property
    def empty(self) -> Sets:
        """The set without conditions."""
        return np.full((1, max(1, self.longest)), self.anything, dtype=np.int32)

    def grown(self, sets: Sets, size: int, only: Marks | None = None) -> Iterator[Sets]:
        """Yield all sets of one condition more than those given, on a later attribute.

        `only`: of the attributes that are marked.
        """
        if size >= self.longest:
            return
        after = np.array([*self.starts[1:], 0], dtype=np.int64)  # the last one: of no attribute
        if size == 0:
            begin = np.zeros(len(sets), dtype=np.int64)
        else:
            begin = after[self.attribute[sets[:, size - 1]]]
        counts = self.anything - begin
        done = 0
        while done < len(sets):
            ends = np.cumsum(counts[done:])
            some = max(1, int(np.searchsorted(ends, CHUNK, side="right")))
            part = slice(done, done + some)
            done += some
            rows = np.repeat(np.arange(part.start, part.stop), counts[part])
            if not len(rows):
                continue
            first = np.repeat(np.cumsum(counts[part]) - counts[part], counts[part])
            added = np.arange(len(rows)) - first + begin[rows]
            if only is not None:
                kept = only[self.attribute[added]]
                rows, added = rows[kept], added[kept]
            longer = sets[rows]
            longer[:, size] = added
            yield longer


@dataclass(frozen=True, eq=False)
class Breaking:
    """The answers that break what is said: their places in the order of asking, and their signs.

    `has` says which variables each of them has, where values are concluded.
    """

    places: NDArray[np.intp]
    signs: Signs
    backwards: Signs
    has: Marks
    conditions: Conditions

    def is_minimal(self, sets: Sets) -> Marks:
        """Return which sets, none of them broken, have nothing more general that is not broken."""
        minimal = np.ones(len(sets), dtype=np.bool_)
        for wider in self.conditions.generalised(sets):
            left = np.flatnonzero((wider != sets).any(axis=1) & minimal)
            minimal[left] = self.signs.meets(wider[left])
        return minimal

    def common(self, sets: Sets) -> Marks:
        """Return which variables all these answers in each set have; some lie in each set."""
        last = len(self.places) - 1
        first, latest = self.signs.first(sets), last - self.backwards.first(sets)
        shared: Marks = self.has[first] & self.has[latest]
        rows, variables = np.nonzero(shared)
        lacking = (self.conditions.anything + 1 + variables)[:, None].astype(np.int32)
        gone = self.signs.meets(np.concatenate([sets[rows], lacking], axis=1))
        shared[rows[gone], variables[gone]] = False
        return shared


@dataclass(frozen=True, eq=False)
class Possible:
    """Which sets of conditions the background allows: those that some cell meets.

    Beside conditions, a set may have variables that are to be lacking: `anything` + 1 + v.
    """

    conditions: Conditions

    @cached_property
    def _bound(self) -> Marks:
        """For each attribute whether the background is about it; at last for none."""
        marks = np.zeros(len(self.conditions.sizes) + 1, dtype=np.bool_)
        marks[self.conditions.layout.bound] = True
        return marks

    @cached_property
    def _rows(self) -> NDArray[np.int32]:
        """For each condition, and each variable that is lacking, its row in the signs."""
        layout = self.conditions.layout
        owners = np.append(self.conditions.attribute, layout.attribute_of)
        chosen = self._bound[owners]
        return np.where(chosen, np.cumsum(chosen), 0).astype(np.int32)

    @cached_property
    def _signs(self) -> Signs:
        """What the background allows, in a mixed order, as if these were answers."""
        layout = self.conditions.layout
        rows = np.random.default_rng(0).permutation(layout.together)
        columns = dict(zip(layout.bound, rows.T, strict=True))
        marks = [np.ones((1, len(rows)), dtype=np.bool_)]
        marks += [layout.conditions[i][:, column] for i, column in columns.items()]
        marks += [layout.lacking[i][:, column] for i, column in columns.items()]
        return Signs(np.concatenate(marks))

    def of(self, sets: Sets) -> Marks:
        """Return which sets some cell meets."""
        if not self.conditions.layout.bound:
            return np.ones(len(sets), dtype=np.bool_)
        return self._signs.meets(self._rows[sets])

    def count(self) -> int:
        """Return how many sets of at most so many conditions some cell meets."""
        conditions, layout = self.conditions, self.conditions.layout
        if not layout.bound:
            return conditions.count()
        free = [i for i in range(len(conditions.sizes)) if i not in layout.bound]
        sets, total = conditions.empty[self.of(conditions.empty)], 0
        for size in range(conditions.longest + 1):
            total += len(sets) * conditions.count(free, conditions.most - size)
            longer = conditions.grown(sets, size, self._bound)
            sets = np.concatenate([conditions.empty[:0], *(some[self.of(some)] for some in longer)])
        return total
