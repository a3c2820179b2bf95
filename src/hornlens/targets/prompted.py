"""A language model asked a probe's questions, as a target: prompts, answers, decisions."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hornlens.formats.sent import Sent
from hornlens.logic.decisions import Decision, Policy, agreed
from hornlens.models.protocol import Answer, Model, ModelError
from hornlens.probes.probe import Probe
from hornlens.results.documents.details import NOTHING, Details
from hornlens.store.protocol import AnswerStore
from hornlens.targets.answers import Answers
from hornlens.targets.asking import (
    Progress,
    Prompts,
    asked_with,
    check_scored,
    decision_of,
    in_worlds,
    sent_for,
)
from hornlens.targets.protocol import Target, check_repeats


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
    drawn: bool = False
    """Whether each answer is to be a sample, as of a model whose answers vary."""

    def __post_init__(self) -> None:
        """Prepare the answers; nothing is asked, and nothing loaded."""
        check_repeats(self.repeats)
        self.answers = [
            [
                Answers(
                    asked_with(self.model, each, i, self.drawn), each.label.words, self.store, i
                )
                for each in self.probe.wordings
            ]
            for i in range(self.repeats)
        ]
        """For each repeat, those to each variant."""
        self._baselines: dict[int, Sequence[float]] = {}

    def identity(self) -> str | None:
        """Return the model's identity; a policy that it gives no scores for is an error now."""
        self._check_policy()
        return self.answers[0][0].identity

    @property
    def varies(self) -> bool:
        """Whether another answer to the same prompt may be another one."""
        return self.drawn or any(answers.sampled for answers in self.answers[0])

    def _check_policy(self) -> None:
        if any(answers.sampled for answers in self.answers[0]):
            check_scored(self.name, self.policy, len(self.probe.wordings))

    def prepare(self) -> None:
        """Find the model, and load it unless it has answered before: what is wrong is said now."""
        self._check_policy()
        for answers in self._all_answers:
            answers.prepare()

    @property
    def _all_answers(self) -> list[Answers]:
        return [answers for each in self.answers for answers in each]

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """The raw scores of every prompt so far, by word; none where the model named a word.

        Of repeated ones, the first.
        """
        found: dict[str, dict[str, float]] = {}
        for answers in self.answers[0]:
            for prompt, answer in answers.known.items():
                scored = zip(answers.candidates, answer.scores, strict=bool(answer.scores))
                found.setdefault(prompt, {}).update(scored)
        return found

    @property
    def details(self) -> Mapping[str, Details]:
        """What is known beside the scores, by prompt; of repeated ones, the first time."""
        known = (pair for answers in self.answers[0] for pair in answers.known.items())
        told = ((prompt, Details(a.first, a.share, a.unknown, a.replies)) for prompt, a in known)
        return {prompt: details for prompt, details in told if details != NOTHING}

    @property
    def asked(self) -> int:
        """How many prompts were put to the model."""
        return sum(answers.asked for answers in self._all_answers)

    @property
    def reused(self) -> int:
        """How many answers the store knew."""
        return sum(answers.reused for answers in self._all_answers)

    def sent(self, cells: Collection[int]) -> tuple[Sent, ...]:
        """Return what was sent for one of the cells, in each phrasing; the first time."""
        return sent_for(cells, self.probe.wordings, self.answers[0])

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what the model says of each cell, under the policy."""
        self._check_policy()
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
        asked = self._ask(cells, repeat)
        return [decision_of(answer, self.policy, baseline) for answer in asked]

    def _baseline(self, repeat: int) -> Sequence[float]:
        """Return what is subtracted from the scores of each cell; empty: nothing."""
        kind = self.policy.calibration
        if kind == "none":
            return ()
        if repeat not in self._baselines:
            cells = [0] if kind == "neutral" else list(self.space.cells())
            scored = [each.scores for each in self._ask(cells, repeat) if not each.outcome]
            if not scored:
                raise ModelError(
                    f"model {self.model.name} gives no answer to what others are measured by: "
                    "use calibration none"
                )
            columns = zip(*scored, strict=True)
            self._baselines[repeat] = [_mean(column) for column in columns]
        return self._baselines[repeat]

    def _ask(self, cells: Sequence[int], repeat: int) -> list[Answer]:
        """Return the answer to each cell: of several variants, one that is averaged."""
        asked: list[list[Answer]] = []
        for wording, source in zip(self.probe.wordings, self.answers[repeat], strict=True):
            asked.append(source.ask([wording.render(cell) for cell in cells], self.progress))
            if any(answer.named is not None for answer in asked[-1]):
                check_scored(self.name, self.policy, len(self.probe.wordings))
            if self.policy.top_k is not None and any(a.ranks is None for a in asked[-1]):
                raise ModelError(
                    f"model {self.model.name} ranks no vocabulary: top_k cannot be used"
                )
        if len(asked) == 1:
            return asked[0]
        return [_averaged(group) for group in zip(*asked, strict=True)]


def _averaged(answers: Sequence[Answer]) -> Answer:
    """Return the mean of scores and the worst of ranks; where one is no answer, it is none."""
    if outcome := next((answer.outcome for answer in answers if answer.outcome), ""):
        return Answer(outcome=outcome)
    columns = zip(*(answer.scores for answer in answers), strict=True)
    ranked = [answer.ranks for answer in answers if answer.ranks is not None]
    whole = len(ranked) == len(answers)
    ranks = tuple(max(column) for column in zip(*ranked, strict=True)) if whole else None
    return Answer(tuple(sum(column) / len(answers) for column in columns), ranks)


def _mean(scores: Sequence[float]) -> float:
    """Return the mean of those that are possible; -inf if none is."""
    finite = [score for score in scores if score != -math.inf]
    return math.fsum(finite) / len(finite) if finite else -math.inf
