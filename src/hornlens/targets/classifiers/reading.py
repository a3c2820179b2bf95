"""Reading a classifier: its trees over the columns of X, through pipelines and wrappers.

A wrapper asks several estimators, each behind steps of its own. What they all see stands side by
side, and the wrapper makes one ensemble of their trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.ensembles.combining import moved, widened
from hornlens.targets.classifiers.ensembles.wrappers import Wrapper, read_wrapper
from hornlens.targets.classifiers.picking import Picked
from hornlens.targets.classifiers.pipelines import Prepared, TreeModel, read_behind


@dataclass(frozen=True, eq=False)
class SideBySide:
    """What several ways to prepare rows make of them, side by side."""

    parts: tuple[Callable[[Any], NDArray[Any]], ...]

    def __call__(self, rows: Any) -> NDArray[Any]:
        """Return the values that the trees are given."""
        return np.concatenate([part(rows) for part in self.parts], axis=1)


def read_tree_model(clf: Any, table: Table) -> TreeModel | None:
    """Return the trees of an estimator, Pipeline or wrapper; None where they can't be traced.

    Trees that cannot be read to the last bit raise NotExact.
    """
    if hasattr(clf, "tree_model"):  # it knows by itself how its columns come from those of X
        return clf.tree_model(table)  # type: ignore[no-any-return]
    return _read([], clf, table)


def _read(before: list[Any], clf: Any, table: Table) -> TreeModel | None:
    if hasattr(clf, "steps"):
        *inner, last = [step for _, step in clf.steps]
        return _read([*before, *inner], last, table)
    wrapper = read_wrapper(clf)
    return read_behind(before, clf, table) if wrapper is None else _wrapped(before, wrapper, table)


def _wrapped(before: list[Any], wrapper: Wrapper, table: Table) -> TreeModel | None:
    columns = wrapper.columns or (None,) * len(wrapper.members)
    models: list[TreeModel] = []
    for member, own in zip(wrapper.members, columns, strict=True):
        steps = before if own is None else [*before, Picked(own)]
        model = _read(steps, member, table)
        if model is None:
            return None
        models.append(model)
    if len(models) == 1:
        return replace(models[0], trees=wrapper.combine([models[0].trees]))
    mixed = len({model.trees.single for model in models}) > 1
    blocks: dict[Any, tuple[int, TreeModel]] = {}
    trees, width = [], 0
    for model in models:
        way = _way(model)
        if way not in blocks:
            blocks[way] = (width, model)
            width += len(model.source)
        own_trees = widened(model.trees) if mixed else model.trees
        trees.append(moved(own_trees, blocks[way][0]))
    parts = [model for _, model in blocks.values()]
    return TreeModel(
        wrapper.combine(trees),
        parts[0].prepare if len(parts) == 1 else SideBySide(tuple(one.prepare for one in parts)),
        tuple(place for part in parts for place in part.source),
        frozenset().union(*(part.encoded for part in parts)),
        frozenset.intersection(*(part.direct for part in parts)),
    )


def _way(model: TreeModel) -> Any:
    """Return what is equal for trees that see the same values."""
    if not isinstance(model.prepare, Prepared):
        return id(model)
    return tuple(step if isinstance(step, Picked) else id(step) for step in model.prepare.steps)
