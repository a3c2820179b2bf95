"""Answers that vary: is what was decided what the repeated answers, or the drift, decide?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from hornlens.errors import InputError
from hornlens.verifying.answers import Answer
from hornlens.verifying.grids import Wrong

MOST = 50_000
"""Up to so many answers to a prompt are looked at."""


@cache
def evidence(first: int, second: int) -> Fraction:
    """Return how much `first` answers of one kind, and `second` of another, speak for the first.

    That is the mean, over q from ½ to 1, of (2q)^first · (2(1-q))^second. Without any of the other
    kind it is (2^(n+1) - 1)/(n+1). By parts, the mean for s and f is (f·m - 1)/(s+1), where m is
    that for s+1 and f-1: so from n and 0 answers one goes down to those that there are.
    """
    total = first + second
    if total > MOST:
        raise InputError(f"a prompt with {total:,} answers: {MOST:,} can be verified")
    mean, whole = 2 ** (total + 1) - 1, total + 1
    for fewer in range(1, second + 1):
        mean, whole = fewer * mean - whole, whole * (total - fewer + 1)
    return Fraction(mean, whole)


def check_noise(answers: Sequence[Answer], certificate: Mapping[str, Any], cells: int) -> None:
    """Check of every answer of a way of asking that it was decided, or not, as is stated.

    `cells`: how many answers share the level, over all ways of asking.
    """
    check_counts(answers, certificate)
    if certificate.get("alpha") is not None:
        _check_ids(answers)
    for answer in answers:
        if certificate.get("copied") is not None:
            if not answer.is_undecided:
                raise Wrong(f"answer {answer.place}: decided, though its repeats are copies")
        elif certificate.get("alpha") is not None:
            _check_repeats(answer, cells / Fraction(str(certificate["alpha"])))
        elif answer.line["scores"] and answer.line["margin"] > 0:
            within = answer.line["margin"] <= certificate["drift"]
            if within and answer.winner is not None:
                raise Wrong(f"answer {answer.place}: decided, and leads by no more than the drift")
            if not within and answer.is_undecided:
                raise Wrong(f"answer {answer.place}: undecided, and leads by more than the drift")


def check_counts(answers: Sequence[Answer], certificate: Mapping[str, Any]) -> None:
    """Count again what a certificate counts."""
    left = sum(answer.is_undecided for answer in answers)
    if (certificate["undecided"], certificate["prompts"]) != (left, len(answers)):
        raise Wrong(f"certificate: {left:,} of {len(answers):,} answers are undecided")
    if certificate.get("alpha") is not None:
        counted = sum(map(sum, map(_counts, answers)))
        if certificate["answers"] != counted:
            raise Wrong(f"certificate: there are {counted:,} answers")
        if max((sum(_counts(a)) for a in answers), default=0) > certificate["most"]:
            raise Wrong(f"certificate: a prompt has more than {certificate['most']:,} answers")


def _check_ids(answers: Sequence[Answer]) -> None:
    """Refuse a level that rests on replies of which half, by their ids, are copies."""
    replies = [reply for answer in answers for reply in answer.line.get("replies", ())]
    copied = sum(reply.get("copied", False) for reply in replies)
    if copied >= 3 and 2 * copied >= len(replies) - len(answers):
        raise Wrong(f"certificate: alpha is claimed, and {copied:,} replies are copies")


def _counts(answer: Answer) -> list[int]:
    return [*answer.line["repeats"], answer.line.get("silent", 0)]


def _check_repeats(answer: Answer, share: Fraction) -> None:
    counts = _counts(answer)
    needed = len(counts) * share
    best = counts.index(max(counts))
    decided = all(
        counts[best] > count and evidence(counts[best], count) >= needed
        for place, count in enumerate(counts)
        if place != best
    )
    if decided == answer.is_undecided:
        raise Wrong(f"answer {answer.place}: its repeats do {'' if decided else 'not '}decide it")
    if answer.winner != (best if decided and best < len(counts) - 1 else None):
        raise Wrong(f"answer {answer.place}: not what was said most often")
