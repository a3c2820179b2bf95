"""Envelopes from characteristic models (Kautz, Kearns and Selman): nothing but positives is needed.

The hypothesis is the strongest theory that the positives so far allow. So it is never too weak,
and all that can be wrong with it is a positive that it rejects. If those that come are always as
large as can be, each is *characteristic*, that is, no intersection of others, and as many are asked
for as there are characteristic positives of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from hornlens.learning.protocol import Hypothesis, Learned, Steps
from hornlens.learning.refinement import counterexample
from hornlens.logic.closures import characteristic, dg_basis_of_positives
from hornlens.logic.theory import Theory


class CharacteristicLearner:
    """Learns the envelope of any target over `width` variables from positives alone.

    A negative example that the hypothesis accepts is an intersection of positives: no Horn rule can
    reject it, and it is set aside.
    """

    def __init__(self, width: int, basis: Callable[[Sequence[int]], Theory] | None = None):
        """Start with no positive; `basis` makes the DG basis of some of them."""
        self.width = width
        self.basis = basis or (lambda rows: dg_basis_of_positives(rows, width))
        self.positives: tuple[int, ...] = ()
        self.non_horn: dict[int, None] = {}
        self._theory: Theory | None = None

    def steps(self) -> Steps:
        """Conjecture until an equivalence query is accepted."""
        for number in count(1):
            taken = yield from counterexample(self.hypothesis(), number)
            if taken is None:
                return
            x, positive = taken
            if positive:
                self.positives = characteristic((*self.positives, x))
                self._theory = None
            else:
                self.non_horn[x] = None

    def hypothesis(self) -> Hypothesis:
        """Return the strongest theory that the positives allow, and what it cannot reject."""
        if self._theory is None:
            self._theory = self.basis(self.positives)
        return Hypothesis(self._theory, frozenset(self.non_horn))

    def learned(self) -> Learned:
        """Return what is known: the characteristic positives, and the rules that they allow."""
        return Learned(self.hypothesis(), self.positives, (), tuple(self.non_horn))
