"""Membership oracles and their wrappers. All take batches; they compose by delegation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hornlens.learning.protocol import BudgetExhausted, MembershipOracle
from hornlens.logic.batch import pack
from hornlens.logic.cnf import Cnf


@dataclass(frozen=True)
class FunctionMembership:
    """Asks a function, one interpretation at a time."""

    accepts: Callable[[int], bool]

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Answer each query by a call."""
        return [bool(self.accepts(x)) for x in batch]


class TableMembership:
    """Accepts exactly the interpretations of a table."""

    def __init__(self, positives: Iterable[int]):
        """Take the positive examples; everything else is negative."""
        self.positives = frozenset(positives)

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Look each query up."""
        return [x in self.positives for x in batch]


@dataclass(frozen=True)
class FormulaMembership:
    """Accepts the positives of a formula."""

    formula: Cnf

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Evaluate the formula: few queries one by one, many at once."""
        if len(batch) < 16:
            return [self.formula.satisfied_by(x) for x in batch]
        accepted: list[bool] = self.formula.accepts(pack(batch, self.formula.width)).tolist()
        return accepted


@dataclass
class CountingMembership:
    """Counts the queries that pass through, under one role.

    Give each user of an oracle a wrapper of its own: `CountingMembership(oracle, "equivalence")`.
    """

    oracle: MembershipOracle
    role: str
    count: int = 0

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Count, then ask."""
        self.count += len(batch)
        return self.oracle.ask(batch)


@dataclass
class CachingMembership:
    """Asks each distinct interpretation once, also within a batch. `known` holds all answers."""

    oracle: MembershipOracle
    known: dict[int, bool] = field(default_factory=dict)

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Answer from memory where possible; ask the rest in one batch, without repetitions."""
        unknown = [x for x in dict.fromkeys(batch) if x not in self.known]
        if unknown:
            self.known.update(zip(unknown, self.oracle.ask(unknown), strict=True))
        return [self.known[x] for x in batch]


@dataclass
class BudgetedMembership:
    """Lets `limit` queries pass, then raises BudgetExhausted. A batch passes whole or not at all.

    Put it below a cache to count distinct queries, above it to count all.
    """

    oracle: MembershipOracle
    limit: int
    used: int = 0

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Ask, if the budget allows."""
        if self.used + len(batch) > self.limit:
            raise BudgetExhausted(self.limit)
        self.used += len(batch)
        return self.oracle.ask(batch)
