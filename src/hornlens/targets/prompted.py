"""A language model asked a probe's questions, as a target: prompts, scores, decisions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hornlens.logic.decisions import Decision, Policy, agreed, calibrated, decide
from hornlens.models.protocol import Answer, Model, ModelError
from hornlens.probes.probe import Probe
from hornlens.results.details import NOTHING, Details
from hornlens.store.protocol import AnswerStore
from hornlens.targets.answers import Answers
from hornlens.targets.asking import Progress, Prompts, asked_with, in_worlds, replies_of
from hornlens.targets.protocol import Target, check_repeats


class Scored(NamedTuple):
    """The scores of a cell, the ranks of the candidates where there are any, and why it has none.

    A model that answers none of the candidates says so by its `outcome`, and by no score.
    """

    scores: Sequence[float]
    ranks: Sequence[int] | None = None
    outcome: str = ""


def prompted(
    probe: Probe,
    model: Model,
    policy: Policy | None = None,
    store: AnswerStore | None = None,
    progress: Progress | None = None,
    repeats: int = 1,
) -> Target:
    """Return a model that is asked a probe's questions, each phrasing of them a world of its own.

    Where there is only one, or the policy averages them, that is a PromptedModel.
    """
    chosen = policy or probe.policy
    return in_worlds(
        probe,
        model,
        chosen,
        lambda one, way, _: PromptedModel(one, way, chosen, store, progress, repeats),
    )


@dataclass
class PromptedModel(Prompts):
    """A probe's wording, a model, a store for its answers, and a policy.

    A cell is asked in every variant of the probe; they are one question here, and their scores are
    averaged (`prompted` makes each its own). With `repeats`, each prompt is asked so often, and
    what most answers say is the decision.

    >>> from hornlens import extract, load_probe
    >>> from hornlens.models import FunctionModel
    >>> probe = load_probe("gender-occupation")
    >>> model = FunctionModel(lambda prompt, words: [0.9, 0.1])
    >>> target = PromptedModel(probe, model, probe.policy)
    >>> extract(target).rules, target.asked
    (<Rules: 1>, 660)
    """

    probe: Probe
    model: Model
    policy: Policy
    store: AnswerStore | None = None
    progress: Progress | None = None
    repeats: int = 1

    def __post_init__(self) -> None:
        """Prepare the answers; nothing is asked, and nothing loaded."""
        check_repeats(self.repeats)
        self.answers = [
            [
                Answers(asked_with(self.model, each, i), each.label.words, self.store, i)
                for each in self.probe.wordings
            ]
            for i in range(self.repeats)
        ]
        """For each repeat, those to each variant."""
        self._baselines: dict[int, Sequence[float]] = {}

    def identity(self) -> str | None:
        """Return the model's identity."""
        return self.answers[0][0].identity

    def prepare(self) -> None:
        """Find the model, and load it unless it has answered before: what is wrong is said now."""
        for answers in self._all_answers:
            answers.prepare()

    @property
    def _all_answers(self) -> list[Answers]:
        return [answers for each in self.answers for answers in each]

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """The raw scores of every prompt so far, by word; of repeated ones, the first."""
        found: dict[str, dict[str, float]] = {}
        for answers in self.answers[0]:
            for prompt, answer in answers.known.items():
                scored = zip(answers.candidates, answer.scores, strict=True)
                found.setdefault(prompt, {}).update(scored)
        return found

    @property
    def details(self) -> Mapping[str, Details]:
        """What the model said beside its scores, by prompt; of repeated ones, the first time."""
        known = (pair for answers in self.answers[0] for pair in answers.known.items())
        told = (
            (prompt, Details(a.first, a.share, a.unknown, replies_of(a))) for prompt, a in known
        )
        return {prompt: details for prompt, details in told if details != NOTHING}

    @property
    def asked(self) -> int:
        """How many prompts were put to the model."""
        return sum(answers.asked for answers in self._all_answers)

    @property
    def reused(self) -> int:
        """How many answers the store knew."""
        return sum(answers.reused for answers in self._all_answers)

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what the model says of each cell, under the policy."""
        rounds = [self._decide(cells, i) for i in range(self.repeats)]
        if len(rounds) == 1:
            return rounds[0]
        labels = len(self.probe.label.values)
        return [agreed(decisions, labels) for decisions in zip(*rounds, strict=True)]

    def answered(self, cells: Sequence[int]) -> list[int]:
        """Return those of the cells whose prompts have all been answered.

        Without what is subtracted from all scores, that is none.
        """
        basis = {"none": [], "neutral": [0], "mean": self.space.cells()}[self.policy.calibration]
        if not all(map(self._is_answered, basis)):
            return []
        return [cell for cell in cells if self._is_answered(cell)]

    def _is_answered(self, cell: int) -> bool:
        prompts = [wording.render(cell) for wording in self.probe.wordings]
        return all(
            prompt in source.known
            for answers in self.answers
            for prompt, source in zip(prompts, answers, strict=True)
        )

    def _decide(self, cells: Sequence[int], repeat: int) -> list[Decision]:
        baseline = self._baseline(repeat)
        return [
            Decision(None, abstained=outcome)
            if outcome
            else decide(self.policy, calibrated(scores, baseline) if baseline else scores, ranks)
            for scores, ranks, outcome in self._scores(cells, repeat)
        ]

    def _baseline(self, repeat: int) -> Sequence[float]:
        """Return what is subtracted from the scores of each cell; empty: nothing."""
        kind = self.policy.calibration
        if kind == "none":
            return ()
        if repeat not in self._baselines:
            cells = [0] if kind == "neutral" else list(self.space.cells())
            scored = [each.scores for each in self._scores(cells, repeat) if not each.outcome]
            if not scored:
                raise ModelError(
                    f"model {self.model.name} gives no answer to what others are measured by: "
                    "use calibration none"
                )
            columns = zip(*scored, strict=True)
            self._baselines[repeat] = [_mean(column) for column in columns]
        return self._baselines[repeat]

    def _scores(self, cells: Sequence[int], repeat: int) -> list[Scored]:
        """Return scores (averaged) and ranks (the worst) over the variants, for each cell."""
        said: list[list[Answer]] = []
        for wording, source in zip(self.probe.wordings, self.answers[repeat], strict=True):
            said.append(source.ask([wording.render(cell) for cell in cells], self.progress))
            if self.policy.top_k is not None and any(a.ranks is None for a in said[-1]):
                raise ModelError(
                    f"model {self.model.name} ranks no vocabulary: top_k cannot be used"
                )
        if len(said) == 1:
            return [Scored(answer.scores, answer.ranks, answer.outcome) for answer in said[0]]
        found: list[Scored] = []
        for group in zip(*said, strict=True):
            columns = zip(*(answer.scores for answer in group), strict=True)
            scores = [sum(column) / len(group) for column in columns]
            ranked = [answer.ranks for answer in group if answer.ranks is not None]
            whole = len(ranked) == len(group)
            ranks = [max(column) for column in zip(*ranked, strict=True)] if whole else None
            outcome = next((answer.outcome for answer in group if answer.outcome), "")
            found.append(Scored(scores, ranks, outcome))
        return found


def _mean(scores: Sequence[float]) -> float:
    """Return the mean of those that are possible; -inf if none is."""
    finite = [score for score in scores if score != -math.inf]
    return math.fsum(finite) / len(finite) if finite else -math.inf
