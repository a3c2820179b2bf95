"""Large positives of a formula: a solver finds one, and flipping variables makes it larger.

Of the positives that lack a head, the maximal ones tell all: a rule X → head holds if and only if X
is inside none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pysat.solvers import Solver

from hornlens.exact.sat import solve, solver_of
from hornlens.exact.sources import ABSURD
from hornlens.logic.bits import bits
from hornlens.logic.cnf import Clause


class LargePositives:
    """The positives of clauses, each as large as flipping one variable after another makes it."""

    def __init__(self, clauses: Sequence[Clause], width: int):
        """Hand the clauses to a solver."""
        self.clauses, self.width = clauses, width
        self.calls = 0
        self._solver = self._fresh_solver(self.clauses)
        # For each variable, the clauses that adding it may break; pairs, for speed.
        self._breakable: list[list[tuple[int, int]]] = [[] for _ in range(width)]
        for clause in clauses:
            for index in bits(clause.antecedent & ~clause.consequent):
                self._breakable[index].append((clause.antecedent, clause.consequent))

    def _fresh_solver(self, clauses: Sequence[Clause]) -> Solver:
        solver = solver_of(clauses, self.width)
        solver.set_phases(range(1, self.width + 1))  # large ones first
        return solver

    def above(self, x: int, without: int) -> int | None:
        """Return a large positive that contains `x` and lacks the variable; None if none does."""
        self.calls += 1
        fixed = [] if without == ABSURD else [-(without + 1)]
        model = solve(self._solver, [*(i + 1 for i in bits(x)), *fixed], self.width)
        return None if model is None else self._flipped(model, self._all_but(without))

    def maximal(self, without: int, known: Sequence[int] = ()) -> Iterator[int]:
        """Yield every maximal one of the positives that lack the variable, each once.

        Those that are `known` already are not searched for, and come first.
        """
        top = self._all_but(without)
        own = (*self.clauses, *(() if without == ABSURD else (Clause(1 << without, 0),)))
        with self._fresh_solver(own) as solver:
            for positive in known:
                solver.add_clause([i + 1 for i in bits(top & ~positive)])
                yield positive
            while (model := self._solve(solver, 0)) is not None:
                larger: int | None = model
                while larger is not None:
                    model = self._flipped(larger, top)
                    # From now on nothing inside it; so what is found above it is larger.
                    solver.add_clause([i + 1 for i in bits(top & ~model)])
                    larger = self._solve(solver, model)
                yield model

    def _solve(self, solver: Solver, above: int) -> int | None:
        self.calls += 1
        return solve(solver, [i + 1 for i in bits(above)], self.width)

    def _all_but(self, without: int) -> int:
        return ((1 << self.width) - 1) & ~(0 if without == ABSURD else 1 << without)

    def _flipped(self, x: int, top: int) -> int:
        """Return `x` with more and more of `top`, as long as one more variable breaks no clause."""
        growing = True
        while growing:
            growing = False
            for index in bits(top & ~x):
                more = x | 1 << index
                for antecedent, consequent in self._breakable[index]:
                    if antecedent & ~more == 0 and consequent & more == 0:
                        break
                else:
                    x, growing = more, True
        return x
