"""Asking a classifier: whole blocks of rows at once, answers as places among its classes.

Whatever is wrong with what it says comes out as one line.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError, InputError
from hornlens.limits import Limits
from hornlens.targets.classifiers.columns import Column, Table, is_missing, read_table
from hornlens.targets.classifiers.conditions import OfClass, OfValue
from hornlens.targets.classifiers.ensembles.boosters import are_counted, as_estimator
from hornlens.targets.classifiers.estimators import is_called

BLOCK = 1 << 16
"""How many rows are asked at once."""
MOST_CLASSES = 64
MOST_VALUES = 30_000_000
"""If X has more values than that, rules are sought among some of its rows."""
NOT_KEPT = "the model is not in the result: explain it again to ask it more"


class NotKept(HornlensError):
    """What only the model itself could answer, of an explanation that was read or unpickled."""


def not_kept(_: Any) -> NDArray[Any]:
    """Stand for a model that is not there any more."""
    raise NotKept(NOT_KEPT)


@dataclass
class Predictions:
    """How many rows were put to a classifier, for whatever reason: rows of X, cells, measuring.

    Each is a call. Where `limits` have no room for more, none is made.
    """

    count: int = 0
    limits: Limits | None = None

    def add(self, rows: int) -> None:
        """Count rows before they are asked; raise Stopped if these are too many."""
        if self.limits is not None:
            self.limits.call(rows)
        self.count += rows

    @property
    def room(self) -> int | None:
        """How many more rows may be asked; None: all."""
        return None if self.limits is None else self.limits.calls_room()


@dataclass(frozen=True, eq=False)
class Classifier:
    """Something that says a class of each row; `classes` are all that it can say."""

    name: str
    classes: tuple[Any, ...]
    ask: Callable[[Any], NDArray[Any]]
    table: Table
    identity: str | None = None
    """A hash of all that its answers depend on; None where that cannot be known."""
    predictions: Predictions = field(default_factory=Predictions)
    """Counts the rows that it was asked."""
    said: NDArray[np.intp] | None = None
    """What it said of the rows of the table, as places of classes, if that was asked already."""
    given: int | None = None
    """How many rows X has, if a limit on calls left only the first of them in the table."""
    drawn_from: int | None = None
    """How many rows there were, if those of the table were drawn from them at random."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes as people read them."""
        return tuple(map(str, self.classes))

    def bits_of(self, said: OfClass | OfValue) -> int:
        """Return the classes that a rule names, as bits."""
        if isinstance(said, OfValue):
            raise InputError(f"{said}: {self.name} predicts classes, and no numbers")
        return 1 << self.labels.index(said.label)

    def with_fewer_rows(self, seed: int) -> Classifier:
        """Return it with as many rows, drawn at random, as MOST_VALUES allow."""
        count, most = len(self.table), MOST_VALUES // max(1, len(self.table.names))
        if count <= most:
            return self
        drawn = np.zeros(count, dtype=np.bool_)
        drawn[np.random.default_rng(seed).choice(count, most, replace=False)] = True
        answers = None if self.said is None else self.said[drawn]
        given = most if self.given in (None, count) else self.given
        table = self.table.where(drawn)
        return replace(self, table=table, said=answers, given=given, drawn_from=count)

    @property
    def can_be_pickled(self) -> bool:
        """Whether it can be asked after it was pickled."""
        return _pickles(self.ask) and _pickles(self.table)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all of it, but for a function that cannot be."""
        ask = self.ask if _pickles(self.ask) else not_kept
        table = self.table if _pickles(self.table) else replace(self.table, rebuild=not_kept)
        return {**vars(self), "ask": ask, "table": table}

    def decide(self, columns: Sequence[Column]) -> NDArray[np.intp]:
        """Return the place of the class of each row, of rows given by columns."""
        count = len(columns[0])
        parts = [
            self._decide([column[start : start + BLOCK] for column in columns])
            for start in range(0, count, BLOCK)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)

    def _decide(self, columns: Sequence[Column]) -> NDArray[np.intp]:
        self.predictions.add(len(columns[0]))
        said = _checked(self._ask_columns, columns, len(columns[0]), self.table)
        return self.places(said)

    def _ask_columns(self, columns: Sequence[Column]) -> NDArray[Any]:
        return self.ask(self.table.rebuild(columns))

    def places(self, said: NDArray[Any]) -> NDArray[np.intp]:
        """Return the place of each class that was said; one that is not known is an error."""
        found = np.full(len(said), -1, dtype=np.intp)
        for place, label in enumerate(self.classes):
            found[said == label] = place
        if (found < 0).any():
            strange = said[int(np.argmax(found < 0))]
            known = ", ".join(self.labels[:8])
            raise HornlensError(
                f"{self.name} says {_plain(strange)!r}, which is none of its classes ({known})"
            )
        return found


def _pickles(thing: Any) -> bool:
    try:
        pickle.dumps(thing)
    except Exception:  # theirs may be any
        return False
    return True


def read_classifier(clf: Any, rows: Any, limits: Limits | None = None) -> Classifier:
    """Return a fitted estimator, or a function of rows, ready to be asked about rows like these.

    One that does not name its classes is asked about the rows, as far as `limits` allow calls. If
    it has `classes_among`, that adds to what it answers for them.
    """
    clf = as_estimator(clf)
    names = _names_of(clf)
    table = read_table(rows, None if names is None else [str(name) for name in names])
    _check_columns(clf, names, table)
    name = getattr(clf, "__name__", None) or type(clf).__name__
    ask = _function_of(clf, str(name))
    predictions, given = Predictions(limits=limits), len(table)
    classes, answers = getattr(clf, "classes_", None), None
    if classes is None:
        table = table.first(given if predictions.room is None else predictions.room)
        predictions.add(len(table))
        answers = _checked(ask, table.rebuild(table.columns), len(table), table, str(name))
        names = {_plain(value) for value in answers.tolist()}
        classes = _sorted(clf.classes_among(names) if hasattr(clf, "classes_among") else names)
    elif np.ndim(classes[0]) > 0:
        raise InputError(f"{name} gives several labels at once: explain them one at a time")
    classes = tuple(_plain(value) for value in classes)
    if len(classes) > MOST_CLASSES:
        raise InputError(f"{name} says {len(classes)} classes: {MOST_CLASSES} at most")
    if len(set(map(str, classes))) < len(classes):
        raise InputError(f"two classes of {name} are written alike: {', '.join(map(str, classes))}")
    classifier = Classifier(str(name), classes, ask, table, None, predictions, given=given)
    return classifier if answers is None else replace(classifier, said=classifier.places(answers))


def _names_of(clf: Any) -> Any:
    """Return the columns that a model was fitted with; None if these had no names."""
    names = getattr(clf, "feature_names_in_", getattr(clf, "feature_names_", None))
    return None if names is None or are_counted(names) else names


def _check_columns(clf: Any, names: Any, table: Table) -> None:
    # LightGBM makes underscores of blanks.
    if names is not None and list(names) != [name.replace(" ", "_") for name in table.names]:
        wanted = [str(name) for name in names]
        missing = [name for name in wanted if name not in table.names]
        extra = [name for name in table.names if name not in wanted]
        if missing:
            raise InputError(f"X lacks the column {missing[0]!r}, which the model was fitted with")
        if extra:
            raise InputError(f"the model was not fitted with the column {extra[0]!r} of X")
        if wanted != list(table.names):
            first = next(a for a, b in zip(wanted, table.names, strict=True) if a != b)
            raise InputError(f"the columns of X are in another order than the model's: {first!r}")
    count = getattr(clf, "n_features_in_", None)
    if count is not None and count != len(table.names):
        raise InputError(f"X has {len(table.names)} columns; the model was fitted with {count}")


def _function_of(clf: Any, name: str) -> Callable[[Any], Any]:
    if isinstance(clf, type):
        raise InputError(f"{name} is a class: give a fitted {name}()")
    if hasattr(clf, "predict"):
        if is_called(clf, "regressor", "clusterer"):
            raise InputError(
                f"{name} is no classifier: it predicts numbers, and no classes; "
                "give bands=[…], the numbers at which one band ends and the next begins"
            )
        return clf.predict  # type: ignore[no-any-return]
    if hasattr(clf, "predict_proba"):
        classes = getattr(clf, "classes_", None)

        def most_likely(rows: Any) -> Any:
            best = _highest(np.asarray(clf.predict_proba(rows)), name)
            return best if classes is None else np.asarray(classes)[best]

        return most_likely
    if callable(clf):
        return clf  # type: ignore[no-any-return]
    raise InputError(f"{name} has no predict and is no function of rows")


def _checked(
    ask: Callable[[Any], Any], rows: Any, count: int, table: Table, name: str = "predict"
) -> NDArray[Any]:
    """Return what is said of rows, one label each."""
    try:
        said = np.asarray(ask(rows))
    except HornlensError:
        raise
    except Exception as error:
        if type(error).__name__ == "NotFittedError":
            raise InputError("the model is not fitted: call fit first") from error
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        gaps = [
            column
            for column, values in zip(table.names, table.columns, strict=True)
            if is_missing(values).any()
        ]
        words = [n for n, k in zip(table.names, table.kinds, strict=True) if k == "category"]
        where = f" (missing values are in {', '.join(map(repr, gaps[:3]))})" if gaps else ""
        if words and not gaps:
            where = f" (there are words in {', '.join(map(repr, words[:3]))})"
        raise HornlensError(f"{name} failed: {reason}{where}") from error
    if said.ndim == 2 and said.shape[1] == 1:
        said = said[:, 0]
    if said.ndim == 2 and said.shape[1] > 1 and said.dtype.kind == "f" and len(said) == count:
        said = _highest(said, name)
    if said.shape != (count,):
        raise HornlensError(
            f"{name} must say one class of each of {count:,} rows, not {said.shape}"
        )
    if said.dtype.kind == "c":
        raise HornlensError(f"{name} says complex numbers, and no classes")
    if said.dtype.kind == "O":
        try:
            labels = set(said.tolist())
        except TypeError as error:
            raise HornlensError(f"{name} says labels that are not hashable: {error}") from None
        if None in labels:
            raise HornlensError(f"{name} says None of a row, and must say a class of each")
    if said.dtype.kind == "f" and (np.isnan(said).any() or len(np.unique(said)) > MOST_CLASSES):
        raise HornlensError(f"{name} says numbers, and no classes: is it a regressor? bands=[…]")
    return said


def _highest(scores: NDArray[Any], name: str) -> NDArray[np.intp]:
    """Return the place of the highest score of each row; a score that is none is an error."""
    if scores.ndim != 2 or scores.dtype.kind not in "fiu" or np.isnan(scores).any():
        raise HornlensError(f"{name} gives scores that are no real numbers, or not one a class")
    places: NDArray[np.intp] = scores.argmax(axis=1)
    return places


def _sorted(values: set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
