"""From answers to accepted interpretations: decisions, policies, and who accepts what."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hornlens.errors import HornlensError

Calibration = Literal["none", "neutral", "mean"]
NO, YES = 0, 1
"""What a target decides in a space without a label: it rejects the cell, or accepts it."""
UNDECIDED = "undecided"
"""The reason of a cell whose answers vary: it has an answer, which is not known."""

REASONS = {
    "tie": "the candidates tied",
    "margin": "the lead was too small",
    "top_k": "no candidate was among the model’s first choices",
    "repeats": "repeated answers disagreed",
    "undecided": "its answers vary too much to decide, or are copies",
    "worlds": "the ways of asking disagreed",
    "refusal": "it refused to answer",
    "cut": "its reply was cut off",
    "unclear": "its reply names several candidates, or none for sure",
    "order": "its answer depends on the order of the options",
    "other": "it answered something else",
    "none": "it gave no answer",
    "half": "only some of the answers to compare were given",
}
"""Why a target gives no answer, in words."""


def reason_in_words(abstained: str) -> str:
    """Return why there is no answer; a target of another's may give a reason of its own."""
    return REASONS.get(abstained, abstained or "no reason was given")


def check_choices(value: Any) -> None:
    """Refuse a value whose fields say what their types do not allow: another word, no number."""
    for name, hint in _hints(type(value)).items():  # type: ignore[arg-type]  # classes are hashable
        allowed, given = get_args(hint), getattr(value, name)
        if get_origin(hint) is Literal:
            check_word(name, given, hint)
        elif (given is None and NoneType in allowed) or (isinstance(given, str) and str in allowed):
            continue
        elif not isinstance(given, Real) or isinstance(given, bool) or not _is_finite(given):
            raise HornlensError(f"{name} must be a number, not {given!r}")
        elif int in (hint, *allowed) and not isinstance(given, Integral):
            raise HornlensError(f"{name} must be a whole number, not {given!r}")


def check_word(name: str, given: Any, hint: Any) -> None:
    """Refuse a word that is none of those of a Literal."""
    allowed = get_args(hint)
    if given not in allowed:
        words = ", ".join(map(repr, allowed))
        raise HornlensError(f"{name} must be one of {words}, not {given!r}")


def _is_finite(number: Any) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number that is larger than any float
        return False


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@dataclass(frozen=True)
class Policy:
    """How scores become a label. It sits above the cache: changing it asks nothing anew.

    Args:
        label_unset: Whether an interpretation without a label is accepted (it claims nothing).
        margin: How much more (in log-probability) the winner must have than the next. With less,
            the model abstains.
        top_k: The winner must be among the model's k most probable words. None: anywhere.
        abstain: What an interpretation counts as where there is no winner.
        calibration: What is subtracted from the log-scores of each cell: "none", "neutral" (the
            scores of the cell with every attribute unset) or "mean" (the mean over all cells).
        phrasings: Of several phrasings, "each" is decided by itself; "average" averages their
            log-scores.

    Raises:
        HornlensError: if a value makes no sense.

    >>> decide(Policy(margin=1.0), [-0.6, -0.9]).abstained
    'margin'
    """

    label_unset: Literal["accept", "reject"] = "accept"
    margin: float = 0.0
    top_k: int | None = None
    abstain: Literal["accept", "reject"] = "accept"
    calibration: Calibration = "none"
    phrasings: Literal["each", "average"] = "each"

    def __post_init__(self) -> None:
        """Refuse what is no policy."""
        check_choices(self)
        if not self.margin >= 0:
            raise HornlensError(f"margin must be 0 or more, not {self.margin!r}")
        if self.top_k is not None and self.top_k < 1:
            raise HornlensError(f"top_k must be 1 or more, not {self.top_k!r}")


