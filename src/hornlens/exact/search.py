"""The white-box search for an envelope: closure queries instead of membership queries.

Known at any time are valid rules L and positives P of the target. A SAT solver is asked for an
interpretation x that obeys L and is no intersection of examples in P: for some head v, x lacks v
while none of P above x does. (If the target is a formula, x must break a clause of it as well;
whatever is not closed does.) The closure of x then decides. Either there are positives above x that
L and P did not tell of, and P grows. Or x is not closed; then a *smallest* such x is looked for
below it, and that is the antecedent of the next rule of the DG basis: all that obey L below it are
closed, so it is pseudo-closed. When no x is left, L is the DG basis, and that is the proof.

Non-Horn negatives cost nothing here: they are closed, and the search never stops at them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence

import numpy as np
from pysat.card import CardEnc, EncType
from pysat.solvers import Solver

from hornlens.exact.engine import Step, run
from hornlens.exact.sat import declare, mask_of_solution
from hornlens.exact.sources import ABSURD, Source
from hornlens.logic.batch import Words, contains, pack, unpack, words_needed
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.cnf import Clause, clauses_of, literals
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory


class EnvelopeSearch:
    """Finds the rules of a target's envelope relative to a background, one by one."""

    def __init__(self, source: Source, background: Theory | None = None):
        """Prepare the solvers; nothing is searched yet."""
        self.source, self.width = source, source.width
        self.full = (1 << self.width) - 1
        self.rules: list[Rule] = []
        self.closures = self.solved = 0
        self._positives = np.zeros((256, words_needed(self.width)), dtype=np.int64)
        self._count = 0
        # Forward chaining with L is unit propagation on its clauses; minisat does it fast. What
        # holds without assumptions it would leave out, so all clauses depend on one assumption.
        self._chain = Solver("minisat22")
        self._always = self.width + 1
        self._heads = range(self.width + 1, 2 * self.width + 2)  # the last is ⊥
        self._search = Solver("cadical195")
        declare(self._search, self._heads[-1])
        for index in range(self.width):
            self._search.add_clause([-self._heads[index], -(index + 1)])
        one = CardEnc.equals(list(self._heads), top_id=self._heads[-1], encoding=EncType.bitwise)
        for clause in one.clauses:
            self._search.add_clause(clause)
        self._fresh = max(self._heads[-1], one.nv) + 1
        self._only_what_breaks(source.clauses)
        # Small interpretations first: there is most to learn from their closures.
        self._search.set_phases([-(index + 1) for index in range(self.width)])
        self._obey(background or ())

    def _only_what_breaks(self, clauses: Sequence[Clause] | None) -> None:
        """Leave out the target's own positives, where it is a formula: they are closed anyway."""
        if clauses is None:
            return
        broken = []
        for clause in clauses:
            if not clause.antecedent & clause.consequent:
                broken.append(self._fresh)
                for literal in literals(clause):
                    self._search.add_clause([-self._fresh, -literal])
                self._fresh += 1
        self._search.add_clause(broken)

    def steps(self) -> Iterator[Step]:
        """Find all rules, one after the other. How many there will be, nobody knows."""
        while (x := self._candidate()) is not None:
            refutation = self._refute(x)
            yield Step()
            if refutation is None:
                continue
            rule = yield from self._smallest(refutation)
            self.rules.append(rule)
            self._obey((rule,))
            yield Step((rule,))

    def next_rule(self) -> Rule | None:
        """Find, keep and return the next rule of the DG basis; None when it is complete."""
        return next((step.proved[0] for step in self.steps() if step.proved), None)

    def proved(self) -> list[Rule]:
        """Return the rules so far: each is one of the DG basis."""
        return self.rules

    def run(self) -> Theory:
        """Find all rules; return the DG basis."""
        return run(self).basis

    def closure(self, x: int) -> int:
        """Return the intersection of the target's positives above `x`; BOTTOM if there are none."""
        self.closures += 1
        known = self._positives[: self._count]
        above = known[contains(known, pack([x], self.width)[0])]
        common = unpack(np.bitwise_and.reduce(above, axis=0, keepdims=True))[0]
        if common == BOTTOM:
            positive = self.source.positive(x, ABSURD)
            if positive is None:
                return BOTTOM
            self._learn_positive(positive)
            common = positive
        for index in bits(common & ~x):
            if common >> index & 1:
                positive = self.source.positive(x, index)
                if positive is not None:
                    self._learn_positive(positive)
                    common &= positive
        return common

    def _refute(self, x: int) -> tuple[int, int] | None:
        """Return what obeys L, lies in `x`, and is not closed, with its closure; None if x is.

        Of `x` only a minimal reason is kept, and what L makes of it.
        """
        closed = self.closure(x)
        if closed == x:
            return None
        head = ABSURD if closed == BOTTOM else next(bits(closed & ~x))
        reason = self.source.reason(x, head)
        _, chained = self._chain.propagate([self._always, *(i + 1 for i in bits(reason))])
        smaller = sum(1 << (i - 1) for i in chained if 0 < i <= self.width)
        return smaller, closed if smaller == x else self.closure(smaller)

    def _smallest(self, refutation: tuple[int, int]) -> Generator[Step, None, Rule]:
        """Go down to a smallest interpretation that obeys L and is not closed."""
        while True:
            x, closed = refutation
            below = self._fresh
            self._fresh += 1
            self._search.add_clause([-below, *(-(i + 1) for i in bits(x))])
            inside = [below, *(-(i + 1) for i in bits(self.full & ~x))]
            smaller = None
            while smaller is None and (y := self._candidate(inside)) is not None:
                smaller = self._refute(y)
                yield Step()
            self._search.add_clause([-below])
            if smaller is None:
                return Rule(x, closed)
            refutation = smaller

    def _candidate(self, assumptions: Iterable[int] = ()) -> int | None:
        """Return an interpretation that obeys L and is no intersection of known positives."""
        self.solved += 1
        if not self._search.solve(assumptions=list(assumptions)):
            return None
        return mask_of_solution(self._search.get_model(), self.width)

    def _learn_positive(self, positive: int) -> None:
        """Keep a positive: from now on, x must leave it or have its head in it."""
        if self._count == len(self._positives):
            self._positives = np.concatenate([self._positives, np.zeros_like(self._positives)])
        self._positives[self._count] = pack([positive], self.width)[0]
        self._count += 1
        self._search.add_clause(
            [
                self._heads[index] if positive >> index & 1 else index + 1
                for index in range(self.width)
            ]
        )

    def _obey(self, rules: Iterable[Rule]) -> None:
        for clause in clauses_of(rules):
            self._search.add_clause(literals(clause))
            self._chain.add_clause([-self._always, *literals(clause)])

    @property
    def positives(self) -> Words:
        """The positives found so far, packed."""
        return self._positives[: self._count]
