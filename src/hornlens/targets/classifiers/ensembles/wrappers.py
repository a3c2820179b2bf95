"""Scikit-learn's estimators around other estimators: how their class follows from the sums.

A wrapper says which estimators it asks, and makes one ensemble of their trees. Where its class is
that of the largest sum, the trees have scores; where it follows from the leaves in another way,
only their breaks are of use. Where it follows from anything else, the wrapper is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.ensembles.combining import (
    all_in_one,
    decided,
    is_one_leaf,
    only_breaks,
    placed,
    votes,
    with_scores,
)
from hornlens.targets.classifiers.ensembles.links import (
    LOGITS,
    SHARES,
    UNKNOWN,
    Answer,
    Link,
    sum_itself,
)
from hornlens.targets.classifiers.ensembles.trees import Scores, Tree, Trees

Combine: TypeAlias = Callable[[Sequence[Trees]], Trees]


@dataclass(frozen=True)
class Wrapper:
    """The fitted estimators that a wrapper asks, and the ensemble that it makes of their trees.

    `columns`: which columns each is given, as an array without names; None: the rows as they are.
    """

    members: tuple[Any, ...]
    combine: Combine
    columns: tuple[tuple[int, ...], ...] | None = None


def read_wrapper(clf: Any) -> Wrapper | None:
    """Return what a fitted wrapper asks; None if it is no wrapper that is known."""
    if not type(clf).__module__.startswith("sklearn."):
        return None
    kind = type(clf).__name__
    if kind in INNER:
        inner = getattr(clf, INNER[kind], None)
        return None if inner is None else Wrapper((inner,), _only)
    read = READERS.get(kind)
    return None if read is None else read(clf)


def _only(members: Sequence[Trees]) -> Trees:
    return members[0]


def _every(clf: Any) -> tuple[int, ...]:
    return tuple(range(clf.n_features_in_))


# --- one estimator, in an array ---


def _self_trained(clf: Any) -> Wrapper:
    return Wrapper((clf.estimator_,), _only, (_every(clf),))


def _selected(clf: Any) -> Wrapper:
    return Wrapper((clf.estimator_,), _only, (tuple(np.flatnonzero(clf.support_).tolist()),))


# --- thresholds ---


def _with_threshold(clf: Any) -> Wrapper:
    inner = clf.estimator_
    methods = clf.response_method
    if methods == "auto":
        methods = ("predict_proba", "decision_function")
    methods = (methods,) if isinstance(methods, str) else methods
    method = next(name for name in methods if hasattr(inner, name))
    at = getattr(clf, "best_threshold_", None)
    at = clf.threshold if at is None else at
    if at == "auto":
        at = 0.5 if method == "predict_proba" else 0.0
    tuned = getattr(clf, "_curve_scorer", None)
    positive = clf.pos_label if tuned is None else tuned._get_pos_label()
    wants_first = positive is not None and positive == clf.classes_[0]
    return Wrapper((inner,), partial(_from_threshold, method, float(at), wants_first))


def _from_threshold(method: str, at: float, wants_first: bool, members: Sequence[Trees]) -> Trees:
    (trees,) = members
    is_proba = method == "predict_proba"
    answer = trees.link.probability if is_proba else trees.link.decision
    if not trees.summed or answer is None:
        return only_breaks(members)
    known: Answer = answer

    def is_second(sums: NDArray[np.float64]) -> NDArray[np.bool_]:
        second = known(sums)
        if not wants_first:
            return np.asarray(second >= at)
        return np.asarray((1 - second if is_proba else -second) < at)

    return decided(trees, is_second, trees.link)


# --- calibration ---


def _calibrated(clf: Any) -> Wrapper:
    inner = clf.calibrated_classifiers_
    return Wrapper(tuple(one.estimator for one in inner), partial(_from_calibrated, inner))


def _from_calibrated(inner: Sequence[Any], members: Sequence[Trees]) -> Trees:
    count = len(inner[0].classes)
    whole = all(len(one.estimator.classes_) == count for one in inner)
    if not whole or not all(trees.summed for trees in members):
        return only_breaks(members)
    if count == 2 and all(map(is_one_leaf, members)):  # each leaf has a probability of its own
        made = [
            with_scores(trees, partial(_pairs, partial(_calibrate, one), len(inner)))
            for one, trees in zip(inner, members, strict=True)
        ]
        return all_in_one(made, SHARES)
    if len(inner) > 1:
        return only_breaks(members)
    (one,), (trees,) = inner, members
    has_decision = hasattr(one.estimator, "decision_function")
    answer = trees.link.decision if has_decision else trees.link.probability
    if count > 2 or answer is None:
        return only_breaks(members)
    known: Answer = answer

    def probability(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return _calibrate(one, known(sums))

    def is_second(sums: NDArray[np.float64]) -> NDArray[np.bool_]:
        second = probability(sums)
        return np.asarray(second > 1.0 - second)

    levels = getattr(one.calibrators[0], "X_thresholds_", ())
    knots = tuple(map(float, levels)) if known is sum_itself else ()
    if len(levels) and not knots:
        return only_breaks(members)
    return decided(trees, is_second, Link(probability=probability, knots=knots))


def _calibrate(one: Any, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the second class's probability, by a calibrated classifier's own arithmetic."""
    calibrator = one.calibrators[0]
    if one.method != "temperature":
        return np.asarray(calibrator.predict(answers), dtype=np.float64)
    has_decision = hasattr(one.estimator, "decision_function")
    given = answers[:, None] if has_decision else np.column_stack([1 - answers, answers])
    return np.asarray(calibrator.predict(given), dtype=np.float64)[:, 1]


