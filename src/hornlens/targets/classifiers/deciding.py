"""Models whose class follows from a number: a score and a threshold, a prediction and bands.

Both are estimators themselves, so that all that asks a classifier can ask them. What their trees
add up to decides as they do: see `over`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError, InputError
from hornlens.logic.cuts import Cuts
from hornlens.targets.classifiers.boxes import cuts_asked_for, levels_of
from hornlens.targets.classifiers.conditions import Condition, OfClass, OfValue
from hornlens.targets.classifiers.ensembles.boosters import as_estimator
from hornlens.targets.classifiers.ensembles.combining import MOST_ASKED, decided, only_breaks
from hornlens.targets.classifiers.ensembles.links import UNKNOWN, Answer, Link
from hornlens.targets.classifiers.ensembles.trees import Tree, Trees
from hornlens.targets.classifiers.features import Feature

Bands: TypeAlias = Sequence[float] | Mapping[str, float | None]
"""The numbers at which a new band begins; or for each band, from low to high, where it ends."""
VALUE = "value"
"""What a prediction is called, if nobody names it."""


class _Around(ABC):
    """What wraps an estimator, and takes the same rows."""

    estimator: Any

    def __getattr__(self, name: str) -> Any:
        """Return what the estimator knows of the columns that it was fitted with."""
        if name not in ("feature_names_in_", "feature_names_", "n_features_in_"):
            raise AttributeError(name)
        return getattr(self.estimator, name)

    @property
    def __name__(self) -> str:
        """What it is called."""
        own = getattr(self.estimator, "__name__", None) or type(self.estimator).__name__
        return f"{own} {self._how}"

    @property
    @abstractmethod
    def _how(self) -> str:
        """How it decides, as its name says it."""

    @abstractmethod
    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the class of each row."""

    @abstractmethod
    def over(self, members: Sequence[Trees]) -> Trees:
        """Return trees whose largest sum is the class, made of those of the estimator."""


@dataclass(frozen=True, eq=False)
class Thresholded(_Around):
    """A classifier of two classes that says the second one where its score is a threshold or more.

    As scikit-learn's `FixedThresholdClassifier` does.
    """

    estimator: Any
    threshold: float

    @property
    def _how(self) -> str:
        return f"at {self.threshold:g}"

    @property
    def classes_(self) -> NDArray[Any]:
        """The two classes; the second is the positive one."""
        return np.asarray(self.estimator.classes_)

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = np.asarray(self.estimator.predict_proba(rows))
        if scores.ndim != 2 or scores.shape[1] != 2 or np.isnan(scores).any():
            raise HornlensError("a threshold needs two scores of each row, one for each class")
        return np.asarray(self.classes_[(scores[:, 1] >= self.threshold).astype(np.intp)])

    def over(self, members: Sequence[Trees]) -> Trees:
        """Return trees whose larger sum is the class.

        Where it is not known how the score follows from the sums, only the breaks are of use.
        """
        (trees,) = members
        score = trees.link.probability
        if not trees.summed or score is None:
            return only_breaks(members)
        known: Answer = score
        return decided(trees, lambda sums: known(sums) >= self.threshold, trees.link)


