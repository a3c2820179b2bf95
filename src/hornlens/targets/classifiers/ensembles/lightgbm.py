"""LightGBM's trees: double precision, "at most", and three kinds of missing values.

They are read from the text that LightGBM itself writes: its JSON has other thresholds where these
are infinite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hornlens.targets.classifiers.ensembles.links import (
    CHANCES,
    UNKNOWN,
    Answer,
    exponential,
    of_numbers,
    share_of_log_odds,
    softplus,
    square_with_sign,
    sum_itself,
)
from hornlens.targets.classifiers.ensembles.rows import CodedRows
from hornlens.targets.classifiers.ensembles.trees import (
    CLOSE,
    NotExact,
    Split,
    Tree,
    Trees,
    just_above,
)

ZERO = float(np.float32(1e-35))
"""Numbers up to here count as zero."""
CATEGORICAL, DEFAULT_LEFT = 1, 2
"""Bits of the type of a node; the next two say what is missing: nothing, zero and NaN, or NaN."""
NO_MISSING, ZERO_MISSING = 0, 1
BINARY = ("binary", "cross_entropy")
SEVERAL = ("multiclass", "multiclassova")
PLAIN = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    *("lambdarank", "rank_xendcg", "none", "custom"),
)
NUMBERS: dict[str, Answer] = {
    **dict.fromkeys(PLAIN, sum_itself),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), exponential),
    "cross_entropy": share_of_log_odds,
    "cross_entropy_lambda": softplus,
}
"""The objectives of regressors, and what they predict of the sum."""
MOST_ROUNDED = 1e-3
"""Where rounding may decide by more than this, sums say nothing of the class."""


def read_lightgbm(clf: Any, numbers: bool = False) -> Trees:
    """Return the trees of an estimator or a Booster; NotExact if they cannot be read.

    `numbers`: as those of a regressor, with one sum; else as those of a classifier.
    """
    booster = clf.booster_ if hasattr(clf, "booster_") else clf
    if booster is not clf and any(clf.get_params().get(name) for name in EARLY):
        raise NotExact("LightGBM's pred_early_stop guesses: switch it off")
    if booster is not clf and callable(clf.get_params().get("objective")) and not numbers:
        raise NotExact("LightGBM's own objectives have no classes that can be read")
    head, *parts = booster.model_to_string().split("\nTree=")
    lines = dict(line.split("=", 1) for line in head.splitlines() if "=" in line)
    objective, *options = lines.get("objective", "none").split()
    is_average = "\naverage_output" in head
    if numbers:
        return _of_numbers(parts, objective, options, is_average)
    if objective not in BINARY + SEVERAL:
        raise NotExact(f"the objective {objective} of LightGBM has no classes that can be read")
    classes = max(2, int(lines["num_class"]))
    stage = int(lines["num_tree_per_iteration"])
    trees = [
        _tree(part, at % stage if classes > 2 else 1, classes) for at, part in enumerate(parts)
    ]
    close = _rounding(trees, objective, dict(o.split(":") for o in options if ":" in o))
    start = Tree.constant(np.zeros(classes))
    is_plain = objective == "binary" and options == ["sigmoid:1"]
    return Trees(
        (*trees, start),
        single=False,
        summed=close <= MOST_ROUNDED,
        rounding=close,
        link=CHANCES if is_plain and not is_average else UNKNOWN,
    )


def _of_numbers(
    parts: Sequence[str], objective: str, options: Sequence[str], is_average: bool
) -> Trees:
    """Return the trees of a regressor: one sum, or a mean, of which its prediction follows."""
    if objective not in NUMBERS:
        raise NotExact(f"the objective {objective} of LightGBM has no numbers that can be read")
    prediction = square_with_sign if "sqrt" in options else NUMBERS[objective]
    trees = [_tree(part, 0, 1) for part in parts]
    if is_average:
        trees = [replace(tree, scores=tree.scores / len(trees)) for tree in trees]
    start = Tree.constant(np.zeros(1))
    return Trees((*trees, start), single=False, link=of_numbers(prediction))


EARLY = ("pred_early_stop", "prediction_early_stop", "predict_early_stop")


def _rounding(trees: list[Tree], objective: str, options: Mapping[str, str]) -> float:
    """Return how close sums may be, for each unit, so that the probabilities of them are alike."""
    slope = float(options.get("sigmoid", 1.0))
    if objective != "multiclassova":
        return max(CLOSE, 2.0**-50 / slope)
    largest = sum(float(np.abs(tree.scores).max()) for tree in trees)
    return max(CLOSE, 2.0**-50 / slope * float(np.exp(min(700.0, slope * largest))))


def rows_of_lightgbm(clf: Any) -> CodedRows:
    """Return what makes numbers of rows: categories by their names, as they were in the fit."""
    booster = clf.booster_ if hasattr(clf, "booster_") else clf
    names = booster.pandas_categorical or []
    codes = tuple({name: code for code, name in enumerate(own)} for own in names)
    return CodedRows(codes, is_new_missing=True, is_whole_single=True)


def categories_by_column(booster: Any) -> dict[int, Sequence[Any]]:
    """Return the columns that a Booster was fitted with as categories, and which these were."""
    names = booster.pandas_categorical or []
    lines = booster.model_to_string(num_iteration=1).splitlines()
    infos = next(line for line in lines if line.startswith("feature_infos=")).split("=", 1)[1]
    places = [at for at, info in enumerate(infos.split()) if info[0] not in "[n"]
    if len(places) != len(names):
        raise NotExact("which columns of LightGBM's model are categories cannot be told")
    return dict(zip(places, names, strict=True))


def _tree(text: str, place: int, classes: int) -> Tree:
    body = text.split("\n\n")[0].splitlines()[1:]
    lines = dict(line.split("=", 1) for line in body if "=" in line)
    if lines.get("is_linear", "0") != "0":
        raise NotExact("LightGBM's linear trees have no one number in a leaf")

    def numbers(name: str, kind: Any) -> Any:
        return np.array(lines.get(name, "").split(), dtype=kind)

    leaves = int(lines["num_leaves"])
    inner = leaves - 1
    thresholds, types = numbers("threshold", np.float64), numbers("decision_type", np.intp)
    breaks = just_above(thresholds, False)
    members = _members(lines, types, thresholds)
    splits: list[Split | None] = []
    for node in range(inner):
        kind, at = int(types[node]), float(breaks[node])
        if kind & CATEGORICAL:
            splits.append(_among(members[node]))
            continue
        always = thresholds[node] == np.inf
        splits.append(_numeric(() if always else (at,), kind))
    return Tree(
        np.concatenate([numbers("split_feature", np.intp), np.zeros(leaves, dtype=np.intp)]),
        _children(numbers("left_child", np.intp), leaves),
        _children(numbers("right_child", np.intp), leaves),
        (*splits, *[None] * leaves),
        _scores(numbers("leaf_value", np.float64), place, classes),
    )


def _children(children: Any, leaves: int) -> Any:
    """Return the places of children; leaves stand behind the nodes, and have none."""
    inner = len(children)
    return np.concatenate([np.where(children < 0, inner + ~children, children), [-1] * leaves])


def _scores(values: Any, place: int, classes: int) -> Any:
    scores = np.zeros((2 * len(values) - 1, classes))
    scores[len(values) - 1 :, place] = values
    return scores


def _numeric(breaks: tuple[float, ...], kind: int) -> Split:
    """Return the split of a node that asks for a number, by what counts as missing there.

    LightGBM sees all numbers that count as zero as 0, whatever the threshold.
    """
    missing, default_left = kind >> 2 & 3, bool(kind & DEFAULT_LEFT)
    zero_left = bool(Split(breaks, False).left(np.zeros(1))[0])
    at_zero = default_left if missing == ZERO_MISSING else zero_left
    split = Split(breaks, at_zero).with_missing(-ZERO, float(np.nextafter(ZERO, np.inf)))
    return Split(split.breaks, zero_left if missing == NO_MISSING else default_left)


def _among(codes: list[int]) -> Split:
    """Return the split of a node that asks for codes; numbers are cut off to whole ones first."""
    split = Split.of_codes(codes, True)
    if 0 not in codes:
        return split
    first = np.nextafter(-1.0, 0.0)  # what is above -1 is cut off to 0
    return Split(tuple(float(first) if b == 0 else b for b in split.breaks), False)


def _members(lines: Mapping[str, str], types: Any, thresholds: Any) -> dict[int, list[int]]:
    """Return the codes that go to the left, of each node that asks for codes."""
    bounds = [int(text) for text in lines.get("cat_boundaries", "").split()]
    words = [int(text) for text in lines.get("cat_threshold", "").split()]
    members = {}
    for node in np.flatnonzero(types & CATEGORICAL).tolist():
        at = int(thresholds[node])
        own = words[bounds[at] : bounds[at + 1]]
        members[node] = [
            32 * place + bit
            for place, word in enumerate(own)
            for bit in range(32)
            if word >> bit & 1
        ]
    return members
