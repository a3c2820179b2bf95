"""Extraction: a target in, its envelope and what it rests on out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hornlens.errors import HornlensError
from hornlens.extraction.questions import Questions
from hornlens.logic.basis import dg_basis
from hornlens.logic.certificates import EXACT
from hornlens.logic.decisions import Policy
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.space import Space
from hornlens.results.extraction import Extraction, Record
from hornlens.results.question import Question
from hornlens.results.settings import Settings
from hornlens.targets.protocol import PromptTarget, Target

if TYPE_CHECKING:
    from hornlens.exact.grid import LabelledSpace
    from hornlens.learning.events import Event
    from hornlens.learning.protocol import EquivalenceOracle, Learner, MembershipOracle


class Asking(NamedTuple):
    """What an equivalence oracle of one's own is made from.

    `membership` asks the target, and counts what it is asked as samples.
    """

    space: Space
    membership: MembershipOracle
    settings: Settings
    rng: Random


MakeLearner: TypeAlias = "Callable[[int], Learner]"
"""Makes a learner for so many variables."""
MakeOracle: TypeAlias = "Callable[[Asking], EquivalenceOracle]"
Watch: TypeAlias = "Callable[[Event], None]"


def extract(
    target: Target,
    *,
    settings: Settings | None = None,
    policy: Policy | None = None,
    learner: MakeLearner | None = None,
    equivalence: MakeOracle | None = None,
    watch: Watch | None = None,
) -> Extraction:
    """Return the rules that a target obeys, by asking it.

    Exact where all cells can be asked; else learned by Algorithm 1 with sampled equivalence
    queries, or by the learner and the equivalence oracle that are given. `watch` sees what a
    learner does, event by event.
    """
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    chosen = settings or Settings()
    prompted = target if isinstance(target, PromptTarget) else None
    if prompted is not None:
        question = prompted.question
    else:
        label = target.space.label
        names = () if label is None else label.variables
        question = Question(target.name, words={name: name for name in names})
    cells = target.space.cell_count if prompted is None else prompted.prompt_count
    exhaustive = chosen.is_exhaustive(cells, question.unit)
    identity = target.identity()
    questions = Questions(target, _policy(target, policy))
    if learner is None and equivalence is None and exhaustive:
        envelope = _tabulated(questions)
    else:
        labelled = questions.tabulate() if exhaustive else None
        envelope = _learned(questions, chosen, labelled, learner, equivalence, watch)
    scores = {} if prompted is None else prompted.scores
    distinct = len(questions.decisions) if prompted is None else len(scores)
    calls = distinct if prompted is None else distinct * prompted.repeats
    undecided = sum(decision.winner is None for decision in questions.decisions.values())
    statistics = {"model_calls": calls, "distinct_prompts": distinct, "abstentions": undecided}
    envelope = replace(envelope, statistics={**envelope.statistics, **statistics})
    return Extraction(
        question,
        target.name,
        identity,
        questions.policy,
        chosen,
        envelope,
        questions.decisions,
        target.show,
        scores,
        Record(
            started,
            time.perf_counter() - clock,
            calls if prompted is None else prompted.asked,
            0 if prompted is None else prompted.reused,
        ),
    )


def _policy(target: Target, given: Policy | None) -> Policy:
    """Return what undecided cells and missing labels count as; the rest is the target's own."""
    own: Policy = getattr(target, "policy", None) or Policy()
    if given is None:
        return own
    for name in ("margin", "top_k", "calibration"):
        if getattr(given, name) not in (getattr(Policy(), name), getattr(own, name)):
            raise HornlensError(f"a target decides by itself: give {name} to it, not to extract")
    return replace(own, label_unset=given.label_unset, abstain=given.abstain)


def _tabulated(questions: Questions) -> Envelope:
    """Label the whole space: the envelope is exact."""
    labelled = questions.tabulate()
    inside, positive = labelled.inside(), labelled.positive
    return Envelope.of(
        questions.space,
        labelled.dg_basis(),
        certificate=EXACT,
        non_horn=NonHorn.of(labelled.non_horn()),
        statistics={
            "equivalence_queries": 0,
            "membership_queries": int(inside.sum()),
            "negatives": int((inside & ~positive).sum()),
        },
    )


def _learned(
    questions: Questions,
    settings: Settings,
    labelled: LabelledSpace | None,
    learner: MakeLearner | None,
    equivalence: MakeOracle | None,
    watch: Watch | None,
) -> Envelope:
    """Learn by queries. Where the whole space is labelled, equivalence is judged exactly by it."""
    # Imported here: an exact run learns nothing, and starts the quicker.
    from hornlens.learning.driver import run
    from hornlens.learning.envelope import EnvelopeLearner
    from hornlens.oracles.equivalence import (
        BudgetedEquivalence,
        ExhaustiveEquivalence,
        SampledEquivalence,
    )
    from hornlens.oracles.known import KnownAnswers
    from hornlens.oracles.membership import CountingMembership

    space = questions.space
    sampled = CountingMembership(questions)
    rng = Random(settings.seed)
    oracle: EquivalenceOracle
    if equivalence is not None:
        oracle = equivalence(Asking(space, sampled, settings, rng))
    elif labelled is not None:
        oracle = ExhaustiveEquivalence(labelled)
    else:
        if settings.samples is None:  # the paper's protocol looks at its samples only
            questions.known = KnownAnswers(space.width)
        oracle = SampledEquivalence(
            sampled,
            space.sample,
            space.width,
            settings.epsilon,
            settings.delta,
            rng,
            questions.known,
            samples=settings.samples,
            measures=space.sampling,
        )
    if settings.equivalence == "budget":
        oracle = BudgetedEquivalence(oracle, settings.max_equivalence_queries)
    chosen = EnvelopeLearner(space.width) if learner is None else learner(space.width)
    done = run(chosen, questions, oracle, speculate=True, watch=watch)
    queries = done.queries
    non_horn = NonHorn.of(done.learned.non_horn, complete=False)
    if labelled is not None and done.certificate == EXACT:
        non_horn = NonHorn.of(labelled.non_horn())
    return Envelope.of(
        space,
        dg_basis(done.learned.hypothesis.theory, space.background),
        certificate=done.certificate,
        non_horn=non_horn,
        statistics={
            "equivalence_queries": queries.equivalence,
            "membership_queries": queries.refinement + queries.speculative + sampled.count,
            "refinement": queries.refinement,
            "speculative": queries.speculative,
            "equivalence_samples": sampled.count,
        },
    )