@dataclass(frozen=True, eq=False)
class Banded(_Around):
    """A regressor whose class is the band that its prediction lies in."""

    estimator: Any
    cuts: Cuts
    names: tuple[str, ...]
    label: str = VALUE

    @classmethod
    def of(cls, estimator: Any, bands: Bands, label: str = VALUE) -> Banded:
        """Return a regressor with bands; bands that are none are an InputError."""
        names: tuple[str, ...] | None = None
        if isinstance(bands, Mapping):
            names, ends = tuple(map(str, bands)), list(bands.values())
            if len(names) < 2 or ends[-1] not in (None, inf):
                raise InputError(
                    'bands by name say where each ends, the last None: {"low": 10, "high": None}'
                )
            numbers: Sequence[Any] = ends[:-1]
        else:
            if isinstance(bands, str) or not hasattr(bands, "__len__"):
                raise InputError(f"bands must be numbers, or a number by name, not {bands!r}")
            numbers = bands
        try:
            values = [float(number) for number in numbers]
        except (TypeError, ValueError):
            raise InputError(f"bands must begin at numbers, not at {list(numbers)!r}") from None
        if not values or not all(map(isfinite, values)):
            raise InputError("bands need numbers at which one ends and the next begins")
        if any(a >= b for a, b in pairwise(values)):
            raise InputError(f"bands must be from low to high, not {values}")
        cuts = Cuts.at(values)
        return cls(estimator, cuts, names or named(cuts, label), label)

    @classmethod
    def asked_by(
        cls, estimator: Any, conditions: Sequence[Condition], label: str, bands: Banded | None
    ) -> Banded:
        """Return a regressor with the bands that conditions on its prediction ask for."""
        cuts = cuts_asked_for(conditions, [label], {}).get(label, Cuts.at([]))
        if bands is not None:
            cuts = bands.cuts.with_cuts(cuts)
        if not cuts.values:
            raise InputError('a rule about a regressor needs bands, or "-> value > 100"')
        return cls(estimator, cuts, named(cuts, label), label)

    @property
    def _how(self) -> str:
        return "in bands"

    @property
    def classes_(self) -> NDArray[Any]:
        """The bands, from low to high."""
        return np.array(self.names, dtype=object)

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the band of each row's prediction."""
        ask = getattr(self.estimator, "predict", self.estimator)
        numbers = np.asarray(ask(rows))
        if numbers.ndim == 2 and numbers.shape[1] == 1:
            numbers = numbers[:, 0]
        if numbers.ndim != 1 or numbers.dtype.kind not in "fiu" or np.isnan(numbers).any():
            raise HornlensError("bands need a model that predicts one number for each row")
        return np.asarray(self.classes_[self.cuts.places(numbers.astype(np.float64))])

    def bits_of(self, said: OfClass | OfValue, bands: Banded | None = None) -> int:
        """Return the bands that a rule names, as bits; `bands` have the names that it uses."""
        cuts = self.cuts
        points = (*cuts.values, inf)
        if isinstance(said, OfValue):
            feature = Feature(self.label, "number", points, cuts)
            levels = levels_of(said.condition, feature)
        else:
            source = self if bands is None else bands
            lows = np.array([-inf, *cuts.values])
            levels = source.cuts.places(lows) == source.names.index(said.label)
        return sum(1 << level for level in np.flatnonzero(levels).tolist())

    def over(self, members: Sequence[Trees]) -> Trees:
        """Return trees of the bands: of a sum s, band k has k·s less the first k cuts.

        So the band that s lies in has the largest. Which sums are so close to a cut that rounding
        decides is left to the model; if these are too many, only the breaks are of use.
        """
        (trees,) = members
        if not trees.summed or trees.link.prediction is None:
            return only_breaks(members)
        ends = [(tree.scores.min(), tree.scores.max()) for tree in trees.trees]
        low, high = (float(sum(end)) for end in zip(*ends, strict=True))
        edges = [_edge(trees.link, cut, low, high) for cut in self.cuts.values]
        sums = [at for at, _ in edges]
        unit = max(1.0, sum(float(np.abs(tree.scores).max()) for tree in trees.trees))
        asked = max(wide for _, wide in edges) / unit
        if asked > MOST_ASKED:
            return only_breaks(members)
        steps = np.arange(len(sums) + 1, dtype=np.float64)
        every = tuple(replace(tree, scores=tree.scores * steps) for tree in trees.trees)
        shift = Tree.constant(-np.concatenate([[0.0], np.cumsum(sums)]))
        rounding = trees.rounding + asked
        return replace(trees, trees=(*every, shift), rounding=rounding, link=UNKNOWN)


def _edge(link: Link, cut: float, low: float, high: float) -> tuple[float, float]:
    """Return the least sum whose prediction is a cut or more, and by how much that may be off."""
    assert link.prediction is not None
    off = link.error * abs(cut)
    at, *ends = (_least(link.prediction, one, low, high) for one in (cut, cut - off, cut + off))
    return at, max(abs(end - at) for end in ends)


def _least(prediction: Answer, number: float, low: float, high: float) -> float:
    """Return the least sum from one to another whose prediction is a number or more.

    If there is none it is beyond them, and so it is if all are.
    """
    margin = 1 + abs(low) + abs(high)
    low, high = low - margin, high + margin
    while low < (middle := low + (high - low) / 2) < high:
        if bool(prediction(np.array([middle]))[0] >= number):
            high = middle
        else:
            low = middle
    return high


def named(cuts: Cuts, label: str) -> tuple[str, ...]:
    """Return bands as conditions on the prediction.

    >>> named(Cuts.at([100, 300]), "price")
    ('price < 100', '100 ≤ price < 300', 'price ≥ 300')
    """
    return tuple(cuts.say(label, place, place) for place in range(cuts.bins))


def with_decision(
    clf: Any, threshold: float | None = None, bands: Bands | None = None, label: str = VALUE
) -> Any:
    """Return a model whose classes follow from a threshold or bands; itself if there are none."""
    if threshold is not None and bands is not None:
        raise InputError("a threshold is for scores, bands are for numbers: give one of them")
    if bands is not None:
        return Banded.of(as_estimator(clf, numbers=True), bands, label_of(label))
    if threshold is None:
        return as_estimator(clf)
    clf = as_estimator(clf, numbers=False)
    if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise InputError(f"a threshold must be a number from 0 to 1, not {threshold!r}")
    name = getattr(clf, "__name__", None) or type(clf).__name__
    if not hasattr(clf, "predict_proba"):
        raise InputError(f"a threshold needs scores, and {name} has no predict_proba")
    classes = getattr(clf, "classes_", None)
    if classes is None or len(classes) != 2:
        raise InputError(f"a threshold needs two classes (classes_), which {name} does not have")
    return Thresholded(clf, float(threshold))


def bands_in(text: str | None) -> Bands | None:
    """Return the bands that a text names: "100,300", or "low:100,middle:300,high".

    >>> bands_in("low:100,high")
    {'low': 100.0, 'high': None}
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    try:
        if not any(":" in part for part in parts):
            return [float(part) for part in parts]
        pairs = [part.rpartition(":")[::2] for part in parts[:-1]]
        ends: dict[str, float | None] = {name.strip(): float(end) for name, end in pairs}
    except ValueError:
        raise InputError(
            f'bands must be numbers, "100,300", or named, "low:100,high", not {text!r}'
        ) from None
    return {**ends, parts[-1].rstrip(":").strip(): None}


def label_of(label: str) -> str:
    """Return what a prediction is called: a number is no class."""
    return VALUE if label == "class" else label
