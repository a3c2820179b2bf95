"""The checksum that is kept with every answer, so that a damaged one is known for what it is.

It stands behind the JSON of the scores, in white space, which JSON allows there. So versions that
know of no checksums read such a row, and a row without one is known to be theirs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import product
from typing import Any, NamedTuple

from hornlens.store.protocol import Scores

_BLANKS = ["".join(four) for four in product(" \t\n\r", repeat=4)]
"""Each byte as white space that JSON allows."""


class Question(NamedTuple):
    """What the answers of one call have in common; `candidates` is the JSON of the words."""

    identity: str
    candidates: str
    repeat: int


def question_of(identity: str, candidates: Sequence[str], repeat: int) -> Question:
    """Return what a call is about."""
    return Question(identity, json.dumps(list(candidates), ensure_ascii=False), repeat)


class Row(NamedTuple):
    """An answer as it stands in the file. After damage, anything may stand in its place."""

    prompt: Any
    scores: Any
    ranks: Any
    details: Any


def checksum(*parts: object) -> str:
    """Return the checksum of texts, numbers and None, in order: 32 characters of white space."""
    digest = blake2b(json.dumps(parts).encode("ascii"), digest_size=8).digest()
    return "".join([_BLANKS[byte] for byte in digest])


def sealed(question: Question, prompt: str, given: Scores) -> Row:
    """Return the row of an answer, its checksum with it."""
    scores = json.dumps(given.scores)
    ranks = None if given.ranks is None else json.dumps(given.ranks)
    seal = checksum(*question, prompt, scores, ranks, given.details)
    return Row(prompt, scores + seal, ranks, given.details)


def opened(question: Question, rows: Iterable[Row]) -> tuple[dict[str, Scores], list[Any]]:
    """Return the answers that are as they were written, by prompt, and the prompts of the others.

    A row without a checksum, of an older version, must have the form of an answer.
    """
    whole: list[Row] = []
    damaged: list[Row] = []
    for row in rows:
        (whole if is_whole(question, row) else damaged).append(row)
    lines = ",".join([f"[{row.scores},{row.ranks or 'null'}]" for row in whole])
    # One JSON text of all lines: reading each by itself takes three times as long.
    answers: dict[str, Scores] = {}
    for row, (scores, ranks) in zip(whole, json.loads(f"[{lines}]"), strict=True):
        known = None if ranks is None else tuple(ranks)
        answers[row.prompt] = Scores(tuple(scores), known, row.details)
    return answers, [row.prompt for row in damaged]


def is_whole(question: Question, row: Row) -> bool:
    """Say whether a row is as it was written, or, if it has no checksum, has the right form."""
    prompt, scores, ranks, details = row
    if not isinstance(scores, str):
        return False
    if scores.endswith("]"):
        return _has_form(question.candidates, row)
    body = scores[: -len(_BLANKS[0]) * 8]
    try:
        return scores == body + checksum(*question, prompt, body, ranks, details)
    except (TypeError, ValueError):  # bytes where a text was
        return False


def _has_form(candidates: str, row: Row) -> bool:
    try:
        words = len(json.loads(candidates))
        scores = json.loads(row.scores)
        ranks = None if row.ranks is None else json.loads(row.ranks)
        details = json.loads(row.details or "{}")
    except (TypeError, ValueError, RecursionError):
        return False
    return (
        isinstance(row.prompt, str)
        and isinstance(details, dict)
        and _are_numbers(scores, words, float)
        and not any(math.isnan(score) or score == math.inf for score in scores)
        and (ranks is None or _are_numbers(ranks, words))
    )


def _are_numbers(numbers: object, count: int, *kinds: type) -> bool:
    return (
        isinstance(numbers, list)
        and len(numbers) == count
        and all(type(each) in (int, *kinds) for each in numbers)
    )
