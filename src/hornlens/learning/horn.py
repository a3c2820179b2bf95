"""The classic baselines: HORN (the paper's Algorithm 2) and HORN1, for targets that are Horn.

On any other target the textbook algorithms may run for ever. These end: once the positive examples
prove a negative one to be their intersection, they raise `NotHorn` with that proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import NoReturn

from hornlens.learning.envelope import EnvelopeLearner, Order
from hornlens.learning.events import NegativeSet
from hornlens.learning.protocol import Hypothesis, Learned, NotHorn, Steps
from hornlens.learning.refinement import counterexample, first_rejected
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.closures import closure_in
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory


def refute(negative: int, positives: Sequence[int]) -> NoReturn:
    """Raise NotHorn for a negative that is an intersection of positives, proof pruned."""
    above = [y for y in positives if negative & ~y == 0]
    needed: list[int] = []
    common = BOTTOM
    for y in above:
        if common & ~y:
            needed.append(y)
            common &= y
    for y in list(needed):  # drop what the others make superfluous
        rest = [z for z in needed if z != y]
        if closure_in(rest, negative) == negative:
            needed = rest
    raise NotHorn(negative, tuple(needed))


def horn1_learner(width: int, order: Order | None = None) -> EnvelopeLearner:
    """Return HORN1: Algorithm 1 that gives up where it would set a non-Horn example aside."""
    return EnvelopeLearner(width, order, on_non_horn=refute)


class HornLearner:
    """Algorithm 2, HORN: hypotheses of single rules e → p, dropped when a positive refutes them.

    The paper's last line rebuilds H in every round, which would bring refuted rules straight back;
    as in the original, it belongs to the branch of the negative counterexample.

    `textbook` leaves out what makes it end on targets that are not Horn: the search for a proof,
    and the guard against repetitions in E⁻.
    """

    def __init__(self, width: int, textbook: bool = False):
        """Start with the empty hypothesis."""
        self.width, self.textbook = width, textbook
        self.negatives: list[int] = []  # E⁻
        self.positives: list[int] = []  # not in the paper: only for the proof, as are
        self._closures: list[int] = []  # for each negative, the intersection of positives above it
        self.rules: list[Rule] = []  # H

    def steps(self) -> Steps:
        """Ask and conjecture until an equivalence query is accepted."""
        for number in count(1):
            taken = yield from counterexample(self.hypothesis(), number)  # 2
            if taken is None:
                return  # 13
            x, positive = taken
            if positive:  # 3
                self.rules = [rule for rule in self.rules if rule.satisfied_by(x)]  # 4, 5
                if not self.textbook:
                    self.positives.append(x)
                    self._closures = [
                        closure & x if e & ~x == 0 else closure
                        for e, closure in zip(self.negatives, self._closures, strict=True)
                    ]
                    self._look_for_proof()
                continue
            meets = [  # 6
                (i, e & x)
                for i, e in enumerate(self.negatives)
                if e & ~x and (self.textbook or e & x not in self.negatives)  # 7: x ∩ e ⊂ e
            ]
            rejected = yield from first_rejected(meets)  # 7: MQ(x ∩ e) = no
            if rejected is not None:
                position, after = rejected  # 8
                before: int | None = self.negatives[position]
                self.negatives[position] = after  # 9
                self._closures[position] = closure_in(self.positives, after)
            else:
                position, after, before = len(self.negatives), x, None  # 10
                self.negatives.append(x)  # 11
                self._closures.append(closure_in(self.positives, x))
            yield NegativeSet(position, before, after)
            self._look_for_proof()
            self.rules = [rule for e in self.negatives for rule in self._all_rules(e)]  # 12

    def _all_rules(self, e: int) -> list[Rule]:
        """Return every Horn rule that `e` falsifies with its whole self as antecedent."""
        absent = ((1 << self.width) - 1) & ~e
        return [*(Rule(e, 1 << p) for p in bits(absent)), Rule(e, BOTTOM)]

    def _look_for_proof(self) -> None:
        for e, closure in zip(self.negatives, self._closures, strict=True):
            if closure == e:  # never in the textbook version, which remembers no positives
                refute(e, self.positives)

    def hypothesis(self) -> Hypothesis:
        """Return H as it stands."""
        return Hypothesis(Theory(self.width, tuple(self.rules)))

    def learned(self) -> Learned:
        """Return what is known: at the end, H is equivalent to the target."""
        return Learned(self.hypothesis(), tuple(self.positives), tuple(self.negatives), ())
