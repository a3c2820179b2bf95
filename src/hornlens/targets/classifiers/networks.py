"""Networks of rectified linear units, and linear models, behind the steps of a Pipeline.

Read are scikit-learn's MLPClassifier with `activation="relu"` or "identity", and models that add up
their columns: their class is where a sum is largest, or above 0. The steps before them are asked
what they make of each column by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.networks.network import Floats, Input, Layer, Levels, Network
from hornlens.logic.cuts import Cuts, quantile_cuts
from hornlens.targets.classifiers.columns import Column, Table, is_missing
from hornlens.targets.classifiers.ensembles.trees import NotExact
from hornlens.targets.classifiers.features import Feature, number_feature, value_feature
from hornlens.targets.classifiers.pipelines import Prepared
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.steps import Trace

FINE = 16
"""In so many bins numbers are cut, by quantiles."""
MANY = 64
"""Whole numbers of a range shorter than that have a level each."""
LINEAR = {"LogisticRegression", "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV"}
LINEAR |= {"SGDClassifier", "Perceptron", "PassiveAggressiveClassifier", "LinearSVC"}
"""Models of scikit-learn that say where the largest sum of weighted columns is."""


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A network over the columns behind some steps, and where these come from."""

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    leak: float
    prepare: Callable[[Any], NDArray[Any]]
    source: tuple[int, ...]
    """For each column that it sees, the column of X that it comes from."""
    encoded: frozenset[int]
    categories: Mapping[int, tuple[Any, ...]]
    unit: float
    """The largest relative error of one of its operations."""

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return max(2, len(self.biases[-1]))

    def features(self, table: Table, more: Mapping[str, Cuts]) -> tuple[Feature, ...]:
        """Return the columns of X in levels; `more` are cuts that rules ask for.

        Whole numbers of a short range have a level each; other numbers are cut by quantiles.
        """
        features = []
        for place, name in enumerate(table.names):
            kind, column = table.kinds[place], table.columns[place]
            if kind in ("number", "whole") and place not in self.encoded:
                cuts = _fine(kind, column).with_cuts(more.get(name, Cuts.at([])))
                features.append(number_feature(name, kind, column, cuts))
                continue
            own = kind if kind in ("boolean", "ordered") else "category"
            known = table.levels[place]
            others = () if known else self.categories.get(place, ())
            features.append(value_feature(name, own, column, known, others))
        return tuple(features)

    def places(self, table: Table, columns: Sequence[Column]) -> tuple[Levels, NDArray[np.bool_]]:
        """Return the class of rows as the network was read, and where rounding decides it."""
        seen = self._seen(table, columns)
        sums = seen @ self.weights[0] + self.biases[0]
        size = np.abs(seen) @ np.abs(self.weights[0]) + np.abs(self.biases[0])
        terms = 8 + len(self.source)
        for weights, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            sums = np.where(sums > 0, sums, self.leak * sums) @ weights + bias
            size = size @ np.abs(weights) + np.abs(bias)
            terms += len(weights) + 1
        if sums.shape[1] == 1:
            sums = np.column_stack([np.zeros(len(sums)), sums])
        top = np.sort(sums, axis=1)
        room = 8 * terms * self.unit * size.max(axis=1) + 16 * self.unit
        return sums.argmax(axis=1), top[:, -1] - top[:, -2] <= 2 * room

    def over(self, binned: Binned) -> Network:
        """Return the network over the levels of features.

        A level of numbers stands for all between its ends. Raise NotExact if what a step makes of
        one column depends on another.
        """
        base = [feature.column(np.zeros(1, dtype=np.intp)) for feature in binned.every]
        (start,) = self._seen(binned.classifier.table, base)
        for feature in binned.every:
            if feature.size > 1 or feature.cuts is None:
                continue
            lowest, highest = _ends(feature)
            if lowest[0] != highest[0]:
                raise NotExact(f"column {feature.name!r} has one level, for more than one number")
        source, inputs = np.array(self.source, dtype=np.intp), []
        fixed = ~np.isin(source, binned.telling)
        first = start[fixed] @ self.weights[0][fixed] + self.biases[0]
        for place in binned.telling:
            own = np.flatnonzero(source == place)
            feature = binned.every[place]
            points, lows, highs = (
                self._seen(binned.classifier.table, [*base[:place], column, *base[place + 1 :]])
                for column in (feature.column(np.arange(feature.size)), *_ends(feature))
            )
            other = source != place
            if any((seen[:, other] != start[other]).any() for seen in (points, lows, highs)):
                raise NotExact(f"what its steps make of other columns depends on {feature.name!r}")
            ends = np.minimum(lows, highs)[:, own], np.maximum(lows, highs)[:, own]
            if not all(np.isfinite(seen).all() for seen in (points[:, own], *ends)):
                raise NotExact(f"what its steps make of {feature.name!r} is no number")
            inputs.append(Input(points[:, own], self.weights[0][own], ends))
        layers = tuple(map(Layer, self.weights[1:], self.biases[1:]))
        return Network(tuple(inputs), first, layers, self.leak)

    def _seen(self, table: Table, columns: Sequence[Column]) -> Floats:
        """Return what the network sees of rows, which have as many as the longest column."""
        count = max(map(len, columns))
        full = [np.repeat(column, count) if len(column) < count else column for column in columns]
        return np.asarray(self.prepare(table.rebuild(full))).astype(np.float64)


