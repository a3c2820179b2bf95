"""An ensemble of trees by its leaves: what they decide, proved by splitting boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf, prod
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.classifying.cells import Box, RecordedCells
from hornlens.verifying.classifying.plausible import Plausible
from hornlens.verifying.grids import Wrong

CLOSE = 1e-9
MOST_ROUNDED, ULP, MORE = 1e-3, 2.0**-24, 8
"""How close sums may be at most, for each unit: a number, or so many of single precision."""
PATIENCE = 200_000
"""How many boxes are looked at before one is too hard."""
MOST_LEAVES = 1_000
"""Up to so many leaves of a tree, each two are compared; otherwise cells are looked at."""
WORK, LEAST = 20_000_000, 500
"""How many levels of leaves are compared with cells, about; and how many cells at least."""


class Leaves:
    """An ensemble by its leaves: sets of levels, and what each adds to the classes."""

    def __init__(self, content: Any, sizes: Sequence[int], plausible: Plausible):
        """Read them; the leaves of a tree must part what can be."""
        trees, classes = content["trees"], len(content["classes"])
        self.sizes, self.classes = sizes, classes
        self.full = [(1 << size) - 1 for size in sizes]
        self.trees = [[self._leaf(leaf, classes) for leaf in tree] for tree in trees]
        cells = prod(sizes)
        for number, tree in enumerate(self.trees, 1):
            covered = sum(prod(mask.bit_count() for mask in masks) for masks, _ in tree)
            apart = len(tree) > MOST_LEAVES or not any(
                _meet(one, other) for (one, _), (other, _) in combinations(tree, 2)
            )
            if covered != cells or not apart:
                raise Wrong(f"tree {number}: its leaves do not part all inputs")
        largest = sum(max(max(map(abs, s)) for _, s in tree) for tree in self.trees)
        self.close = self._rounding(content) * max(1.0, largest)
        self.forbidden = [self._box(levels) for levels in content.get("forbidden", ())]
        self.plausible = plausible

    def _rounding(self, content: Mapping[str, Any]) -> float:
        """Return how close two sums may be, for each unit, so that the model would be asked."""
        given = content.get("rounding")
        if given is None:
            return CLOSE
        most = max(MOST_ROUNDED, (len(self.trees) + MORE) * ULP)
        if type(given) is not float or not CLOSE < given <= most:
            raise Wrong(f"rounding: {given!r} is no error of sums of so many trees")
        return given

    def _leaf(self, leaf: Mapping[str, Any], classes: int) -> tuple[list[int], list[float]]:
        masks = self._box(leaf["levels"])
        if len(leaf["scores"]) != classes:
            raise Wrong("a leaf without a score for each class")
        return masks, leaf["scores"]

    def _box(self, given: Mapping[str, str]) -> list[int]:
        masks = [*self.full]
        for axis, levels in given.items():
            mask = int(levels, 16)
            if levels != hex(mask) or not 0 < mask < self.full[int(axis)]:
                raise Wrong("trees: a box with levels that there are not")
            masks[int(axis)] = mask
        return masks

    def occurring(self, masks: list[int]) -> list[list[int]]:
        """Return a box in parts without what the background rules out; none if nothing is left."""
        whole, sure = [masks], []
        while whole:
            box = whole.pop()
            bad = next((bad for bad in self.forbidden if _meet(bad, box)), None)
            if bad is None:
                sure.append(box)
                continue
            for axis, mask in enumerate(box):
                if mask & ~bad[axis]:  # its part outside, and the rest once more
                    whole.append([*box[:axis], mask & ~bad[axis], *box[axis + 1 :]])
                    whole.append([*box[:axis], mask & bad[axis], *box[axis + 1 :]])
                    break
        return [box for box in sure if self._occurs(box)]

    def _occurs(self, box: list[int]) -> bool:
        """Return whether some cell of a box is plausible, or may be, if that is too hard."""
        stack, looked = [box], 0
        while stack:
            part = stack.pop()
            looked += 1
            split = self._parted(part)
            if split == [] or looked > PATIENCE:
                return True
            stack += split or ()
        return False

    def _parted(self, box: list[int]) -> list[list[int]] | None:
        """Return the parts of a box that differ in the rules they break; none if all is plausible.

        None if nothing of it is plausible.
        """
        meeting = [bad for bad in self.plausible.boxes if _meet(bad, box)]
        if len(meeting) <= self.plausible.most:
            return []
        partly = [bad for bad in meeting if any(m & ~b for m, b in zip(box, bad, strict=True))]
        if len(meeting) - len(partly) > self.plausible.most:
            return None
        axis = next(a for a, mask in enumerate(box) if mask & ~partly[0][a])
        inside, outside = box[axis] & partly[0][axis], box[axis] & ~partly[0][axis]
        return [[*box[:axis], mask, *box[axis + 1 :]] for mask in (inside, outside)]

    def decided(self, masks: list[int], place: int) -> bool | None:
        """Say whether every cell of a box gets a class; None if that is too close or too hard."""
        stack, looked = self.occurring(masks), 0
        sure = True
        while stack:
            box = stack.pop()
            looked += 1
            if looked > PATIENCE:
                return None
            left = [[leaf for leaf in tree if _meet(leaf[0], box)] for tree in self.trees]
            others = range(len(left[0][0][1]))
            lead = max(
                (
                    sum(max(s[other] - s[place] for _, s in tree) for tree in left)
                    for other in others
                    if other != place
                ),
                default=-1.0,
            )
            if lead < -self.close or (parts := self._parted(box)) is None:
                continue
            open_ = max(left, key=len)
            if len(open_) == 1 and parts:
                stack += parts
                continue
            if len(open_) == 1:
                if lead > self.close:
                    return False
                sure = False  # rounding decides: the model would have to be asked
                continue
            first = open_[0][0]
            axis = next(a for a, mask in enumerate(box) if mask & ~first[a])
            for part in (box[axis] & first[axis], box[axis] & ~first[axis]):
                if part:
                    stack.append([*box[:axis], part, *box[axis + 1 :]])
        return True if sure else None

    def check_cells(self, cells: RecordedCells, count: int) -> str:
        """Hold the classes of cells against the leaves: of all, or of random ones."""
        total = len(cells.labels)
        work = max(1, sum(map(len, self.trees)) * max(1, len(self.full)))
        places: Sequence[int] = range(total)
        most = max(LEAST, WORK // work)
        if total > most:
            places = sorted(Random(0).sample(places, most))
        rows = [place for place in places if cells.labels[place] >= 0]
        levels = np.array([cells.cell(place) for place in rows], dtype=np.intp)
        scores = self._scores(levels.reshape(len(rows), len(self.full)))
        labels = np.array([cells.labels[place] for place in rows], dtype=np.intp)
        own = scores[np.arange(len(rows)), labels]
        if (scores.max(axis=1, initial=-inf) > own + self.close).any():
            raise Wrong("trees: their leaves give a cell another class")
        return f"trees: their leaves give {len(rows):,} of {count:,} cells the class they have"

    def _scores(self, cells: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return what the leaves of each cell add to the classes."""
        scores = np.zeros((len(cells), self.classes))
        count = np.zeros(len(cells), dtype=np.intp)
        for tree in self.trees:
            for masks, added in tree:
                inside = np.ones(len(cells), dtype=np.bool_)
                for axis, mask in enumerate(masks):
                    if mask != self.full[axis]:
                        bits = [bool(mask >> level & 1) for level in range(self.sizes[axis])]
                        inside &= np.array(bits)[cells[:, axis]]
                scores[inside] += added
                count += inside
        if (count != len(self.trees)).any():
            raise Wrong("trees: their leaves do not part all inputs")
        return scores


def _meet(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(a & b for a, b in zip(one, other, strict=True))


def box_masks(box: Box) -> list[int]:
    """Return the levels of a box as bits, for each feature."""
    return [((1 << high - low + 1) - 1) << low for low, high in box]
