"""How large a share can be, by how often something happened in independent draws."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

STEPS = 60
"""How often the range in which a bound lies is halved."""
TERMS = 500
"""How many terms of a continued fraction are taken, at most."""
TINY = 1e-300


def most_share(hits: int, draws: int, delta: float) -> float:
    """Return a share that is larger than the true one, but for probability δ.

    It is the p at which so few hits, in so many draws, have the chance δ (Clopper and Pearson).

    >>> round(most_share(0, 59, 0.05), 4)
    0.0495
    >>> round(most_share(5, 100, 0.05), 4)
    0.1023
    """
    if hits >= draws:
        return 1.0
    if not hits:
        return 1 - float(delta ** (1 / draws))
    low, high = hits / draws, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        # At most so many hits are at least so many misses.
        is_likely = chance_of_hits(draws - hits, draws, 1 - middle) > delta
        low, high = (middle, high) if is_likely else (low, middle)
    return high


def least_share(hits: int, draws: int, delta: float) -> float:
    """Return a share that is smaller than the true one, but for probability δ.

    >>> round(least_share(40, 40, 0.05), 4)
    0.9278
    """
    return 1 - most_share(draws - hits, draws, delta)


def share_interval(hits: int, draws: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided interval of a share (Clopper and Pearson).

    >>> low, high = share_interval(28, 30)
    >>> round(low, 3), round(high, 3)
    (0.779, 0.992)
    """
    if not draws:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    return least_share(hits, draws, tail), most_share(hits, draws, tail)


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
