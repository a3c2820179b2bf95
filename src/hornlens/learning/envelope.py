"""Algorithm 1, the Horn Envelope Learner. Numbers behind the code are the lines of the paper:

     1  E⁺ := ∅, E⁻ := ∅, E^nh := ∅
     2  while EQ(H ∪ Q) = (no, x)
     3      if x ⊭ H ∪ Q
     4          add x to E⁺
     5      else
     6          if there is e ∈ E⁻ with MQ(x ∩ e) = no, x ∩ e ⊂ e, and x ∩ e ⊨ Q
     7              let e be the first such
     8              replace e in E⁻ by x ∩ e
     9          else
    10              append x to E⁻
    11      for e ∈ E⁻ with e = ⋂ E⁺_e
    12          remove e from E⁻
    13          add e to E^nh
    14      H := { horn(e) | e ∈ E⁻ }
    15      Q := { quasi(e) | e ∈ E^nh }
    16  return H

It is HORN1 with one addition. A negative example that turns out to be the intersection of positive
ones can be rejected by no Horn rule; it leaves E⁻ for E^nh, and a quasi-Horn rule rejects it alone.
So the algorithm ends on every Boolean target, with H the DG basis of the target's envelope.

The hypothesis is kept up to date rather than built anew: a positive counterexample only shrinks
consequents, a refinement only touches one rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeAlias

from hornlens.learning.events import LearnerEvent, NegativeSet, RuleAdded, RuleChanged, RuleRetired
from hornlens.learning.protocol import Hypothesis, Learned, Steps
from hornlens.learning.refinement import Meet, counterexample, first_rejected
from hornlens.logic.closures import closure_in
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

Order: TypeAlias = Callable[[list[Meet]], Sequence[Meet]]
"""Puts the candidates of a refinement, given in the order of E⁻, in the order to try them."""
OnNonHorn: TypeAlias = Callable[[int, Sequence[int]], None]
"""Is told of a non-Horn negative and of the positives so far; it may raise to end the run."""


class EnvelopeLearner:
    """Learns the Horn envelope of any target over `width` variables.

    It works as well inside a domain that is closed under intersection, with counterexamples from
    the domain only: all it asks about are intersections of counterexamples. The result is then the
    DG basis relative to the domain's background.
    """

    def __init__(
        self, width: int, order: Order | None = None, on_non_horn: OnNonHorn | None = None
    ):
        """Start with nothing known. Without an `order`, the first example of E⁻ is tried first.

        In any other order H is equivalent to the envelope just the same; but that it has no rule
        too many, and the bounds, are proved for the first one only (and false for most others).
        """
        self.width, self.order, self.on_non_horn = width, order, on_non_horn
        self.positives: list[int] = []  # E⁺
        self.rules: dict[int, Rule] = {}  # E⁻ with H: position ↦ horn(e); positions never shift
        self.antecedents: set[int] = set()  # E⁻ as a set
        self.non_horn: dict[int, None] = {}  # E^nh, in order
        self._positions = 0

    def steps(self) -> Steps:
        """Ask and conjecture until an equivalence query is accepted."""
        for number in count(1):
            taken = yield from counterexample(self.hypothesis(), number)  # 2
            if taken is None:
                return  # 16
            x, positive = taken
            if positive:  # 3
                self.positives.append(x)  # 4
                touched = {  # horn(e) for e ∈ E⁻ below x
                    position: Rule(rule.antecedent, rule.consequent & x)
                    for position, rule in self.rules.items()
                    if not rule.satisfied_by(x)
                }
            else:  # 5
                candidates = [
                    (position, rule.antecedent & x)
                    for position, rule in self.rules.items()
                    if rule.antecedent & ~x  # 6: x ∩ e ⊂ e
                    and rule.antecedent & x not in self.non_horn  # 6: x ∩ e ⊨ Q
                    # The guard against repetitions in E⁻, which non-Horn examples can cause.
                    and rule.antecedent & x not in self.antecedents
                ]
                ordered = self.order(candidates) if self.order else candidates
                rejected = yield from first_rejected(ordered)  # 6: MQ(x ∩ e) = no
                if rejected is not None:
                    position, after = rejected  # 7
                    before: int | None = self.rules[position].antecedent
                else:  # 9
                    position, after, before = self._positions, x, None
                    self._positions += 1
                yield NegativeSet(position, before, after)  # 8, 10
                touched = {position: Rule(after, closure_in(self.positives, after))}  # horn(e)
            yield from self._update(touched)

    def hypothesis(self) -> Hypothesis:
        """Return H ∪ Q as it stands (14, 15)."""
        return Hypothesis(Theory(self.width, tuple(self.rules.values())), self.non_horn.keys())

    def learned(self) -> Learned:
        """Return what is known: at the end, the result."""
        theory = Theory(self.width, tuple(self.rules.values()))
        return Learned(
            Hypothesis(theory, frozenset(self.non_horn)),
            tuple(self.positives),
            tuple(rule.antecedent for rule in self.rules.values()),
            tuple(self.non_horn),
        )

    def _update(self, touched: dict[int, Rule]) -> list[LearnerEvent]:
        """Put rules at their positions; move to E^nh what is known to be no Horn example."""
        changed: list[LearnerEvent] = []
        retired: list[LearnerEvent] = []
        for position, rule in touched.items():
            e, before = rule.antecedent, self.rules.get(position)
            if before is not None:
                self.antecedents.discard(before.antecedent)
            if rule.consequent == e:  # 11: e = ⋂ E⁺_e
                if self.on_non_horn is not None:
                    self.on_non_horn(e, self.positives)
                self.rules.pop(position, None)  # 12
                self.non_horn[e] = None  # 13
                retired.append(RuleRetired(position, e))
                continue
            self.antecedents.add(e)
            self.rules[position] = rule
            changed.append(
                RuleAdded(position, rule) if before is None else RuleChanged(position, before, rule)
            )
        return changed + retired
