"""The question that all learners share: which of these intersections does the target reject?"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias

from hornlens.learning.protocol import Accepted, Answer, Ask, Counterexample, Step

Meet: TypeAlias = tuple[int, int]
"""A position of E⁻, and what the counterexample has in common with the example there."""


def first_rejected(meets: Sequence[Meet]) -> Generator[Step, Answer, Meet | None]:
    """Ask about the intersections in order; return the first that is rejected, if one is.

    Answers beyond the first no, if whoever answers gives them, are not looked at.
    """
    if not meets:
        return None
    answers = yield Ask(tuple(meet for _, meet in meets))
    assert answers is not None and not isinstance(answers, Accepted | Counterexample)
    return next((m for m, yes in zip(meets, answers, strict=False) if not yes), None)
