"""The driver: puts a learner and oracles together, and says what happens as events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hornlens.deprecation import deprecated
from hornlens.errors import HornlensError
from hornlens.learning.events import Asked, Conjectured, Ended, Event, Progress, Queries
from hornlens.learning.protocol import (
    Accepted,
    Answer,
    Ask,
    Conjecture,
    EntailmentOracle,
    Entails,
    EquivalenceOracle,
    Hypothesis,
    Learned,
    Learner,
    MembershipOracle,
    Verdict,
)
from hornlens.limits import Limits, Stopped
from hornlens.logic.certificates import Certificate, ended_early

Judging: TypeAlias = Generator[Ask | Event, Sequence[bool] | None, Verdict]
"""An equivalence query that asks questions of its own, and is sent their answers."""
Judge: TypeAlias = Callable[[Hypothesis], Verdict | Judging]
Conversation: TypeAlias = Generator[Ask | Event, Sequence[bool] | None, None]


@dataclass(frozen=True)
class Run:
    """A finished run: what was learned, what may be claimed of it, and what it cost."""

    learned: Learned
    certificate: Certificate
    queries: Queries = field(default_factory=Queries)


def run(
    learner: Learner,
    membership: MembershipOracle,
    equivalence: EquivalenceOracle,
    speculate: bool = False,
    watch: Callable[[Event], None] | None = None,
    limits: Limits | None = None,
    entailment: EntailmentOracle | None = None,
) -> Run:
    """Run a learner to its end and return the outcome; `watch` sees every event on the way.

    Learners that ask whether rules hold need `entailment`, and the others do not.

    If a limit is reached, by an oracle or between two events, what the learner knows by then. The
    certificate claims no rule: the driver knows the answers, and not what follows from them.
    """
    queries, certificate = Queries(), None
    watcher = watch or (lambda event: None)
    try:
        for event in events_of(learner, membership, equivalence, speculate, entailment):
            if isinstance(event, Progress):
                queries = event.queries
            elif isinstance(event, Ended):
                certificate = event.certificate
            watcher(event)
            if limits is not None and certificate is None:
                limits.check(_rules_of(event))
    except Exception as error:
        if isinstance(error, Stopped):
            certificate = ended_early(error.reason, 0)
        elif limits is not None and limits.caught(error):
            certificate = ended_early("interrupt", 0)
        else:
            raise
        watcher(Ended(certificate))
    assert certificate is not None  # or else `events_of` had raised
    return Run(learner.learned(), certificate, queries)


def _rules_of(event: Event) -> int:
    """Return how many rules a hypothesis has, where it is about to be judged."""
    return len(event.theory) if isinstance(event, Conjectured) else 0


def events_of(
    learner: Learner,
    membership: MembershipOracle,
    equivalence: EquivalenceOracle,
    speculate: bool = False,
    entailment: EntailmentOracle | None = None,
) -> Iterator[Event]:
    """Run a learner until a conjecture is accepted; yield what it and its oracles do.

    With `speculate`, all membership queries of a refinement go out as one batch. That asks some
    which the algorithm would not have asked; they are counted apart, and the result is the same.
    """
    # Looked up only when it is needed: a learner that asks about rules has no such oracle.
    talk = conversation(learner, lambda each: equivalence.judge(each), speculate, entailment)
    answers: Sequence[bool] | None = None
    try:
        while True:
            try:
                step = talk.send(answers)
            except StopIteration:
                return
            answers = None
            if isinstance(step, Ask):
                answers = membership.ask(step.batch)
            else:
                yield step
    finally:
        talk.close()


def conversation(
    learner: Learner,
    judge: Judge,
    speculate: bool = False,
    entailment: EntailmentOracle | None = None,
) -> Conversation:
    """Yield membership queries, whose answers are sent back, and events, until the learner ends.

    Nothing is asked here. `judge` gives the verdict on a hypothesis; it may be a generator that
    yields queries of its own, which are all needed.
    """
    asked = refinement = speculative = entailed = 0
    certificate: Certificate | None = None
    answer: Answer = None
    steps = learner.steps()
    try:
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                certificate = certificate if end.value is None else end.value
                break
            answer = None
            if isinstance(step, Ask):
                answer, needed = yield from _answers(step, speculate)
                refinement += needed
                speculative += len(answer) - needed
                yield Asked(step.batch, tuple(answer), needed)
            elif isinstance(step, Conjecture):
                yield Conjectured(asked + 1, step.hypothesis.theory)
                verdict = judge(step.hypothesis)
                if isinstance(verdict, Generator):
                    verdict = yield from verdict
                answer = verdict
                certificate = answer.certificate if isinstance(answer, Accepted) else None
                # A query that the budget refuses was not asked.
                asked += certificate is None or not certificate.refused
            elif isinstance(step, Entails):
                if entailment is None:
                    raise HornlensError(
                        f"{type(learner).__name__} asks whether rules hold: give `entailment`"
                    )
                answer = entailment.entails(step.rule)
                entailed += 1
            else:
                yield step
                continue
            yield Progress(Queries(asked, refinement, speculative, entailed))
    finally:
        steps.close()
    if certificate is None:
        raise HornlensError(
            f"{type(learner).__name__} ended without an accepted conjecture: a learner has to go "
            "on until the answer to a Conjecture is Accepted, or to return its certificate"
        )
    yield Ended(certificate)


def events(*args: Any, **options: Any) -> Iterator[Event]:
    """Run `events_of` by its old name."""
    old, new = "hornlens.learning.driver.events", "hornlens.learning.events_of"
    deprecated(old, new, since="0.3", removal="0.5")
    return events_of(*args, **options)


def _answers(
    question: Ask, speculate: bool
) -> Generator[Ask | Event, Sequence[bool] | None, tuple[list[bool], int]]:
    """Have an Ask answered, in one batch or one by one up to the first no; count the needed."""
    if question.all_answers or speculate:
        answers = list((yield Ask(question.batch, all_answers=True)) or ())
        if question.all_answers or False not in answers:
            return answers, len(answers)
        return answers, answers.index(False) + 1
    answers = []
    for x in question.batch:
        answers += (yield Ask((x,), all_answers=True)) or ()
        if not answers[-1]:
            break
    return answers, len(answers)


@dataclass(frozen=True)
class Bounds:
    """The proved bounds on counterexamples and on membership queries of a learner's own.

    The paper counts (2|V|+1)(|env|+k) equivalence queries; that many can bring counterexamples,
    and one more says yes.
    """

    equivalence: int
    membership: int

    @classmethod
    def of_envelope(cls, width: int, rules: int, non_horn: int) -> Bounds:
        """Return the bounds of Algorithm 1, and of HORN1 (where `non_horn` is 0)."""
        slots = rules + non_horn
        return cls((2 * width + 1) * slots + 1, (width + 1) * slots * slots)

    @classmethod
    def of_horn(cls, width: int, rules: int) -> Bounds:
        """Return the bounds of Algorithm 2: between two negatives, each single rule may fall."""
        negatives = (width + 1) * rules
        return cls(negatives * (negatives + 1) + 1, negatives * rules)
