"""Tables of leaves: in which boxes of cells a leaf of a tree can be reached, as bits of words.

The leaves of a tree are sorted by what they add, the largest first, and each is a bit of its words.
A box is an interval of levels on each axis. Which leaves it reaches is the AND of two rows of a
table for each axis; so half of a box reaches what the box does AND what its own interval does. The
most that a tree can add in a box is that of its lowest bit, and the least that of its highest.

On an axis where the leaves have intervals (and perhaps the missing level, the last), a row says
which leaves begin at a level or before, another which end there or later. Elsewhere, rows say which
leaves have one of the next 1, 2, 4, … levels: two of these cover any interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.bounding.rows import (
    Flags,
    Floats,
    Places,
    PlainRows,
    Rows,
    ShortRows,
    Words,
    doubled_rows,
    intervals_of,
    lowest_bits,
    packed_words,
    place_of_bit,
)

MEMORY = 1 << 28
"""Rows of tables that take more bytes than this are kept short: see `ShortRows`."""

ALL = np.uint64((1 << 64) - 1)
AT_ONCE = 1 << 12
"""Up to so many rows of tables are taken at once."""


class Sum(NamedTuple):
    """One sum of trees: what each leaf adds, where each tree's leaves begin, and their levels.

    `levels` says for an axis which of its levels lead to each leaf; None if the leaves do not ask.
    Trees that add the same in each leaf are left out, unless it is a `whole` sum, or they are
    `kept`: what a leaf adds to two classes may differ, and their difference be the same. If
    `helping`, the sum is large enough only where a tree adds more than nothing, whatever the
    rounding.
    """

    values: Floats
    starts: Places
    levels: Callable[[int], Flags | None]
    whole: bool = False
    helping: bool = False
    kept: Flags | None = None


class Tables:
    """Sums of trees over boxes of cells."""

    def __init__(self, sizes: Sequence[int], missing: Sequence[bool], sums: Sequence[Sum]):
        """Read the leaves of all trees.

        Args:
            sizes: How many levels each axis has.
            missing: Whether the last level of an axis is that the value is missing.
            sums: What is added up, each by itself.
        """
        self.sizes = np.array(sizes, dtype=np.intp).reshape(len(sizes))
        self.sums = len(sums)
        trees = [_varying(one) for one in sums]
        self.base = np.array([base for _, base in trees], dtype=np.float64)
        leaves = [own for every, _ in trees for own in every]
        self.trees = len(leaves)
        counts = np.array([len(every) for every, _ in trees], dtype=np.intp)
        self._helping = [number for number, one in enumerate(sums) if one.helping]
        self._sum_of = np.repeat(np.arange(self.sums), counts)
        longest = max(map(len, leaves), default=1)
        self.words = (longest + 63) // 64
        width = 64 * self.words
        self._leaf = np.full((self.trees, width), -1, dtype=np.intp)
        self.values = np.full((self.trees, width), -np.inf)
        for tree, own in enumerate(leaves):
            self._leaf[tree, : len(own)] = own
            self.values[tree, : len(own)] = sums[self._sum_of[tree]].values[own]
        self.full = packed_words(self._leaf[None] >= 0)[0]
        self._every = np.arange(self.trees)
        self._read_rows(sums, missing)

    # --- reading ---

    def _read_rows(self, sums: Sequence[Sum], missing: Sequence[bool]) -> None:
        """Read for each axis its rows, and where the levels of a leaf begin and end."""
        count = len(self.sizes)
        self._either = np.zeros(count, dtype=np.bool_)
        self._missing = np.full(count, -2, dtype=np.intp)
        self._rows_at = np.zeros((count, 3), dtype=np.intp)
        self.asked = np.zeros(count, dtype=np.bool_)
        rows: list[Rows] = [PlainRows(np.full((1, len(self.full)), ALL))]
        total = 1  # the first row is of axes that no leaf asks about: it leaves all
        cuts: list[tuple[Places, Places, Places]] = []
        estimate = 16 * int(self.sizes.sum()) * max(1, self.trees * self.words)
        kind = ShortRows if estimate > MEMORY else PlainRows
        for axis, size in enumerate(self.sizes.tolist()):
            inside = self._inside(sums, axis, size)
            if inside is None:
                continue
            self.asked[axis] = True
            tree, position, cut = np.nonzero(inside[:, :, 1:] != inside[:, :, :-1])
            cuts.append((tree * 64 * self.words + position, np.full(len(cut), axis), cut))
            known = size - bool(missing[axis])
            ends = inside[:, :, :known]
            first, last, is_one = intervals_of(ends)
            blocks = []
            if is_one:
                levels = np.arange(size)[:, None, None]
                blocks = [packed_words(last >= levels), packed_words(first <= levels)]
                if missing[axis]:
                    self._missing[axis] = known
                    blocks.append(packed_words((last >= levels) | inside[:, :, known]))
            else:
                self._either[axis] = True
                blocks = doubled_rows(packed_words(np.moveaxis(inside, 2, 0)))
            self._rows_at[axis] = (total, total + size, total + 2 * size)
            total += size * len(blocks)
            rows.append(kind(np.concatenate(blocks)))
        self._axis_rows = rows
        self._row_axis = np.concatenate(
            [np.full(len(block), number) for number, block in enumerate(rows)]
        )
        self._read_cuts(cuts)

    def _inside(self, sums: Sequence[Sum], axis: int, size: int) -> Flags | None:
        """Say of each leaf, by tree and bit, which levels of an axis lead there."""
        inside: Flags | None = None
        for number, one in enumerate(sums):
            trees = np.flatnonzero(self._sum_of == number)
            levels = one.levels(axis) if len(trees) else None
            if levels is None:
                continue
            if inside is None:
                inside = np.ones((*self._leaf.shape, size), dtype=np.bool_)
            inside[trees] = levels[self._leaf[trees]]
        if inside is None:
            return None
        inside[self._leaf < 0] = True
        return None if inside.all() else inside

    def _read_cuts(self, cuts: Sequence[tuple[Places, Places, Places]]) -> None:
        """Note for each leaf the cuts between levels at which it begins or ends."""
        leaf, axis, cut = (
            np.concatenate([own[part] for own in cuts] or [np.zeros(0, dtype=np.intp)])
            for part in range(3)
        )
        order = np.argsort(leaf, kind="stable")
        leaf, axis, cut = leaf[order], axis[order], cut[order]
        many = np.bincount(leaf, minlength=self._leaf.size)
        begin = np.cumsum(many) - many
        place = np.arange(len(leaf)) - begin[leaf]
        shape = (self._leaf.size, int(many.max(initial=0)))
        self._cut_axis = np.full(shape, -1, dtype=np.int32)
        self._cut_level = np.zeros(shape, dtype=np.int32)
        self._cut_axis[leaf, place] = axis
        self._cut_level[leaf, place] = cut

    # --- boxes ---

    @cached_property
    def _plain(self) -> Words | None:
        """All rows of all axes, if they are kept as they are."""
        if any(isinstance(rows, ShortRows) for rows in self._axis_rows):
            return None
        plain = [rows for rows in self._axis_rows if isinstance(rows, PlainRows)]
        block = np.concatenate([rows.block for rows in plain])
        begin = 0
        for rows in plain:  # kept once
            rows.block = block[begin : begin + len(rows)]
            begin += len(rows)
        return block

    def _rows(self, places: Places) -> Words:
        if self._plain is not None:
            return self._plain[places]
        rows = np.empty((len(places), len(self.full)), dtype=np.uint64)
        of, begin = self._row_axis[places], np.cumsum([0, *map(len, self._axis_rows)])
        for number in np.unique(of).tolist():
            here = of == number
            rows[here] = self._axis_rows[number].take(places[here] - begin[number])
        return rows

    def meeting(self, axes: Places, lows: Places, highs: Places) -> Words:
        """Return the leaves that have a level of an interval of an axis; in rows, for each."""
        at = self._rows_at[axes]
        first, second = at[:, 0] + lows, at[:, 1] + highs
        with_missing = highs == self._missing[axes]
        if with_missing.any():
            up = at[:, 2] + lows
            first, second = np.where(with_missing, up, first), np.where(with_missing, up, second)
        asked, either = self.asked[axes], self._either[axes]
        if not asked.all():
            first, second = np.where(asked, first, 0), np.where(asked, second, 0)
        if either.any():
            step = np.frexp(highs - lows + 1)[1].astype(np.intp) - 1
            begin = at[:, 0] + step * self.sizes[axes]
            first = np.where(either, begin + lows, first)
            second = np.where(either, begin + highs + 1 - (1 << step), second)
        rows, others = self._rows(first), self._rows(second)
        if not either.any():
            return np.bitwise_and(rows, others, out=rows)
        rows[either] |= others[either]
        rows[~either] &= others[~either]
        return rows

    def parted(
        self, axes: Places, lows: Places, cuts: Places, highs: Places
    ) -> tuple[Words, Words]:
        """Return what leaves of a box reach its halves: up to a cut of an axis, and above it.

        Of boxes that reach `lows` to `highs` there. Other leaves may be named, too: AND tells.
        """
        at = self._rows_at[axes]
        with_missing = highs == self._missing[axes]
        hard = self._either[axes] | with_missing
        begun, ended = at[:, 1] + cuts, at[:, 0] + cuts + 1
        if not hard.any():
            return self._rows(begun), self._rows(ended)
        below = self.meeting(axes[hard], lows[hard], cuts[hard])
        above = self.meeting(axes[hard], cuts[hard] + 1, highs[hard])
        begun[hard] = ended[hard] = 0
        low, high = self._rows(begun), self._rows(ended)
        low[hard], high[hard] = below, above
        return low, high

    def reach(self, lows: Places, highs: Places) -> Words:
        """Return the leaves that can be reached in each box."""
        reached = np.repeat(self.full[None], len(lows), axis=0)
        narrow = ((lows > 0) | (highs < self.sizes - 1)) & self.asked
        many = np.count_nonzero(narrow, axis=1)
        if many.sum() <= AT_ONCE:
            boxes, axes = np.nonzero(narrow)
            rows = self.meeting(axes, lows[boxes, axes], highs[boxes, axes])
            some = np.flatnonzero(many)
            if len(some):
                starts = (np.cumsum(many) - many)[some]
                reached[some] &= np.bitwise_and.reduceat(rows, starts, axis=0)
            return reached
        for axis in np.flatnonzero(narrow.any(axis=0)).tolist():
            boxes = np.flatnonzero(narrow[:, axis])
            axes = np.full(len(boxes), axis)
            reached[boxes] &= self.meeting(axes, lows[boxes, axis], highs[boxes, axis])
        return reached

    def changes(self, cell: Places, axes: Places) -> Callable[[Places, Places], Floats]:
        """Return what says the sums of a cell if one of its levels changes.

        It takes the places of the axes that change, and their new levels.
        """
        is_free = np.isin(np.arange(len(cell)), axes)
        fixed = np.where(is_free, 0, cell), np.where(is_free, self.sizes - 1, cell)
        others = np.repeat(self.reach(fixed[0][None], fixed[1][None]), len(axes), axis=0)
        own = self.meeting(axes, cell[axes], cell[axes])
        others[1:] &= np.bitwise_and.accumulate(own[:-1], axis=0)
        others[:-1] &= np.bitwise_and.accumulate(own[:0:-1], axis=0)[::-1]

        def sums(places: Places, levels: Places) -> Floats:
            return self.bounds(self.meeting(axes[places], levels, levels) & others[places])

        return sums

    # --- bounds ---

    def best(self, reached: Words) -> Places:
        """Return for each box and tree the place of the leaf that adds most."""
        if self.words == 1:
            return place_of_bit(lowest_bits(reached))
        return self._best_of(reached.reshape(len(reached), self.trees, self.words))

    def _best_of(self, parts: Words) -> Places:
        """Return the place of the leaf that adds most, of the words of trees."""
        word = (parts != 0).argmax(axis=-1)
        own = np.take_along_axis(parts, word[..., None], -1)[..., 0]
        return np.asarray(place_of_bit(lowest_bits(own)) + 64 * word)

    def worst(self, reached: Words) -> Places:
        """Return for each box and tree the place of the leaf that adds least."""
        parts = reached.reshape(len(reached), self.trees, self.words)
        word = self.words - 1 - (parts[:, :, ::-1] != 0).argmax(axis=2)
        top = np.take_along_axis(parts, word[:, :, None], 2)[:, :, 0].copy()
        for step in (1, 2, 4, 8, 16, 32):
            top |= top >> np.uint64(step)
        return np.asarray(place_of_bit(top ^ (top >> np.uint64(1))) + 64 * word)

    def added(self, leaves: Places) -> Floats:
        """Return what a leaf of each tree adds."""
        return np.asarray(self.values[self._every, leaves])

    def summed(self, added: Floats) -> Floats:
        """Return each sum, given what each tree adds: a column for each."""
        if self.sums == 1:
            return np.asarray(added.sum(axis=1)[:, None] + self.base)
        sums = np.repeat(self.base[None], len(added), axis=0)
        for number in range(self.sums):
            sums[:, number] += added[:, self._sum_of == number].sum(axis=1)
        return sums

    def bounds(self, reached: Words) -> Floats:
        """Return the most that each sum can be in each box."""
        added = self.added(self.best(reached))
        bounds = self.summed(added)
        for number in self._helping:
            helps = (added[:, self._sum_of == number] > 0).any(axis=1)
            bounds[~helps, number] = -np.inf
        return bounds

    def falls(self, reached: Words, rows: Places, halves: Words, added: Floats) -> Floats:
        """Return by how much the most that each sum can be falls from boxes to parts of them.

        Args:
            reached: The leaves that boxes reach.
            rows: Of which of the boxes each part is.
            halves: Those of the leaves that reach the part.
            added: The most that each tree adds in a box.
        """
        shape = (len(reached), self.trees, self.words)
        lowest = lowest_bits(reached)
        if self.words > 1:  # only the first bit of a tree
            parts = lowest.reshape(shape)
            parts[:, :, 1:][np.cumsum(parts[:, :, :-1] != 0, axis=2) > 0] = 0
        lost = (lowest[rows] & halves) == 0
        if self.words > 1:
            lost = lost.reshape(len(rows), self.trees, self.words).all(axis=2)
        part, tree = np.divmod(np.flatnonzero(lost), max(1, self.trees))
        if self.words == 1:
            leaves = place_of_bit(lowest_bits(reached[rows[part], tree] & halves[part, tree]))
        else:
            own = reached.reshape(shape)[rows[part], tree]
            own = own & halves.reshape(len(rows), self.trees, self.words)[part, tree]
            leaves = self._best_of(own)
        fall = added[rows[part], tree] - self.values[tree, leaves]
        at = part * self.sums + self._sum_of[tree]
        falls = np.bincount(at, fall, len(rows) * self.sums)
        return np.asarray(falls.reshape(len(rows), self.sums))

    def sums_at(self, cells: Places) -> Floats:
        """Return the sums of cells."""
        return self.bounds(self.reach(cells, cells))

    @property
    def bytes(self) -> int:
        """How much memory the rows take."""
        return sum(rows.bytes for rows in self._axis_rows)

    @property
    def sum_of(self) -> Places:
        """Of which sum each tree is."""
        return self._sum_of

    def cuts_of(self, trees: Places, leaves: Places) -> tuple[NDArray[np.int32], ...]:
        """Return where leaves begin and end: axes (-1: no more), and the last levels before."""
        at = trees * 64 * self.words + leaves
        return self._cut_axis[at], self._cut_level[at]


def _varying(one: Sum) -> tuple[list[Places], float]:
    """Return the leaves of each tree that may add this or that, in order, and the rest."""
    trees, base = [], 0.0
    ends = np.append(one.starts[1:], len(one.values))
    for tree, (start, end) in enumerate(zip(one.starts.tolist(), ends.tolist(), strict=True)):
        values = one.values[start:end]
        kept = one.whole or (one.kept is not None and bool(one.kept[tree]))
        same = len(values) == 1 or (not kept and (values == values[0]).all())
        if same and not (one.helping and values[0] > 0):
            base += float(values[0])
        else:
            trees.append(start + np.argsort(-values, kind="stable"))
    return trees, base
