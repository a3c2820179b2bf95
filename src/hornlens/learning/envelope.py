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

from dataclasses import replace

from hornlens.learning.protocol import (
    Accepted,
    Conjecture,
    Counterexample,
    Hypothesis,
    Learned,
    Step,
    Steps,
)
from hornlens.learning.refinement import first_rejected
from hornlens.logic.closures import closure_in
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory


class EnvelopeLearner:
    """Learns the Horn envelope of any target over `width` variables.

    It works as well inside a domain that is closed under intersection, with counterexamples from
    the domain only: all it asks about are intersections of counterexamples. The result is then the
    DG basis relative to the domain's background.
    """

    def __init__(self, width: int, trace: bool = True):
        """Start with nothing known. Without `trace`, steps are not recorded."""
        self.width = width
        self.positives: list[int] = []  # E⁺
        self.rules: dict[int, Rule] = {}  # E⁻ with H: position ↦ horn(e); positions never shift
        self.antecedents: set[int] = set()  # E⁻ as a set
        self.non_horn: dict[int, None] = {}  # E^nh, in order
        self.trace: list[Step] | None = [] if trace else None
        self._positions = 0
        self._rounds = 0

    def steps(self) -> Steps:
        """Ask and conjecture until an equivalence query is accepted."""
        while True:
            hypothesis = self.hypothesis()
            verdict = yield Conjecture(hypothesis)  # 2
            if isinstance(verdict, Accepted):
                return  # 16
            assert isinstance(verdict, Counterexample)
            x = verdict.example
            self._rounds += 1
            if not hypothesis.satisfied_by(x):  # 3
                self.positives.append(x)  # 4
                touched = self._shrink_consequents(x)
                self._finish_round(touched, Step(self._rounds, x, True, 0))
                continue
            candidates = [  # 5
                (position, rule.antecedent & x)
                for position, rule in self.rules.items()
                if rule.antecedent & ~x  # 6: x ∩ e ⊂ e
                and rule.antecedent & x not in self.non_horn  # 6: x ∩ e ⊨ Q
                # The guard against repetitions in E⁻, which non-Horn examples can cause.
                and rule.antecedent & x not in self.antecedents
            ]
            found, asked = yield from first_rejected(candidates)  # 6: MQ(x ∩ e) = no
            if found is not None:
                position, after = found  # 7
                before: int | None = self.rules[position].antecedent
            else:  # 9
                position, after, before = self._positions, x, None
                self._positions += 1
            self._set_negative(position, after)  # 8, 10
            step = Step(self._rounds, x, False, 0, asked, position, before, after)
            self._finish_round([position], step)

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
            tuple(self.trace or ()),
        )

    def _set_negative(self, position: int, e: int) -> None:
        """Put `e` at a position of E⁻, with the strongest rule that the positives allow."""
        if position in self.rules:
            self.antecedents.discard(self.rules[position].antecedent)
        self.antecedents.add(e)
        self.rules[position] = Rule(e, closure_in(self.positives, e))  # horn(e)

    def _shrink_consequents(self, x: int) -> list[int]:
        """Bring H in line with a new positive example; return the positions it touches."""
        touched = []
        for position, rule in self.rules.items():
            if not rule.satisfied_by(x):
                self.rules[position] = Rule(rule.antecedent, rule.consequent & x)
                touched.append(position)
        return touched

    def _finish_round(self, touched: list[int], step: Step) -> None:
        """Move to E^nh what is now known to be an intersection of positives; keep the trace."""
        changed, retired = [], []
        for position in touched:
            rule = self.rules[position]
            if rule.consequent == rule.antecedent:  # 11: e = ⋂ E⁺_e
                self._set_aside(rule.antecedent)  # 13
                del self.rules[position]  # 12
                self.antecedents.discard(rule.antecedent)
                retired.append(rule.antecedent)
            else:
                changed.append(rule)
        if self.trace is not None:
            now = replace(
                step, size=len(self.rules), changed=tuple(changed), retired=tuple(retired)
            )
            self.trace.append(now)

    def _set_aside(self, e: int) -> None:
        """Take note of a non-Horn negative."""
        self.non_horn[e] = None
