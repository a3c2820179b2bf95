"""Intervals for shares, their differences and their ratios, from counts.

- A share: Clopper and Pearson's interval, which covers at least as often as it says.
- A difference or a ratio of two shares: Newcombe's, from Wilson's intervals of both (square and
  add), with the correlation of matched pairs where there are any; the ratio is where the difference
  of the one and so many times the other may be 0 (Fieller, as Donner and Zou recover variances).
- Several at once: Bonferroni, each at its part of what may go wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from statistics import NormalDist
from typing import NamedTuple

STEPS = 50
"""How often the range in which a bound lies is halved."""


class Interval(NamedTuple):
    """From `low` to `high`; `high` of a ratio may be infinite."""

    low: float
    high: float


class Pairs(NamedTuple):
    """Matched pairs by whether their first and their second side have a label."""

    both: int
    first: int
    second: int
    neither: int

    @property
    def total(self) -> int:
        """How many pairs there are."""
        return sum(self)


def wilson(hits: int, count: int, level: float = 0.95) -> Interval:
    """Return Wilson's interval of a share.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    if not count:
        return Interval(0.0, 1.0)
    z, share = _normal(level), hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    reach = z * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2) / (1 + z * z / count)
    low = 0.0 if not hits else max(0.0, middle - reach)
    return Interval(low, 1.0 if hits == count else min(1.0, middle + reach))


def difference_interval(
    first: tuple[int, int], second: tuple[int, int], level: float = 0.95
) -> Interval:
    """Return Newcombe's interval of the first share minus the second; each is (hits, count).

    >>> [round(end, 4) for end in difference_interval((56, 70), (48, 80))]
    [0.0524, 0.3339]
    """
    return _difference(first, second, 0.0, level)


def ratio_interval(
    first: tuple[int, int], second: tuple[int, int], level: float = 0.95
) -> Interval:
    """Return the interval of the first share by the second.

    >>> [round(end, 2) for end in ratio_interval((56, 70), (48, 80))]
    [1.08, 1.66]
    """
    return _ratio(first, second, 0.0, level)


def paired_difference_interval(pairs: Pairs, level: float = 0.95) -> Interval:
    """Return Newcombe's interval of the difference of two shares of the same matched pairs.

    >>> [round(end, 4) for end in paired_difference_interval(Pairs(36, 12, 2, 0))]
    [0.0569, 0.3404]
    """
    return _difference(*_margins(pairs), _correlation(pairs), level)


def paired_ratio_interval(pairs: Pairs, level: float = 0.95) -> Interval:
    """Return the interval of the ratio of two shares of the same matched pairs."""
    return _ratio(*_margins(pairs), _correlation(pairs), level)


def shared_level(level: float, count: int) -> float:
    """Return the level of each of so many intervals that hold all together at a level.

    >>> shared_level(0.95, 5)
    0.99
    """
    return 1 - (1 - level) / max(1, count)


def _margins(pairs: Pairs) -> tuple[tuple[int, int], tuple[int, int]]:
    count = pairs.total
    return (pairs.both + pairs.first, count), (pairs.both + pairs.second, count)


def _correlation(pairs: Pairs) -> float:
    """Return the correlation of the sides, a positive one with a correction for continuity."""
    a, b, c, d = pairs
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if not product:
        return 0.0
    crossed = a * d - b * c
    if crossed > 0:
        crossed = max(0, crossed - pairs.total / 2)  # type: ignore[assignment]
    return float(crossed / sqrt(product))


def _difference(
    first: tuple[int, int], second: tuple[int, int], correlation: float, level: float
) -> Interval:
    ends = _ends(first, second, correlation, level)
    return Interval(max(-1.0, ends(1.0)[0]), min(1.0, ends(1.0)[1]))


def _ratio(
    first: tuple[int, int], second: tuple[int, int], correlation: float, level: float
) -> Interval:
    ends = _ends(first, second, correlation, level)
    low = _up_to(lambda ratio: ends(ratio)[0] > 0)
    high = _up_to(lambda ratio: ends(ratio)[1] >= 0)
    return Interval(low, high)


def _ends(
    first: tuple[int, int], second: tuple[int, int], correlation: float, level: float
) -> Callable[[float], tuple[float, float]]:
    """Return a function that gives the interval of the first share minus r times the second."""
    one, other = (hits / count if count else 0.5 for hits, count in (first, second))
    (l1, u1), (l2, u2) = wilson(*first, level), wilson(*second, level)

    def ends(times: float) -> tuple[float, float]:
        difference = one - times * other
        below, above = one - l1, times * (u2 - other)
        down = sqrt(max(0.0, below**2 + above**2 - 2 * correlation * below * above))
        below, above = u1 - one, times * (other - l2)
        up = sqrt(max(0.0, below**2 + above**2 - 2 * correlation * below * above))
        return difference - down, difference + up

    return ends


def _up_to(is_so: Callable[[float], bool]) -> float:
    """Return up to where something is so, from 0 on; infinite if it does not end."""
    if not is_so(0.0):
        return 0.0
    high = 1.0
    while is_so(high):
        high *= 4
        if high > 1e12:
            return inf
    low = 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_so(middle) else (low, middle)
    return (low + high) / 2


def _normal(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
