"""Membership oracles and their wrappers. All take batches; they compose by delegation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hornlens.learning.protocol import MembershipOracle
from hornlens.limits import Limits
from hornlens.logic.batch import pack
from hornlens.logic.cnf import Cnf
from hornlens.oracles.known import KnownAnswers


@dataclass(frozen=True)
class FunctionMembership:
    """Asks a function, one interpretation at a time."""

    accepts: Callable[[int], bool]

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Answer each query by a call."""
        return [bool(self.accepts(x)) for x in batch]


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


@dataclass(frozen=True)
class LimitedMembership:
    """Asks as long as no limit is reached; then it raises Stopped."""

    oracle: MembershipOracle
    limits: Limits

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Look at the limits, then ask."""
        self.limits.check()
        return self.oracle.ask(batch)


@dataclass
class CountingMembership:
    """Counts the queries that pass through: give each user of an oracle a wrapper of its own."""

    oracle: MembershipOracle
    count: int = 0

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Count, then ask."""
        self.count += len(batch)
        return self.oracle.ask(batch)


@dataclass
class CachingMembership:
    """Asks each distinct interpretation once, also within a batch. `answers` holds all answers.

    Who is given as `known` is told of each new one.
    """

    oracle: MembershipOracle
    known: KnownAnswers | None = None
    answers: dict[int, bool] = field(default_factory=dict)

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Answer from memory where possible; ask the rest in one batch, without repetitions."""
        unknown = [x for x in dict.fromkeys(batch) if x not in self.answers]
        if unknown:
            labels = self.oracle.ask(unknown)
            self.answers.update(zip(unknown, labels, strict=True))
            if self.known is not None:
                self.known.tell(unknown, labels)
        return [self.answers[x] for x in batch]
