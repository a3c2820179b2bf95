"""What moving one column does: "income up never turns yes into no".

Two boxes of cells are looked at together, which are alike but for one feature: where it is before,
and where it is after. They are split until no cell of the one can be of a class that is meant, or
each tree has one leaf left in both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.boxes.cells import Levels, cells_at
from hornlens.targets.classifiers.conditions import Both, Expression, Not
from hornlens.targets.classifiers.grammar import Words, parse_expression
from hornlens.targets.classifiers.voting import Masks, Vote

TOGETHER = 1 << 10
"""How many pairs of boxes are looked at at once."""
PATIENCE = 400_000
"""After so many pairs, the search is given up."""
FEW = 4_096
"""So many cells of a pair of boxes are tried for two that occur."""
_MOTION = re.compile(
    r"\s*(?P<column>.+?)(?:\s+(?P<way>up|down))?\s+never\s+"
    r"(?:turns\s+(?P<first>.+?)\s+into\s+(?P<then>.+?)"
    r"|changes(?:\s+(?:the\s+)?(?:class|decision|answer|prediction))?)"
    r"(?:\s+where\s+(?P<where>.+?))?\s*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Motion:
    """A column that is moved, and what that never does: turn one class into another.

    `up` is None if it may go either way. Without classes, no change of the class is meant.
    """

    column: str
    up: bool | None
    first: Expression | None
    then: Expression | None
    where: Expression

    def pairs(self, first: int, then: int, every: int) -> list[tuple[int, int]]:
        """Return the classes before and after that must not occur together, as bits."""
        if self.first is not None:
            return [(first, then)]
        places = range(every.bit_length())
        return [(1 << place, every & ~(1 << place)) for place in places]

    def __str__(self) -> str:
        """Return it as it is read back."""
        way = {True: " up", False: " down", None: ""}[self.up]
        what = "changes the class"
        if self.first is not None:
            what = f"turns {self.first} into {self.then}"
        where = "" if self.where == Both() else f" where {self.where}"
        return f"{self.column}{way} never {what}{where}"


def parse_motion(text: str, words: Words) -> Motion | None:
    """Return what a text says of moving a column; None if it is no such text."""
    match = _MOTION.fullmatch(text)
    if match is None:
        return None
    column = match["column"].strip()
    if column[:1] in "\"'" and column[:1] == column[-1:]:
        column = column[1:-1]
    if column not in words.names:
        if re.search(r"->|→|=>", text):
            return None
        known = ", ".join(words.names[:8])
        raise InputError(f"{column!r} names no column (there are: {known})")
    up = None if match["way"] is None else match["way"].lower() == "up"
    first = then = None
    if match["first"] is not None:
        first = parse_expression(match["first"], words, is_right=True)
        another = match["then"].strip().lower() in ("another", "another class", "anything else")
        then = Not(first) if another else parse_expression(match["then"], words, is_right=True)
    where = parse_expression(match["where"] or "", words)
    return Motion(column, up, first, then, where)


def moved(
    vote: Vote,
    axis: int,
    first: int,
    then: int,
    up: bool | None,
    box: Sequence[int] | None = None,
    patience: int = PATIENCE,
) -> tuple[int, tuple[Levels, Levels] | None]:
    """Look for a cell of some classes, and one of others that differs from it in a feature only.

    Args:
        vote: The trees.
        axis: The feature that is moved. The last level of one that may be missing goes no way.
        first: The classes before (bits).
        then: The classes after.
        up: Whether it grows or falls; None: both, and missing values count.
        box: The cells that are meant, as sets of levels; both cells lie in it.
        patience: After so many pairs of boxes it is given up.

    Returns:
        1 and the cells, or 0 if there are none (proved), or -1 if that was too hard. If a limit is
        reached, it raises Stopped.
    """
    search = _Pairs(vote, axis, up)
    levels = [(1 << feature.size) - 1 for feature in vote.features] if box is None else list(box)
    if up is not None:
        levels[axis] &= (1 << vote.features[axis].known) - 1
    if not all(levels):
        return 0, None
    here = there = vote.packed([levels])
    looked = 0
    while len(here):
        vote.binned.check()
        some = slice(-TOGETHER, None)
        before, after = here[some], there[some]
        here, there = here[:-TOGETHER], there[:-TOGETHER]
        looked += len(before)
        if looked > patience:
            return -1, None
        keep = search.may_differ(before, after)
        before, after = before[keep], after[keep]
        wins, wide_before, tree_before = search.bounds(before, first)
        may, wide_after, tree_after = search.bounds(after, then)
        possible = wins & may
        width = np.maximum(wide_before, wide_after)
        for row in np.flatnonzero(possible & (width == 0)).tolist():
            status, pair = search.pair_in(before[row], after[row], first, then)
            if status:
                return status, pair
        halves = [
            search.split(before[row], after[row], int(tree), bool(wide_before[row] < width[row]))
            for row, tree in enumerate(
                np.where(wide_before >= wide_after, tree_before, tree_after).tolist()
            )
            if possible[row] and width[row]
        ]
        if halves:
            here = np.concatenate([here, *(pair[0] for pair in halves)])
            there = np.concatenate([there, *(pair[1] for pair in halves)])
    return 0, None


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of boxes over the leaves of an ensemble, alike but for the levels of one feature."""

    vote: Vote
    axis: int
    up: bool | None

    @property
    def _own(self) -> slice:
        words = self.vote.words
        return slice(self.axis * words, (self.axis + 1) * words)

    def may_differ(self, before: Masks, after: Masks) -> NDArray[np.bool_]:
        """Say of each pair whether a level before and one after lie as they must."""
        one, two = self._levels(before), self._levels(after)
        if self.up is None:
            same = (one == two).all(axis=1) & (one.sum(axis=1) == 1)
            return np.asarray(~same)
        size = one.shape[1]
        low, high = one, two
        if not self.up:
            low, high = two, one
        return np.asarray(low.argmax(axis=1) < size - 1 - high[:, ::-1].argmax(axis=1))

    def _levels(self, boxes: Masks) -> NDArray[np.bool_]:
        words = boxes[:, self._own]
        bits = words[:, :, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
        return np.asarray(bits.reshape(len(boxes), -1) != 0)

    def bounds(
        self, boxes: Masks, classes: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.intp]]:
        """Say of each box whether some class can win in it, how much is open, and in which tree."""
        _, scores, starts = self.vote.leaves
        reached = self._reached(boxes)
        possible = np.zeros(len(boxes), dtype=np.bool_)
        spread = np.zeros((len(boxes), len(starts)))
        count = scores.shape[1]
        for own in range(count):
            if not classes >> own & 1:
                continue
            lead = np.full(len(boxes), np.inf)
            for other in range(count):
                if other == own:
                    continue
                gain = scores[:, own] - scores[:, other]
                best = np.maximum.reduceat(np.where(reached, gain, -np.inf), starts, axis=1)
                worst = np.minimum.reduceat(np.where(reached, gain, np.inf), starts, axis=1)
                lead = np.minimum(lead, best.sum(axis=1))
                spread = np.maximum(spread, best - worst)
            possible |= lead >= -self.vote._tolerance
        many = np.add.reduceat(reached, starts, axis=1, dtype=np.intp) > 1
        spread = np.where(many, np.maximum(spread, 1e-300), 0.0)
        return possible, spread.max(axis=1, initial=0.0), spread.argmax(axis=1)

    def _reached(self, boxes: Masks) -> NDArray[np.bool_]:
        leaves, words = self.vote.leaves[0], self.vote.words
        reached = np.ones((len(boxes), len(leaves)), dtype=np.bool_)
        for axis in range(len(self.vote.features)):
            meets = np.zeros(reached.shape, dtype=np.bool_)
            for word in range(axis * words, (axis + 1) * words):
                meets |= (boxes[:, word, None] & leaves[None, :, word]) != 0
            reached &= meets
        return reached

    def split(self, before: Masks, after: Masks, tree: int, at_after: bool) -> tuple[Masks, Masks]:
        """Split a pair of boxes where a leaf of a tree ends that is open in one of them."""
        leaves, _, starts = self.vote.leaves
        end = starts[tree + 1] if tree + 1 < len(starts) else len(leaves)
        box = after if at_after else before
        own = leaves[starts[tree] : end]
        leaf = own[self._reached_of(own, box)][0]
        words = self.vote.words
        cut = (box & ~leaf).reshape(-1, words)
        axis = int(np.flatnonzero(cut.any(axis=1))[0])
        some = slice(axis * words, (axis + 1) * words)
        pairs = []
        for part in (box[some] & leaf[some], cut[axis]):
            ends = [before.copy(), after.copy()]
            for place, one in enumerate(ends):
                if axis != self.axis or place == at_after:
                    one[some] = part
            pairs.append(ends)
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])

    def _reached_of(self, leaves: Masks, box: Masks) -> NDArray[np.bool_]:
        common = (leaves & box[None, :]).reshape(len(leaves), -1, self.vote.words)
        return np.asarray((common != 0).any(axis=2).all(axis=1))

    def pair_in(
        self, before: Masks, after: Masks, first: int, then: int
    ) -> tuple[int, tuple[Levels, Levels] | None]:
        """Return two cells that occur, if their classes are those; each box has one sum."""
        size = self.vote.features[self.axis].size
        one = np.flatnonzero(self._levels(before[None])[0][:size])
        two = np.flatnonzero(self._levels(after[None])[0][:size])
        ways = [(a, b) for a in one.tolist() for b in two.tolist() if self._is_way(a, b)]
        rest = [self._some(before, axis) for axis in range(len(self.vote.features))]
        rest[self.axis] = np.zeros(1, dtype=np.intp)
        shape = tuple(map(len, rest))
        is_free = not self.vote.forbidden
        places = cells_at(np.arange(1 if is_free else min(prod(shape), FEW)), shape)
        cells = np.column_stack([rest[at][places[:, at]] for at in range(len(rest))])
        for low, high in ways[:1] if is_free else ways[:FEW]:
            ends = cells.copy(), cells.copy()
            ends[0][:, self.axis], ends[1][:, self.axis] = low, high
            both = self.vote.occur(ends[0]) & self.vote.occur(ends[1])
            if both.any():
                row = int(both.argmax())
                pair = ends[0][row], ends[1][row]
                said = self.vote.binned.ask(np.stack(pair)).tolist()
                is_one = bool(first >> said[0] & 1 and then >> said[1] & 1)
                return (1, pair) if is_one else (0, None)
        whole = is_free or (prod(shape) <= FEW and len(ways) <= FEW)
        return (0, None) if whole else (-1, None)

    def _is_way(self, low: int, high: int) -> bool:
        if self.up is None:
            return low != high
        return low < high if self.up else low > high

    def _some(self, box: Masks, axis: int) -> NDArray[np.intp]:
        """Return the levels of a feature in a box."""
        words = self.vote.words
        own = box[axis * words : (axis + 1) * words]
        bits = own[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
        return np.flatnonzero(bits.reshape(-1))


def flags_of(bits: int, size: int | None = None) -> NDArray[np.bool_]:
    """Say of each level whether it is one of a set of levels, given as bits.

    >>> flags_of(5, 4).tolist()
    [True, False, True, False]
    """
    count = bits.bit_length() if size is None else size
    return np.array([bool(bits >> level & 1) for level in range(count)], dtype=np.bool_)
