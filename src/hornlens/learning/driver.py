"""The driver: runs a learner against oracles, and counts what it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hornlens.learning.protocol import (
    Accepted,
    Ask,
    BudgetExhausted,
    EquivalenceOracle,
    Learned,
    Learner,
    MembershipOracle,
    Verdict,
)
from hornlens.logic.envelope import Certificate


@dataclass
class Queries:
    """How many queries a learner asked. `speculative`: in a batch, beyond the first no."""

    equivalence: int = 0
    refinement: int = 0
    speculative: int = 0


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
    progress: Callable[[Queries], None] | None = None,
) -> Run:
    """Run a learner to its end: an accepted conjecture, or a budget of queries used up.

    With `speculate`, all membership queries of a refinement go out as one batch. That asks some
    which the algorithm would not have asked; they are counted apart, and the result is the same.
    """
    queries = Queries()
    steps = learner.steps()
    answer: Sequence[bool] | Verdict
    try:
        question = next(steps)
        while True:
            if isinstance(question, Ask):
                answer = _ask(membership, question.batch, speculate, queries)
            else:
                answer = equivalence.judge(question.hypothesis)
                if isinstance(answer, Accepted):
                    certificate = answer.certificate
                # A query that the budget refuses was not asked.
                refused = isinstance(answer, Accepted) and certificate.kind == "budget_exhausted"
                queries.equivalence += not refused
            if progress is not None:
                progress(queries)
            question = steps.send(answer)
    except StopIteration:
        pass
    except BudgetExhausted as exhausted:
        certificate = Certificate("budget_exhausted", {"membership_queries": exhausted.queries})
    finally:
        steps.close()
    return Run(learner.learned(), certificate, queries)


def _ask(
    oracle: MembershipOracle, batch: tuple[int, ...], speculate: bool, queries: Queries
) -> list[bool]:
    """Answer an Ask: in one batch, or one by one up to the first no."""
    if speculate:
        answers = oracle.ask(batch)
        needed = answers.index(False) + 1 if False in answers else len(answers)
        queries.refinement += needed
        queries.speculative += len(answers) - needed
        return answers
    answers = []
    for x in batch:
        queries.refinement += 1
        answers += oracle.ask((x,))
        if not answers[-1]:
            break
    return answers


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