class Decision(NamedTuple):
    """What a target says of a cell: the winning label's place, or None and why there is none.

    In a space without a label the winner is YES or NO. `scores` are those that were compared, and
    `margin` is the winner's minus the next; a target that names a label has none, and a margin of 0
    that means nothing. `repeats` counts how often each label won, where the cell was asked more
    than once, and `silent` how often none did, where that is known.

    >>> decide(Policy(), [-0.1, -2.3]).winner
    0
    """

    winner: int | None
    margin: float = 0.0
    scores: tuple[float, ...] = ()
    abstained: str = ""
    repeats: tuple[int, ...] = ()
    silent: int = 0

    @property
    def answered(self) -> bool:
        """Whether there was an answer, though it may not be known which."""
        return self.winner is not None or self.abstained == UNDECIDED

    @property
    def place(self) -> int:
        """The winner's place; -1 where there is none, -2 where it is not known."""
        if self.winner is not None:
            return self.winner
        return -2 if self.abstained == UNDECIDED else -1


def lead(score: float, other: float) -> float:
    """Return how far a score is above another: 0 for two that are -inf."""
    return 0.0 if score == other else score - other


def decide(policy: Policy, scores: Sequence[float], ranks: Sequence[int] | None = None) -> Decision:
    """Return the winner among the candidates, under a policy."""
    *_, second, first = sorted(scores)
    best, margin = scores.index(first), lead(first, second)
    reason = ""
    if margin == 0:
        reason = "tie"
    elif margin < policy.margin:
        reason = "margin"
    elif policy.top_k is not None and ranks is not None and ranks[best] >= policy.top_k:
        reason = "top_k"
    return Decision(None if reason else best, margin, tuple(scores), reason)


def calibrated(scores: Sequence[float], baseline: Sequence[float]) -> list[float]:
    """Return scores less those of a baseline; what is impossible stays so, whatever that says."""
    return [s if s == -math.inf else s - b for s, b in zip(scores, baseline, strict=True)]


def united(decisions: Sequence[Decision], labels: int) -> Decision:
    """Return what all ways of asking about a cell say: one winner, or none, as they disagree."""
    wins = Counter(decision.winner for decision in decisions)
    repeats = tuple(wins[place] for place in range(labels))
    if len(wins) > 1:
        return Decision(None, abstained="worlds", repeats=repeats)
    first = decisions[0]
    return Decision(first.winner, min(d.margin for d in decisions), (), first.abstained, repeats)


def agreed(decisions: Sequence[Decision], labels: int) -> Decision:
    """Return the decision of repeated ones about a cell: what more than half of them say.

    Scores, where there are any, are averaged over those that say it.
    """
    wins = Counter(decision.winner for decision in decisions)
    winner, count = wins.most_common(1)[0]
    scored = [d.scores for d in decisions if d.winner == winner and d.scores]
    scores = tuple(math.fsum(column) / len(scored) for column in zip(*scored, strict=True))
    repeats = tuple(wins[place] for place in range(labels))
    if winner is None:  # more often than anything else there was no answer, for whatever reason
        reason = next(d.abstained for d in decisions if d.winner is None)
    else:
        reason = "" if 2 * count > len(decisions) else "repeats"
    others = [score for place, score in enumerate(scores) if place != winner]
    margin = lead(scores[winner], max(others)) if others and winner is not None else 0.0
    return Decision(None if reason else winner, margin, scores, reason, repeats)


def accepts(
    policy: Policy, winner: ArrayLike, asked: ArrayLike, undecided: bool = True
) -> NDArray[np.bool_]:
    """Say whether an interpretation is accepted: the one rule of who accepts what.

    `winner` is what the target decided of its cell, `asked` the label that it sets, both as places,
    and -1 for none; or arrays of them. In a space without a label, YES is what is asked. What is
    not decided (-2) has an answer that is not known: it counts as accepted with every label, so
    that no rule is claimed which it may break; or as rejected, so that none is missing.
    """
    decided, wanted = np.asarray(winner), np.asarray(asked)
    labelled = np.where(decided < 0, policy.abstain == "accept", decided == wanted)
    labelled = np.where(decided == -2, undecided, labelled)
    return np.where(wanted < 0, policy.label_unset == "accept", labelled)
