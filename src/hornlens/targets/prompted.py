"""Labels from answers: the membership oracle of a probe and a model, under a policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hornlens.exact.grid import LabelledDomain
from hornlens.logic.decisions import Decision, Policy, decide
from hornlens.models.protocol import ModelError
from hornlens.probes.probe import Probe
from hornlens.targets.answers import Answers

Progress = Callable[[int], None]


@dataclass
class ProbeMembership:
    """Accepts an interpretation iff its label is what the model says of its cell.

    Without a label it is accepted or rejected as the policy says; so is any label of a cell where
    the model abstains. Several templates are one question: their scores are averaged.
    """

    probe: Probe
    policy: Policy
    answers: Answers
    progress: Progress | None = None
    decisions: dict[int, Decision] = field(default_factory=dict)

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Answer a batch of membership queries with one batch of prompts."""
        outside = ~self.probe.label_mask
        unlabelled = self.policy.label_unset == "accept"
        cells = [x & outside for x in batch if x & self.probe.label_mask]
        self.decide(cells)
        accepted = []
        for x in batch:
            label = self.probe.label_of(x)
            accepted.append(unlabelled if label is None else self._says(x & outside, label))
        return accepted

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what the model says of each cell."""
        new = [cell for cell in dict.fromkeys(cells) if cell not in self.decisions]
        if new:
            neutral = self._scores([0])[0][0] if self.policy.calibration == "neutral" else None
            for cell, (scores, ranks) in zip(new, self._scores(new), strict=True):
                if neutral is not None:
                    scores = [s - n for s, n in zip(scores, neutral, strict=True)]
                self.decisions[cell] = decide(self.policy, scores, ranks)
        return [self.decisions[cell] for cell in cells]

    def tabulate(self) -> LabelledDomain:
        """Label the whole domain."""
        cells = list(self.probe.cells())
        winners = np.array(
            [-1 if d.winner is None else d.winner for d in self.decide(cells)], dtype=np.int64
        )
        labels = len(self.probe.label.values)
        positive = np.zeros((len(cells), labels + 1), dtype=np.bool_)
        positive[:, 0] = self.policy.label_unset == "accept"
        for index in range(labels):
            positive[:, index + 1] = winners == index
        if self.policy.abstain == "accept":
            positive[winners == -1, 1:] = True
        return LabelledDomain(self.probe.domain, positive.reshape(-1))

    def _says(self, cell: int, label: int) -> bool:
        winner = self.decisions[cell].winner
        return self.policy.abstain == "accept" if winner is None else winner == label

    def _scores(self, cells: Sequence[int]) -> list[tuple[list[float], list[int] | None]]:
        """Return scores (averaged) and ranks (the worst) over the templates, for each cell."""
        templates = len(self.probe.templates)
        prompts = [prompt for cell in cells for prompt in self.probe.render(cell)]
        answers = self.answers.ask(prompts, self.progress)
        found = []
        for start in range(0, len(answers), templates):
            group = answers[start : start + templates]
            columns = zip(*(answer.scores for answer in group), strict=True)
            scores = [sum(column) / templates for column in columns]
            ranked = [answer.ranks for answer in group if answer.ranks is not None]
            ranks = (
                [max(c) for c in zip(*ranked, strict=True)] if len(ranked) == templates else None
            )
            if self.policy.top_k is not None and ranks is None:
                raise ModelError(
                    f"model {self.answers.model.name} ranks no vocabulary: top_k cannot be used"
                )
            found.append((scores, ranks))
        return found
