"""Proofs about ensembles of trees, without asking every cell: branch and bound over boxes.

In a box of cells, each tree has some leaves left. If even the best of them for another class cannot
outvote a class, the box is decided; else it is split at a threshold of the tree that leaves most
open. Where one leaf is left of each tree, their sum decides; where the sum is so close that
rounding does, the classifier itself is asked. So the answers are its own, for every input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import Levels
from hornlens.limits import Stopped
from hornlens.targets.classifiers.ensembles.trees import CLOSE
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.leaves import read_leaves
from hornlens.targets.classifiers.pipelines import TreeModel
from hornlens.targets.classifiers.points import Binned

TOGETHER = 1 << 11
"""How many boxes are looked at at once."""
PATIENCE = 20_000
"""After so many boxes, one question is given up."""

Masks = NDArray[np.uint64]
"""Sets of levels as bits: a row a box, and for each feature as many words as the largest needs."""
Leaves: TypeAlias = tuple[Masks, NDArray[np.float64], NDArray[np.intp]]
"""All leaves: their sets of levels, their scores, and where each tree's begin."""


@dataclass(frozen=True, eq=False)
class Vote:
    """An ensemble over the levels of features: its leaves as sets of levels, and their scores."""

    binned: Binned
    model: TreeModel | None
    """Where the trees are read from, if their leaves are not given."""
    given: Leaves | None = None
    forbidden: tuple[tuple[int, ...], ...] = ()
    """Boxes of cells that do not occur, as sets of levels."""
    most_broken: int = 0

    def asked_by(self, binned: Binned) -> Vote:
        """Return the same ensemble, whose cells another one asks; what was read stays read."""
        given = self.__dict__.get("leaves", self.given)
        return Vote(binned, self.model, given, self.forbidden, self.most_broken)

    @cached_property
    def words(self) -> int:
        """How many words a set of levels takes."""
        return max((feature.size + 63) // 64 for feature in self.features) if self.features else 1

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that have several levels."""
        return self.binned.features

    @cached_property
    def leaves(self) -> Leaves:
        """All leaves: their sets of levels, their scores, and where each tree's begin."""
        if self.given is not None:
            return self.given
        assert self.model is not None
        masks, scores, starts = read_leaves(self.binned, self.model)
        return self.packed(masks), np.array(scores), np.array(starts)

    # --- questions ---

    def mask(self, box: Box) -> list[int]:
        """Return a box as sets of levels."""
        return [((1 << high - low + 1) - 1) << low for low, high in box]

    def packed(self, boxes: Sequence[Sequence[int]]) -> Masks:
        """Return boxes, as sets of levels, in rows."""
        rows = [[word for m in box for word in _split(m, self.words)] for box in boxes]
        width = len(self.features) * self.words
        return np.array(rows, dtype=np.uint64).reshape(len(boxes), width)

    def parts(self, box: Sequence[int]) -> list[list[int]]:
        """Return boxes without a common cell that have all cells of a box that occur."""
        found = [list(box)]
        for bad in self.forbidden:
            rest = []
            for part in found:
                if not all(own & mask for own, mask in zip(part, bad, strict=True)):
                    rest.append(part)
                    continue
                inner = [*part]
                for axis, mask in enumerate(bad):
                    if outside := inner[axis] & ~mask:
                        rest.append([*inner[:axis], outside, *inner[axis + 1 :]])
                        inner[axis] &= mask
            found = rest
        return found

    def occur(self, cells: Levels) -> NDArray[np.bool_]:
        """Say of each cell whether it occurs."""
        found = np.ones(len(cells), dtype=np.bool_)
        for bad in self.forbidden:
            inside = np.ones(len(cells), dtype=np.bool_)
            for axis, (feature, mask) in enumerate(zip(self.features, bad, strict=True)):
                levels = np.array([bool(mask >> level & 1) for level in range(feature.size)])
                inside &= levels[cells[:, axis]]
            found &= ~inside
        return found

    def others_among(
        self, boxes: Sequence[Sequence[int]], places: Sequence[int], patience: int = PATIENCE
    ) -> tuple[Levels, NDArray[np.int8]]:
        """Look in each box for a cell that occurs and is not of the box's class; see others_in."""
        if not self.forbidden:
            return self.others_in(self.packed(boxes), np.array(places), patience)
        parts, of = [], []
        for number, box in enumerate(boxes):
            for part in self.parts(box):
                parts.append(part)
                of.append(number)
        cells = np.zeros((len(boxes), len(self.features)), dtype=np.intp)
        status = np.zeros(len(boxes), dtype=np.int8)
        if not parts:
            return cells, status
        own = np.array([places[number] for number in of])
        found, what = self.others_in(self.packed(parts), own, patience)
        for number, cell, said in zip(of, found, what.tolist(), strict=True):
            if said == 1 or (said == -1 and status[number] == 0):
                cells[number], status[number] = cell, said
        return cells, status

    def others_in(
        self, boxes: Masks, places: NDArray[np.intp], patience: int = PATIENCE
    ) -> tuple[Levels, NDArray[np.int8]]:
        """Look in each box for a cell that is not of the box's class.

        Return a cell for each box, and what became of it: 1 there is such a cell, 0 there is none
        (proved), -1 given up. If a limit is reached, all that is not settled by then is given up.
        """
        cells = np.zeros((len(boxes), len(self.features)), dtype=np.intp)
        status = np.zeros(len(boxes), dtype=np.int8)
        looked = np.zeros(len(boxes), dtype=np.intp)
        stack_boxes, stack_of = boxes, np.arange(len(boxes))
        while len(stack_of):
            waiting = stack_of
            head, of = stack_boxes[-TOGETHER:], stack_of[-TOGETHER:]
            stack_boxes, stack_of = stack_boxes[:-TOGETHER], stack_of[:-TOGETHER]
            alive = status[of] == 0
            head, of = head[alive], of[alive]
            if not len(of):
                continue
            np.add.at(looked, of, 1)
            try:
                self.binned.check()
                lead, width, tree = self._bounds(head, places[of])
                possible = lead >= -self._tolerance
                settled = width == 0
                for row in np.flatnonzero(possible & settled).tolist():
                    own = int(of[row])
                    if status[own]:
                        continue
                    cell = self.a_cell(head[row])
                    if lead[row] > self._tolerance or self._is_other(cell, int(places[own])):
                        cells[own], status[own] = cell, 1
            except Stopped:
                status[waiting[status[waiting] == 0]] = -1
                break
            given_up = (looked[of] > patience) & (status[of] == 0)
            status[of[given_up]] = -1
            go_on = possible & ~settled & (status[of] == 0)
            halves, half_of = self._halves(head[go_on], of[go_on], tree[go_on])
            stack_boxes = np.concatenate([stack_boxes, halves])
            stack_of = np.concatenate([stack_of, half_of])
        return cells, status

    def any_of(
        self, box: Sequence[int], classes: int, patience: int = 50 * PATIENCE
    ) -> tuple[Levels | None, bool]:
        """Look in a box for a cell of one of some classes (bits); was the whole box looked at?

        If a limit is reached, it raises Stopped.
        """
        stack, looked = self.packed(self.parts(box)), 0
        some = [place for place in range(self.leaves[1].shape[1]) if classes >> place & 1]
        while len(stack) and some:
            self.binned.check()
            head, stack = stack[-TOGETHER:], stack[:-TOGETHER]
            looked += len(head)
            if looked > patience:
                return None, False
            wins = np.stack([self._can_win(head, np.full(len(head), place)) for place in some])
            _, width, tree = self._bounds(
                head, np.full(len(head), some[int(wins.max(axis=1).argmax())])
            )
            possible = wins.max(axis=0) >= -self._tolerance
            for row in np.flatnonzero(possible & (width == 0)).tolist():
                cell = self.a_cell(head[row])
                if classes >> int(self.binned.ask(cell[None, :])[0]) & 1:
                    return cell, True
            go_on = possible & (width > 0)
            halves, _ = self._halves(head[go_on], np.zeros(int(go_on.sum()), np.intp), tree[go_on])
            stack = np.concatenate([stack, halves])
        return None, True

    def flip_along(
        self, axis: int, patience: int = PATIENCE
    ) -> tuple[int, tuple[Levels, Levels] | None]:
        """Look for two cells that differ only in a feature, and in their classes.

        Return 1 and the cells, or 0 if there are none (proved), or -1 if that was too hard. If
        neighbouring levels never differ, no two do; where cells do not occur, all pairs count. If a
        limit is reached, it raises Stopped.
        """
        hard, size = False, self.features[axis].size
        pairs = [(low, low + 1) for low in range(size - 1)]
        if self.forbidden:
            pairs = [(low, high) for low in range(size) for high in range(low + 1, size)]
        for low, high in pairs:
            status, found = self._flip_between(axis, low, high, patience)
            if status == 1:
                return 1, found
            hard |= status == -1
        return (-1 if hard else 0), None

    def _flip_between(
        self, axis: int, low: int, high: int, patience: int
    ) -> tuple[int, tuple[Levels, Levels] | None]:
        full = [(1 << feature.size) - 1 for feature in self.features]
        full[axis] = 1 << low
        stack = self.packed(self._both_occur(full, axis, low, high))
        words = slice(axis * self.words, (axis + 1) * self.words)
        moved = np.array(_split(1 << high, self.words), dtype=np.uint64)
        looked = 0
        while len(stack):
            self.binned.check()
            head, stack = stack[-TOGETHER:], stack[:-TOGETHER]
            there = head.copy()
            there[:, words] = moved
            looked += len(head)
            if looked > patience:
                return -1, None
            possible = np.zeros(len(head), dtype=np.bool_)
            width = np.zeros(len(head))
            tree = np.zeros(len(head), dtype=np.intp)
            for place in range(self.leaves[1].shape[1]):
                own = np.full(len(head), place)
                here = self._can_win(head, own) >= -self._tolerance
                lead, open_there, tree_there = self._bounds(there, own)
                both = here & (lead >= -self._tolerance)
                _, open_here, tree_here = self._bounds(head, own)
                more = open_there >= open_here
                width = np.where(both, np.maximum(width, np.maximum(open_there, open_here)), width)
                tree = np.where(both, np.where(more, tree_there, tree_here), tree)
                possible |= both
            for row in np.flatnonzero(possible & (width == 0)).tolist():
                first, second = self.a_cell(head[row]), self.a_cell(there[row])
                said = self.binned.ask(np.stack([first, second]))
                if said[0] != said[1]:
                    return 1, (first, second)
            go_on = possible & (width > 0)
            # A tree may be open at one end only: where it is not, the other end splits the box.
            halves = [
                self._split_either(head[row], there[row], int(tree[row]), words)
                for row in np.flatnonzero(go_on).tolist()
            ]
            if halves:
                stack = np.concatenate([stack, *halves])
        return 0, None

    def _both_occur(self, box: list[int], axis: int, low: int, high: int) -> list[list[int]]:
        """Return boxes of the cells at one level that occur, and occur at another one, too."""

        def at(level: int, part: list[int]) -> list[int]:
            return [*part[:axis], 1 << level, *part[axis + 1 :]]

        there = [moved for part in self.parts(at(low, box)) for moved in self.parts(at(high, part))]
        return [at(low, part) for part in there]

    def _split_either(self, box: Masks, moved: Masks, tree: int, words: slice) -> Masks:
        one = np.array([0])
        for which in (box, moved):
            leaves, _, starts = self.leaves
            end = starts[tree + 1] if tree + 1 < len(starts) else len(leaves)
            if np.count_nonzero(self._meeting(leaves[starts[tree] : end], which)) > 1:
                halves, _ = self._halves(which[None, :], one, np.array([tree]))
                halves[:, words] = box[words]
                return halves
        raise AssertionError("a tree that is open has several leaves")

    def _can_win(self, boxes: Masks, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return by how much the class of each box can lead over every other, at most."""
        _, scores, starts = self.leaves
        reached = self._reached(boxes)
        lead = np.full(len(boxes), np.inf)
        own = scores[:, places].T
        for other in range(scores.shape[1]):
            gain = np.where(reached, own - scores[:, other][None, :], -np.inf)
            total = np.maximum.reduceat(gain, starts, axis=1).sum(axis=1)
            total[places == other] = np.inf
            lead = np.minimum(lead, total)
        return lead

    def clear_class(self, cell: Levels) -> int | None:
        """Return the class that the leaves give to a cell; None if that is too close to call."""
        box = self.packed([[1 << int(level) for level in cell]])
        _, scores, starts = self.leaves
        reached = np.flatnonzero(self._reached(box)[0])
        if len(reached) != len(starts):
            return None
        total = scores[reached].sum(axis=0)
        if len(total) == 1:
            return 0
        first, second = np.sort(total)[-2:][::-1]
        return int(total.argmax()) if first - second > self._tolerance else None

    def _is_other(self, cell: Levels, place: int) -> bool:
        return int(self.binned.ask(cell[None, :])[0]) != place

    @cached_property
    def _tolerance(self) -> float:
        _, scores, starts = self.leaves
        largest = np.maximum.reduceat(np.abs(scores).max(axis=1), starts)
        close = CLOSE if self.model is None else self.model.trees.rounding
        return close * max(1.0, float(largest.sum()))

    def _reached(self, boxes: Masks) -> NDArray[np.bool_]:
        """Say of each box and leaf whether they have a cell in common."""
        leaves, _, _ = self.leaves
        count, width = len(self.features), self.words
        reached = np.ones((len(boxes), len(leaves)), dtype=np.bool_)
        for axis in range(count):
            meets = np.zeros(reached.shape, dtype=np.bool_)
            for word in range(axis * width, (axis + 1) * width):
                column = leaves[:, word]
                if word == axis * width and (column == column[0]).all() and width == 1:
                    meets |= True  # no leaf asks for it
                    break
                meets |= (boxes[:, word, None] & column[None, :]) != 0
            reached &= meets
        return reached

    def _bounds(
        self, boxes: Masks, places: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
        """Return by how much another class can lead at most, how much is open, and in which tree.

        Nothing is open if every tree has just one leaf left.
        """
        _, scores, starts = self.leaves
        reached = self._reached(boxes)
        lead = np.full(len(boxes), -np.inf)
        spread = np.zeros((len(boxes), len(starts)))
        classes = scores.shape[1]
        own = scores[:, places].T
        for other in range(classes):
            gain = np.where(reached, scores[:, other][None, :] - own, -np.inf)
            best = np.maximum.reduceat(gain, starts, axis=1)
            total = best.sum(axis=1)
            total[places == other] = -np.inf
            better = total > lead
            if better.any():
                worst = -np.maximum.reduceat(
                    np.where(reached[better], -gain[better], -np.inf), starts, axis=1
                )
                spread[better] = best[better] - worst
            lead = np.maximum(lead, total)
        many = np.add.reduceat(reached, starts, axis=1, dtype=np.intp) > 1
        spread = np.where(many, np.maximum(spread, 1e-300), 0.0)
        return lead, spread.max(axis=1, initial=0.0), spread.argmax(axis=1)

    def _halves(
        self, boxes: Masks, of: NDArray[np.intp], tree: NDArray[np.intp]
    ) -> tuple[Masks, NDArray[np.intp]]:
        """Split each box where a leaf of its most open tree ends."""
        if not len(boxes):
            return boxes, of
        leaves, _, starts = self.leaves
        ends = np.append(starts[1:], len(leaves))
        inside, outside = boxes.copy(), boxes.copy()
        for row in range(len(boxes)):
            own = leaves[starts[tree[row]] : ends[tree[row]]]
            box = boxes[row]
            meets = self._meeting(own, box)
            first = own[meets][0]
            cut = (box & ~first).reshape(len(self.features), self.words)
            axis = int(np.flatnonzero(cut.any(axis=1))[0])
            words = slice(axis * self.words, (axis + 1) * self.words)
            inside[row, words] = box[words] & first[words]
            outside[row, words] = cut[axis]
        return np.concatenate([inside, outside]), np.concatenate([of, of])

    def _meeting(self, leaves: Masks, box: Masks) -> NDArray[np.bool_]:
        common = (leaves & box[None, :]).reshape(len(leaves), len(self.features), self.words)
        return np.asarray((common != 0).any(axis=2).all(axis=1))

    def a_cell(self, box: Masks) -> Levels:
        """Return a cell of a box."""
        found = []
        for words in box.reshape(len(self.features), self.words).tolist():
            level = 0
            for word in words:
                if word:
                    level += (word & -word).bit_length() - 1
                    break
                level += 64
            found.append(level)
        return np.array(found, dtype=np.intp)


def _split(mask: int, words: int) -> list[int]:
    return [mask >> 64 * word & (1 << 64) - 1 for word in range(words)]
