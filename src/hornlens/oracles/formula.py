"""Exact equivalence oracles for a target that is a formula, by SAT.

`full` asks whether H ∪ Q ≡ φ; `horn` whether H ≡ env(φ). Both look for positive counterexamples
first: positives of φ that break a rule of H. A rule that passed is valid for good and not asked of
again. So when the negative side is looked at, all of H is valid.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from hornlens.exact.sat import solve, solver_of
from hornlens.exact.search import EnvelopeSearch
from hornlens.exact.sources import FormulaSource
from hornlens.learning.protocol import Accepted, Counterexample, Hypothesis, Verdict
from hornlens.limits import Limits
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.certificates import EXACT
from hornlens.logic.cnf import Clause, Cnf, clauses_of, literals, quasi
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory, forward_chain
from hornlens.oracles.equivalence import Kind


class FormulaEquivalence:
    """Judges hypotheses about a formula exactly. A generator makes it choose at random."""

    def __init__(
        self,
        formula: Cnf,
        kind: Kind = "horn",
        rng: Random | None = None,
        limits: Limits | None = None,
    ):
        """Prepare the solver; `rng` shuffles which counterexample is found.

        If one of the `limits` is reached while it searches, it raises Stopped.
        """
        self.limits = limits
        self.formula, self.kind, self.rng = formula, kind, rng
        self.width = formula.width
        self._positives = solver_of(formula.clauses, self.width)
        self._valid: set[Rule] = set()
        self._clauses = list(formula.clauses)
        self._search = EnvelopeSearch(FormulaSource(formula)) if kind == "horn" else None
        self._outside: _Outside | None = None

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return a counterexample, positive ones first, or yes: exactly."""
        counterexample = self._broken_by_a_positive(hypothesis.theory)
        if counterexample is None:
            counterexample = self._not_a_consequence(hypothesis)
        return Accepted(EXACT) if counterexample is None else Counterexample(counterexample)

    def _broken_by_a_positive(self, theory: Theory) -> int | None:
        """Return a positive of φ that falsifies a rule of H."""
        for rule in self._in_some_order(theory.rules):
            if rule in self._valid:
                continue
            positive = self._positive_against(rule)
            if positive is not None:
                return positive
            self._valid.add(rule)
        return None

    def _positive_against(self, rule: Rule) -> int | None:
        above = [i + 1 for i in bits(rule.antecedent)]
        if self.rng is not None:
            variables = range(1, self.width + 1)
            self._positives.set_phases([v if self.rng.random() < 0.5 else -v for v in variables])
        positive = solve(self._positives, above, self.width)
        if positive is None or not rule.satisfied_by(positive):
            return positive
        for head in self._in_some_order(bits(rule.new)):
            positive = solve(self._positives, [*above, -(head + 1)], self.width)
            if positive is not None:
                return positive
        return None

    def _not_a_consequence(self, hypothesis: Hypothesis) -> int | None:
        """Return what H ∪ Q accepts and the target (its envelope, for `horn`) rejects."""
        if self._search is None:
            return self._accepted_but_not_positive(hypothesis)
        # Rules of the envelope that are known already; then, if H has them all, new ones.
        rules = hypothesis.theory.rules
        for rule in self._in_some_order(self._search.rules):
            least = forward_chain(rules, rule.antecedent)
            if rule.consequent & ~least:
                return least
        for step in self._search.steps():
            for new in step.proved:
                least = forward_chain(rules, new.antecedent)
                if new.consequent & ~least:
                    return least
            if self.limits is not None:
                self.limits.check()
        return None

    def _accepted_but_not_positive(self, hypothesis: Hypothesis) -> int | None:
        rules = hypothesis.theory.rules
        unclear: list[Clause] = []
        for at, clause in enumerate(self._clauses):
            # The least positive of H above the clause's antecedent breaks the clause, or none does…
            least = forward_chain(rules, clause.antecedent)
            if least != BOTTOM and least & clause.consequent == 0:
                if least not in hypothesis.excluded:
                    # Next time, begin with the clause that failed: it is likely to fail again.
                    self._clauses = self._clauses[at:] + self._clauses[:at]
                    if self.rng is not None:
                        self.rng.shuffle(self._clauses)
                    return least
                unclear.append(clause)  # …unless Q rejects that positive: then only a search tells.
        if not unclear:
            return None
        if self._outside is None:
            self._outside = _Outside(self.width)
        return self._outside.find(hypothesis, unclear)

    def _in_some_order(self, items: Iterable[Rule] | Iterable[int]) -> list:  # type: ignore[type-arg]
        ordered = list(items)
        if self.rng is not None:
            self.rng.shuffle(ordered)
        return ordered


class _Outside:
    """Searches positives of H ∪ Q that break a clause, where chaining alone cannot decide."""

    def __init__(self, width: int):
        self.width = width
        self._begin()

    def _begin(self) -> None:
        self._solver = solver_of((), self.width)
        self._switch: dict[Rule, int] = {}  # rules come and go: each has a literal to turn it on
        self._excluded: set[int] = set()  # what Q rejects stays rejected, as long as a run lasts

    def find(self, hypothesis: Hypothesis, clauses: list[Clause]) -> int | None:
        if not self._excluded <= hypothesis.excluded:
            self._begin()  # another run
        for x in hypothesis.excluded - self._excluded:
            self._solver.add_clause(literals(quasi(x, self.width)))
        self._excluded |= hypothesis.excluded
        for rule in hypothesis.theory:
            if rule not in self._switch:
                self._switch[rule] = self.width + 1 + len(self._switch)
                for clause in clauses_of((rule,)):
                    self._solver.add_clause([-self._switch[rule], *literals(clause)])
        switched_on = [self._switch[rule] for rule in hypothesis.theory]
        for clause in clauses:
            broken = [-literal for literal in literals(clause)]
            solution = solve(self._solver, switched_on + broken, self.width)
            if solution is not None:
                return solution
        return None
