"""The leaves of an ensemble of trees, each as a set of levels of every feature.

What a tree compares is what a Pipeline makes of the columns. So each level's point is sent through
it, and a node is asked which of them go to the left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.ensembles.trees import Tree
from hornlens.targets.classifiers.pipelines import TreeModel
from hornlens.targets.classifiers.points import Binned

LevelSets: TypeAlias = list[list[int]]
"""Boxes: for each feature its levels, as bits."""


def read_leaves(
    binned: Binned, model: TreeModel
) -> tuple[LevelSets, list[NDArray[np.float64]], list[int]]:
    """Return the boxes of all leaves that a row can get to, their scores, and each tree's first."""
    walk = _Walk(binned, model, [], [])
    starts = []
    for tree in model.trees.trees:
        starts.append(len(walk.masks))
        walk.down(tree, 0, [(1 << feature.size) - 1 for feature in binned.features])
    return walk.masks, walk.scores, starts


@dataclass(frozen=True, eq=False)
class _Walk:
    binned: Binned
    model: TreeModel
    masks: LevelSets
    scores: list[NDArray[np.float64]]

    def down(self, tree: Tree, node: int, box: list[int]) -> None:
        """Note all leaves below a node that cells of a box get to."""
        if tree.left[node] < 0:
            self.masks.append(box)
            self.scores.append(tree.scores[node])
            return
        axis, left = self._left_levels(tree, node)
        for child, levels in ((tree.left[node], left), (tree.right[node], ~left)):
            if axis is None:  # a column that has one level only: all rows go one way
                if levels:
                    self.down(tree, int(child), box)
                continue
            rest = box[axis] & levels
            if rest:
                inner = [*box]
                inner[axis] = rest
                self.down(tree, int(child), inner)

    @cached_property
    def _seen(self) -> tuple[NDArray[np.float64], tuple[tuple[int, slice], ...]]:
        """What the trees see of each level: rows for the levels of one feature after another."""
        binned, rows, parts = self.binned, [], []
        start = 0
        for axis, feature in enumerate(binned.features):
            block = np.zeros((feature.size, len(binned.features)), dtype=np.intp)
            block[:, axis] = np.arange(feature.size)
            rows.append(block)
            parts.append((binned.telling[axis], slice(start, start + feature.size)))
            start += feature.size
        cells = np.concatenate(rows) if rows else np.zeros((1, 0), dtype=np.intp)
        seen = self.model.seen(binned.classifier.table, binned.columns(cells))
        return seen.astype(np.float64), tuple(parts)

    def _left_levels(self, tree: Tree, node: int) -> tuple[int | None, int]:
        """Return the feature that a node asks for, and its levels that go to the left, as bits."""
        seen, parts = self._seen
        column = int(tree.column[node])
        place = self.model.source[column]
        axis = next((at for at, (own, _) in enumerate(parts) if own == place), None)
        rows = slice(0, 1) if axis is None else parts[axis][1]
        values = seen[rows, column]
        split = tree.splits[node]
        assert split is not None
        left = split.left(values)
        bits = sum(1 << level for level in np.flatnonzero(left).tolist())
        return axis, (-1 if left[0] else 0) if axis is None else bits
