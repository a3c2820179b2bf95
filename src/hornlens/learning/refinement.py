"""The question that all learners share: which of these intersections does the target reject?"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from hornlens.learning.protocol import Accepted, Ask, Counterexample, Question, Verdict

Meet = tuple[int, int]
"""A position of E⁻, and what the counterexample has in common with the example there."""
Asked = tuple[tuple[int, bool], ...]
"""Membership queries with their answers."""


def first_rejected(
    meets: Sequence[Meet],
) -> Generator[Question, Sequence[bool] | Verdict, tuple[Meet | None, Asked]]:
    """Ask about the intersections in order; return the first that is rejected, and what was asked.

    Answers beyond the first no, if whoever answers gives them, are not looked at.
    """
    if not meets:
        return None, ()
    answers = yield Ask(tuple(meet for _, meet in meets))
    assert not isinstance(answers, Accepted | Counterexample)
    asked = []
    for position_and_meet, answer in zip(meets, answers, strict=False):
        asked.append((position_and_meet[1], answer))
        if not answer:
            return position_and_meet, tuple(asked)
    return None, tuple(asked)
