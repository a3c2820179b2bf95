"""The two questions that all learners share: what is wrong with H, and what is rejected?"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias

from hornlens.learning.events import CounterexampleTaken
from hornlens.learning.protocol import (
    Accepted,
    Answer,
    Ask,
    Conjecture,
    Counterexample,
    Hypothesis,
    Step,
)

Meet: TypeAlias = tuple[int, int]
"""A position of E⁻, and what the counterexample has in common with the example there."""


def counterexample(
    hypothesis: Hypothesis, number: int
) -> Generator[Step, Answer, tuple[int, bool] | None]:
    """Conjecture H ∪ Q; return the counterexample of this number, and whether it is positive.

    None: the conjecture was accepted.
    """
    verdict = yield Conjecture(hypothesis)
    if isinstance(verdict, Accepted):
        return None
    assert isinstance(verdict, Counterexample)
    positive = not hypothesis.satisfied_by(verdict.example)
    yield CounterexampleTaken(number, verdict.example, positive)
    return verdict.example, positive


def first_rejected(meets: Sequence[Meet]) -> Generator[Step, Answer, Meet | None]:
    """Ask about the intersections in order; return the first that is rejected, if one is.

    Answers beyond the first no, if whoever answers gives them, are not looked at.
    """
    if not meets:
        return None
    answers = yield Ask(tuple(meet for _, meet in meets))
    assert isinstance(answers, Sequence)
    return next((m for m, yes in zip(meets, answers, strict=False) if not yes), None)
