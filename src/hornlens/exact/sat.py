"""SAT: interpretations that satisfy clauses, and those on which two formulas differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from pysat.solvers import Solver

from hornlens.logic.cnf import Clause, Cnf, clauses_of, literals, quasi
from hornlens.logic.theory import Theory


def cnf_counterexample(target: Cnf, hypothesis: Cnf, rng: Random | None = None) -> int | None:
    """Return an interpretation on which two formulas differ; None if they are equivalent.

    `rng` makes it a random one; without, it is the first that is found.
    """
    for left, right in ((target, hypothesis), (hypothesis, target)):
        with solver_of(left.clauses, left.width) as solver:
            clauses = list(right.clauses)
            if rng is not None:
                rng.shuffle(clauses)
                solver.set_phases([v * rng.choice((1, -1)) for v in range(1, left.width + 1)])
            for clause in clauses:
                if clause.antecedent & clause.consequent:
                    continue  # a tautology
                broken = [-literal for literal in literals(clause)]
                model = solve(solver, broken, left.width)
                if model is not None:
                    return model
    return None


def outside(theory: Theory, formula: Cnf) -> Iterator[int]:
    """Yield the positives of a theory that break a formula, each once, in no special order."""
    with solver_of(clauses_of(theory), formula.width) as solver:
        for clause in formula.clauses:
            if not clause.antecedent & clause.consequent:
                broken = [-literal for literal in literals(clause)]
                yield from _each(solver, broken, formula.width)


def _each(solver: Solver, assumptions: list[int], width: int) -> Iterator[int]:
    while (model := solve(solver, assumptions, width)) is not None:
        yield model
        solver.add_clause(literals(quasi(model, width)))


def solver_of(clauses: Iterable[Clause], width: int) -> Solver:
    """Return a solver of clauses over `width` variables."""
    solver = Solver("minisat22", bootstrap_with=[literals(clause) for clause in clauses])
    declare(solver, width)
    return solver


def solve(solver: Solver, assumptions: list[int], width: int) -> int | None:
    """Return an interpretation that satisfies a solver's clauses; None if there is none."""
    if not solver.solve(assumptions=assumptions):
        return None
    return mask_of_solution(solver.get_model(), width)


def mask_of_solution(positive: list[int], width: int) -> int:
    """Return the true variables of a solver's positive, of those that are ours."""
    mask = 0
    for literal in positive[:width]:
        if literal > 0:
            mask |= 1 << (literal - 1)
    return mask


def declare(solver: Solver, width: int) -> None:
    """Make a solver know `width` variables, so that its positives speak of all of them."""
    if width:
        solver.add_clause([width, -width])