def _pairs(answer: Answer, share: int, scores: Scores) -> Scores:
    second = answer(scores[:, 1])
    return np.column_stack([1 - second, second]) / share


# --- votes and averages ---


def _voting(clf: Any) -> Wrapper:
    weights = clf._weights_not_none
    weights = np.ones(len(clf.estimators_)) if weights is None else np.asarray(weights, float)
    combine = _from_hard_votes if clf.voting == "hard" else _from_soft_votes
    return Wrapper(tuple(clf.estimators_), partial(combine, weights))


def _from_soft_votes(weights: NDArray[np.float64], members: Sequence[Trees]) -> Trees:
    if not all(trees.summed and trees.link.shares for trees in members):
        return only_breaks(members)
    parts = weights / weights.sum()
    return all_in_one(
        [_times(trees, part) for trees, part in zip(members, parts, strict=True)], SHARES
    )


def _times(trees: Trees, weight: float) -> Trees:
    return with_scores(trees, lambda scores: scores * weight)


def _from_hard_votes(weights: NDArray[np.float64], members: Sequence[Trees]) -> Trees:
    own = [votes(trees) for trees in members]
    if any(one is None for one in own):
        return only_breaks(members)
    made = [
        _replaced(trees, one * weight)
        for trees, one, weight in zip(members, own, weights.tolist(), strict=True)
        if one is not None
    ]
    return all_in_one(made)


def _replaced(trees: Trees, scores: Scores) -> Trees:
    return with_scores(trees, lambda _: scores)


def _bagging(clf: Any) -> Wrapper:
    columns = tuple(tuple(map(int, own)) for own in clf.estimators_features_)
    return Wrapper(tuple(clf.estimators_), partial(_from_bag, clf), columns)


def _from_bag(clf: Any, members: Sequence[Trees]) -> Trees:
    if not all(trees.summed and trees.link.shares for trees in members):
        return only_breaks(members)
    count = len(clf.classes_)

    def change(places: NDArray[np.intp], scores: Scores) -> Scores:
        return placed(scores, places, count) / len(members)

    made = [
        with_scores(trees, partial(change, np.asarray(one.classes_, dtype=np.intp)))
        for one, trees in zip(clf.estimators_, members, strict=True)
    ]
    return all_in_one(made, SHARES)


def _boosted(clf: Any) -> Wrapper:
    columns = (_every(clf),) * len(clf.estimators_)
    return Wrapper(tuple(clf.estimators_), partial(_from_boosted, clf), columns)


def _from_boosted(clf: Any, members: Sequence[Trees]) -> Trees:
    count = len(clf.classes_)
    own = [votes(trees) for trees in members]
    whole = all(len(one.classes_) == count for one in clf.estimators_)
    if not whole or any(one is None for one in own):
        return only_breaks(members)
    weights = clf.estimator_weights_[: len(members)] / clf.estimator_weights_.sum()
    made = []
    for trees, one, weight in zip(members, own, weights.tolist(), strict=True):
        assert one is not None
        if count == 2:  # the decision is by how much the second class leads
            one = np.column_stack([np.zeros(len(one)), 2 * (one[:, 1] - one[:, 0])])
        made.append(_replaced(trees, one * weight))
    return all_in_one(made, LOGITS if count == 2 else UNKNOWN)


