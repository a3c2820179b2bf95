"""Sources: what one can look into, and so ask for positives instead of answers.

A source answers one question: is there a positive above x that lacks variable v? From that follow
closures (what all positives above x have in common) and smallest reasons. For a formula the answer
comes from a SAT solver. (Tables have engines of their own.)
"""

from __future__ import annotations

from typing import Protocol

from pysat.solvers import Solver

from hornlens.exact.sat import declare, mask_of_solution
from hornlens.logic.bits import bits
from hornlens.logic.cnf import Clause, Cnf, clauses_of, literals
from hornlens.logic.theory import Theory

ABSURD = -1
"""As a head: ⊥. A positive "without ABSURD" is any positive."""


class Source(Protocol):
    """A target that can be looked into."""

    width: int
    clauses: tuple[Clause, ...] | None
    """What every positive satisfies and everything else breaks, if the target is a formula."""

    def positive(self, above: int, without: int) -> int | None:
        """Return a maximal positive that contains `above` and lacks the variable; None if none."""
        ...

    def reason(self, x: int, head: int) -> int:
        """Return a minimal subset of `x` from which `head` follows, given that it does from x."""
        ...


class FormulaSource:
    """The positives of a formula and a background, by SAT."""

    def __init__(self, formula: Cnf, background: Theory | None = None):
        """Hand the clauses to a solver."""
        self.width = formula.width
        self.calls = 0
        clauses = formula.clauses + clauses_of(background or ())
        self.clauses: tuple[Clause, ...] | None = clauses
        self._solver = Solver("minisat22", bootstrap_with=[literals(c) for c in clauses])
        declare(self._solver, self.width)
        # Large ones first: they speak of the most interpretations below them.
        self._solver.set_phases(range(1, self.width + 1))

    def positive(self, above: int, without: int) -> int | None:
        """Return a maximal positive above `above` without the variable, by SAT calls."""
        fixed = [] if without == ABSURD else [-(without + 1)]
        model = self._solve(above, fixed)
        if model is None:
            return None
        top = ((1 << self.width) - 1) & ~(0 if without == ABSURD else 1 << without)
        for index in bits(top & ~model):
            if not model >> index & 1:
                model = self._solve(model | 1 << index, fixed) or model
        return model

    def reason(self, x: int, head: int) -> int:
        """Return a minimal reason: the solver's core, then each variable tried without."""
        fixed = [] if head == ABSURD else [-(head + 1)]
        reason = x
        if self._solve(x, fixed) is None:
            reason = self._core()
        for index in bits(reason):
            if reason >> index & 1 and self._solve(reason & ~(1 << index), fixed) is None:
                reason = self._core()
        return reason

    def _solve(self, above: int, fixed: list[int]) -> int | None:
        self.calls += 1
        if not self._solver.solve(assumptions=[*(i + 1 for i in bits(above)), *fixed]):
            return None
        return mask_of_solution(self._solver.get_model(), self.width)

    def _core(self) -> int:
        return sum(1 << (literal - 1) for literal in self._solver.get_core() or () if literal > 0)
