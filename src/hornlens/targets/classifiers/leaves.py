"""The leaves of an ensemble of trees, each as a set of levels of every feature.

What a tree compares is what a Pipeline makes of the columns. So each level's point is sent through
it, and a node is asked which of them go to the left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.ensembles.trees import Split, Tree
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
    ways: dict[tuple[int, Split], tuple[int | None, int]] = field(default_factory=dict)
    """What was worked out of nodes that ask the same: many do."""

    def down(self, tree: Tree, node: int, box: list[int]) -> None:
        """Note all leaves below a node that cells of a box get to."""
        columns, lefts, rights = tree.column.tolist(), tree.left.tolist(), tree.right.tolist()
        waiting = [(node, box)]
        while waiting:
            node, box = waiting.pop()
            if lefts[node] < 0:
                self.masks.append(box)
                self.scores.append(tree.scores[node])
                continue
            split = tree.splits[node]
            assert split is not None
            way = (columns[node], split)
            if way not in self.ways:
                self.ways[way] = self._left_levels(*way)
            axis, left = self.ways[way]
            # The left one is looked at first: it comes last.
            for child, levels in ((rights[node], ~left), (lefts[node], left)):
                if axis is None:  # a column that has one level only: all rows go one way
                    if levels:
                        waiting.append((child, box))
                    continue
                rest = box[axis] & levels
                if rest == box[axis]:
                    waiting.append((child, box))
                elif rest:
                    inner = [*box]
                    inner[axis] = rest
                    waiting.append((child, inner))

    @cached_property
    def _axes(self) -> dict[int, int]:
        """The feature of each column of X that has several levels."""
        return {place: axis for axis, place in enumerate(self.binned.telling)}

    @cached_property
    def _seen(self) -> NDArray[np.float64]:
        """What the trees see of each level: the first row has the first one of all features."""
        binned = self.binned
        most = max((feature.size for feature in binned.features), default=1)
        cells = np.zeros((most, len(binned.features)), dtype=np.intp)
        for axis, feature in enumerate(binned.features):
            cells[: feature.size, axis] = np.arange(feature.size)
        seen = self.model.seen(binned.classifier.table, binned.columns(cells))
        return seen.astype(np.float64)

    def _left_levels(self, column: int, split: Split) -> tuple[int | None, int]:
        """Return the feature that a node asks for, and its levels that go to the left, as bits."""
        axis = self._axes.get(self.model.source[column])
        size = 1 if axis is None else self.binned.features[axis].size
        left = split.left(self._seen[:size, column])
        if axis is None:
            return None, -1 if left[0] else 0
        packed = np.packbits(left, bitorder="little").tobytes()
        return axis, int.from_bytes(packed, "little")