# --- an estimator of estimators ---


def _stacked(clf: Any) -> Wrapper | None:
    if clf.passthrough:
        return None
    return Wrapper(tuple(clf.estimators_), partial(_from_stack, clf))


def _from_stack(clf: Any, members: Sequence[Trees]) -> Trees:
    last, count = clf.final_estimator_, len(clf.classes_)
    features = [
        _columns_of(trees, method, count)
        for trees, method in zip(members, clf.stack_method_, strict=True)
    ]
    if not _is_linear(last) or len(last.classes_) != count or None in features:
        return only_breaks(members)
    coef = np.atleast_2d(np.asarray(last.coef_, dtype=np.float64))
    made, start = [], 0
    for trees, own in zip(members, features, strict=True):
        assert own is not None
        part = coef[:, start : start + len(own)]
        start += len(own)
        made.append(with_scores(trees, partial(_linear, own, part)))
    base = np.ravel(last.intercept_) + np.zeros(len(coef))
    base = base if len(base) > 1 else np.array([0.0, base[0]])
    is_logistic = count == 2 and type(last).__name__ == "LogisticRegression"
    link = LOGITS if is_logistic else replace(LOGITS, probability=None)
    every = all_in_one(made, link if count == 2 else Link(raw=True))
    return replace(every, trees=(*every.trees, Tree.constant(base)))


def _columns_of(trees: Trees, method: str, count: int) -> tuple[int, ...] | None:
    """Return which sums an estimator gives to the last one; None if that gets no sums."""
    can = {"predict_proba": trees.link.shares, "decision_function": trees.link.raw}
    if not trees.summed or not can.get(method) or trees.trees[0].scores.shape[1] != count:
        return None
    return (1,) if count == 2 else tuple(range(count))


def _linear(own: Sequence[int], part: NDArray[np.float64], scores: Scores) -> Scores:
    made = scores[:, list(own)] @ part.T
    return made if made.shape[1] > 1 else np.column_stack([np.zeros(len(made)), made[:, 0]])


def _is_linear(last: Any) -> bool:
    from sklearn.linear_model._base import LinearClassifierMixin

    return isinstance(last, LinearClassifierMixin)


def _one_against_rest(clf: Any) -> Wrapper:
    return Wrapper(tuple(clf.estimators_), partial(_from_rest, len(clf.classes_)))


def _from_rest(count: int, members: Sequence[Trees]) -> Trees:
    if not all(trees.summed and (trees.link.raw or trees.link.shares) for trees in members):
        return only_breaks(members)
    if count == 2:
        return members[0]

    def change(place: int, scores: Scores) -> Scores:
        return placed(scores[:, 1:], np.array([place]), count)

    made = [with_scores(trees, partial(change, place)) for place, trees in enumerate(members)]
    return all_in_one(made)


def _any_of_leaves(clf: Any) -> Wrapper | None:
    members = [one for one in clf.estimators_ if type(one).__name__ != "_ConstantPredictor"]
    return Wrapper(tuple(members), only_breaks) if members else None


INNER = {
    "GridSearchCV": "best_estimator_",
    "RandomizedSearchCV": "best_estimator_",
    "HalvingGridSearchCV": "best_estimator_",
    "HalvingRandomSearchCV": "best_estimator_",
    "FrozenEstimator": "estimator",
}
"""Wrappers that answer as the estimator in them does, and where it is."""
READERS: dict[str, Callable[[Any], Wrapper | None]] = {
    "FixedThresholdClassifier": _with_threshold,
    "TunedThresholdClassifierCV": _with_threshold,
    "CalibratedClassifierCV": _calibrated,
    "VotingClassifier": _voting,
    "BaggingClassifier": _bagging,
    "AdaBoostClassifier": _boosted,
    "StackingClassifier": _stacked,
    "OneVsRestClassifier": _one_against_rest,
    "OneVsOneClassifier": _any_of_leaves,
    "OutputCodeClassifier": _any_of_leaves,
    "SelfTrainingClassifier": _self_trained,
    "RFE": _selected,
    "RFECV": _selected,
}
"""Who reads the others."""
