"""XGBoost's trees: single precision, "less than", and categories that go to the right.

They are read from what XGBoost itself writes (JSON), so that a file, a Booster and an estimator
are one to us.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hornlens.targets.classifiers.ensembles.links import (
    SINGLE_CHANCES,
    UNKNOWN,
    Answer,
    of_numbers,
    share_of_log_odds,
    single_exponential,
    sum_itself,
)
from hornlens.targets.classifiers.ensembles.rows import CodedRows
from hornlens.targets.classifiers.ensembles.trees import NotExact, Scores, Split, Tree, Trees

ULP = 2.0**-24
"""How far a sum of single precision may be off, for each number that is added."""
MORE = 8
"""Sums near a tie are also rounded by what makes probabilities of them: about so many numbers."""
BINARY = {"binary:logistic": 0.0, "reg:logistic": 0.0, "binary:logitraw": 0.5, "binary:hinge": 0.0}
"""The objectives of two classes, and the sum that must be exceeded for the second one."""
SEVERAL = ("multi:softprob", "multi:softmax")
LOGISTIC = ("binary:logistic", "reg:logistic")
EXPONENTIAL = ("reg:gamma", "reg:tweedie", "count:poisson", "survival:cox", "survival:aft")
PLAIN = (
    *(f"reg:{name}error" for name in ("squared", "squaredlog", "pseudohuber", "absolute")),
    *("reg:quantileerror", "reg:expectileerror", "binary:logitraw"),
    *("rank:pairwise", "rank:ndcg", "rank:map"),
)
NUMBERS: dict[str, Answer] = {
    **dict.fromkeys(PLAIN, sum_itself),
    **dict.fromkeys(EXPONENTIAL, single_exponential),
    **dict.fromkeys(LOGISTIC, share_of_log_odds),
}
"""The objectives of regressors, and what they predict of the sum."""


def read_xgboost(clf: Any, numbers: bool = False) -> Trees:
    """Return the trees of an estimator or a Booster; NotExact if they cannot be read.

    `numbers`: as those of a regressor, with one sum; else as those of a classifier.
    """
    booster, last = booster_of(clf), None
    if booster is not clf and (best := getattr(clf, "best_iteration", None)) is not None:
        last = best + 1  # of early stopping: an estimator asks no more of them
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    trained = learner["gradient_booster"]
    check_learner(learner)
    objective = learner["objective"]["name"]
    if objective not in (NUMBERS if numbers else (*BINARY, *SEVERAL)):
        what = "numbers" if numbers else "classes"
        raise NotExact(f"the objective {objective} of XGBoost has no {what} that can be read")
    written = learner["learner_model_param"]
    classes = 1 if numbers else max(2, int(written["num_class"]))
    model = trained["model"]
    stages = model["iteration_indptr"]
    count = stages[len(stages) - 1 if last is None else min(last, len(stages) - 1)]
    missing = np.float32(np.nan if booster is clf else clf.missing)
    by_name = any(category_names(learner))
    trees = [
        _tree(tree, int(place) if classes > 2 else classes - 1, classes, missing, by_name)
        for tree, place in zip(model["trees"][:count], model["tree_info"], strict=False)
    ]
    base = _base(written["base_score"], objective, classes)
    link = SINGLE_CHANCES if objective == "binary:logistic" else UNKNOWN
    return Trees(
        (*trees, Tree.constant(base)),
        single=True,
        at_most=False,
        rounding=(len(trees) + MORE) * ULP,
        link=of_numbers(NUMBERS[objective], single=True) if numbers else link,
    )


def booster_of(clf: Any) -> Any:
    """Return the Booster of an estimator; a Booster is its own."""
    return clf.get_booster() if hasattr(clf, "get_booster") else clf


def check_learner(learner: Mapping[str, Any]) -> None:
    """Raise NotExact if a model is no sum of trees with one number in each leaf."""
    kind = learner["gradient_booster"]["name"]
    if kind != "gbtree":
        what = {"dart": "dart weighs its trees", "gblinear": "gblinear has no trees"}.get(
            kind, kind
        )
        raise NotExact(f"XGBoost's {what}: only gbtree can be read exactly")
    if int(learner["learner_model_param"].get("num_target", 1)) > 1:
        raise NotExact("the model gives several labels at once: they are not read")
    for tree in learner["gradient_booster"]["model"]["trees"]:
        if int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
            raise NotExact("XGBoost's trees with a vector in each leaf are not read")


def rows_of_xgboost(clf: Any) -> CodedRows:
    """Return what makes numbers of rows: categories by their names, as they were in the fit."""
    learner = json.loads(bytes(booster_of(clf).save_raw("json")))["learner"]
    names = category_names(learner)
    codes = tuple({name: code for code, name in enumerate(own)} for own in names if own)
    missing = float(np.float32(getattr(clf, "missing", np.nan)))
    return CodedRows(codes or None, is_new_missing=False, missing=missing)


def category_names(learner: Mapping[str, Any]) -> list[list[Any]]:
    """Return for each column the categories that it had in the fit; none for numbers."""
    kept = learner["gradient_booster"].get("model", {}).get("cats", {}).get("enc", [])
    return [_names(column) for column in kept]


def _names(column: Mapping[str, Any]) -> list[Any]:
    values = column["values"]
    if "offsets" not in column:
        return list(values)
    text, offsets = bytes(value & 255 for value in values), column["offsets"]
    return [text[start:end].decode() for start, end in pairwise(offsets)]


def _base(written: str, objective: str, classes: int) -> Scores:
    """Return what every row begins with, class by class; the sum to exceed, if there are two.

    Of a regressor, that is one number.
    """
    texts = written.strip("[]").split(",")
    start = np.array([np.float32(text) for text in texts], dtype=np.float32)
    if objective in LOGISTIC:
        with np.errstate(divide="ignore"):
            start = -np.log(np.float32(1) / start - np.float32(1))
    if objective in EXPONENTIAL:
        with np.errstate(divide="ignore"):
            start = np.log(start)
    if classes != 2:
        return np.broadcast_to(start, classes).astype(np.float64)
    return np.array([BINARY.get(objective, 0.0), float(start[0])])


def _tree(
    tree: Mapping[str, Any], place: int, classes: int, missing: np.float32, by_name: bool
) -> Tree:
    """Return one tree. `by_name`: which categories are missing is known of the rows only."""
    left = np.asarray(tree["left_children"], dtype=np.intp)
    values = np.asarray(tree["split_conditions"], dtype=np.float64).astype(np.float32)
    values = values.astype(np.float64)
    missing_left = [bool(way) for way in tree["default_left"]]
    codes = _codes(tree)
    splits: list[Split | None] = []
    for node, child in enumerate(left.tolist()):
        if child < 0:
            splits.append(None)
        elif node in codes:
            splits.append(Split.of_codes(codes[node], False, missing_left[node]))
        else:
            splits.append(Split((float(values[node]),), missing_left[node]))
    if not np.isnan(missing):
        first, end = float(missing), float(np.nextafter(missing, np.float32(np.inf)))
        splits = [
            own if own is None or (by_name and node in codes) else own.with_missing(first, end)
            for node, own in enumerate(splits)
        ]
    scores = np.zeros((len(left), classes))
    scores[:, place] = np.where(left < 0, values, 0.0)
    return Tree(
        np.asarray(tree["split_indices"], dtype=np.intp),
        left,
        np.asarray(tree["right_children"], dtype=np.intp),
        tuple(splits),
        scores,
    )


def _codes(tree: Mapping[str, Any]) -> dict[int, Sequence[int]]:
    """Return the codes that go to the right, of each node that asks for codes."""
    every = zip(
        *(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"]),
        strict=True,
    )
    return {node: tree["categories"][start : start + size] for node, start, size in every}
