"""Extraction: a target in, its envelope and what it rests on out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hornlens.errors import HornlensError
from hornlens.exact.engine import run as run_engine
from hornlens.exact.grid import MOST_POINTS, GridEngine, LabelledSpace
from hornlens.extraction.noise import certificate_of, check_noise, noisy_target, settle
from hornlens.extraction.questions import Questions, UnitedQuestions
from hornlens.extraction.summing import summed_up
from hornlens.limits import Limits, Stopped
from hornlens.logic.basis import dg_basis
from hornlens.logic.certificates import EXACT, Interrupted
from hornlens.logic.decisions import Policy
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.space import Space
from hornlens.results.extraction import Extraction, Record
from hornlens.results.question import Question
from hornlens.results.settings import COUNTED, Settings
from hornlens.results.worlds import union_of
from hornlens.targets.protocol import PromptTarget, Target
from hornlens.targets.worlds import Worlds

if TYPE_CHECKING:
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
    limits: Limits | None = None,
) -> Extraction:
    """Return the rules that a target obeys, by asking it.

    Exact where all cells can be asked; else learned by Algorithm 1 with sampled equivalence
    queries, or by the learner and the equivalence oracle that are given. `watch` sees what a
    learner does, event by event. Of several worlds, the rules are those that hold in all of them.

    If one of the `limits` is reached: the rules that are proved by then, and hypotheses.
    """
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    chosen = settings or Settings()
    worlds = target.targets if isinstance(target, Worlds) else {"": target}
    asked = [_World(name, each, _policy(each, policy), limits) for name, each in worlds.items()]
    unit = "prompt" if asked[0].prompted else "cell"
    exhaustive = chosen.is_exhaustive(sum(world.size for world in asked), unit)
    if target.space.complete:
        _check_complete(target, exhaustive and learner is None and equivalence is None)
    if not (learner is None and equivalence is None):
        if chosen.max_conditions is not None:
            raise HornlensError("a learner cannot promise every rule up to --max-conditions")
        for name in COUNTED:
            if getattr(chosen, name) is not None:
                raise HornlensError(f"{name} is for what is asked completely, not for a learner")
    for world in asked:
        if world.policy.calibration == "mean" and not exhaustive:
            raise HornlensError(
                "calibration mean is the mean over all cells, and not all of them are asked: "
                "raise --limit and use --equivalence exhaustive, or use calibration neutral"
            )
    noisy = noisy_target(asked[0].target)
    if noisy is not None:
        plain = learner is None and equivalence is None and chosen.max_conditions is None
        plain = plain and all(getattr(chosen, name) is None for name in COUNTED)
        check_noise(exhaustive, plain)
    identity = target.identity()
    if limits is not None:
        limits.begin()

    def envelope_of(
        questions: Questions | UnitedQuestions, watch: Watch | None, whole: bool = True
    ) -> Envelope:
        labelled = None
        try:
            if exhaustive:
                labelled = questions.tabulate()
        except Stopped as stopped:
            from hornlens.extraction.early import all_that_is_proved

            assert limits is not None
            most = chosen.max_conditions
            return all_that_is_proved(questions, stopped.reason, limits, most)
        if learner is None and equivalence is None and labelled is not None:
            ways = len(questions.worlds) if isinstance(questions, UnitedQuestions) else 1
            found = _tabulated(labelled, chosen, asked[0].question.unit, ways, limits)
            summing = whole and noisy is None and found.certificate.settled
            return summed_up(found, labelled, chosen) if summing else found
        return _learned(questions, chosen, labelled, learner, equivalence, watch, limits)

    if noisy is not None:
        settle([world.questions for world in asked], noisy.settings.settle)
    if not isinstance(target, Worlds):
        found = asked[0].extraction(chosen, envelope_of(asked[0].questions, watch), identity)
        return replace(found, record=_record(asked, started, clock))
    own = [envelope_of(world.questions, None, whole=False) for world in asked]
    every = [world.questions for world in asked]
    whole = envelope_of(UnitedQuestions(every), watch)
    # Only now: learning them together may have asked a world more than learning it alone did.
    each = tuple(
        world.extraction(chosen, envelope, world.target.identity())
        for world, envelope in zip(asked, own, strict=True)
    )
    if noisy is None:
        together = union_of(target.name, target.noun, identity, each, whole)
    else:
        certificate = certificate_of(every)
        whole = replace(whole, certificate=certificate)
        possible = replace(_possible(UnitedQuestions(every)), certificate=certificate)
        together = union_of(target.name, target.noun, identity, each, whole, possible)
    return replace(together, record=_record(asked, started, clock))


@dataclass(frozen=True)
class _World:
    """One way of asking: a target, and what it was asked."""

    name: str
    target: Target
    policy: Policy
    limits: Limits | None

    @cached_property
    def questions(self) -> Questions:
        return Questions(self.target, self.policy, limits=self.limits)

    @property
    def prompted(self) -> PromptTarget | None:
        return self.target if isinstance(self.target, PromptTarget) else None

    @property
    def size(self) -> int:
        """How many prompts, or cells, there are."""
        return self.prompted.prompt_count if self.prompted else self.target.space.cell_count

    @property
    def question(self) -> Question:
        """How people are told that it was asked."""
        if self.prompted:
            return self.prompted.question
        label = self.target.space.label
        names = () if label is None else label.variables
        return Question(self.target.name, words={name: name for name in names})

    def extraction(
        self, settings: Settings, envelope: Envelope, identity: str | None
    ) -> Extraction:
        """Return what was found in it."""
        decisions, prompted = self.questions.decisions, self.prompted
        scores = prompted.scores if prompted else {}
        distinct = len(scores) if prompted else len(decisions)
        noisy, possible = noisy_target(self.target), None
        if noisy is not None:
            envelope = replace(envelope, certificate=certificate_of([self.questions]))
            possible = replace(_possible(self.questions), certificate=envelope.certificate)
        statistics = {
            "model_calls": (
                noisy.noise.asked
                if noisy is not None
                else distinct * (prompted.repeats if prompted else 1)
            ),
            "distinct_prompts": distinct,
            "abstentions": sum(decision.winner is None for decision in decisions.values()),
        }
        return Extraction(
            self.question,
            self.target.name,
            identity,
            self.policy,
            settings,
            replace(envelope, statistics={**envelope.statistics, **statistics}),
            decisions,
            self.target.show,
            scores,
            world=self.name,
            details=getattr(prompted, "details", {}),
            possible=possible,
        )


def _record(asked: Sequence[_World], started: str, clock: float) -> Record:
    """Return how it went."""
    new = sum(
        each.prompted.asked if each.prompted else len(each.questions.decisions) for each in asked
    )
    reused = sum(each.prompted.reused for each in asked if each.prompted)
    return Record(started, time.perf_counter() - clock, new, reused)


def _check_complete(target: Target, whole: bool) -> None:
    """Refuse what cannot be done in a space in which no attribute is unset."""
    space = target.space
    if not whole:
        raise HornlensError(
            f"learners ask about partly set cells, and {target.name} has complete ones only: ask "
            f"all {space.cell_count:,} cells (--equivalence exhaustive, --limit), or give a "
            "classifier's target partial='typical'"
        )
    if space.count > MOST_POINTS:
        raise HornlensError(
            f"the rules of {target.name} are searched among {space.count:,} combinations of "
            f"conditions, {MOST_POINTS:,} at most: take fewer columns or bins, or use explain"
        )


def _policy(target: Target, given: Policy | None) -> Policy:
    """Return what undecided cells and missing labels count as; the rest is the target's own.

    In a complete space the label is always set: what has none does not occur.
    """
    own: Policy = getattr(target, "policy", None) or Policy()
    if target.space.complete:
        own = replace(own, label_unset="reject")
        given = given and replace(given, label_unset="reject")
    if given is None:
        return own
    for name in ("margin", "top_k", "calibration"):
        if getattr(given, name) not in (getattr(Policy(), name), getattr(own, name)):
            raise HornlensError(f"a target decides by itself: give {name} to it, not to extract")
    return replace(own, label_unset=given.label_unset, abstain=given.abstain)


def _possible(questions: Questions | UnitedQuestions) -> Envelope:
    """Return the rules that hold if what is undecided breaks none."""
    return _tabulated(questions.tabulate(undecided=False), Settings(), "cell")


def _tabulated(
    labelled: LabelledSpace,
    settings: Settings,
    unit: str,
    ways: int = 1,
    limits: Limits | None = None,
) -> Envelope:
    """Return the exact envelope of a space that was asked in so many ways.

    It is exact up to what the settings leave out.
    """
    max_conditions = settings.max_conditions
    inside, positive = labelled.inside(), labelled.positive
    statistics = {
        "equivalence_queries": 0,
        "membership_queries": int(inside.sum()),
        "negatives": int((inside & ~positive).sum()),
    }
    if settings.min_support is not None:
        from hornlens.exact.supported import supported_envelope_of_grid

        found = supported_envelope_of_grid(
            labelled, settings.min_support, max_conditions, statistics, f"{unit}s", ways, limits
        )
    elif max_conditions is not None:
        from hornlens.exact.bounded import bounded_envelope_of_grid

        found = bounded_envelope_of_grid(labelled, max_conditions, statistics, limits)
    else:
        done = run_engine(GridEngine(labelled), limits)
        found = Envelope.of(
            labelled.space,
            done.basis,
            certificate=done.certificate,
            non_horn=NonHorn.of(labelled.non_horn()) if done.ended is None else NonHorn(None),
            statistics=statistics,
        )
    return found


def _learned(
    questions: Questions | UnitedQuestions,
    settings: Settings,
    labelled: LabelledSpace | None,
    learner: MakeLearner | None,
    equivalence: MakeOracle | None,
    watch: Watch | None,
    limits: Limits | None,
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
    done = run(chosen, questions, oracle, speculate=True, watch=watch, limits=limits)
    queries = done.queries
    statistics = {
        "equivalence_queries": queries.equivalence,
        "membership_queries": queries.refinement + queries.speculative + sampled.count,
        "refinement": queries.refinement,
        "speculative": queries.speculative,
        "equivalence_samples": sampled.count,
    }
    if limits is not None and isinstance(done.certificate, Interrupted):
        from hornlens.extraction.early import what_was_learned

        theory, ended = done.learned.hypothesis.theory, done.certificate.reason
        return what_was_learned(questions, theory, ended, limits, labelled, statistics)
    non_horn = NonHorn.of(done.learned.non_horn, complete=False)
    if labelled is not None and done.certificate == EXACT:
        non_horn = NonHorn.of(labelled.non_horn())
    return Envelope.of(
        space,
        dg_basis(done.learned.hypothesis.theory, space.background),
        certificate=done.certificate,
        non_horn=non_horn,
        statistics=statistics,
    )
