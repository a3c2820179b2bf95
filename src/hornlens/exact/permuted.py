"""Rules of many permutations of the answers at once: which hold, and how many chance would give.

Every permutation is a bit of a word, so that one pass over the grid looks at 64 of them. A rule
X → v holds in a permutation iff no accepted point above X lacks v: an "or" along each axis. The
answers as they are stand first, at bit 0, and are counted by the same code.

The chance that one rule holds under permutation is known exactly. If n cells can break it, and m of
the N answers of a world would, it is C(N − n, m) / C(N, m); over several worlds, their product. The
smallest such chance among the rules that hold is what permutations are compared by (Westfall and
Young's minP): it depends on the answers only through which rules hold, so that it is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.grid import LabelledSpace
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space

WORD = 64
AT_A_TIME = 1 << 20
"""So many words are looked at together."""
DIGITS = 9
"""Logarithms of chances are compared to so many digits: equal chances are equal."""
Bits = NDArray[np.uint64]
NOT_COUNTED = np.zeros((0, 0), np.int64)


@dataclass(frozen=True, eq=False)
class WorldAnswers:
    """The answers of one way of asking: what was decided of each cell, and what that accepts.

    `places` are positions in `accepted`, which has a line for each different decision, and a column
    for each label that an interpretation may claim, none first; without labels, one column.
    """

    places: NDArray[np.intp]
    accepted: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Permuted:
    """What permutations give, the answers as they are first.

    `counts` has a line for each permutation and a column for each number of conditions, from 0 on.
    `smallest` is, for each permutation, the logarithm of the smallest chance of a rule that holds.
    """

    counts: NDArray[np.int64]
    smallest: NDArray[np.float64]

    def p_value(self, chance: float) -> float:
        """Return the share of permutations in which a rule of at most this chance holds.

        The answers as they are count as one of them: so it is a p-value, over all rules at once.
        """
        return float(np.count_nonzero(self.smallest <= chance)) / len(self.smallest)


class PermutedGrid:
    """The grid of a space, every cell of which was asked, and all rules that can be said of it."""

    def __init__(
        self,
        space: Space,
        cells: Sequence[int],
        worlds: Sequence[WorldAnswers],
        free: NDArray[np.bool_] | None = None,
    ):
        """Take the cells in the order in which the worlds have their answers.

        Only the `free` cells are permuted; by default, all are.
        """
        self.space, self.worlds = space, tuple(worlds)
        self.free = np.arange(len(cells)) if free is None else np.flatnonzero(free)
        self.shape = space.shape
        self.attributes = len(space.attributes)
        whole = np.array([space.places(cell)[: self.attributes] for cell in cells], np.intp)
        self.cell_places = tuple(whole.reshape(len(cells), self.attributes).T)
        labelled = LabelledSpace(space, np.zeros(0, np.bool_))
        self.inside = labelled.inside().reshape(self.shape)
        self.variables = [
            (axis, variable)
            for axis, attribute in enumerate(space.all_attributes)
            for variable in range(len(attribute.variables))
        ]
        self._starts = [
            sum(len(a.variables) for a in space.all_attributes[:axis])
            for axis in range(len(self.shape))
        ]

    @cached_property
    def _at_cells(self) -> Any:
        """The index of the cells in a grid whose first axis is another's."""
        return (slice(None), *self.cell_places)

    @staticmethod
    def size(space: Space) -> int:
        """Return how many rules can be said: each point of the grid with each right side."""
        return space.count * (space.width + 1)

    # --- what is the same in every permutation ---

    @cached_property
    def lacks(self) -> NDArray[np.bool_]:
        """For each variable, and ⊥ last, the points that lack it."""
        lines = np.ones((len(self.variables) + 1, *self.shape), np.bool_)
        for line, (axis, variable) in zip(lines, self.variables, strict=False):
            choices = self.space.all_attributes[axis].choices
            having = [place for place, choice in enumerate(choices) if choice >> variable & 1]
            np.moveaxis(line, axis, 0)[having] = False
        return lines

    @cached_property
    def open_rules(self) -> NDArray[np.bool_]:
        """For each right side and each left side, whether some point can break the rule.

        A right side that the left excludes says ⊥, which is a right side of its own.
        """
        is_open: NDArray[np.bool_] = self._fold(self.lacks & self.inside) & self.lacks
        for axis, attribute in enumerate(self.space.all_attributes):
            for place, excluded in enumerate(_excluded_by(attribute)):
                lines = self._starts[axis] + np.array(excluded, np.intp)
                np.moveaxis(is_open, axis + 1, 1)[lines, place] = False
        return is_open

    @cached_property
    def conditions(self) -> NDArray[np.intp]:
        """For each point, how many attributes it speaks of; the label is one."""
        counts: NDArray[np.intp] = (np.indices(self.shape) > 0).sum(axis=0, dtype=np.intp)
        return counts

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """For each right side and each left side, the logarithm of the chance that it holds."""
        room = self._room
        if self.space.label is None:
            return np.round(self._log_chances(room, ...), DIGITS)
        columns = self.shape[-1]
        chances = np.zeros((len(self.variables) + 1, *self.shape))
        for v in range(len(self.variables) + 1):
            own = v - self._starts[-1] + 1 if self._starts[-1] <= v < len(self.variables) else -1
            line = room[-1] if own > 0 else room[v]
            for column in range(columns):
                claimed = np.zeros(columns, np.bool_)
                claimed[column if column else slice(int(self.space.complete), None)] = True
                if own > 0:
                    claimed[own] = False
                chances[v, ..., column] = self._log_chances(line, claimed)
        return np.round(chances, DIGITS)

    @cached_property
    def _room(self) -> NDArray[np.int64]:
        """How many free cells above each combination of choices lack each variable."""
        shape = self.shape[: self.attributes]
        cells = np.zeros(shape, np.int64)
        cells[tuple(places[self.free] for places in self.cell_places)] = 1
        lacking = self.lacks[..., 0] if self.space.label is not None else self.lacks
        room: NDArray[np.int64] = lacking * cells
        for axis, attribute in enumerate(self.space.attributes):
            along = np.moveaxis(room, axis + 1, 0)
            sums = [along[attribute.above(p)].sum(axis=0) for p in range(attribute.count)]
            room = np.moveaxis(np.array(sums), 0, axis + 1)
        return room

    def _log_chances(self, room: NDArray[np.int64], claimed: Any) -> NDArray[np.float64]:
        """Return the chance that no cell of some is answered by what accepts a claim."""
        total_chance = np.zeros(room.shape)
        for world in self.worlds:
            total = len(self.free)
            logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, total + 1)))])
            lines = world.accepted.reshape(len(world.accepted), -1)
            breaking = np.any(lines[:, claimed].reshape(len(lines), -1), axis=1)
            m = int(np.count_nonzero(breaking[world.places[self.free]]))
            rest = total - room - m
            possible = rest >= 0
            chance = logs[total - room] + logs[total - m] - logs[np.maximum(rest, 0)] - logs[total]
            total_chance += np.where(possible, chance, -np.inf)
        return total_chance

    def chance_of(self, rule: Rule) -> float | None:
        """Return the logarithm of the chance that a rule holds; None if nothing can break it.

        Of a rule with several things on its right side, that of the likeliest.
        """
        space = self.space
        left = space.background.closure(rule.antecedent)
        if left == BOTTOM:
            return None
        try:
            point = tuple(space.places(left))
        except KeyError:
            return None
        right = [len(self.variables)] if rule.is_negative else list(bits(rule.new & ~left))
        lines = [float(self.chances[(v, *point)]) for v in right if self.open_rules[(v, *point)]]
        likeliest = max(lines, default=None)
        return None if likeliest == 0 and self._is_settled(point, right) else likeliest

    def _is_settled(self, point: tuple[int, ...], right: Sequence[int]) -> bool:
        """Return whether no free cell can break a rule with one of these right sides."""
        own: Any = (slice(None), *point[: self.attributes])
        room = self._room[own]
        lines = [v if self.variables_of(v) < self.attributes else -1 for v in right]
        return not any(room[line] for line in lines)

    def variables_of(self, v: int) -> int:
        """Return the axis of a right side; of ⊥, one past the last."""
        return len(self.shape) if v == len(self.variables) else self.variables[v][0]

    # --- permutations ---

    def permute(self, permutations: int, seed: int, counted: bool = True) -> Permuted:
        """Count the rules of the answers as they are, and of so many permutations of them.

        Every world is permuted by itself. The numbers come from PCG64 itself, whose stream is the
        same in every version of numpy.
        """
        total = permutations + 1
        counts: list[NDArray[np.int64]] = []
        smallest: list[NDArray[np.float64]] = []
        for accepted in self._words(total, seed):
            holding = ~self._fold(self.lacks_words & accepted[:, None])
            holding &= self._open_words
            smallest.append(self._smallest(holding))
            counts.append(self._count(holding) if counted else NOT_COUNTED)
        return Permuted(np.concatenate(counts)[:total], np.concatenate(smallest)[:total])

    @cached_property
    def lacks_words(self) -> Bits:
        """The same as `lacks`, with all bits of a word set or none."""
        return self._as_words(self.lacks)

    @cached_property
    def _open_words(self) -> Bits:
        return self._as_words(self.open_rules)

    @staticmethod
    def _as_words(flags: NDArray[np.bool_]) -> Bits:
        return np.where(flags, np.uint64(2**WORD - 1), np.uint64(0))

    def _words(self, total: int, seed: int) -> Iterator[Bits]:
        """Yield what is accepted: some words at a time, each with 64 permutations."""
        source = np.random.PCG64(seed)
        together = max(1, AT_A_TIME // PermutedGrid.size(self.space))
        words = ceil(total / WORD)
        for start in range(0, words, together):
            count = min(together, words - start)
            rows = count * WORD
            accepted = np.zeros((rows, *self.shape), np.bool_)
            for world in self.worlds:
                n = len(self.free)
                keys = source.random_raw(rows * n).reshape(rows, n)
                order = np.tile(np.arange(len(world.places)), (rows, 1))
                first = int(not start)  # the answers as they are
                order[first:, self.free] = self.free[np.argsort(keys[first:], 1, kind="stable")]
                accepted[self._at_cells] |= world.accepted[world.places[order]]
            if self.space.label is not None and self.space.complete:
                accepted[..., 0] = False
            accepted &= self.inside
            yield _packed(accepted, count)

    def _fold(self, points: NDArray[Any]) -> NDArray[Any]:
        """Return for each point whether any above it is set; axes of the grid come last."""
        points = points.copy()
        first = points.ndim - len(self.shape)
        for axis, attribute in enumerate(self.space.all_attributes):
            along = np.moveaxis(points, first + axis, 0)
            for place, above in attribute.covers():
                along[place] |= np.bitwise_or.reduce(along[above], axis=0)
        return points

    @cached_property
    def _ordered(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """The rules that something can break, the least likely first; and where a chance begins."""
        flat, known = self.chances.ravel(), np.flatnonzero(self.open_rules.ravel())
        known = known[np.isfinite(flat[known]) & (flat[known] < 0)]
        order = known[np.argsort(flat[known], kind="stable")]
        starts = np.flatnonzero(np.diff(flat[order], prepend=-np.inf))
        return order, starts, flat[order][starts]

    def _smallest(self, holding: Bits) -> NDArray[np.float64]:
        """Return for each permutation the smallest chance of a rule that holds; 0 if none does."""
        order, starts, levels = self._ordered
        if not len(order):
            return np.zeros(len(holding) * WORD)
        some = np.bitwise_or.reduceat(holding.reshape(len(holding), -1)[:, order], starts, axis=1)
        holds = _unpacked(some)
        first = holds.argmax(axis=1)
        return np.where(holds.any(axis=1), levels[first], 0.0)

    def _count(self, holding: Bits) -> NDArray[np.int64]:
        """Count for each permutation the left sides from which something new follows.

        New is what follows from no part of it: neither with a condition less, nor because what
        follows from a part excludes the rest. Each left side counts once.
        """
        never = holding[:, -1]
        new = np.zeros_like(never)
        for v, (axis, _) in enumerate(self.variables):
            # A value follows only where its attribute is unset, if values exclude one another.
            plain = isinstance(self.space.all_attributes[axis], Nominal)
            part: Any = (slice(None),) * (axis + 1) + (slice(0, 1 if plain else None),)
            own = holding[:, v][part]
            new[part] |= own & ~self._from_parts(own, axis if plain else None)
        excluded = self._from_parts(never) | self._contradicted(holding)
        new = (new & ~never) | (never & ~excluded)
        flags = _unpacked(new.reshape(len(new), -1))
        conditions = self.conditions.ravel()
        counts = [
            flags[:, conditions == count].sum(axis=1, dtype=np.int64)
            for count in range(len(self.shape) + 1)
        ]
        return np.stack(counts, axis=1)

    def _from_parts(self, holding: Bits, left_out: int | None = None) -> Bits:
        """Return in which permutations a rule holds with a left side that says less.

        `left_out` is an axis of which there is only one place.
        """
        flags = np.zeros_like(holding)
        first = holding.ndim - len(self.shape)
        for axis, attribute in enumerate(self.space.all_attributes):
            if axis == left_out:
                continue
            target, source = (np.moveaxis(each, first + axis, 0) for each in (flags, holding))
            for place, above in attribute.covers():
                target[above] |= source[place]
        return flags

    def _contradicted(self, holding: Bits) -> Bits:
        """Return in which permutations what follows from a part of a point excludes the point."""
        flags = np.zeros_like(holding[:, 0])
        for axis, attribute in enumerate(self.space.all_attributes):
            start, count = self._starts[axis], len(attribute.variables)
            own = np.moveaxis(holding[:, start : start + count], 2 + axis, 0)
            target = np.moveaxis(flags, 1 + axis, 0)
            excluded = _excluded_by(attribute)
            for place, above in attribute.covers():
                for child in np.arange(attribute.count)[above].tolist():
                    if excluded[child]:
                        parts = own[place][:, excluded[child]]
                        target[child] |= np.bitwise_or.reduce(parts, axis=1)
        return flags


def _excluded_by(attribute: Attribute) -> list[list[int]]:
    """Return for each choice the variables that no choice above it has."""
    choices = attribute.choices
    excluded = []
    for place in range(attribute.count):
        above = np.arange(attribute.count)[attribute.above(place)].tolist()
        union = 0
        for each in above:
            union |= choices[each]
        excluded.append([v for v in range(len(attribute.variables)) if not union >> v & 1])
    return excluded


def _packed(flags: NDArray[np.bool_], words: int) -> Bits:
    """Return flags of permutations, which come first, as bits of words."""
    shape = flags.shape[1:]
    octets = np.packbits(flags.reshape(len(flags), -1), axis=0).reshape(words, 8, -1)
    joined = np.ascontiguousarray(octets.transpose(0, 2, 1)).view(np.uint64)
    return joined.reshape(words, *shape)


def _unpacked(words: Bits) -> NDArray[np.bool_]:
    """Return the bits of words of shape (words, n) as flags of shape (permutations, n)."""
    count, n = words.shape
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(count, n, 8)
    flags = np.unpackbits(octets, axis=2).reshape(count, n, WORD)
    return flags.transpose(0, 2, 1).reshape(count * WORD, n).astype(np.bool_)
