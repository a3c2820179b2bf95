"""Entailment oracles: do all positives of a table, a formula or a function obey a rule?

And what can be had from one: closures, so also whether a set is closed (Borchmann, Hanika and
Obiedkov): that is the membership oracle of the envelope.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hornlens.exact.columns import Columns
from hornlens.exact.sources import ABSURD, FormulaSource
from hornlens.learning.protocol import Counterexample, EntailmentOracle, Holds, Reply, Unknown
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.cnf import Cnf
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.oracles.known import KnownAnswers


class RowsEntailment:
    """Knows all positives, the rows of a table; shows one that is as large as can be.

    So what it shows is characteristic: no intersection of other rows.
    """

    def __init__(self, rows: Iterable[int], width: int):
        """Turn the rows round, the largest first."""
        self.rows = sorted(dict.fromkeys(rows), key=int.bit_count, reverse=True)
        self.columns = Columns(self.rows, width)

    def entails(self, rule: Rule) -> Reply:
        """Look at every row."""
        having = self.columns.cover(rule.antecedent)
        if rule.is_negative:
            return self._first(having) if having else Holds()
        for head in bits(rule.new):
            lacking = having & ~self.columns.having[head]
            if lacking:
                return self._first(lacking)
        return Holds()

    def _first(self, which: int) -> Counterexample:
        return Counterexample(self.rows[(which & -which).bit_length() - 1])


class FormulaEntailment:
    """Knows a formula: a SAT solver finds a positive that breaks the rule, as large as can be."""

    def __init__(self, formula: Cnf, background: Theory | None = None):
        """Hand the formula to a solver."""
        self.source = FormulaSource(formula, background)

    def entails(self, rule: Rule) -> Reply:
        """Look for a positive above the left side that lacks something of the right side."""
        heads = [ABSURD] if rule.is_negative else list(bits(rule.new))
        for head in heads:
            positive = self.source.positive(rule.antecedent, head)
            if positive is not None:
                return Counterexample(positive)
        return Holds()


@dataclass
class CountingEntailment:
    """Counts the queries that pass through."""

    oracle: EntailmentOracle
    count: int = 0

    def entails(self, rule: Rule) -> Reply:
        """Count, then ask."""
        self.count += 1
        return self.oracle.entails(rule)


class Closures:
    """Closures of sets, by entailment queries: at most two more than a set has others beside it.

    As a membership oracle it accepts what is closed: the positives of the envelope.
    """

    def __init__(self, oracle: EntailmentOracle, known: KnownAnswers | None = None):
        """Remember what was found, and all positives that were shown on the way.

        `known` is told of each set whether it is closed, if that is known.
        """
        self.oracle, self.known = oracle, known
        self._known: dict[int, int] = {}
        self._shown: dict[int, None] = {}

    def closure(self, x: int) -> int:
        """Return what all positives above `x` have; BOTTOM if there are none."""
        if x not in self._known:
            closure = self._known[x] = self._asked_closure(x)
            if self.known is not None:
                closed = [] if closure == BOTTOM else [closure]
                self.known.tell([x, *closed], [x == closure, *(True for _ in closed)])
        return self._known[x]

    def _asked_closure(self, x: int) -> int:
        common = BOTTOM
        for positive in self._shown:
            if x & ~positive == 0:
                common &= positive
        while common != x:
            reply = self.oracle.entails(Rule(x, common))
            if isinstance(reply, Holds):
                break
            if isinstance(reply, Unknown) or reply.may is not None:
                raise ValueError("closures need an oracle that knows every positive in full")
            self._shown[reply.example] = None
            if self.known is not None:
                self.known.tell([reply.example], [True])
            common &= reply.example
        return common

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Say of each set whether it is closed."""
        return [self.closure(x) == x for x in batch]
