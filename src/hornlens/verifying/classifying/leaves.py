"""An ensemble of trees by its leaves: what they decide, proved by splitting boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import inf, prod
from random import Random
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.classifying.cells import Box, RecordedCells
from hornlens.verifying.classifying.plausible import PlausibleCells
from hornlens.verifying.grids import Wrong

CLOSE = 1e-9
MOST_ROUNDED, ULP, MORE = 1e-3, 2.0**-24, 8
"""How close sums may be at most, for each unit: a number, or so many of single precision."""
PATIENCE = 200_000
"""How many boxes are looked at before one is too hard."""
SECONDS = 20.0
"""How long one box is looked at before it is too hard."""
ALTOGETHER = 60.0
"""How long all boxes are looked at; those that are left then are too hard."""
MOST_LEAVES = 1_000
"""Up to so many leaves of a tree, each two are compared; otherwise cells are looked at."""
WORK, LEAST = 20_000_000, 500
"""How many levels of leaves are compared with cells, about; and how many cells at least."""


class Leaves:
    """An ensemble by its leaves: sets of levels, and what each adds to the classes."""

    def __init__(self, content: Any, sizes: Sequence[int], plausible: PlausibleCells):
        """Read them; the leaves of a tree must part what can be."""
        trees, classes = content["trees"], len(content["classes"])
        self._spent = 0.0  # seconds that went into boxes
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
        clock = monotonic()
        latest = clock + min(SECONDS, ALTOGETHER - self._spent)
        try:
            return self._decided(masks, place, latest)
        finally:
            self._spent += monotonic() - clock

    def _decided(self, masks: list[int], place: int, latest: float) -> bool | None:
        stack, looked = self.occurring(masks), 0
        sure = True
        others = [other for other in range(self.classes) if other != place]
        while stack:
            box = stack.pop()
            looked += 1
            if looked > PATIENCE or monotonic() > latest:
                return None
            reached = self._reached(box)
            lead, spread = -inf if others else -1.0, np.zeros(len(self.trees))
            for other in others:
                gain = self._scores_of[:, other] - self._scores_of[:, place]
                most = np.maximum.reduceat(np.where(reached, gain, -inf), self._starts)
                least = np.minimum.reduceat(np.where(reached, gain, inf), self._starts)
                if most.sum() > lead:
                    lead, spread = float(most.sum()), most - least
            if lead < -self.close or (parts := self._parted(box)) is None:
                continue
            many = np.add.reduceat(reached, self._starts, dtype=np.intp)
            if (many == 1).all() and parts:
                stack += parts
                continue
            if (many == 1).all():
                if lead > self.close:
                    return False
                sure = False  # rounding decides: the model would have to be asked
                continue
            # The tree that leaves most open is cut where one of its leaves ends.
            tree = self.trees[int(np.where(many > 1, spread, -1.0).argmax())]
            first = next(leaf for leaf, _ in tree if _meet(leaf, box))
            axis = next(a for a, mask in enumerate(box) if mask & ~first[a])
            for part in (box[axis] & first[axis], box[axis] & ~first[axis]):
                if part:
                    stack.append([*box[:axis], part, *box[axis + 1 :]])
        return True if sure else None

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """Where the leaves of each tree begin."""
        counts = [len(tree) for tree in self.trees]
        return np.cumsum([0, *counts[:-1]])

    @cached_property
    def _scores_of(self) -> NDArray[np.float64]:
        return np.array([scores for tree in self.trees for _, scores in tree], dtype=np.float64)

    @cached_property
    def _leaves_at(self) -> list[NDArray[np.bool_] | None]:
        """For each axis and level, which leaves it leads to; None where all levels lead to all."""
        leaves = [masks for tree in self.trees for masks, _ in tree]
        axes: list[NDArray[np.bool_] | None] = []
        for axis, size in enumerate(self.sizes):
            masks = [leaf[axis] for leaf in leaves]
            if all(mask == self.full[axis] for mask in masks):
                axes.append(None)
                continue
            text = b"".join(mask.to_bytes((size + 7) // 8, "little") for mask in masks)
            rows = np.frombuffer(text, dtype=np.uint8).reshape(len(masks), -1)
            bits = np.unpackbits(rows, axis=1, bitorder="little", count=size)
            axes.append(np.ascontiguousarray(bits.T).astype(np.bool_))
        return axes

    def _reached(self, box: Sequence[int]) -> NDArray[np.bool_]:
        """Say of each leaf whether it has a cell of a box."""
        reached = np.ones(len(self._scores_of), dtype=np.bool_)
        for axis, mask in enumerate(box):
            levels = self._leaves_at[axis]
            if levels is not None and mask != self.full[axis]:
                own = [level for level in range(self.sizes[axis]) if mask >> level & 1]
                reached &= levels[own].any(axis=0)
        return reached

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
