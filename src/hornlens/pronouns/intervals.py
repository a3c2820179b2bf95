"""A mean over people, with Student's interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

SMALL_T = (12.706205, 4.302653, 3.182446, 2.776445, 2.570582)
"""The 0.975 quantile of Student's t for one to five degrees of freedom."""


ROUNDING = 1e-9


@dataclass(frozen=True)
class Score:
    """A mean over people, with its 95 % interval; None where there is nothing to estimate from."""

    mean: float
    low: float | None
    high: float | None

    def __post_init__(self) -> None:
        """Refuse half of an interval, and what no mean of scores between −1 and 1 can be."""
        if (self.low is None) != (self.high is None):
            raise ValueError("has an interval with one end")
        for value in (self.mean, self.low, self.high):
            if value is not None and not abs(value) <= 1 + ROUNDING:
                raise ValueError(f"has a score of {value:g}")


def mean_score(values: Sequence[tuple[float, int]]) -> Score:
    """Return the mean of values, each had by so many people, with Student's 95 % interval.

    Values lie between −1 and 1, so the interval is cut off there. Where everyone has the same
    sentence there is no spread to estimate from, and no interval.
    """
    people = sum(n for _, n in values)
    mean = math.fsum(value * n for value, n in values) / people
    if len(values) == 1:
        return Score(mean, None, None)
    variance = math.fsum(n * (value - mean) ** 2 for value, n in values) / (people - 1)
    reach = student(people - 1) * math.sqrt(variance / people)
    return Score(mean, max(-1.0, mean - reach), min(1.0, mean + reach))


def student(freedom: int) -> float:
    """Return the 0.975 quantile of Student's t, within 0.01 %, for any degrees of freedom.

    It is the Cornish–Fisher expansion (Abramowitz and Stegun, 26.7.5), which needs a few degrees.
    """
    if freedom <= len(SMALL_T):
        return SMALL_T[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))
