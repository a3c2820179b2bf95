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
from hornlens.logic.rule import Rule
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
class Entails:
    """An entailment query: does every positive obey the rule? The answer is a Reply."""

    rule: Rule


@dataclass(frozen=True)
class Counterexample:
    """No: the target and the hypothesis disagree on `example`.

    To an entailment query: `example` is a positive that breaks the rule. With `may`, not all of it
    is known: it has what is in `example`, and nothing that is not in `may`.
    """

    example: int
    may: int | None = None


@dataclass(frozen=True)
class Holds:
    """Yes, every positive obeys the rule; with `samples`, only so many of them were looked at."""

    samples: int | None = None


@dataclass(frozen=True)
class Unknown:
    """Whoever was asked does not know whether the rule holds."""


@dataclass(frozen=True)
class Accepted:
    """Yes, as far as the certificate says."""

    certificate: Certificate


Verdict: TypeAlias = Counterexample | Accepted
Reply: TypeAlias = Holds | Counterexample | Unknown
Step: TypeAlias = Ask | Conjecture | Entails | LearnerEvent
"""What a learner may yield."""
Answer: TypeAlias = Sequence[bool] | Verdict | Reply | None
"""What it is sent: answers to an Ask, a Verdict on a Conjecture, a Reply, None for an event."""
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


class EntailmentOracle(Protocol):
    """Says whether rules hold: a person, a table, or whatever knows the positives."""

    def entails(self, rule: Rule) -> Reply:
        """Say whether every positive obeys the rule."""
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

    def steps(self) -> Generator[Step, Answer, Certificate | None]:
        """Yield questions and take answers until a conjecture is accepted.

        Or until all is asked: then it returns what may be claimed.
        """
        ...

    def learned(self) -> Learned:
        """Return what is known so far; after the last step, the result."""
        ...
