"""Extraction: a target in, its rules and what they rest on out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from hornlens.errors import HornlensError
from hornlens.exact.grid import MOST_POINTS
from hornlens.exact.readings import reading
from hornlens.extraction.asking import Questions, UnitedQuestions, carry_out
from hornlens.extraction.conclude import Conclusion, Wanted, conclude
from hornlens.extraction.inside import engine_of, work_out
from hornlens.extraction.settling import (
    Settle,
    asked_once,
    check_ways,
    look_for_copies,
    noise_of,
    noisy_target,
)
from hornlens.extraction.sources import (
    check_one_model,
    details_of,
    sources_in,
    with_sources,
)
from hornlens.learning.strategies import Everything, Learning, Proposal, Strategy
from hornlens.limits import Limits, Reason, Stopped
from hornlens.logic.certificates import EXACT, Certificate
from hornlens.logic.decisions import Policy
from hornlens.logic.space import Space
from hornlens.results.analysis.detail import with_detail
from hornlens.results.analysis.worlds import union_of
from hornlens.results.documents.findings import Findings, Record
from hornlens.results.documents.question import Question
from hornlens.results.documents.settings import Settings
from hornlens.targets.asking import sent_to
from hornlens.targets.comparing import Comparing
from hornlens.targets.protocol import PromptTarget, Target
from hornlens.targets.rechecking import Rechecked, recheck
from hornlens.targets.worlds import Worlds

if TYPE_CHECKING:
    from hornlens.exact.engine import Progress as EngineProgress
    from hornlens.learning.events import Event
    from hornlens.learning.protocol import EquivalenceOracle, Learner, MembershipOracle
    from hornlens.learning.sifting.guessing import Forms


class Asking(NamedTuple):
    """What an equivalence oracle, or a strategy, of one's own is made from.

    `membership` asks the target, and counts what it is asked as samples.
    """

    space: Space
    membership: MembershipOracle
    settings: Settings
    rng: Random


MakeLearner: TypeAlias = "Callable[[int], Learner]"
"""Makes a learner for so many variables."""
MakeOracle: TypeAlias = "Callable[[Asking], EquivalenceOracle]"
MakeStrategy: TypeAlias = Callable[[Asking], Strategy]
Watch: TypeAlias = "Callable[[Event], None]"
USUAL = 2
"""How many conditions on attributes rules have that are sifted, where nothing is said of it."""


def extract(
    target: Target,
    *,
    settings: Settings | None = None,
    policy: Policy | None = None,
    learner: MakeLearner | None = None,
    equivalence: MakeOracle | None = None,
    strategy: MakeStrategy | None = None,
    watch: Watch | None = None,
    limits: Limits | None = None,
    progress: EngineProgress | None = None,
    told: Callable[[int], None] | None = None,
) -> Findings:
    """Return the rules that a target obeys, by its own engine or by asking it.

    One that can be looked into brings an engine, and is not asked. It is asked as others are if a
    learner, an oracle or a strategy is given, or the settings want samples or a budget.

    Exact where all cells can be asked; else learned by Algorithm 1 with sampled equivalence
    queries, or by the learner and the equivalence oracle that are given. A `strategy` of one's own
    chooses what is asked instead. `watch` sees what they do, event by event. Of several worlds, the
    rules are those that hold in all of them.

    If one of the `limits` is reached, or nothing more may be spent: what is proved by then.
    `progress` is called with the number of rules that an engine has proved, `told` with the number
    of cells that were decided, each time.
    """
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    chosen = settings or Settings()
    if learner is None and equivalence is None and strategy is None:
        engine = engine_of(target, chosen)
        if engine is not None:
            decided = _policy(target, policy)
            return work_out(target, engine, chosen, decided, watch, limits, progress)
    worlds = target.targets if isinstance(target, Worlds) else {"": target}
    unit = "prompt" if isinstance(next(iter(worlds.values())), PromptTarget) else "cell"
    if unit == "prompt" and limits is not None and limits.max_calls is not None:
        raise HornlensError(
            "Limits(max_calls=…) limits the calls of classifiers and functions; for a language "
            "model use ModelOptions(limits=Spending(calls=…))"
        )
    own = strategy is not None
    exhaustive = not own and chosen.is_exhaustive(question_count(target), unit)
    learns = learner is not None or equivalence is not None
    sifts = not (own or exhaustive or learns) and chosen.equivalence in ("auto", "sift")
    most = chosen.limit if not (exhaustive or own or chosen.equivalence == "budget") else None
    given = (most, chosen.max_questions, None if limits is None else limits.max_questions)
    if (fewest := min((n for n in given if n is not None), default=None)) is not None:
        limits = limits or Limits()
        limits.max_questions = fewest
    if sifts:
        worlds = {name: asked_once(each) for name, each in worlds.items()}
    asked = [
        _World(name, each, _policy(each, policy), limits, told) for name, each in worlds.items()
    ]
    if target.space.complete:
        _check_complete(target, own or (exhaustive and not learns), sifts)
    most = None if limits is None else limits.max_questions
    whole_asked = exhaustive and (most is None or question_count(target) <= most)
    for world in asked:
        if world.policy.calibration == "mean" and not whole_asked:
            raise HornlensError(
                "calibration mean is the mean over all cells, and not all of them are asked: raise "
                "--limit or --max-questions and use --equivalence exhaustive, or use calibration "
                "neutral"
            )
    noisy = noisy_target(asked[0].target)
    every = [world.questions for world in asked]
    united = UnitedQuestions(every) if len(every) > 1 else every[0]
    identity, early = None, None
    try:
        identity = target.identity()
        if noisy is not None:
            check_ways(every, noisy.settings.settle)
    except Stopped as stopped:  # it may take calls to find out how a model can be asked
        early = stopped.reason
    if limits is not None:
        limits.begin()
    work = _Work(chosen, exhaustive, learner, equivalence, strategy, limits, early, sifts)
    alone = [work.asked(w.questions, None) for w in asked] if len(asked) > 1 and not sifts else []
    ended, proposal = work.asked(united, watch)
    if sifts:  # what holds in all of them holds in each
        alone = [(ended, proposal)] * len(asked)
    if noisy is not None and ended is None:  # undecided cells may have left it nothing to ask
        ended = next((reason for reason, _ in alone if reason is not None), None)
    if noisy is not None and ended is None and noisy.settings.settle:
        ended = carry_out(Settle(united, noisy.settings.settle), united, watch, limits)
    targets = [world.target for world in asked]
    if noisy is not None:
        look_for_copies(targets)
        for world in asked:
            world.questions.review()
    check_one_model(targets)
    done = early is None and ended is None
    rechecked = recheck(targets) if done else [Rechecked() for _ in targets]
    wanted = Wanted(chosen.max_conditions, chosen.min_support, asked[0].question.unit)

    def concluded(
        questions: Questions | UnitedQuestions, ended: Reason | None, proposal: Proposal
    ) -> Conclusion:
        noise = noise_of(list(questions.worlds))
        return conclude(questions.knowledge, wanted, proposal, ended, limits, noise)

    whole = with_sources(concluded(united, ended, proposal), sources_in(every, rechecked))
    if whole.labelled is not None and whole.envelope.certificate.settled and learner is None:
        whole = Conclusion(with_detail(whole.envelope, whole.labelled, chosen), whole.possible)
    if not isinstance(target, Worlds):
        found = asked[0].extraction(chosen, whole, identity)
        return replace(found, record=_record(asked, started, clock, rechecked))
    # Only now: learning them together may have asked a world more than learning it alone did.
    each = tuple(
        world.extraction(
            chosen,
            with_sources(
                whole.alone(world.questions.knowledge)
                if sifts and early is None
                else concluded(world.questions, *one),
                sources_in([world.questions], [again]),
            ),
            None if early else world.target.identity(),
        )
        for world, one, again in zip(asked, alone, rechecked, strict=True)
    )
    together = union_of(target.name, target.noun, identity, each, whole.envelope, whole.possible)
    return replace(together, record=_record(asked, started, clock, rechecked))


@dataclass(frozen=True)
class _Work:
    """What decides which strategy asks."""

    settings: Settings
    exhaustive: bool
    learner: MakeLearner | None
    equivalence: MakeOracle | None
    strategy: MakeStrategy | None
    limits: Limits | None
    early: Reason | None = None
    """Which limit was reached before anything could be asked."""
    sifts: bool = False

    def asked(
        self, questions: Questions | UnitedQuestions, watch: Watch | None
    ) -> tuple[Reason | None, Proposal]:
        """Ask; return why that was ended before its end, if so, and what was proposed."""
        if self.early is not None:
            return self.early, Proposal()
        ended = None
        if self.exhaustive:
            ended = carry_out(Everything(questions.space), questions, watch, self.limits)
            if ended is not None or (self.learner is None and self.equivalence is None):
                return ended, Proposal()
        strategy = self._strategy(questions)
        ended = carry_out(strategy, questions, watch, self.limits)
        return ended, strategy.proposal()

    def _strategy(self, questions: Questions | UnitedQuestions) -> Strategy:
        # Imported here: an exact run learns nothing, and starts the quicker.
        from hornlens.learning.envelope import EnvelopeLearner
        from hornlens.oracles.equivalence import (
            BudgetedEquivalence,
            ExhaustiveEquivalence,
            SampledEquivalence,
            judging_of,
        )
        from hornlens.oracles.known import KnownAnswers
        from hornlens.oracles.membership import CountingMembership

        settings, space = self.settings, questions.space
        counted = CountingMembership(questions)
        rng = Random(settings.seed)
        asking = Asking(space, counted, settings, rng)
        if self.strategy is not None:
            return self.strategy(asking)
        if self.sifts:
            return self._sift(questions)
        oracle: EquivalenceOracle
        sampled: SampledEquivalence | None = None
        all_known: Callable[[], Certificate | None] | None = None
        if self.equivalence is not None:
            oracle = self.equivalence(asking)
        elif self.exhaustive:
            oracle = ExhaustiveEquivalence(reading(questions.knowledge))
        else:
            if settings.samples is None:  # the paper's protocol looks at its samples only
                questions.known = KnownAnswers(space.width)
                # A budget is used up whatever is known; a learner of one's own may want to go on.
                if settings.equivalence != "budget" and self.learner is None:
                    all_known = _all_known(questions)
            oracle = sampled = SampledEquivalence(
                counted,
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
        make = self.learner or EnvelopeLearner
        return Learning(
            make(space.width),
            lambda hypothesis: judging_of(oracle, hypothesis),
            drawn=lambda: counted.count if sampled is None else sampled.drawn,
            all_known=all_known,
        )

    def _sift(self, questions: Questions | UnitedQuestions) -> Strategy:
        """Return the strategy that finds all short rules; a cell is asked in every world."""
        from hornlens.learning.sifting.run import SiftOptions
        from hornlens.learning.sifting.sift import Sift

        settings, space = self.settings, questions.space
        if settings.min_support is not None:
            raise HornlensError("--min-support needs every answer: leave it out, or raise --limit")
        most = settings.max_conditions
        conditions = USUAL if most is None else most - (space.label is not None)
        if conditions < 0:
            raise HornlensError("--max-conditions counts the label as one: it must be 1 or more")
        each = sum(world.prompts for world in questions.worlds)
        room = None if self.limits is None else self.limits.room(each)
        varies = any(getattr(world.target, "varies", False) for world in questions.worlds)
        options = SiftOptions(
            conditions, settings.epsilon, settings.delta, settings.seed, room, varies
        )
        policies = [world.policy for world in questions.worlds]
        return Sift(space, policies, options, forms=forms_of(questions.worlds[0].target))


def _all_known(questions: Questions | UnitedQuestions) -> Callable[[], Certificate | None]:
    """Return what says, cheaply, whether every cell was asked: then it is a certificate."""
    total = questions.knowledge.total

    def certificate() -> Certificate | None:
        if any(len(world.decisions) < total for world in questions.worlds):
            return None
        return EXACT if not questions.knowledge.undecided else Certificate("open")

    return certificate


@dataclass(frozen=True)
class _World:
    """One way of asking: a target, and what it was asked."""

    name: str
    target: Target
    policy: Policy
    limits: Limits | None
    told: Callable[[int], None] | None = None

    @cached_property
    def questions(self) -> Questions:
        return Questions(
            self.target, self.policy, limits=self.limits, name=self.name, told=self.told
        )

    @property
    def prompted(self) -> PromptTarget | None:
        return self.target if isinstance(self.target, PromptTarget) else None

    @property
    def question(self) -> Question:
        """How people are told that it was asked."""
        own: Question | None = getattr(self.target, "question", None)
        if own is not None:
            return own
        label = self.target.space.label
        names = () if label is None else label.variables
        return Question(self.target.name, words={name: name for name in names})

    def extraction(
        self, settings: Settings, conclusion: Conclusion, identity: str | None
    ) -> Findings:
        """Return what was found in it."""
        decisions, prompted = self.questions.decisions, self.prompted
        scores = prompted.scores if prompted else {}
        details = details_of(self.target)
        is_compared = isinstance(self.target, Comparing)
        distinct = len(scores) if prompted else len(details if is_compared else decisions)
        noisy, envelope = noisy_target(self.target), conclusion.envelope
        statistics = {
            "questions": len(decisions),
            "model_calls": (noisy.noise.asked if noisy is not None else self._calls(distinct)),
            "distinct_prompts": distinct,
            "abstentions": sum(decision.winner is None for decision in decisions.values()),
        }
        return Findings(
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
            details=details,
            possible=conclusion.possible,
            sent=sent_to(self.target, decisions),
        )

    def _calls(self, distinct: int) -> int:
        """Return how often somebody was asked, for so many prompts or cells."""
        if self.prompted is not None:
            return distinct * self.prompted.repeats
        return self.target.asked_count if isinstance(self.target, Comparing) else distinct


def forms_of(target: Target) -> Forms | None:
    """Return what a target compares, if it does: answers tell more than whether they differ."""
    if not isinstance(target, Comparing):
        return None
    from hornlens.learning.sifting.guessing import Forms

    labels = target.parts[0].space.label
    count = 2 if labels is None else len(labels.variables)
    return Forms(
        target.form_count,
        count,
        lambda cells: np.array(target.answers(cells), dtype=np.int64).reshape(len(cells), -1),
    )


def question_count(target: Target) -> int:
    """Return how many prompts, or cells, there are, in all ways of asking."""
    if isinstance(target, Worlds):
        return sum(map(question_count, target.targets.values()))
    if isinstance(target, PromptTarget):
        return target.prompt_count
    return target.space.cell_count


def _record(
    asked: Sequence[_World], started: str, clock: float, rechecked: Sequence[Rechecked]
) -> Record:
    """Return how it went."""
    new = sum(
        each.prompted.asked if each.prompted else each._calls(len(each.questions.decisions))
        for each in asked
    )
    reused = sum(each.prompted.reused for each in asked if each.prompted)
    again = sum(each.asked for each in rechecked)
    return Record(started, time.perf_counter() - clock, new + again, reused)


def _check_complete(target: Target, whole: bool, sifts: bool) -> None:
    """Refuse what cannot be done in a space in which no attribute is unset."""
    space = target.space
    if sifts:
        return
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

    In a complete space the label is always set, and so it is where answers are compared: what has
    none does not occur.
    """
    own: Policy = getattr(target, "policy", None) or Policy()
    if target.space.complete or isinstance(target, Comparing):
        own = replace(own, label_unset="reject")
        given = given and replace(given, label_unset="reject")
    if given is None:
        return own
    for name in ("margin", "top_k", "calibration"):
        if getattr(given, name) not in (getattr(Policy(), name), getattr(own, name)):
            raise HornlensError(f"a target decides by itself: give {name} to it, not to extract")
    return replace(own, label_unset=given.label_unset, abstain=given.abstain)
