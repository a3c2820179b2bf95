"""Exact equivalence oracles for a target that is a formula, by SAT.

`full` asks whether H ∪ Q ≡ φ; `horn` whether H ≡ env(φ). Both look for positive counterexamples
first: models of φ that break a rule of H. A rule that passed is valid for good and not asked of
again. So when the negative side is looked at, all of H is valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from pysat.solvers import Solver

from hornlens.learning.protocol import Accepted, Counterexample, Hypothesis, Verdict
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.cnf import Cnf, clauses_of, literals
from hornlens.logic.envelope import EXACT
from hornlens.logic.rule import Clause, Rule, quasi
from hornlens.logic.theory import Theory, forward_chain
from hornlens.oracles.equivalence import Kind
from hornlens.oracles.search import EnvelopeSearch
from hornlens.oracles.targets import FormulaTarget, declare, mask_of_model


class FormulaEquivalence:
    """Judges hypotheses about a formula exactly. A generator makes it choose at random."""

    def __init__(self, formula: Cnf, kind: Kind = "horn", rng: Random | None = None):
        """Prepare the solver; `rng` shuffles which counterexample is found."""
        self.formula, self.kind, self.rng = formula, kind, rng
        self.width = formula.width
        self._models = _solver_of(formula.clauses, self.width)
        self._valid: set[Rule] = set()
        self._clauses = list(formula.clauses)
        self._search = EnvelopeSearch(FormulaTarget(formula)) if kind == "horn" else None
        self._outside: _Outside | None = None

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return a counterexample, positive ones first, or yes: exactly."""
        found = self._broken_by_a_model(hypothesis.theory)
        if found is None:
            found = self._not_a_consequence(hypothesis)
        return Accepted(EXACT) if found is None else Counterexample(found)

    def _broken_by_a_model(self, theory: Theory) -> int | None:
        """Return a model of φ that falsifies a rule of H."""
        for rule in self._in_some_order(theory.rules):
            if rule in self._valid:
                continue
            model = self._model_against(rule)
            if model is not None:
                return model
            self._valid.add(rule)
        return None

    def _model_against(self, rule: Rule) -> int | None:
        above = [i + 1 for i in bits(rule.antecedent)]
        if self.rng is not None:
            variables = range(1, self.width + 1)
            self._models.set_phases([v if self.rng.random() < 0.5 else -v for v in variables])
        model = _solve(self._models, above, self.width)
        if model is None or not rule.satisfied_by(model):
            return model
        for head in self._in_some_order(bits(rule.new)):
            model = _solve(self._models, [*above, -(head + 1)], self.width)
            if model is not None:
                return model
        return None

    def _not_a_consequence(self, hypothesis: Hypothesis) -> int | None:
        """Return what H ∪ Q accepts and the target (its envelope, for `horn`) rejects."""
        if self._search is None:
            return self._accepted_but_no_model(hypothesis)
        # Rules of the envelope that are known already; then, if H has them all, new ones.
        rules = hypothesis.theory.rules
        for rule in self._in_some_order(self._search.rules):
            least = forward_chain(rules, rule.antecedent)
            if rule.consequent & ~least:
                return least
        while (new := self._search.next_rule()) is not None:
            least = forward_chain(rules, new.antecedent)
            if new.consequent & ~least:
                return least
        return None

    def _accepted_but_no_model(self, hypothesis: Hypothesis) -> int | None:
        rules = hypothesis.theory.rules
        unclear: list[Clause] = []
        for at, clause in enumerate(self._clauses):
            # The least model of H above the clause's antecedent breaks the clause, or none does…
            least = forward_chain(rules, clause.antecedent)
            if least != BOTTOM and least & clause.consequent == 0:
                if least not in hypothesis.excluded:
                    # Next time, begin with the clause that failed: it is likely to fail again.
                    self._clauses = self._clauses[at:] + self._clauses[:at]
                    if self.rng is not None:
                        self.rng.shuffle(self._clauses)
                    return least
                unclear.append(clause)  # …unless Q rejects that model: then only a search tells.
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
    """Searches models of H ∪ Q that break a clause, where chaining alone cannot decide."""

    def __init__(self, width: int):
        self.width = width
        self._begin()

    def _begin(self) -> None:
        self._solver = _solver_of((), self.width)
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
            found = _solve(self._solver, switched_on + broken, self.width)
            if found is not None:
                return found
        return None


def cnf_counterexample(target: Cnf, hypothesis: Cnf, rng: Random | None = None) -> int | None:
    """Return an interpretation on which two formulas differ; None if they are equivalent.

    `rng` makes it a random one; without, it is the first that is found.
    """
    for left, right in ((target, hypothesis), (hypothesis, target)):
        with _solver_of(left.clauses, left.width) as solver:
            clauses = list(right.clauses)
            if rng is not None:
                rng.shuffle(clauses)
                solver.set_phases([v * rng.choice((1, -1)) for v in range(1, left.width + 1)])
            for clause in clauses:
                if clause.antecedent & clause.consequent:
                    continue  # a tautology
                broken = [-literal for literal in literals(clause)]
                found = _solve(solver, broken, left.width)
                if found is not None:
                    return found
    return None


def models_outside(theory: Theory, formula: Cnf) -> Iterator[int]:
    """Yield the models of a theory that break a formula, each once, in no special order."""
    with _solver_of(clauses_of(theory), formula.width) as solver:
        for clause in formula.clauses:
            if not clause.antecedent & clause.consequent:
                broken = [-literal for literal in literals(clause)]
                yield from _each_model(solver, broken, formula.width)


def models_beside(theory: Theory, known: Iterable[int]) -> Iterator[int]:
    """Yield the models of a theory that are not among the known ones, each once."""
    clauses = clauses_of(theory) + tuple(quasi(x, theory.width) for x in set(known))
    with _solver_of(clauses, theory.width) as solver:
        yield from _each_model(solver, [], theory.width)


def _each_model(solver: Solver, assumptions: list[int], width: int) -> Iterator[int]:
    while (found := _solve(solver, assumptions, width)) is not None:
        yield found
        solver.add_clause(literals(quasi(found, width)))


def _solver_of(clauses: Iterable[Clause], width: int) -> Solver:
    solver = Solver("minisat22", bootstrap_with=[literals(clause) for clause in clauses])
    declare(solver, width)
    return solver


def _solve(solver: Solver, assumptions: list[int], width: int) -> int | None:
    if not solver.solve(assumptions=assumptions):
        return None
    return mask_of_model(solver.get_model(), width)
