"""Intervals for shares, their differences and their ratios, from counts.

- A share: Clopper and Pearson's interval, which covers at least as often as it says.
- A difference or a ratio of two shares: Newcombe's, from Wilson's intervals of both (square and
  add), with the correlation of matched pairs where there are any; the ratio is where the difference
  of the one and so many times the other may be 0 (Fieller, as Donner and Zou recover variances).
- Several at once: Bonferroni, each at its part of what may go wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import NamedTuple

STEPS = 50
"""How often the range in which a bound lies is halved."""
TERMS = 500
"""How many terms of a continued fraction are taken, at most."""
TINY = 1e-300


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


def share_interval(hits: int, count: int, level: float = 0.95) -> Interval:
    """Return Clopper and Pearson's interval of a share.

    >>> [round(end, 3) for end in share_interval(8, 10)]
    [0.444, 0.975]
    >>> [round(end, 3) for end in share_interval(0, 10)]
    [0.0, 0.308]
    """
    if not count:
        return Interval(0.0, 1.0)
    tail = (1 - level) / 2
    low = 0.0 if not hits else _halved(lambda p: chance_of_hits(hits, count, p) < tail)
    high = (
        1.0 if hits == count else _halved(lambda p: 1 - chance_of_hits(hits + 1, count, p) > tail)
    )
    return Interval(low, high)


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


def _halved(below: Callable[[float], bool]) -> float:
    """Return the share up to which something is so, which is so for small ones."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2


def chance_of_hits(hits: int, count: int, share: float) -> float:
    """Return the chance of at least so many hits: the incomplete beta function.

    >>> round(chance_of_hits(1, 3, 0.5), 6)
    0.875
    """
    if hits <= 0:
        return 1.0
    if share <= 0 or hits > count:
        return 0.0
    if share >= 1:
        return 1.0
    a, b = float(hits), float(count - hits + 1)
    factor = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(share) + b * log1p(-share)
    if share < (a + 1) / (a + b + 2):
        return exp(factor) * _fraction(a, b, share) / a
    return 1 - exp(factor) * _fraction(b, a, 1 - share) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz)."""
    c, d = 1.0, 1 / _kept(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / _kept(1 + even * d), _kept(1 + even / c)
        result *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / _kept(1 + odd * d), _kept(1 + odd / c)
        result *= d * c
        if abs(d * c - 1) < 1e-13:
            break
    return result


def _kept(value: float) -> float:
    return value if abs(value) > TINY else TINY


def _normal(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
