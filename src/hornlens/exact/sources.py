"""Sources: what one can look into, and so ask for positives instead of answers.

A source answers one question: is there a positive above x that lacks variable v? From that follow
closures (what all positives above x have in common) and smallest reasons. For a formula the answer
comes from a SAT solver, for a table from a look at its rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from pysat.solvers import Solver

from hornlens.exact.sat import declare, mask_of_solution
from hornlens.logic.batch import Words, contains, pack, unpack
from hornlens.logic.bits import bits
from hornlens.logic.closures import characteristic
from hornlens.logic.cnf import Clause, Cnf, clauses_of, literals
from hornlens.logic.theory import Theory

ABSURD = -1
"""As a head: ⊥. A positive "without ABSURD" is any positive."""


class Source(Protocol):
    """A target that can be looked into."""

    width: int
    known_positives: tuple[int, ...]
    """Positives to start from; all characteristic ones if `complete`."""
    complete: bool
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

    complete = False
    known_positives: tuple[int, ...] = ()

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
        found = self._solve(above, fixed)
        if found is None:
            return None
        top = ((1 << self.width) - 1) & ~(0 if without == ABSURD else 1 << without)
        for index in bits(top & ~found):
            if not found >> index & 1:
                found = self._solve(found | 1 << index, fixed) or found
        return found

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


class TableSource:
    """The rows of a table as the positives: all of them are known from the start."""

    complete = True
    clauses: tuple[Clause, ...] | None = None

    def __init__(self, rows: Iterable[int], width: int):
        """Keep the characteristic rows; the others follow from them."""
        self.width = width
        self.known_positives = characteristic(rows)
        self._rows: Words = pack(self.known_positives, width)

    def positive(self, above: int, without: int) -> int | None:
        """Return a row above `above` that lacks the variable."""
        rows = unpack(self._rows[contains(self._rows, pack([above], self.width)[0])])
        lacking = (row for row in rows if without == ABSURD or not row >> without & 1)
        return max(lacking, key=int.bit_count, default=None)

    def reason(self, x: int, head: int) -> int:
        """Return a minimal reason, by leaving out one variable after the other."""
        rows = self._rows
        if head != ABSURD:
            rows = rows[~contains(rows, pack([1 << head], self.width)[0])]
        # What each row misses of x: a reason has to keep something of every row's lack.
        lacks = unpack(np.unique(pack([x], self.width) & ~rows, axis=0)) if len(rows) else []
        reason = x
        for index in bits(x):
            smaller = reason & ~(1 << index)
            if all(lack & smaller for lack in lacks):
                reason = smaller
        return reason
