"""Which library an ensemble is from, and who reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from numpy.typing import NDArray

from hornlens.targets.classifiers.ensembles.boosters import Boosted, predicts_numbers
from hornlens.targets.classifiers.ensembles.catboost import read_catboost, rows_of_catboost
from hornlens.targets.classifiers.ensembles.lightgbm import read_lightgbm, rows_of_lightgbm
from hornlens.targets.classifiers.ensembles.scikit import read_scikit
from hornlens.targets.classifiers.ensembles.trees import Trees
from hornlens.targets.classifiers.ensembles.xgboost import read_xgboost, rows_of_xgboost


class Coding(Protocol):
    """Makes of rows the numbers that trees compare, as their library does."""

    @property
    def encoded(self) -> tuple[int, ...]:
        """The columns that are categories, whatever they look like."""
        ...

    def transform(self, rows: Any) -> NDArray[Any]:
        """Return the numbers that the trees compare."""
        ...


READERS: dict[str, Callable[[Any, bool], Trees]] = {
    "xgboost": read_xgboost,
    "lightgbm": read_lightgbm,
    "catboost": read_catboost,
}
ROWS: dict[str, Callable[[Any], Coding]] = {
    "xgboost": rows_of_xgboost,
    "lightgbm": rows_of_lightgbm,
    "catboost": rows_of_catboost,
}


def read_trees(clf: Any) -> Trees | None:
    """Return the trees of a fitted estimator; None if it is no ensemble that can be read.

    One that is an ensemble, and cannot be read to the last bit, raises NotExact.
    """
    own = _inner(clf)
    if _library(own) == "sklearn":
        return read_scikit(own)
    reader = READERS.get(_library(own))
    return None if reader is None else reader(own, predicts_numbers(clf))


def rows_before(clf: Any) -> Coding | None:
    """Return what a library makes of rows before its trees see them; None: nothing."""
    own = _inner(clf)
    rows = ROWS.get(_library(own))
    return None if rows is None else rows(own)


def _inner(clf: Any) -> Any:
    return clf.booster if isinstance(clf, Boosted) else clf


def _library(clf: Any) -> str:
    return type(clf).__module__.split(".")[0]
