"""How large a share can be, by how often something happened in independent draws."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

STEPS = 60
"""How often the range in which a bound lies is halved."""


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
        low, high = (middle, high) if _at_most(hits, draws, middle) > delta else (low, middle)
    return high


def _at_most(hits: int, draws: int, share: float) -> float:
    """Return the chance of at most so many hits."""
    if share >= 1:
        return 0.0
    whole, yes, no = lgamma(draws + 1), log(share), log1p(-share)
    return sum(
        exp(whole - lgamma(k + 1) - lgamma(draws - k + 1) + k * yes + (draws - k) * no)
        for k in range(hits + 1)
    )


def share_interval(hits: int, draws: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided interval of a share (Clopper and Pearson).

    >>> low, high = share_interval(28, 30)
    >>> round(low, 3), round(high, 3)
    (0.779, 0.992)
    """
    if not draws:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    return 1 - most_share(draws - hits, draws, tail), most_share(hits, draws, tail)
