"""All that follows from at most K variables, for targets that are too wide to be labelled whole.

Sets grow by one variable at a time. What follows from a set's parts is known already, and a pool of
positives refutes most of what else might follow from it: only what is left is asked of the target,
and each answer either proves a rule or is a positive more in the pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.closures import common_above
from hornlens.exact.hitting import count_members, sets_having
from hornlens.exact.sources import ABSURD
from hornlens.logic.batch import Words, pack, unpack
from hornlens.logic.bits import BOTTOM, bits

Sets: TypeAlias = NDArray[np.intp]
"""Sets of one size: the variables of each in a row, in their order."""
Frequent: TypeAlias = Callable[[Sets], NDArray[np.bool_]]
"""Says of each set whether it is to be looked at."""
TOGETHER = 1 << 14
"""How many sets are looked at at once."""


class Positives(Protocol):
    """A target that shows a positive, if there is one, for what does not follow."""

    width: int

    def above(self, x: int, without: int) -> int | None:
        """Return a positive that contains `x` and lacks the variable; None if there is none."""
        ...


class Short(NamedTuple):
    """Sets of at most K variables with all that follows from them, small sets first.

    Left out are those whose parts tell it already, and `rare` ones, which were not looked at.
    """

    xs: Words
    closures: Words
    rare: int


class Rows:
    """The rows of a table, as the target that accepts just them."""

    def __init__(self, rows: Sequence[int], width: int):
        """Turn the table round: a set of rows for each variable."""
        self.rows, self.width = rows, width
        self._having = sets_having(pack(rows, width), width)

    def above(self, x: int, without: int) -> int | None:
        """Return the first row that contains `x` and lacks the variable."""
        among = np.bitwise_and.reduce(self._having[[self.width, *bits(x)]], axis=0)
        if without != ABSURD:
            among &= ~self._having[without]
        word = int((among != 0).argmax())
        value = int(among[word])
        return self.rows[64 * word + (value & -value).bit_length() - 1] if value else None

    def with_support(self, least: int) -> Frequent | None:
        """Return a function that says which sets at least so many rows contain; None if all do."""
        return (lambda sets: self.support(sets) >= least) if least else None

    def support(self, sets: Sets) -> NDArray[np.int64]:
        """Return for each set how many rows contain it."""
        among = np.broadcast_to(self._having[-1], (len(sets), self._having.shape[1])).copy()
        for variable in sets.T:
            among &= self._having[variable]
        return count_members(among)


class ShortSearch:
    """Goes up by size; keeps what the sets of one size tell of those with one variable more."""

    def __init__(self, target: Positives, most: int, frequent: Frequent | None = None):
        """Prepare to look at sets of at most `most` variables of which `frequent` says yes."""
        if target.width**most >= 1 << 62:
            raise InputError(
                f"rules of {most} conditions over {target.width} variables are too many"
            )
        self.target, self.frequent, self.width = target, frequent, target.width
        self.most = most
        self.complete_to = -1
        """The sets of at most so many variables have all been looked at."""
        self.single = pack([1 << v for v in range(self.width)], self.width)
        self.pool = pack([], self.width)
        self.xs: list[Words] = []
        self.closures: list[Words] = []
        self.rare = 0
        # Sets of the last size, in lexical order, from which not everything follows, and in which
        # no variable follows from the others.
        self.sets: Sets = np.zeros((0, 0), dtype=np.intp)
        self.closed = pack([], self.width)
        self.follows_from_one = [1 << v for v in range(self.width)]

    def steps(self) -> Iterator[float]:
        """Look at all sets; yield the share of them that is settled, again and again."""
        total = sum(comb(self.width, size) for size in range(self.most + 1))
        done = 0
        for size in range(self.most + 1):
            for settled in self._look_at(size, size < self.most):
                yield (done + settled * comb(self.width, size)) / total
            self.complete_to = size
            done += comb(self.width, size)
            yield done / total

    def left_sides(self) -> Short:
        """Return the left sides so far, and what follows from each."""
        none = self.pool[:0]
        xs, closures = np.concatenate([none, *self.xs]), np.concatenate([none, *self.closures])
        return Short(xs, closures, self.rare)

    def _look_at(self, size: int, keep: bool) -> Iterator[float]:
        """Find what follows from sets of this size beyond what follows from their parts.

        Yields the share of them that is settled.
        """
        kept: list[tuple[Sets, Words]] = [(np.zeros((0, size), dtype=np.intp), self.pool[:0])]
        for sets, lower in self._candidates(size):
            if self.frequent is not None:
                enough = self.frequent(sets)
                self.rare += int(np.count_nonzero(~enough))
                sets, lower = sets[enough], lower[enough]
            xs = np.bitwise_or.reduce(self.single[sets], axis=1)
            closures = self._settle(xs, lower)
            new = (closures != lower).any(axis=1)
            self.xs.append(xs[new])
            self.closures.append(closures[new])
            if keep:
                possible = closures[:, 0] != BOTTOM
                kept.append((sets[possible], closures[possible]))
            yield self._place(sets[-1:])
        self.sets = np.concatenate([sets for sets, _ in kept])
        self.closed = np.concatenate([closures for _, closures in kept])
        if size == 1:
            for variable, closed in zip(self.sets[:, 0].tolist(), unpack(self.closed), strict=True):
                self.follows_from_one[variable] = closed

    def _candidates(self, size: int) -> Iterator[tuple[Sets, Words]]:
        """Yield sets, all parts of which were kept, with what follows from these parts."""
        if not size:
            yield np.zeros((1, 0), dtype=np.intp), pack([0], self.width)
            return
        last = self.sets[:, -1] if size > 1 else np.full(len(self.sets), -1)
        codes = self._codes(self.sets)
        ends = np.cumsum(self.width - 1 - last)
        start = 0
        while start < len(last):
            done = ends[start - 1] if start else 0
            end = max(start + 1, int(np.searchsorted(ends, done + TOGETHER)))
            many = self.width - 1 - last[start:end]
            parent = np.repeat(np.arange(start, end), many)
            counted = np.arange(len(parent)) - np.repeat(np.cumsum(many) - many, many)
            sets = np.column_stack([self.sets[parent], last[parent] + 1 + counted])
            lower = np.bitwise_or.reduce(self.single[sets], axis=1)
            for place in range(size):
                codes_of_parts = self._codes(np.delete(sets, place, axis=1))
                part = np.minimum(np.searchsorted(codes, codes_of_parts), len(codes) - 1)
                closed = self.closed[part]
                own = self.single[sets[:, place]]
                free = (codes[part] == codes_of_parts) & ((closed & own) == 0).all(axis=1)
                sets, lower = sets[free], lower[free] | closed[free]
            yield sets, lower
            start = end

    def _place(self, last: Sets) -> float:
        """Return what share of the sets of a size come before one, by its first variable."""
        return float(last[0, 0] / self.width) if last.size else 0.0

    def _codes(self, sets: Sets) -> NDArray[np.int64]:
        """Return a number for each set, in the order of the sets."""
        codes = np.zeros(len(sets), dtype=np.int64)
        for column in sets.T:
            codes = codes * self.width + column
        return codes

    def _settle(self, xs: Words, lower: Words) -> Words:
        """Return all that follows from each x, which is at least `lower`."""
        upper = common_above(xs, self.pool)
        pending = np.flatnonzero((upper != lower).any(axis=1))
        some, possible = xs[pending], upper[pending]
        new: list[int] = []
        for place, (x, proved) in enumerate(zip(unpack(some), unpack(lower[pending]), strict=True)):
            while (closed := unpack(possible[place : place + 1])[0]) != proved:
                head = ABSURD if closed == BOTTOM else next(bits(closed & ~proved))
                positive = self.target.above(x, head)
                if positive is not None:
                    new.append(positive)
                    (row,) = pack([positive], self.width)
                    inside = np.flatnonzero(((some[place:] & ~row) == 0).all(axis=1))
                    possible[place + inside] &= row
                elif head == ABSURD:
                    break
                else:
                    proved |= self.follows_from_one[head]
        upper[pending] = possible
        self.pool = np.concatenate([self.pool, pack(new, self.width)])
        return upper
