"""Fuzzed ensembles of several libraries, and rows that are hard to read them by."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor
from xgboost import XGBClassifier, XGBRegressor, XGBRFClassifier, XGBRFRegressor

from hornlens.targets.classifiers.deciding import Banded
from hornlens.targets.classifiers.ensembles.readers import read_trees, rows_before

SPECIAL = [
    *(0.0, -0.0, 1e-35, float(np.float32(1e-35)), -float(np.float32(1e-35)), 9.999e-36, 1.1e-35),
    *(-1e-36, -0.5, -1.0, -0.999, 2.5, 1e38, -1e38, np.inf, -np.inf, 1e39, -1e300, -999.0),
    *([np.nan] * 8),
]


@dataclass
class Case:
    """A fitted model, the frame it was fitted with, and categories nobody has seen, if accepted."""

    model: Any
    rows: pandas.DataFrame
    new: dict[str, list[Any]]


def data(rng, classes, count=300):
    """Rows with whole numbers, missing values, categories and Booleans, and their classes."""
    width = int(rng.integers(2, 6))
    numbers = rng.normal(size=(count, width))
    numbers[:, 0] = np.round(numbers[:, 0] * 2)
    if rng.random() < 0.5:
        numbers[rng.random(numbers.shape) < 0.1] = np.nan
    total = np.nan_to_num(numbers).sum(axis=1) * 1.5 + rng.normal(size=count) * 0.3
    wanted = np.clip(np.floor((total + 2) / 4 * classes), 0, classes - 1).astype(int)
    rows = pandas.DataFrame(numbers, columns=[f"c {place}" for place in range(width)])
    if rng.random() < 0.4:
        rows["letter"] = pandas.Categorical(rng.choice(list("pqrst"), count))
        rows["code"] = pandas.Categorical(rng.choice([5, 3, 8], count))
        rows["yes"] = rng.random(count) > 0.5
        wanted = np.where(rows["letter"].isin(["q", "s"]), classes - 1, wanted)
    wanted[:classes] = np.arange(classes)
    return rows, wanted


def xgboost_case(rng):
    classes = int(rng.choice([2, 2, 3, 5]))
    rows, wanted = data(rng, classes)
    options = {
        "n_estimators": int(rng.integers(1, 40)),
        "max_depth": int(rng.integers(1, 7)),
        "enable_categorical": True,
        "max_cat_to_onehot": int(rng.choice([1, 4])),
        "n_jobs": 1,
    }
    if not rows.isna().any(axis=None) and rng.random() < 0.5:
        options["missing"] = float(rng.choice([-999.0, -1.0, 0.0, 1.0, 3.0]))
    if classes == 2:
        kinds = ["binary:logistic", "binary:logitraw", "binary:hinge", "reg:logistic"]
        options["objective"] = str(rng.choice(kinds))
    else:
        options["objective"] = str(rng.choice(["multi:softprob", "multi:softmax"]))
    weights = rng.random(len(rows)) if rng.random() < 0.3 else None
    if rng.random() < 0.3:
        del options["objective"]
        return Case(XGBRFClassifier(**options).fit(rows, wanted, sample_weight=weights), rows, {})
    if rng.random() < 0.3:
        options["early_stopping_rounds"] = 1
    model = XGBClassifier(**options)
    given = {"eval_set": [(rows[::2], 1 * (wanted[::2] > 0))]} if classes == 2 else {}
    if "early_stopping_rounds" in options and classes > 2:
        given = {"eval_set": [(rows, wanted)]}
    return Case(model.fit(rows, wanted, sample_weight=weights, verbose=False, **given), rows, {})


def lightgbm_case(rng):
    classes = int(rng.choice([2, 2, 3, 5]))
    rows, wanted = data(rng, classes)
    depth = int(rng.integers(1, 7))
    options = {
        "n_estimators": int(rng.integers(1, 40)),
        "max_depth": depth,
        "num_leaves": 2**depth + 1,
        "min_child_samples": int(rng.choice([2, 20])),
        "zero_as_missing": bool(rng.random() < 0.3),
        "use_missing": bool(rng.random() < 0.8),
        "min_data_per_group": 5,
        "cat_smooth": 1,
        "verbose": -1,
        "n_jobs": 1,
    }
    if classes > 2:
        options["objective"] = str(rng.choice(["multiclass", "multiclassova"]))
    kind = str(rng.choice(["gbdt", "gbdt", "rf", "dart"]))
    if kind == "rf":
        options |= {"bagging_freq": 1, "bagging_fraction": 0.6}
    model = LGBMClassifier(boosting_type=kind, **options)
    weights = rng.random(len(rows)) if rng.random() < 0.3 else None
    return Case(model.fit(rows, wanted, sample_weight=weights), rows, {"letter": [*"pqrstZ"]})


def catboost_case(rng):
    classes = int(rng.choice([2, 2, 3, 5]))
    rows, wanted = data(rng, classes)
    names = []
    if "letter" in rows:
        rows = rows.astype({"letter": str, "code": int})
        names = ["letter", "code"]
    options = {
        "iterations": int(rng.integers(1, 40)),
        "depth": int(rng.integers(1, 7)),
        "grow_policy": str(rng.choice(["SymmetricTree", "Lossguide", "Depthwise"])),
        "nan_mode": str(rng.choice(["Min", "Max"])),
        "one_hot_max_size": 9,
        "cat_features": names,
        "allow_writing_files": False,
        "thread_count": 1,
        "verbose": 0,
    }
    if classes > 2:
        options["loss_function"] = str(rng.choice(["MultiClass", "MultiClassOneVsAll"]))
    model = CatBoostClassifier(**options).fit(rows, wanted)
    if classes == 2 and rng.random() < 0.3:
        model.set_probability_threshold(0.3)
    new = {"letter": [*"pqrst", "new", "é"], "code": [3, 5, 8, 77]}
    return Case(model, rows, new if names else {})


CASES = {"xgboost": xgboost_case, "lightgbm": lightgbm_case, "catboost": catboost_case}


def numbers(rng):
    """Rows as before, and a positive number for each; or one between 0 and 1."""
    rows, wanted = data(rng, 5)
    return rows, np.exp(wanted / 2 + rng.normal(size=len(rows)) * 0.3)


def xgboost_numbers(rng):
    rows, wanted = numbers(rng)
    kinds = ["squarederror", "pseudohubererror", "absoluteerror", "gamma", "tweedie", "logistic"]
    kind = str(rng.choice([*(f"reg:{kind}" for kind in kinds), "count:poisson"]))
    options = {
        "n_estimators": int(rng.integers(1, 40)),
        "max_depth": int(rng.integers(1, 7)),
        "enable_categorical": True,
        "objective": kind,
        "n_jobs": 1,
    }
    wanted = (
        wanted / wanted.max() if kind == "reg:logistic" else wanted * rng.choice([0.01, 1, 1e5])
    )
    make = XGBRFRegressor if rng.random() < 0.2 else XGBRegressor
    if make is XGBRegressor and rng.random() < 0.3:
        options["early_stopping_rounds"] = 1
        model = make(**options).fit(rows, wanted, eval_set=[(rows, wanted[::-1])], verbose=False)
        return Case(model, rows, {})
    return Case(make(**options).fit(rows, wanted), rows, {})


def lightgbm_numbers(rng):
    rows, wanted = numbers(rng)
    plain = ["regression", "regression_l1", "huber", "fair", "quantile", "mape"]
    kind = str(rng.choice([*plain, "poisson", "gamma", "tweedie", "cross_entropy"]))
    options = {
        "n_estimators": int(rng.integers(1, 40)),
        "max_depth": int(rng.integers(1, 7)),
        "objective": kind,
        "reg_sqrt": bool(rng.random() < 0.3),
        "zero_as_missing": bool(rng.random() < 0.3),
        "min_data_per_group": 5,
        "verbose": -1,
        "n_jobs": 1,
    }
    if kind == "cross_entropy":
        wanted = wanted / wanted.max()
    boosting = str(rng.choice(["gbdt", "gbdt", "rf", "dart"]))
    if boosting == "rf":
        options |= {"bagging_freq": 1, "bagging_fraction": 0.6}
    model = LGBMRegressor(boosting_type=boosting, **options).fit(rows, wanted)
    return Case(model, rows, {"letter": [*"pqrstZ"]})


def catboost_numbers(rng):
    rows, wanted = numbers(rng)
    names = []
    if "letter" in rows:
        rows = rows.astype({"letter": str, "code": int})
        names = ["letter", "code"]
    kinds = ["RMSE", "MAE", "Quantile:alpha=0.3", "Huber:delta=1", "Poisson"]
    options = {
        "iterations": int(rng.integers(1, 40)),
        "depth": int(rng.integers(1, 7)),
        "loss_function": str(rng.choice([*kinds, "Tweedie:variance_power=1.3"])),
        "grow_policy": str(rng.choice(["SymmetricTree", "Lossguide", "Depthwise"])),
        "one_hot_max_size": 9,
        "cat_features": names,
        "allow_writing_files": False,
        "thread_count": 1,
        "verbose": 0,
    }
    new = {"letter": [*"pqrst", "new", "é"], "code": [3, 5, 8, 77]}
    return Case(CatBoostRegressor(**options).fit(rows, wanted), rows, new if names else {})


NUMBERS = {"xgboost": xgboost_numbers, "lightgbm": lightgbm_numbers, "catboost": catboost_numbers}


def in_bands(case, rng):
    """The case's regressor, in bands that begin at numbers that it predicts, and beside these."""
    predicted = np.unique(np.ravel(case.model.predict(case.rows)).astype(np.float64))
    at = rng.choice(predicted, min(len(predicted), 3), replace=False)
    single = at.astype(np.float32)
    beside = [np.nextafter(at, np.inf), np.nextafter(single, np.float32(np.inf)).astype(float)]
    ends = rng.choice(np.concatenate([at, *beside, predicted * 1.5, [0.3]]), 3, replace=False)
    return Banded.of(case.model, sorted(set(ends.tolist())))


