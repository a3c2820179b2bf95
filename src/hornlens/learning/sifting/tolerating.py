"""Rules with exceptions: a family whose members are broken now and then, and hardly ever more.

A member here is *bad* if more than ε of its cells break it: at least b = ⌊ε·room⌋ + 1. Of these,
`known` are on record, so that a cell drawn among the `left` others breaks it with a chance of at
least e = (b - known)/left. Betting on that: a draw that breaks it multiplies a factor by ρ, and any
other by (1 - ρe)/(1 - e). If a member is bad, the factor's mean is at most 1, since it is 1 at the
chance e and falls from there on. So the product E is a test supermartingale, and so is the mean of
those for several ρ; members are listed by E as in any family.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Flags, Ground
from hornlens.learning.sifting.families import ROUNDING, Family, Member

BETS = np.array([0.15, 0.4])
"""The factors ρ of a draw that breaks a member; the mean of their products is what counts."""
SUREST = 0.999
"""No more is bet on the chance of an exception."""
FEWEST = 3
"""So many narrower rules, at least, a rule with exceptions stands for."""


class TolerantFamily(Family):
    """Members with exceptions: E falls when one more is drawn, and goes on."""

    purpose = "almost"

    def __init__(
        self,
        number: int,
        at: int,
        delta: float,
        members: Sequence[Member],
        ground: Ground,
        epsilon: float,
        varies: bool = False,
        used: Sequence[int] = (),
        known: Sequence[int] = (),
    ):
        """Fix a family after `at` cells, of which `known` break each member."""
        super().__init__(number, at, delta, members, ground, epsilon, varies, used)
        self.known = np.array(known, dtype=np.int64)
        self.hits = np.zeros(len(self.members), dtype=np.int64)
        """How many draws of each member broke it."""
        self.bad = [floor(epsilon * m.room + ROUNDING) + 1 for m in self.members]
        self._bets = np.zeros((len(self.members), len(BETS)))
        self._given_up = np.zeros(len(self.members), dtype=np.bool_)

    def hear(self, base: int | None, cell: NDArray[np.int64], broken: Flags, unknown: Flags) -> None:
        """Take the answer to a cell; what is not known counts as an exception."""
        inside = self.having(cell)
        hit = (broken | unknown)[self._statements] & inside
        if base is not None:
            for f in np.flatnonzero(inside & self._under[base]):
                left = self.members[f].room - int(self.used[f])
                chance = min((self.bad[f] - int(self.known[f])) / left, SUREST) if left > 0 else 0.0
                self.drawn[f] += 1
                self.hits[f] += hit[f]
                if hit[f]:
                    self._bets[f] += np.log(BETS)
                elif chance > 0:
                    self._bets[f] += np.log1p(-BETS * chance) - np.log1p(-chance)
                if not self._given_up[f]:
                    mean = np.logaddexp.reduce(self._bets[f]) - np.log(len(BETS))
                    self.shown[f] = mean
        self.used += inside
        self.known += hit
        self.give_up(self.known >= np.array(self.bad))

    def give_up(self, which: Flags) -> None:
        """Draw no more for some members: they are not listed."""
        self._given_up |= which
        self.shown[self._given_up] = -inf

    def proved(self) -> Flags:
        """Say that nothing is proved: there are exceptions."""
        return np.zeros(len(self.members), dtype=np.bool_)
