"""Trees of scikit-learn's ensembles, read out: nodes, thresholds, and what each leaf adds.

What a classifier decides by is the class with the largest sum of its leaves' scores. Which sums are
so close that rounding decides is left to the classifier itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree over the classifier's own columns.

    At node n, a row goes to `left[n]` if its value of column `column[n]` is `threshold[n]` or less;
    where the value is missing, if `missing_left[n]`; with `codes[n]`, if the value is among them. A
    leaf has `left[n]` -1, and adds `scores[n]` to the classes.
    """

    column: NDArray[np.intp]
    threshold: Scores
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    missing_left: NDArray[np.bool_]
    scores: Scores
    codes: dict[int, frozenset[int]]


@dataclass(frozen=True, eq=False)
class Trees:
    """The trees of an ensemble; `single`: values are compared in single precision.

    `summed`: whether the class is the one with the largest sum of scores, but for `base`, which is
    the same for all rows. If not, only the thresholds are of use.
    """

    trees: tuple[Tree, ...]
    single: bool
    summed: bool = True

    def thresholds(self) -> dict[int, Scores]:
        """Return for each column the thresholds that it is compared with, from low to high."""
        found: dict[int, set[float]] = {}
        for tree in self.trees:
            for node in np.flatnonzero(tree.left >= 0).tolist():
                if node not in tree.codes:
                    column = int(tree.column[node])
                    found.setdefault(column, set()).add(float(tree.threshold[node]))
        return {column: np.array(sorted(values)) for column, values in sorted(found.items())}


def read_trees(clf: Any) -> Trees | None:
    """Return the trees of a fitted estimator of scikit-learn; None if it is no such ensemble."""
    kind = type(clf).__name__
    if not type(clf).__module__.startswith("sklearn."):
        return None
    if kind in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        return Trees((_of_arrays(clf.tree_, _shares(clf.tree_)),), True)
    if kind in ("RandomForestClassifier", "ExtraTreesClassifier"):
        each = [tree.tree_ for tree in clf.estimators_]
        return Trees(tuple(_of_arrays(tree, _shares(tree)) for tree in each), True)
    if kind == "GradientBoostingClassifier":
        return _of_boosting(clf)
    if kind == "HistGradientBoostingClassifier":
        return _of_histograms(clf)
    return None


def _shares(tree: Any) -> Scores:
    """Return the share of each class in each node: what a tree says of probabilities."""
    values = np.asarray(tree.value[:, 0, :], dtype=np.float64)
    total = values.sum(axis=1, keepdims=True)
    return np.asarray(values / np.where(total == 0, 1, total))


def _of_arrays(tree: Any, scores: Scores) -> Tree:
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return Tree(
        np.asarray(tree.feature, dtype=np.intp),
        np.asarray(tree.threshold, dtype=np.float64),
        np.asarray(tree.children_left, dtype=np.intp),
        np.asarray(tree.children_right, dtype=np.intp),
        np.asarray(missing, dtype=np.bool_),
        scores,
        {},
    )


def _column_of(values: Scores, place: int, classes: int) -> Scores:
    """Return scores that add to one class; of two classes, to the second."""
    scores = np.zeros((len(values), classes))
    scores[:, place if classes > 2 else 1] = values
    return scores


def _of_boosting(clf: Any) -> Trees:
    count = len(clf.classes_)
    trees = [
        _of_arrays(
            one.tree_,
            _column_of(clf.learning_rate * one.tree_.value[:, 0, 0], place, count),
        )
        for stage in clf.estimators_
        for place, one in enumerate(stage)
    ]
    # What it begins with is the same for all rows, unless somebody gave a model for it.
    plain = clf.init is None or clf.init == "zero"
    base = np.zeros(count)
    if plain and clf.init is None:
        start = np.ravel(clf._raw_predict_init(np.zeros((1, clf.n_features_in_))))
        base = np.asarray(start) if count > 2 else np.array([0.0, float(start[0])])
    return Trees((*trees, _constant(base)), True, plain)


def _constant(scores: Scores) -> Tree:
    nothing = np.full(1, -1, dtype=np.intp)
    return Tree(
        np.zeros(1, dtype=np.intp),
        np.zeros(1),
        nothing,
        nothing,
        np.zeros(1, dtype=np.bool_),
        np.asarray(scores, dtype=np.float64)[None, :],
        {},
    )


def _of_histograms(clf: Any) -> Trees:
    count = len(clf.classes_)
    trees = []
    for stage in clf._predictors:
        for place, one in enumerate(stage):
            nodes = one.nodes
            leaf = nodes["is_leaf"].astype(bool)
            codes = {
                int(node): _members(one.raw_left_cat_bitsets[int(nodes["bitset_idx"][node])])
                for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
            }
            trees.append(
                Tree(
                    nodes["feature_idx"].astype(np.intp),
                    nodes["num_threshold"].astype(np.float64),
                    np.where(leaf, -1, nodes["left"].astype(np.int64)),
                    np.where(leaf, -1, nodes["right"].astype(np.int64)),
                    nodes["missing_go_to_left"].astype(bool),
                    _column_of(nodes["value"].astype(np.float64), place, count),
                    codes,
                )
            )
    start = np.ravel(clf._baseline_prediction)
    base = np.asarray(start) if count > 2 else np.array([0.0, float(start[0])])
    return Trees((*trees, _constant(base)), False)


def _members(bitset: Any) -> frozenset[int]:
    return frozenset(
        32 * word + bit
        for word, value in enumerate(np.asarray(bitset).tolist())
        for bit in range(32)
        if value >> bit & 1
    )