def edges(breaks, rng, count):
    """Numbers at breaks, next to them in single and double precision, and between these."""
    single = breaks.astype(np.float32)
    above = np.nextafter(single, np.float32(np.inf))
    below = np.nextafter(single, np.float32(-np.inf))
    middles = [(single.astype(float) + other.astype(float)) / 2 for other in (above, below)]
    doubles = [breaks, np.nextafter(breaks, np.inf), np.nextafter(breaks, -np.inf)]
    return rng.choice(np.concatenate([*doubles, single, above, below, *middles]), count)


def hard_rows(case, count, rng):
    """Rows of a case with numbers around its thresholds, special ones, and new categories."""
    breaks = read_trees(case.model).breaks()
    columns = {}
    for place, name in enumerate(case.rows):
        own = case.rows[name]
        if name in case.new:
            columns[name] = rng.choice(np.array(case.new[name], dtype=object), count)
            if str(own.dtype) == "category":
                columns[name] = pandas.Categorical(columns[name])
        elif str(own.dtype) == "category":
            turned = list(own.cat.categories)[::-1]
            columns[name] = pandas.Categorical(rng.choice(own, count), categories=turned)
        elif own.dtype == bool:
            columns[name] = rng.random(count) > 0.5
        else:
            pool = [np.asarray(own, dtype=float), rng.choice(SPECIAL, len(own) // 2)]
            if len(breaks.get(place, ())):
                with np.errstate(all="ignore"):
                    pool.append(edges(breaks[place], rng, len(own)))
            columns[name] = rng.choice(np.concatenate(pool), count)
    return pandas.DataFrame(columns)


def sums(trees, seen):
    """What the leaves of each row add up to, tree by tree."""
    with np.errstate(over="ignore"):
        seen = seen.astype(np.float32 if trees.single else np.float64).astype(np.float64)
    total = np.zeros((len(seen), trees.trees[0].scores.shape[1]))
    for tree in trees.trees:
        node, rows = np.zeros(len(seen), dtype=np.intp), np.arange(len(seen))
        while len(rows := rows[tree.left[node[rows]] >= 0]):
            here = node[rows]
            for one in np.unique(here).tolist():
                own = rows[here == one]
                left = tree.splits[one].left(seen[own, tree.column[one]])
                node[own] = np.where(left, tree.left[one], tree.right[one])
        total += tree.scores[node]
    return total


def differences(case, rows, model=None, trees=None):
    """Rows whose clear class is not the model's; and how many are too close to call.

    By default, the model is that of the case, and its trees are read.
    """
    model = case.model if model is None else model
    trees = read_trees(case.model) if trees is None else trees
    total = sums(trees, rows_before(case.model).transform(rows))
    first, second = np.sort(total, axis=1)[:, -1], np.sort(total, axis=1)[:, -2]
    band = trees.rounding * max(1.0, sum(np.abs(tree.scores).max() for tree in trees.trees))
    clear = first - second > band
    said = np.ravel(model.predict(rows))
    own = np.asarray(model.classes_)[total.argmax(axis=1)]
    return rows[clear & (own != said)], int(np.count_nonzero(~clear))
