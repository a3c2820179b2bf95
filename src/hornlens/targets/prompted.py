"""A language model asked a probe's questions, as a target: prompts, scores, decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hornlens.logic.decisions import Decision, Policy, agreed, decide
from hornlens.logic.space import Space
from hornlens.models.protocol import Model, ModelError
from hornlens.probes.probe import Probe
from hornlens.results.details import NOTHING, Details
from hornlens.results.question import Question
from hornlens.store.protocol import AnswerStore
from hornlens.targets.answers import Answers
from hornlens.targets.protocol import check_repeats

Progress = Callable[[int], None]
Scored = tuple[Sequence[float], Sequence[int] | None]
"""The scores of a cell, and the ranks of the candidates where there are any."""


@dataclass
class PromptedModel:
    """A probe's wording, a model, a store for its answers, and a policy.

    A cell is asked in every template; they are one question, and their scores are averaged. With
    `repeats`, each prompt is asked so often, and what most answers say is the decision.
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
        words = self.probe.label.words
        self.answers = [Answers(self.model, words, self.store, i) for i in range(self.repeats)]

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def space(self) -> Space:
        """The probe's space."""
        return self.probe.space

    @cached_property
    def question(self) -> Question:
        """The probe, without the wording of its values."""
        words = {value.name: value.word for value in self.probe.label.values}
        probe = self.probe
        return Question(probe.name, probe.description, probe.templates, words)

    @property
    def prompt_count(self) -> int:
        """How many prompts all cells take."""
        return self.probe.prompt_count

    def identity(self) -> str | None:
        """Return the model's identity."""
        return self.answers[0].identity

    def prepare(self) -> None:
        """Find the model, and load it unless it has answered before: what is wrong is said now."""
        for answers in self.answers:
            answers.prepare()

    def show(self, cell: int) -> tuple[str, ...]:
        """Return a cell's prompts."""
        return self.probe.render(cell)

    @property
    def scores(self) -> Mapping[str, tuple[float, ...]]:
        """The raw scores of every prompt so far; of repeated ones, the first."""
        return {prompt: answer.scores for prompt, answer in self.answers[0].known.items()}

    @property
    def details(self) -> Mapping[str, Details]:
        """What the model said beside its scores, by prompt; of repeated ones, the first time."""
        known = self.answers[0].known.items()
        told = ((prompt, Details(a.first, a.share, a.unknown)) for prompt, a in known)
        return {prompt: details for prompt, details in told if details != NOTHING}

    @property
    def asked(self) -> int:
        """How many prompts were put to the model."""
        return sum(answers.asked for answers in self.answers)

    @property
    def reused(self) -> int:
        """How many answers the store knew."""
        return sum(answers.reused for answers in self.answers)

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what the model says of each cell, under the policy."""
        rounds = [self._decide(cells, answers) for answers in self.answers]
        if len(rounds) == 1:
            return rounds[0]
        labels = len(self.probe.label.values)
        return [agreed(decisions, labels) for decisions in zip(*rounds, strict=True)]

    def _decide(self, cells: Sequence[int], answers: Answers) -> list[Decision]:
        neutral = self._scores([0], answers)[0][0] if self.policy.calibration == "neutral" else None
        decisions = []
        for scores, ranks in self._scores(cells, answers):
            if neutral is not None:
                scores = [s - n for s, n in zip(scores, neutral, strict=True)]
            decisions.append(decide(self.policy, scores, ranks))
        return decisions

    def _scores(self, cells: Sequence[int], source: Answers) -> list[Scored]:
        """Return scores (averaged) and ranks (the worst) over the templates, for each cell."""
        templates = len(self.probe.templates)
        prompts = [prompt for cell in cells for prompt in self.probe.render(cell)]
        answers = source.ask(prompts, self.progress)
        if self.policy.top_k is not None and any(answer.ranks is None for answer in answers):
            raise ModelError(f"model {self.model.name} ranks no vocabulary: top_k cannot be used")
        if templates == 1:
            return [(answer.scores, answer.ranks) for answer in answers]
        found: list[Scored] = []
        for start in range(0, len(answers), templates):
            group = answers[start : start + templates]
            columns = zip(*(answer.scores for answer in group), strict=True)
            scores = [sum(column) / templates for column in columns]
            ranked = [answer.ranks for answer in group if answer.ranks is not None]
            whole = len(ranked) == templates
            found.append((scores, [max(c) for c in zip(*ranked, strict=True)] if whole else None))
        return found
