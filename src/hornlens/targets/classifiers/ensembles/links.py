"""What an ensemble answers beside the class: how it follows from the sums of the leaves' scores.

Wrappers of estimators decide by these answers: a threshold of a probability, an average of several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Answer: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Link:
    """How an estimator's answers follow from its sums.

    Of two classes, `probability` and `decision` return what `predict_proba` says of the second and
    `decision_function`, of the second class's sum. None: it has no such method, or how it follows
    is not known.
    """

    shares: bool = False
    """Whether the sums are `predict_proba`."""
    exact: bool = False
    """Whether they are to the last bit, and the class is the first with the largest."""
    raw: bool = False
    """Whether the sums are `decision_function` (of two classes, the second class's sum)."""
    probability: Answer | None = None
    decision: Answer | None = None
    knots: tuple[float, ...] = ()
    """Sums at which an answer may begin or end to be level, or jump."""
    prediction: Answer | None = None
    """Of one sum, what a regressor predicts: it never falls as the sum grows."""
    error: float = 0.0
    """By how much an answer may be off, for each unit of it, where a library computes it itself."""

    def shifted(self, by: float, sign: int) -> Link:
        """Return the same answers, where the sums are `sign * (sum - by)`."""

        def of(answer: Answer | None) -> Answer | None:
            return None if answer is None else partial(_shifted, answer, by, sign)

        knots = tuple(sign * (knot - by) for knot in self.knots)
        answers = (of(self.probability), of(self.decision))
        return Link(False, False, False, *answers, knots, error=self.error)


def _shifted(
    answer: Answer, by: float, sign: int, sums: NDArray[np.float64]
) -> NDArray[np.float64]:
    return answer(sign * sums + by)


def sum_itself(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums as they are."""
    return sums


def share_of_log_odds(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities that belong to log-odds, as scikit-learn computes them."""
    from scipy.special import expit

    return np.asarray(expit(sums))


UNKNOWN = Link()
LEAF = Link(shares=True, exact=True, probability=sum_itself)
SHARES = Link(shares=True, probability=sum_itself)
LOGITS = Link(raw=True, probability=share_of_log_odds, decision=sum_itself)
VALUES = Link(prediction=sum_itself)
"""Of a regressor: its sum is what it predicts."""
LOGARITHMS = Link(prediction=np.exp)
"""Of a regressor: its sum is the logarithm of what it predicts."""
CHANCES = Link(probability=share_of_log_odds, error=1e-8)
"""A library's own logistic function of the sum, in double precision."""
SINGLE_CHANCES = Link(probability=share_of_log_odds, error=1e-6)
"""The same in single precision."""


def of_numbers(prediction: Answer, single: bool = False) -> Link:
    """Return the link of a regressor, whose library computes its prediction of the sum."""
    if prediction is sum_itself:
        return VALUES
    return Link(prediction=prediction, error=5e-7 if single else 1e-12)


def exponential(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what has these logarithms; infinity where that is too large."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(sums))


def single_exponential(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the same in single precision, where more numbers are too large."""
    with np.errstate(over="ignore"):
        return np.exp(np.asarray(sums).astype(np.float32)).astype(np.float64)


def square_with_sign(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squares, with the signs of what was squared."""
    return np.asarray(np.sign(sums) * sums * sums)


def softplus(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of one and the exponential."""
    return np.asarray(np.logaddexp(0.0, sums))
