"""A model whose answers vary, as a target: asked until a test decides, or not decided.

Answers that are samples are counted until an anytime-valid test certifies the most frequent one.
Answers with log-probabilities decide at once; a sample of prompts is asked again, and what leads by
no more than the leads there have moved is undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import NamedTuple

from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.formats.sent import Sent
from hornlens.logic.counting import cells_above
from hornlens.logic.decisions import UNDECIDED, Decision, Policy, lead
from hornlens.logic.maskmap import mask_map
from hornlens.logic.repeats import Repeats, certified, fewest, threshold
from hornlens.models.protocol import Answer, Model, ModelError
from hornlens.probes.probe import Probe
from hornlens.results.analysis.copies import copies_of
from hornlens.results.documents.details import NOTHING, Details
from hornlens.store.protocol import AnswerStore
from hornlens.targets.answers import Answers
from hornlens.targets.asking import (
    Progress,
    Prompts,
    asked_with,
    check_scored,
    in_worlds,
    sent_for,
)
from hornlens.targets.prompted import PromptedModel
from hornlens.targets.protocol import Target

REASKED = 50
"""How many prompts with log-probabilities are asked again, at least; or a tenth of all."""


def needed_evidence(settings: Repeats, probe: Probe, worlds: int) -> Fraction:
    """Return the evidence that decides a cell, where so many ways of asking share the level."""
    each = cells_above(probe.space)
    cells = (probe.space.cell_count if each is None else each) * worlds
    return threshold(settings.alpha, cells, len(probe.label.values) + 1)


def too_few(settings: Repeats, probe: Probe, worlds: int) -> str:
    """Return why so few repeats of samples can decide nothing; "" if they are enough."""
    needed = fewest(needed_evidence(settings, probe, worlds))
    if needed <= settings.most + settings.settle:
        return ""
    prompts = plural(probe.space.cell_count * worlds, "prompt")
    return (
        f"--repeats {settings.most:,} can decide nothing: with {prompts} and --alpha "
        f"{settings.alpha:g}, even a prompt that always gets the same answer is decided after "
        f"{needed:,}; use --repeats {needed:,} or more, or auto"
    )


class MeasuredNoise(NamedTuple):
    """What is known of a model's noise after it was asked."""

    asked: int
    """How many answers there are in all."""
    alpha: float | None = None
    """The level at which repeated answers decide; None: the answers have log-probabilities."""
    most: int | None = None
    drift: float | None = None
    """How far leads moved at most, when prompts were asked again."""
    reasked: int | None = None
    copied: int | None = None
    """How many replies look like copies, where they do: then nothing is decided by repeats."""


