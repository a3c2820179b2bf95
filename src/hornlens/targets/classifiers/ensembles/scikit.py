"""Scikit-learn's ensembles: decision trees, forests, gradient and histogram boosting.

A regressor has one sum, of which its prediction follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hornlens.targets.classifiers.ensembles.links import (
    LEAF,
    LOGARITHMS,
    LOGITS,
    SHARES,
    VALUES,
    Link,
    share_of_log_odds,
)
from hornlens.targets.classifiers.ensembles.trees import (
    Scores,
    Split,
    Tree,
    Trees,
    just_above,
    splits_of,
)

CONSTANT = ("prior", "most_frequent", "constant", "mean", "median", "quantile")
"""The strategies of dummies that say the same of all rows."""
EXPONENTIAL = Link(
    raw=True, probability=lambda s: share_of_log_odds(2 * s), decision=LOGITS.decision
)


def read_scikit(clf: Any) -> Trees | None:
    """Return the trees of a fitted estimator of scikit-learn; None if it is no such ensemble."""
    kind = type(clf).__name__
    if kind in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        return Trees((_of_arrays(clf.tree_, _shares(clf.tree_)),), True, link=LEAF)
    if kind in ("RandomForestClassifier", "ExtraTreesClassifier"):
        inner = [one.tree_ for one in clf.estimators_]
        trees = [_of_arrays(tree, _shares(tree) / len(inner)) for tree in inner]
        return Trees(tuple(trees), True, link=SHARES)
    if kind in ("DecisionTreeRegressor", "ExtraTreeRegressor"):
        return _of_values([clf])
    if kind in ("RandomForestRegressor", "ExtraTreesRegressor"):
        return _of_values(clf.estimators_)
    if kind in ("GradientBoostingClassifier", "GradientBoostingRegressor"):
        return _of_boosting(clf)
    if kind in ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"):
        return _of_histograms(clf)
    return None


def _of_values(estimators: Sequence[Any]) -> Trees | None:
    """Return the trees of a regressor, whose prediction is the mean of theirs."""
    if estimators[0].n_outputs_ > 1:
        return None
    trees = [one.tree_ for one in estimators]
    values = (tree.value[:, 0, :].astype(np.float64) / len(trees) for tree in trees)
    return Trees(tuple(map(_of_arrays, trees, values)), True, link=VALUES)


def _class_count(clf: Any) -> int:
    """Return how many classes there are; a regressor has one number instead."""
    return len(clf.classes_) if hasattr(clf, "classes_") else 1


def _shares(tree: Any) -> Scores:
    """Return the share of each class in each node: what a tree says of probabilities."""
    values = np.asarray(tree.value[:, 0, :], dtype=np.float64)
    total = values.sum(axis=1, keepdims=True)
    # Shares already, but for rounding, unless scikit-learn is old: then they are weights.
    are_shares = np.isclose(total, 1) | (total == 0)
    return np.asarray(values / np.where(are_shares, 1, total))


def _of_arrays(tree: Any, scores: Scores) -> Tree:
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    left = np.asarray(tree.children_left, dtype=np.intp)
    return Tree(
        np.asarray(tree.feature, dtype=np.intp),
        left,
        np.asarray(tree.children_right, dtype=np.intp),
        splits_of(just_above(tree.threshold, True), np.asarray(missing, dtype=np.bool_), left < 0),
        scores,
    )


def _column_of(values: Scores, place: int, classes: int) -> Scores:
    """Return scores that add to one class; of two classes, to the second."""
    scores = np.zeros((len(values), classes))
    scores[:, place if classes > 2 else classes - 1] = values
    return scores


def _of_boosting(clf: Any) -> Trees | None:
    # What it begins with is the same for all rows, unless somebody gave a model for it.
    if clf.init != "zero" and getattr(clf.init_, "strategy", None) not in CONSTANT:
        return None
    count = _class_count(clf)
    trees = [
        _of_arrays(
            one.tree_,
            _column_of(clf.learning_rate * one.tree_.value[:, 0, 0], place, count),
        )
        for stage in clf.estimators_
        for place, one in enumerate(stage)
    ]
    start = np.ravel(clf._raw_predict_init(np.zeros((1, clf.n_features_in_), dtype=np.float32)))
    link = EXPONENTIAL if clf.loss == "exponential" else LOGITS
    link = VALUES if count == 1 else link
    return Trees((*trees, Tree.constant(_base(start, count))), True, link=link)


def _of_histograms(clf: Any) -> Trees:
    count = _class_count(clf)
    trees = []
    for stage in clf._predictors:
        for place, one in enumerate(stage):
            nodes = one.nodes
            leaf = nodes["is_leaf"].astype(bool)
            missing = nodes["missing_go_to_left"].astype(bool)
            splits = list(splits_of(just_above(nodes["num_threshold"], False), missing, leaf))
            for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf).tolist():
                codes = _members(one.raw_left_cat_bitsets[int(nodes["bitset_idx"][node])])
                splits[node] = Split.of_codes(codes, left=True, missing_left=bool(missing[node]))
            trees.append(
                Tree(
                    nodes["feature_idx"].astype(np.intp),
                    np.where(leaf, -1, nodes["left"].astype(np.int64)),
                    np.where(leaf, -1, nodes["right"].astype(np.int64)),
                    tuple(splits),
                    _column_of(nodes["value"].astype(np.float64), place, count),
                )
            )
    start = np.ravel(clf._baseline_prediction)
    link = LOGITS
    if count == 1:
        link = LOGARITHMS if type(clf._loss.link).__name__ == "LogLink" else VALUES
    return Trees((*trees, Tree.constant(_base(start, count))), False, link=link)


def _base(start: Scores, classes: int) -> Scores:
    """Return what is added for every row."""
    return np.array([0.0, float(start[0])]) if classes == 2 else np.asarray(start)


def _members(bitset: Any) -> frozenset[int]:
    return frozenset(
        32 * word + bit
        for word, value in enumerate(np.asarray(bitset).tolist())
        for bit in range(32)
        if value >> bit & 1
    )
