"""Boosters of XGBoost, LightGBM and CatBoost as classifiers and regressors.

The class is the most likely one, the first of several. Of two classes it is 1 where the Booster's
answer is above one half, as the libraries' own classifiers decide. Classes are 0, 1, and so on;
CatBoost keeps their names. A regressor answers with the numbers that its library predicts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.targets.classifiers.ensembles import catboost, lightgbm, xgboost

MULTI_LABEL = ("MultiLogloss", "MultiCrossEntropy")


@dataclass(frozen=True, eq=False)
class Boosted:
    """A Booster that answers rows; `names` are the columns it was fitted with, if it knows them."""

    booster: Any
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

    def answers(self, rows: Any) -> NDArray[Any]:
        """Return what the Booster itself answers for each row."""
        ask = getattr(self.booster, "inplace_predict", self.booster.predict)
        return np.asarray(ask(rows))


@dataclass(frozen=True, eq=False)
class BoosterClassifier(Boosted):
    """A Booster that says classes."""

    classes_: NDArray[Any]

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the class of each row."""
        if hasattr(self.booster, "calc_leaf_indexes"):
            return np.asarray(self.booster.predict(rows, prediction_type="Class"))
        return np.asarray(self.classes_[_places(self.answers(rows), len(self.classes_))])


@dataclass(frozen=True, eq=False)
class ScoringBooster(BoosterClassifier):
    """A Booster of two classes that says how likely the second one is."""

    def predict_proba(self, rows: Any) -> NDArray[Any]:
        """Return how likely the classes of each row are."""
        if hasattr(self.booster, "calc_leaf_indexes"):
            return np.asarray(self.booster.predict(rows, prediction_type="Probability"))
        second = self.answers(rows)
        return np.column_stack([1 - second, second])


SCORED = ("binary:logistic", "reg:logistic", "binary", "cross_entropy", "Logloss", "CrossEntropy")
"""The objectives of two classes whose Boosters answer with a probability."""


def _kind_of(objective: str) -> type[BoosterClassifier]:
    return ScoringBooster if objective in SCORED else BoosterClassifier


@dataclass(frozen=True, eq=False)
class BoosterRegressor(Boosted):
    """A Booster that predicts numbers."""

    _estimator_type: ClassVar[str] = "regressor"

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the number of each row."""
        return self.answers(rows)


def _places(answers: NDArray[Any], classes: int) -> NDArray[np.intp]:
    """Return the place of the class of each answer: probabilities, or places already."""
    if answers.ndim == 2:
        return np.asarray(answers.argmax(axis=1))
    return answers.astype(np.intp) if classes > 2 else np.asarray(answers > 0.5, dtype=np.intp)


def predicts_numbers(clf: Any) -> bool:
    """Return whether an estimator of these libraries predicts numbers, not classes."""
    return isinstance(clf, BoosterRegressor) or type(clf).__name__.endswith(NUMBER_KINDS)


NUMBER_KINDS = ("Regressor", "Ranker")


def as_estimator(clf: Any, name: str | None = None, numbers: bool | None = None) -> Any:
    """Return a Booster as a classifier or a regressor; whatever else it is comes back as it is.

    `name` is what it is called. `numbers`: whether it is to predict numbers; None: as its objective
    says. A Booster that says no classes, or predicts no numbers, is an InputError.
    """
    library, kind = type(clf).__module__.split(".")[0], type(clf).__name__
    if library == "xgboost" and kind == "Booster":
        return _of_xgboost(clf, name or kind, numbers)
    if library == "lightgbm" and kind == "Booster":
        return _of_lightgbm(clf, name or kind, numbers)
    if library == "catboost" and (kind == "CatBoost" or name is not None):
        return _of_catboost(clf, name or kind, numbers)
    return clf


def _of_xgboost(booster: Any, name: str, numbers: bool | None) -> Boosted:
    learner = json.loads(booster.save_config())["learner"]
    objective, written = learner["objective"]["name"], learner["learner_model_param"]
    if int(written.get("num_target", 1)) > 1:
        raise InputError(f"{name} gives several labels at once: explain them one at a time")
    of_classes = objective in {*xgboost.BINARY, *xgboost.SEVERAL}
    columns = (int(booster.num_features()), booster.feature_names)
    if _wants_numbers(name, objective, of_classes, objective in xgboost.NUMBERS, numbers):
        return _named(BoosterRegressor, booster, *columns, name)
    count = max(2, int(written["num_class"]))
    return _named(_kind_of(objective), booster, *columns, name, np.arange(count))


def _of_lightgbm(booster: Any, name: str, numbers: bool | None) -> Boosted:
    lines = booster.model_to_string(num_iteration=1).splitlines()
    objective = next((line[10:] for line in lines if line.startswith("objective=")), "none")
    objective = objective.split()[0]
    of_classes = objective in lightgbm.BINARY + lightgbm.SEVERAL
    columns = (int(booster.num_feature()), booster.feature_name())
    if _wants_numbers(name, objective, of_classes, objective in lightgbm.NUMBERS, numbers):
        return _named(BoosterRegressor, booster, *columns, name)
    count = max(2, booster.num_model_per_iteration())
    return _named(_kind_of(objective), booster, *columns, name, np.arange(count))


def _of_catboost(booster: Any, name: str, numbers: bool | None) -> Boosted:
    if not booster.is_fitted():
        raise InputError("the model is not fitted: call fit first")
    objective = catboost.objective_of(booster)
    if objective in MULTI_LABEL:
        raise InputError(f"{name} gives several labels at once: explain them one at a time")
    classes, names = np.asarray(booster.classes_), booster.feature_names_
    of_classes = objective in catboost.OBJECTIVES and len(classes) > 0
    if _wants_numbers(name, objective, of_classes, not len(classes), numbers):
        return _named(BoosterRegressor, booster, len(names), names, name)
    return _named(_kind_of(objective), booster, len(names), names, name, classes)


def _wants_numbers(
    name: str, objective: str, of_classes: bool, of_numbers: bool, numbers: bool | None
) -> bool:
    """Return whether a Booster is to be a regressor: as is wanted, or as its objective says."""
    if of_numbers and (numbers or (numbers is None and not of_classes)):
        return True
    if numbers or not of_classes:
        what = "regressor" if numbers else "classifier"
        raise InputError(f"{name} is no {what}: its objective is {objective}")
    return False


Kind = TypeVar("Kind", bound=Boosted)


def _named(
    kind: type[Kind], booster: Any, count: int, names: Sequence[str] | None, name: str, *more: Any
) -> Kind:
    own = None if names is None or are_counted(names) else tuple(map(str, names))
    return kind(booster, count, own, name, *more)


def are_counted(names: Sequence[str]) -> bool:
    """Return whether columns have no names of their own: a library has only counted them.

    >>> are_counted(["Column_0", "Column_1"]), are_counted(["0", "1"]), are_counted(["age"])
    (True, True, False)
    """
    return any(
        [str(name) for name in names] == [f"{word}{place}" for place in range(len(names))]
        for word in ("Column_", "")
    )
