"""Boosters of XGBoost, LightGBM and CatBoost as classifiers: their answers as classes.

The class is the most likely one, the first of several. Of two classes it is 1 where the Booster's
answer is above one half, as the libraries' own classifiers decide. Classes are 0, 1, and so on;
CatBoost keeps their names.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.targets.classifiers.ensembles import catboost, lightgbm, xgboost

MULTI_LABEL = ("MultiLogloss", "MultiCrossEntropy")


@dataclass(frozen=True, eq=False)
class BoosterClassifier:
    """A Booster that says classes; `names` are the columns it was fitted with, if it knows them."""

    booster: Any
    classes_: NDArray[Any]
    n_features_in_: int
    names: tuple[str, ...] | None
    name: str

    @property
    def __name__(self) -> str:
        """What it is called."""
        return self.name

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns it was fitted with; an AttributeError if it does not know them."""
        if self.names is None:
            raise AttributeError("it was fitted with columns that have no names")
        return np.array(self.names, dtype=object)

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the class of each row."""
        if hasattr(self.booster, "calc_leaf_indexes"):
            return np.asarray(self.booster.predict(rows, prediction_type="Class"))
        ask = getattr(self.booster, "inplace_predict", self.booster.predict)
        return np.asarray(self.classes_[_places(np.asarray(ask(rows)), len(self.classes_))])


def _places(answers: NDArray[Any], classes: int) -> NDArray[np.intp]:
    """Return the place of the class of each answer: probabilities, or places already."""
    if answers.ndim == 2:
        return np.asarray(answers.argmax(axis=1))
    return answers.astype(np.intp) if classes > 2 else np.asarray(answers > 0.5, dtype=np.intp)


def as_classifier(clf: Any, name: str | None = None) -> Any:
    """Return a Booster as a classifier; whatever else it is comes back as it is.

    `name` is what it is called. A Booster that says no classes is an InputError.
    """
    library, kind = type(clf).__module__.split(".")[0], type(clf).__name__
    if library == "xgboost" and kind == "Booster":
        return _of_xgboost(clf, name or kind)
    if library == "lightgbm" and kind == "Booster":
        return _of_lightgbm(clf, name or kind)
    if library == "catboost" and (kind != "CatBoostClassifier" or name is not None):
        return _of_catboost(clf, name or kind)
    return clf


def _of_xgboost(booster: Any, name: str) -> BoosterClassifier:
    learner = json.loads(booster.save_config())["learner"]
    objective, written = learner["objective"]["name"], learner["learner_model_param"]
    if int(written.get("num_target", 1)) > 1:
        raise InputError(f"{name} gives several labels at once: explain them one at a time")
    if objective not in {*xgboost.BINARY, *xgboost.SEVERAL}:
        raise InputError(f"{name} is no classifier: its objective is {objective}")
    count = max(2, int(written["num_class"]))
    names = booster.feature_names
    return _named(booster, np.arange(count), int(booster.num_features()), names, name)


def _of_lightgbm(booster: Any, name: str) -> BoosterClassifier:
    lines = booster.model_to_string(num_iteration=1).splitlines()
    objective = next((line[10:] for line in lines if line.startswith("objective=")), "none")
    if objective.split()[0] not in lightgbm.BINARY + lightgbm.SEVERAL:
        raise InputError(f"{name} is no classifier: its objective is {objective.split()[0]}")
    stage = booster.num_model_per_iteration()
    names = booster.feature_name()
    return _named(booster, np.arange(max(2, stage)), int(booster.num_feature()), names, name)


def _of_catboost(booster: Any, name: str) -> BoosterClassifier:
    if not booster.is_fitted():
        raise InputError("the model is not fitted: call fit first")
    objective = catboost.objective_of(booster)
    if objective in MULTI_LABEL:
        raise InputError(f"{name} gives several labels at once: explain them one at a time")
    classes = np.asarray(booster.classes_)
    if objective not in catboost.OBJECTIVES or not len(classes):
        raise InputError(f"{name} is no classifier: its objective is {objective}")
    names = booster.feature_names_
    return _named(booster, classes, len(names), names, name)


def _named(
    booster: Any, classes: NDArray[Any], count: int, names: Sequence[str] | None, name: str
) -> BoosterClassifier:
    own = None if names is None or are_counted(names) else tuple(map(str, names))
    return BoosterClassifier(booster, classes, count, own, name)


def are_counted(names: Sequence[str]) -> bool:
    """Return whether columns have no names of their own: a library has only counted them.

    >>> are_counted(["Column_0", "Column_1"]), are_counted(["0", "1"]), are_counted(["age"])
    (True, True, False)
    """
    return any(
        [str(name) for name in names] == [f"{word}{place}" for place in range(len(names))]
        for word in ("Column_", "")
    )
