"""Whether repeated answers decide a cell: an anytime-valid test, in exact arithmetic.

An answer is one of several outcomes: the labels, and "no answer". The test certifies the outcome
that is given most often. For two outcomes, of which one came s times and the other f times
(n = s + f), the evidence that the first is the more probable one is

    e(s, f) = 2 ∫ from ½ to 1 of (2q)^s (2(1 - q))^f dq
            = (C(n+1, 0) + … + C(n+1, s)) / ((n+1) C(n, s))

Where it is not, e is a non-negative supermartingale that begins at 1, so by Ville's inequality it
ever reaches t with probability at most 1/t: one may look after every answer, and stop at any time.
An outcome is certified when its evidence against each other one reaches t. A wrong one is certified
only if it reaches t against a most probable one; there are at most as many such pairs as outcomes.
So with t = outcomes · cells / α, a wrong one is certified in any of the cells with probability at
most α, whatever the probabilities are; ties count as wrong to certify.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, lgamma, log

from hornlens.errors import HornlensError

MOST = 100
"""How often a cell is asked at most, unless it is said."""
ALPHA = 0.05
ROUNDING = 1e-6
"""More than logarithms of numbers as large as these can be off."""


@dataclass(frozen=True)
class Repeats:
    """How often a cell is asked whose answers vary: until a test decides, for `extract(repeats=…)`.

    Args:
        most: How often each cell is asked at most.
        alpha: The risk that any decision is wrong, over all cells together.
        settle: How many times more those cells are asked whose answers would settle a rule.

    Raises:
        HornlensError: if a number makes no sense.

    >>> from hornlens import extract
    >>> from hornlens.models import FunctionModel
    >>> coin = FunctionModel(lambda prompt, words: [1, 0], sampled=True)
    >>> print(extract(coin, cache=False, repeats=Repeats(most=30)).rules)
    male → ⊥
    """

    most: int = MOST
    alpha: float = ALPHA
    settle: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not isinstance(self.most, int) or self.most < 2:
            raise HornlensError(f"--repeats must be auto or a number from 2 on, not {self.most!r}")
        if not isinstance(self.settle, int) or self.settle < 0:
            raise HornlensError(f"--settle must be 0 or more, not {self.settle!r}")
        threshold(self.alpha, 1, 2)


def threshold(alpha: float, cells: int, outcomes: int) -> Fraction:
    """Return the evidence that certifies one of the outcomes of one of the cells."""
    if not 0 < alpha < 1:
        raise HornlensError(f"--alpha must lie between 0 and 1 (exclusive), not {alpha:g}")
    return outcomes * cells / Fraction(str(alpha))


@cache
def evidence(wins: int, losses: int) -> Fraction:
    """Return e(wins, losses): how much speaks for the first of two outcomes."""
    n = wins + losses
    term, tail = 1, 1
    for k in range(wins):
        term = term * (n + 1 - k) // (k + 1)
        tail += term
    return Fraction(tail, (n + 1) * comb(n, wins))


def certified(counts: Sequence[int], needed: Fraction) -> int | None:
    """Return the place of the outcome that was certified to be the most probable; None: none yet.

    At most one can be: of two, not both have the evidence against each other.
    """
    best = max(range(len(counts)), key=lambda place: counts[place])
    others = (count for place, count in enumerate(counts) if place != best)
    return best if all(reaches(counts[best], count, needed) for count in others) else None


@cache
def reaches(wins: int, losses: int, needed: Fraction) -> bool:
    """Say whether the evidence is enough; it is worked out only where it may be."""
    if wins <= losses or _most_evidence(wins, losses) < log(needed) - ROUNDING:
        return False
    return evidence(wins, losses) >= needed


def _most_evidence(wins: int, losses: int) -> float:
    """Return the logarithm of a bound on e: all 2^(n+1) in the place of the sum."""
    n = wins + losses
    ways = lgamma(n + 1) - lgamma(wins + 1) - lgamma(losses + 1)
    return (n + 1) * log(2) - log(n + 1) - ways


def fewest(needed: Fraction) -> int:
    """Return how many answers certify an outcome at the earliest: when all are the same."""
    many = 1
    while evidence(many, 0) < needed:
        many += 1
    return many
