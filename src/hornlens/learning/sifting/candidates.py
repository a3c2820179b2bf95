"""CandidateRules: all sets of at most K conditions on different attributes, in flat arrays.

A *statement* is what a candidate's rule says: that a label is never given, or always. A candidate
is a set of conditions with a statement; it is dead when an answer is on record that breaks it. All
that contains a cell is found by index arithmetic, for a batch of cells at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.learning.sifting.axes import Box, Cells, Flags, Ground
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import Policy
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space

Indices = NDArray[np.int64]
MOST = 12_000_000
"""So many sets of conditions at most, times the statements: they are held in memory."""
MOST_ROOM = 1e250
"""More cells than that, of the axes that a candidate leaves open, are as many as that."""
CHUNK = 4096
"""So many combinations of what the background speaks of are looked at in one go."""


@dataclass(frozen=True)
class Statement:
    """What a rule says of the labels in its cells: `breaks` are the labels that break it.

    `left` is the label on its left side, `right` what stands on its right: BOTTOM, or a label.
    `given` is the label that breaks it, as a mask, where there is one only: None if there are more.
    """

    breaks: tuple[int, ...]
    left: int = 0
    right: int = BOTTOM
    given: int | None = 0


class TooManyRules(HornlensError):
    """There are more candidates than can be held in memory."""


def class_statements(space: Space) -> tuple[Statement, ...]:
    """Return what can be said of labels that are always set: that one of them is always given."""
    places = range(0 if space.label is None else len(space.label.variables))
    others = [tuple(other for other in places if other != place) for place in places]
    bits = [space.with_label(0, place) for place in places]
    return tuple(
        Statement(rest, right=bit, given=bits[rest[0]] if len(rest) == 1 else None)
        for rest, bit in zip(others, bits, strict=True)
    )


def statements_of(space: Space, policies: Sequence[Policy]) -> tuple[Statement, ...]:
    """Return what can be said of the labels of a space.

    Where the label may be unset, a set of conditions without it claims nothing: rules have it on
    their left. Where it is always set, that a label is always given is a rule, too; of two labels,
    one is always given where the other never is.
    """
    label = space.label
    if label is None:
        return (Statement((0,)),)
    places = range(len(label.variables))
    bits = [space.with_label(0, place) for place in places]
    never = tuple(Statement((p,), bits[p], given=bits[p]) for p in places)
    if any(policy.label_unset == "accept" for policy in policies):
        return never
    always = class_statements(space)
    return always if len(bits) == 2 else never if len(bits) < 2 else (*never, *always)


@dataclass(frozen=True, eq=False)
class CandidateRules:
    """All sets of at most `most` conditions, numbered: first those of no attribute, then of one.

    `blocks` are the sets of attributes; the sets of conditions of one block follow each other, the
    last attribute's varying first.
    """

    ground: Ground
    most: int
    blocks: tuple[tuple[int, ...], ...]
    offsets: Indices
    shapes: tuple[tuple[int, ...], ...]
    count: int

    @classmethod
    def of(cls, ground: Ground, most: int, statements: int) -> CandidateRules:
        """Lay out the candidates of a space; too many are an error."""
        sizes = [len(axis.conditions) for axis in ground.axes]
        able = [i for i, size in enumerate(sizes) if size]
        blocks = tuple(s for k in range(most + 1) for s in combinations(able, k))
        shapes = tuple(tuple(sizes[i] for i in s) for s in blocks)
        lengths = [prod(shape) for shape in shapes]
        count = sum(lengths)
        if count * statements > MOST:
            raise TooManyRules(
                f"there are {count * statements:,} rules with at most {most} conditions on "
                f"attributes, too many to sift ({MOST:,} at most): lower --max-conditions, or "
                "leave out attributes or values"
            )
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)[:-1]
        return cls(ground, most, blocks, offsets, shapes, count)

    @cached_property
    def _strides(self) -> list[tuple[int, ...]]:
        return [tuple(prod(shape[k + 1 :]) for k in range(len(shape))) for shape in self.shapes]

    @cached_property
    def is_single(self) -> bool:
        """Whether a level meets one condition at most: then a cell lies in one of each block."""
        return all(axis.met.shape[1] <= 1 for axis in self.ground.axes)

    def containing(self, cells: Cells, blocks: int | None = None) -> Indices:
        """Return for each cell the candidates that it lies in; `count` stands for none.

        With `blocks`, only those of the first so many.
        """
        met = [axis.met for axis in self.ground.axes]
        parts: list[Indices] = []
        laid = list(zip(self.blocks, self.offsets, self._strides, strict=True))
        for block, offset, strides in laid[:blocks]:
            index = np.full((len(cells), 1), offset, dtype=np.int64)
            missing = np.zeros((len(cells), 1), dtype=np.bool_)
            for i, stride in zip(block, strides, strict=True):
                own = met[i][cells[:, i]]
                if own.shape[1] == 1:
                    index = index + own * stride
                    missing = missing | (own < 0)
                    continue
                index = (index[:, :, None] + own[:, None, :] * stride).reshape(len(cells), -1)
                missing = (missing[:, :, None] | (own[:, None, :] < 0)).reshape(len(cells), -1)
            parts.append(np.where(missing, self.count, index))
        return np.concatenate(parts, axis=1)

    @cached_property
    def block_of(self) -> Indices:
        """For each candidate the place of its block."""
        lengths = np.diff(np.append(self.offsets, self.count))
        return np.repeat(np.arange(len(self.blocks)), lengths)

    def conditions(self, candidate: int) -> dict[int, int]:
        """Return the condition of a candidate on each attribute that it speaks of."""
        place = int(self.block_of[candidate])
        rest = int(candidate - self.offsets[place])
        chosen: dict[int, int] = {}
        for i, stride in zip(self.blocks[place], self._strides[place], strict=True):
            chosen[i], rest = divmod(rest, stride)
        return chosen

    def box(self, candidate: int) -> Box:
        """Return the cells of a candidate."""
        box: list[Flags | None] = [None] * len(self.ground.axes)
        for i, condition in self.conditions(candidate).items():
            box[i] = self.ground.axes[i].meets[:, condition]
        return tuple(box)

    def mask(self, candidate: int) -> int:
        """Return the conditions of a candidate as one mask."""
        axes = self.ground.axes
        return sum(axes[i].conditions[k] for i, k in self.conditions(candidate).items())

    def rule(self, candidate: int, statement: Statement) -> Rule:
        """Return the rule of a candidate; its right side has its left side, as in a basis."""
        left, right = self.mask(candidate) | statement.left, statement.right
        return Rule(left, BOTTOM if right == BOTTOM else left | right)

    def sums(self, place: int, cells: Cells, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each candidate of a block the sums of values over the cells that lie in it.

        `values` has a row for each cell, and the result one for each candidate.
        """
        block, axes = self.blocks[place], self.ground.axes
        if not block:
            total: NDArray[np.float32] = values.sum(axis=0, keepdims=True)
            return total
        *others, last = block
        left = np.ones((len(cells), 1), dtype=np.float32)
        for i in others:
            own = axes[i].meets_as_numbers[cells[:, i]]
            left = (left[:, :, None] * own[:, None, :]).reshape(len(cells), -1)
        own = axes[last].meets_as_numbers[cells[:, last]]
        right = (own[:, :, None] * values[:, None, :]).reshape(len(cells), -1)
        sums: NDArray[np.float32] = (left.T @ right).reshape(-1, values.shape[1])
        return sums

    # --- what is more general ---

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        """For each candidate those that are one step more general; `count` stands for none."""
        axes = self.ground.axes
        place_of = {block: place for place, block in enumerate(self.blocks)}
        ways = max((axis.covers.shape[1] for axis in axes if len(axis.conditions)), default=1)
        table = np.full((self.count + 1, max(1, self.most * ways)), self.count, dtype=np.int32)
        for place, (block, shape) in enumerate(zip(self.blocks, self.shapes, strict=True)):
            if not block:
                continue
            offset, strides = int(self.offsets[place]), self._strides[place]
            local = np.arange(prod(shape))
            values = [local // s % n for s, n in zip(strides, shape, strict=True)]
            rows = slice(offset, offset + len(local))
            for k, i in enumerate(block):
                up = place_of[(*block[:k], *block[k + 1 :])]
                others = [v for j, v in enumerate(values) if j != k]
                dropped = np.full(len(local), self.offsets[up])
                for value, stride in zip(others, self._strides[up], strict=True):
                    dropped = dropped + value * stride
                for way in range(axes[i].covers.shape[1]):
                    weaker = axes[i].covers[values[k], way]
                    own = local + (weaker - values[k]) * strides[k] + offset
                    none = self.count if way else dropped
                    table[rows, k * ways + way] = np.where(weaker < 0, none, own)
        return table

    @cached_property
    def ranks(self) -> list[NDArray[np.intp]]:
        """The candidates by how many steps they are from saying nothing: parents come first."""
        order, depth = self._by_depth
        cuts = np.flatnonzero(np.diff(depth)) + 1
        return np.split(order, cuts)

    def ranked(self, alive: Flags) -> list[NDArray[np.intp]]:
        """Return those that are alive, by the same."""
        order, depth = self._by_depth
        live = alive[order]
        order, depth = order[live], depth[live]
        return np.split(order, np.flatnonzero(np.diff(depth)) + 1)

    @cached_property
    def _by_depth(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        depth = np.zeros(self.count, dtype=np.int64)
        for place, (block, shape) in enumerate(zip(self.blocks, self.shapes, strict=True)):
            offset, strides = int(self.offsets[place]), self._strides[place]
            local = np.arange(prod(shape))
            for i, stride, n in zip(block, strides, shape, strict=True):
                depth[offset : offset + len(local)] += self.ground.axes[i].depth[
                    local // stride % n
                ]
        order = np.argsort(depth, kind="stable")
        return order, depth[order]

    def minimal(self, alive: Flags) -> NDArray[np.intp]:
        """Return those alive of which no more general one is; `alive` has one place more: False."""
        live = np.flatnonzero(alive[:-1])
        return live[~alive[self.parents[live]].any(axis=1)]

    @cached_property
    def rooms(self) -> NDArray[np.float64]:
        """How many cells each candidate has; where the background is not counted, at most.

        Of thousands of axes it is a part of them: more than a float can hold.
        """
        axes, ground = self.ground.axes, self.ground
        rooms = np.zeros(self.count + 1)
        bound = set(ground.bound) if ground.counted else set()
        combined = {i: ground.combined[:, k] for k, i in enumerate(ground.bound)} if bound else {}
        sums = [axis.meets.sum(axis=0).astype(float) for axis in axes]
        for place, block in enumerate(self.blocks):
            free = [i for i in range(len(axes)) if i not in bound and i not in block]
            room = np.array(float(min(MOST_ROOM, prod(int(ground.sizes[i]) for i in free))))
            for i in block:
                room = room[..., None] * (sums[i] if i not in bound else np.ones(len(sums[i])))
            spoken = [i for i in block if i in bound]
            if bound:
                counts = np.zeros([len(sums[i]) for i in spoken])
                for first in range(0, len(ground.combined), CHUNK):
                    some = slice(first, first + CHUNK)
                    allowed = np.ones((len(ground.combined[some]), 1))
                    for i in spoken:
                        own = axes[i].meets[combined[i][some]].astype(float)
                        allowed = (allowed[:, :, None] * own[:, None, :]).reshape(len(own), -1)
                    counts += allowed.sum(axis=0).reshape(counts.shape)
                shape = [len(sums[i]) if i in bound else 1 for i in block]
                room = room * counts.reshape(shape)
            start = int(self.offsets[place])
            rooms[start : start + room.size] = room.reshape(-1)
        return rooms
