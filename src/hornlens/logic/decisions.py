"""From scores to labels: which candidate wins, and when the answer is that there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Calibration = Literal["none", "neutral"]


@dataclass(frozen=True)
class Policy:
    """How a model's scores become a label. It sits above the cache: changing it asks nothing anew.

    `label_unset`: whether an interpretation without a label is accepted (it claims nothing).
    `margin`: how much more (in log-probability) the winner must have than the next.
    `top_k`: the winner must be among the model's k first choices of all words; None: anywhere.
    `abstain`: what an interpretation counts as where there is no winner.
    `calibration`: `neutral` subtracts the log-scores of the prompt with every attribute unset.
    """

    label_unset: Literal["accept", "reject"] = "accept"
    margin: float = 0.0
    top_k: int | None = None
    abstain: Literal["accept", "reject"] = "accept"
    calibration: Calibration = "none"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the model says to a prompt: the winner's index, or None and why there is none.

    `margin` is the winner's score minus the next; `scores` are those that were compared.
    """

    winner: int | None
    margin: float
    scores: tuple[float, ...]
    abstained: str = ""


def decide(policy: Policy, scores: Sequence[float], ranks: Sequence[int] | None = None) -> Decision:
    """Return the winner among the candidates, under a policy."""
    best, second = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:2]
    # Two scores of -inf are a tie, and their difference is not a number.
    margin = 0.0 if scores[best] == scores[second] else scores[best] - scores[second]
    reason = ""
    if margin == 0:
        reason = "tie"
    elif margin < policy.margin:
        reason = "margin"
    elif policy.top_k is not None and ranks is not None and ranks[best] >= policy.top_k:
        reason = "top_k"
    return Decision(None if reason else best, margin, tuple(scores), reason)
