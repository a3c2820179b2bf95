"""Odds: how a lead in log-probability is put into words.

"59 : 41" says that, of two candidates, the model gives 59% to one and 41% to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, floor, fsum
from typing import Literal

Rounding = Literal["down", "near"]
TOP = 99.9
"""Odds above this are not told apart."""
ROUNDED = 1e-6
"""Probabilities may exceed 1 by this much: they are computed in single precision."""


@dataclass(frozen=True)
class Odds:
    """The odds by which a rule holds: the least of `cases`, and the average share, where known.

    `mean` is the average over the cases of the share that the answer has of what it and the best
    answer that the rule rules out have together.

    >>> Odds.of([0.4, 3.0]).words
    'at least 59 : 41, on average 78 : 22'
    >>> Odds.of([0.4]).words, Odds.of([2.8, 2.81]).words
    ('60 : 40', 'about 94 : 6 in each')
    """

    least: float
    mean: float | None
    most: float
    cases: int

    @classmethod
    def of(cls, margins: Sequence[float], averaged: bool = True) -> Odds:
        """Return the odds of some leads; `averaged`: their average says something."""
        shares = [share_of_lead(margin) for margin in margins]
        mean = fsum(shares) / len(shares) if averaged else None
        return cls(min(shares), mean, max(shares), len(shares))

    @property
    def words(self) -> str:
        """The odds in words: what is said to be the least is never rounded up."""
        if self.cases == 1 and self.mean is not None:
            return odds(self.mean)
        if self.mean is not None and odds(self.least, "down") == odds(self.most):
            return f"about {odds(self.most)} in each"
        least = f"at least {odds(self.least, 'down')}"
        return least if self.mean is None else f"{least}, on average {odds(self.mean)}"


def share_of_lead(margin: float) -> float:
    """Return what the first of two candidates has of both, if it leads by this much."""
    return 1 / (1 + exp(-margin)) if margin > -700 else 0.0


def odds(part: float, rounding: Rounding = "near") -> str:
    """Return a share as odds.

    >>> odds(0.5937), odds(0.5937, "down"), odds(0.502, "down"), odds(0.99999)
    ('59 : 41', '59 : 41', '50.2 : 49.8', '99.9 : 0.1')
    """
    percent = 100 * part
    digits = 0 if 51 <= percent < 99 or percent <= 49 else 1
    scale = 10**digits
    rounded = (
        floor(percent * scale + 1e-9) if rounding == "down" else round(percent * scale)
    ) / scale
    rounded = min(rounded, TOP)
    return f"{rounded:.{digits}f} : {100 - rounded:.{digits}f}"


def odds_of_lead(margin: float) -> str:
    """Return a lead in log-probability as odds, rounded."""
    return odds(share_of_lead(margin))


def are_probabilities(scores: Iterable[Sequence[float]]) -> bool:
    """Return whether scores can be log-probabilities of candidates: others have no odds.

    >>> are_probabilities([(-0.1, -2.5), (-3.0, -4.0)]), are_probabilities([(0.9, 0.1)])
    (True, False)
    """
    return all(
        max(line) <= ROUNDED and fsum(map(exp, line)) <= 1 + ROUNDED for line in scores if line
    )
