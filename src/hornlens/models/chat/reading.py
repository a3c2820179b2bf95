"""Free text read as a candidate, a refusal, or something else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

REFUSAL, OTHER, TIE = "refusal", "other", "tie"
"""Why replies name no candidate."""
_REFUSES = re.compile(
    r"\bI\s*(?:['’]m|\s+am)\s+(?:sorry|unable|not able)\b"
    r"|\bI\s+(?:can\s*not|can['’]t|won['’]t|will not|must decline|refuse|decline)\b"
    r"|\bas an? (?:AI|artificial|language model)\b"
    r"|\b(?:not |in)appropriate\b",
    re.IGNORECASE,
)


def read_text(text: str, words: Sequence[str], patterns: Mapping[str, Sequence[str]]) -> int | str:
    """Return the place of the one candidate that a text names, or why there is none.

    A candidate is found by its patterns, or as whole words, in capitals or not. What is found
    inside what another candidate matches ("York" in "New York") is not counted.
    """
    if _REFUSES.search(text):
        return REFUSAL
    spans = [_spans(text, word, tuple(patterns.get(word, ()))) for word in words]
    named = [
        place
        for place, own in enumerate(spans)
        if any(not _inside(span, spans, place) for span in own)
    ]
    return named[0] if len(named) == 1 else OTHER


def read_choice(text: str, words: Sequence[str]) -> int | str:
    """Return the place of the candidate in a reply that had to be one of them, as JSON."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        chosen = json.loads(text[begin : end + 1])["answer"]
    except (ValueError, KeyError, TypeError):
        return REFUSAL if _REFUSES.search(text) else OTHER
    return words.index(chosen) if chosen in words else OTHER


def _spans(text: str, word: str, patterns: tuple[str, ...]) -> list[tuple[int, int]]:
    compiled = _compiled(word, patterns)
    return [match.span() for pattern in compiled for match in pattern.finditer(text)]


@lru_cache(maxsize=1024)
def _compiled(word: str, patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    given = patterns or (rf"(?<!\w){re.escape(word)}(?!\w)",)
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in given)


def _inside(span: tuple[int, int], spans: Sequence[list[tuple[int, int]]], place: int) -> bool:
    begin, end = span
    return any(
        b <= begin and end <= e and e - b > end - begin
        for other, elsewhere in enumerate(spans)
        if other != place
        for b, e in elsewhere
    )