def _fine(kind: str, column: Column) -> Cuts:
    """Return where numbers are cut, so that bounds in the midst of two cuts are close."""
    known = column[~is_missing(column)]
    if kind == "whole" and len(known) and int(known.max()) - int(known.min()) < MANY:
        return Cuts.at(range(int(known.min()) + 1, int(known.max()) + 1))
    return quantile_cuts(column, FINE)


def _ends(feature: Feature) -> tuple[Column, Column]:
    """Return the least and the largest value of each level."""
    points = feature.column(np.arange(feature.size))
    if feature.cuts is None:
        return points, points
    if feature.is_large:
        raise NotExact(f"column {feature.name!r} has whole numbers that no float holds")
    spans = np.array([*feature.spans, *([(np.nan, np.nan)] * feature.missing)])
    if feature.kind == "whole":
        lows = np.ceil(spans[: feature.known, 0])
        spans[: feature.known, 1] = np.append(lows[1:] - 1, np.floor(spans[feature.known - 1, 1]))
        spans[: feature.known, 0] = lows
    return spans[:, 0], spans[:, 1]


def read_network(clf: Any, table: Table) -> NetworkModel | None:
    """Return the network or the linear model of an estimator or Pipeline; None if it has none.

    What cannot be traced back to the columns of X raises NotExact.
    """
    *steps, last = [step for _, step in clf.steps] if hasattr(clf, "steps") else [clf]
    read = _read(last)
    if read is None:
        return None
    weights, biases, leak = read
    trace, source, names = Trace(table), list(range(len(table.names))), list(table.names)
    known: list[str] | None = names
    for step in steps:
        source, known = trace.through(step, source, known)
    if trace.replaced:
        raise NotExact("a step replaces a number in the midst of others; impute first")
    if len(source) != len(weights[0]):
        raise NotExact("its steps make other columns than expected")
    single = any(part.dtype == np.float32 for part in (*weights, *biases))
    return NetworkModel(
        tuple(part.astype(np.float64) for part in weights),
        tuple(part.astype(np.float64) for part in biases),
        leak,
        Prepared(tuple(steps)),
        tuple(source),
        frozenset(trace.encoded),
        trace.categories,
        2.0**-24 if single or _has_single(table) else 2.0**-53,
    )


def _read(clf: Any) -> tuple[tuple[Floats, ...], tuple[Floats, ...], float] | None:
    """Return the weights and biases of an estimator, and how much passes below 0; None if none."""
    kind = type(clf).__name__
    if not type(clf).__module__.startswith("sklearn."):
        return None
    if kind == "MLPClassifier":
        if clf.activation not in ("relu", "identity"):
            raise NotExact(f"its units are {clf.activation}: only relu and identity are bounded")
        if clf.out_activation_ == "logistic" and len(clf.classes_) > 2:
            raise NotExact("it gives several labels at once")
        leak = 0.0 if clf.activation == "relu" else 1.0
        return tuple(clf.coefs_), tuple(clf.intercepts_), leak
    if kind in LINEAR:
        weights, bias = np.atleast_2d(clf.coef_).T, np.atleast_1d(clf.intercept_)
        return (weights,), (np.broadcast_to(bias, weights.shape[1:]),), 0.0
    return None


def _has_single(table: Table) -> bool:
    """Say whether rows may be of single precision."""
    return any(column.dtype == np.float32 for column in table.columns)
