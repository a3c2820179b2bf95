"""What learners and oracles say to each other.

A learner is an object whose `steps()` generator yields `Ask` or `Conjecture` and is sent the
answer; beside these it may yield events, and is sent None. It never calls a model: who answers,
from where, in what batches, is not its business.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from hornlens.learning.events import LearnerEvent
from hornlens.logic.certificates import Certificate
from hornlens.logic.cnf import Clause, clauses_of, quasi
from hornlens.logic.theory import Theory


@dataclass(frozen=True)
class Hypothesis:
    """H ∪ Q: a Horn theory, and the interpretations that are rejected one by one beside it.

    `excluded` is E^nh: Q is quasi(x) for each x in it. It may be the learner's live set; use it
    before the learner goes on, or copy it.
    """

    theory: Theory
    excluded: Set[int] = field(default_factory=frozenset)

    def satisfied_by(self, x: int) -> bool:
        """Say whether `x` is accepted by both H and Q."""
        return x not in self.excluded and self.theory.satisfied_by(x)

    def clauses(self) -> tuple[Clause, ...]:
        """Return H ∪ Q as clauses."""
        return clauses_of(self.theory) + tuple(quasi(x, self.theory.width) for x in self.excluded)


@dataclass(frozen=True)
class Ask:
    """Membership queries, in order. The answer: a list of bools, at least up to the first no.

    Whoever answers may stop after the first no (as the paper's loop does) or answer all of the
    batch at once (asking some that were not needed). With `all_answers`, all are needed and given.
    """

    batch: tuple[int, ...]
    all_answers: bool = False


@dataclass(frozen=True)
class Conjecture:
    """An equivalence query. The answer is a Verdict."""

    hypothesis: Hypothesis


@dataclass(frozen=True)
class Counterexample:
    """No: the target and the hypothesis disagree on `example`."""

    example: int


@dataclass(frozen=True)
class Accepted:
    """Yes, as far as the certificate says."""

    certificate: Certificate


Verdict: TypeAlias = Counterexample | Accepted
Step: TypeAlias = Ask | Conjecture | LearnerEvent
"""What a learner may yield."""
Answer: TypeAlias = Sequence[bool] | Verdict | None
"""What it is sent: answers to an Ask, a Verdict on a Conjecture, None for an event."""
Steps: TypeAlias = Generator[Step, Answer, None]


class MembershipOracle(Protocol):
    """Answers whether the target accepts interpretations. A batch is the primitive."""

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Return the answer to each query, in order."""
        ...


class EquivalenceOracle(Protocol):
    """Judges hypotheses."""

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return a counterexample, or what may be claimed if none was found."""
        ...


class NotHorn(Exception):
    """The target is not Horn, with the proof: accepted interpretations with a rejected meet."""

    def __init__(self, negative: int, positives: tuple[int, ...]):
        """`negative` is rejected by the target, yet it is the intersection of `positives`."""
        self.negative, self.positives = negative, positives
        super().__init__(
            "the target is not Horn: it accepts "
            f"{', '.join(map(bin, positives))} but rejects their intersection {negative:#b}"
        )


@dataclass(frozen=True)
class Learned:
    """All that a learner knows: H and Q, and the examples behind them."""

    hypothesis: Hypothesis
    positives: tuple[int, ...]
    negatives: tuple[int, ...]
    non_horn: tuple[int, ...]


class Learner(Protocol):
    """A learner: a generator of questions, and what it has learned at any time."""

    def steps(self) -> Steps:
        """Yield questions and take answers until a conjecture is accepted."""
        ...

    def learned(self) -> Learned:
        """Return what is known so far; after the last step, the result."""
        ...