class NoisyModel(Prompts):
    """A probe's questions to a model that answers with noise. One phrasing only.

    `worlds`: how many such targets share the level.
    """

    repeats = 1  # beside those that are counted here

    def __init__(
        self,
        probe: Probe,
        model: Model,
        policy: Policy,
        store: AnswerStore | None = None,
        progress: Progress | None = None,
        noise: Repeats | None = None,
        worlds: int = 1,
    ):
        """Keep the settings; nothing is asked yet."""
        if len(probe.variants) > 1:
            raise HornlensError(
                "--repeats: answers that vary cannot be averaged over phrasings; leave each its "
                "own (policy phrasings: each)"
            )
        self.probe, self.model, self.policy = probe, model, policy
        self.store, self.progress, self.settings = store, progress, noise or Repeats()
        self.worlds = worlds
        self._rounds: list[Answers] = []
        width = probe.space.width
        self._counts: MutableMapping[int, list[int]] = mask_map(width)
        self._silent: MutableMapping[int, Counter[str]] = mask_map(width)
        self._scored: MutableMapping[int, Decision] = mask_map(width)
        self._drift: float | None = None
        self._reasked = 0
        self._unsteady: set[str] = set()
        self._copied: int | None = None
        self._compared = 0
        """How many answers there were when replies were last looked at for copies."""
        self._given_up: MutableMapping[int, None] = mask_map(width)
        """Cells that are not asked any more, though they are not decided."""

    def identity(self) -> str | None:
        """Return the model's identity; a policy that it gives no scores for is an error now."""
        _ = self.sampled  # looks at the policy
        return self._round(0).identity

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """The scores of every prompt so far, by word; samples have none."""
        words = self.probe.wordings[0].label.words
        known = self._rounds[0].known if self._rounds else {}
        return {p: dict(zip(words, a.scores, strict=bool(a.scores))) for p, a in known.items()}

    @property
    def details(self) -> Mapping[str, Details]:
        """What is known beside the scores, by prompt: the replies of all repeats."""
        found: dict[str, Details] = {}
        for answers in self._rounds:
            for prompt, a in answers.known.items():
                told = found.setdefault(prompt, Details(a.first, a.share, a.unknown))
                found[prompt] = replace(told, replies=(*told.replies, *a.replies))
        return {prompt: details for prompt, details in found.items() if details != NOTHING}

    def sent(self, cells: Collection[int]) -> tuple[Sent, ...]:
        """Return what was sent for one of the cells, the first time."""
        return sent_for(cells, self.probe.wordings[:1], self._rounds[:1])

    @property
    def asked(self) -> int:
        """How many prompts were put to the model, repeats included."""
        return sum(answers.asked for answers in self._rounds)

    @property
    def reused(self) -> int:
        """How many answers the store knew."""
        return sum(answers.reused for answers in self._rounds)

    @cached_property
    def sampled(self) -> bool:
        """Whether an answer is a sample: it names something, and has no log-probabilities."""
        sampled = self._round(0).sampled
        if sampled:
            check_scored(self.name, self.policy, 1)
        return sampled

    @cached_property
    def _needed(self) -> Fraction:
        return needed_evidence(self.settings, self.probe, self.worlds)

    def once(self) -> PromptedModel:
        """Return the same model, asked each prompt once: what is said of many cells is a sample."""
        policy, progress = self.policy, self.progress
        return PromptedModel(self.probe, self.model, policy, self.store, progress, drawn=True)

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what the model says most often of each cell, or that it is not decided."""
        if not self.sampled:
            return self._decide_by_scores(cells)
        self._ask(cells, self.settings.most)
        return [self._decision(cell) for cell in cells]

    def answered(self, cells: Sequence[int]) -> list[int]:
        """Return the cells that have an answer: from now on they are not asked again.

        The test is valid whenever it ends, so what it has not decided by then is undecided.
        """
        if self.sampled:
            for cell in cells:
                self._count_known(cell)
            some = [cell for cell in cells if any(self._counts.get(cell, ()))]
        else:
            some = self._by_scores.answered(cells)
        self._given_up.update(dict.fromkeys(some))
        return some

    def settle(self, cells: Sequence[int], more: int) -> None:
        """Ask cells that are not decided so many times more, or until they are."""
        if self.sampled:
            self._ask(cells, max(sum(self._counts[cell]) for cell in cells) + more)

    @property
    def noise(self) -> MeasuredNoise:
        """What was found of its noise."""
        if not self._counts and not self._scored:
            return MeasuredNoise(0, drift=0.0, reasked=0)  # nobody knows how it would be asked
        if self.sampled:
            asked = sum(map(sum, self._counts.values()))
            most = max(map(sum, self._counts.values()), default=0)
            if self._copied is not None:
                return MeasuredNoise(asked, most=most, copied=self._copied)
            return MeasuredNoise(asked, self.settings.alpha, max(most, self.settings.most))
        return MeasuredNoise(
            len(self._scored) + self._reasked, drift=self._drift or 0.0, reasked=self._reasked
        )

    def _ask(self, cells: Sequence[int], most: int) -> None:
        """Ask each cell again until it is decided, `most` times in all."""
        outcomes = len(self.probe.label.values) + 1
        for cell in cells:
            self._counts.setdefault(cell, [0] * outcomes)
            self._silent.setdefault(cell, Counter())
        for i in range(most):
            if i and self._copied is not None:
                return  # one more copy would tell nothing
            now = [
                cell
                for cell in cells
                if sum(self._counts[cell]) == i
                and cell not in self._given_up
                and certified(self._counts[cell], self._needed) is None
            ]
            if not now:
                continue
            answers = self._round(i).ask([self._prompt(cell) for cell in now], self.progress)
            for cell, answer in zip(now, answers, strict=True):
                self._count(cell, answer)
            if i and 4 * sum(len(each.known) for each in self._rounds) > 5 * self._compared:
                self.look_for_copies()

    def look_for_copies(self) -> int | None:
        """Return how many replies are copies of earlier ones, if they are; None: they are not.

        From then on nothing is decided by repeats.
        """
        if self._copied is None and len(self._rounds) > 1 and self._counts:
            self._compared = sum(len(answers.known) for answers in self._rounds)
            copies = copies_of([self.details])
            if copies.evident:
                self._copied = copies.count
        return self._copied

    def distrust(self, copied: int) -> None:
        """Decide nothing by repeats: in another way of asking, so many replies were copies."""
        self._copied = copied if self._copied is None else self._copied

    def _count(self, cell: int, answer: Answer) -> None:
        self._counts[cell][-1 if answer.named is None else answer.named] += 1
        if answer.named is None:
            self._silent[cell][answer.outcome] += 1

    def _count_known(self, cell: int) -> None:
        """Count an answer of a round that was ended in its midst."""
        counts = self._counts.get(cell)
        if counts is not None and sum(counts) < len(self._rounds):
            answer = self._rounds[sum(counts)].known.get(self._prompt(cell))
            if answer is not None:
                self._count(cell, answer)

    def _decision(self, cell: int) -> Decision:
        counts, repeats = self._counts[cell], tuple(self._counts[cell][:-1])
        place = certified(counts, self._needed) if self._copied is None else None
        silent = counts[-1]
        if place == len(repeats):  # none of the candidates, most often
            reason = self._silent[cell].most_common(1)[0][0]
            return Decision(None, abstained=reason, repeats=repeats, silent=silent)
        reason = UNDECIDED if place is None else ""
        return Decision(place, abstained=reason, repeats=repeats, silent=silent)

    def _decide_by_scores(self, cells: Sequence[int]) -> list[Decision]:
        first = self._by_scores
        decisions = first.decide(cells)
        known = (self._scored, self._given_up)
        self._measure_drift([cell for cell in cells if not any(cell in each for each in known)])
        drift = self._drift or 0.0
        found = []
        for decision, cell in zip(decisions, cells, strict=True):
            close = drift > 0 and decision.winner is not None and decision.margin <= drift
            close |= self._drift is None and decision.winner is not None  # how far is not known
            if self._prompt(cell) in self._unsteady:  # once there was an answer, and once not
                decision = Decision(None, abstained=UNDECIDED)
            elif close:
                decision = decision._replace(winner=None, abstained=UNDECIDED)
            self._scored[cell] = decision
            found.append(decision)
        return found

    @cached_property
    def _by_scores(self) -> PromptedModel:
        found = PromptedModel(self.probe, self.model, self.policy, self.store, self.progress)
        self._rounds[:] = [found.answers[0][0], *self._rounds[1:]]
        return found

    def _measure_drift(self, cells: Sequence[int]) -> None:
        """Ask some of these prompts again; note how far the leads of any two candidates moved.

        A tenth of all are asked again, and of the first ones so many that there are enough.
        """
        if not cells:
            return
        if any(answer.named is not None for answer in self._rounds[0].known.values()):
            raise ModelError(
                f"{self.name} names candidates and gives no scores: --repeats has to know that "
                "its answers are samples (sampled = True)"
            )
        many = min(len(cells), max(REASKED - self._reasked, len(cells) // 10))
        chosen = sorted(Random(0).sample(range(len(cells)), many))
        prompts = [self._prompt(cells[place]) for place in chosen]
        again = self._round(1).ask(prompts, self.progress)
        drift = self._drift or 0.0
        for prompt, new in zip(prompts, again, strict=True):
            old = self._rounds[0].known[prompt]
            if old.outcome or new.outcome:
                if old.outcome != new.outcome:
                    self._unsteady.add(prompt)
                continue
            moved = [lead(a, b) for a, b in zip(old.scores, new.scores, strict=True)]
            drift = max(drift, max(moved) - min(moved))
        self._drift = drift
        self._reasked += len(prompts)

    def _prompt(self, cell: int) -> str:
        return self.probe.render(cell)[0]

    def _asked_with(self, repeat: int) -> Model:
        return asked_with(self.model, self.probe.wordings[0], repeat, drawn=True)

    def _round(self, i: int) -> Answers:
        """Return the answers to the i-th repeat."""
        while len(self._rounds) <= i:
            k = len(self._rounds)
            words = self.probe.wordings[0].label.words
            self._rounds.append(Answers(self._asked_with(k), words, self.store, k))
        return self._rounds[i]


def noisy(
    probe: Probe,
    model: Model,
    policy: Policy | None = None,
    store: AnswerStore | None = None,
    progress: Progress | None = None,
    noise: Repeats | None = None,
) -> Target:
    """Return a model that answers with noise, each phrasing of its questions a world of its own.

    All of them share the level.
    """
    chosen, settings = policy or probe.policy, noise or Repeats()
    return in_worlds(
        probe,
        model,
        chosen,
        lambda one, way, many: NoisyModel(one, way, chosen, store, progress, settings, many),
    )
