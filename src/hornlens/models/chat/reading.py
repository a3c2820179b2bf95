"""Free text read as a candidate, a refusal, or something else; every reading says why.

A reply names a candidate if it is that candidate, the sentence with that candidate in its place, or
a statement that chooses it ("the answer is …", "I would say …"). A word that is denied or merely
mentioned is not chosen: where a person could doubt it, the reply is unclear.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from hornlens.models.chat.statements import Stance, statement_of, words_of
from hornlens.models.protocol import MASK

REFUSAL, OTHER, TIE, CUT, UNCLEAR, ORDER = "refusal", "other", "tie", "cut", "unclear", "order"
"""Why replies name no candidate."""
CUT_OFF = ("length", "max_tokens")
"""How endpoints say that a reply ended because it had no more room."""
PLACE = "\0"
"""Stands in a text where its candidate stood."""
REFUSES = re.compile(
    r"\bI\s*(?:['’]m|\s+am)\s+(?:sorry|unable|not able)\b"
    r"|\bI\s+(?:can\s*not|can['’]t|won['’]t|will not|must decline|refuse|decline)\b"
    r"|\bas an? (?:AI|artificial|language model)\b"
    r"|\b(?:not |in)appropriate\b",
    re.IGNORECASE,
)
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_AROUND = " \t\r\n\"'“”‘’„‚«»‹›`*_~()[]{}<>.,;:!#-–—"
"""What may stand around a candidate that is the whole reply."""
_HEADING = re.compile(r"^\W*(?:(?:completed|full|final)\s+)?(?:sentence|answer)\W*:", re.IGNORECASE)
_ENDS = re.compile(r"[.!?;\n]")

Span = tuple[int, int]


class Reading(NamedTuple):
    """How a reply is read: the place of the candidate that it names, or why it names none."""

    named: int = -1
    """-1: none."""
    outcome: str = ""
    reason: str = ""
    """Why it is read so, in a few words."""


def read_text(
    text: str, words: Sequence[str], patterns: Mapping[str, Sequence[str]], prompt: str = ""
) -> Reading:
    """Return which candidate a text names, or why it names none.

    A candidate is found by its patterns, which are trusted, or as whole words, in capitals or not.
    What is found inside what another candidate matches ("York" in "New York") is not counted.
    `prompt` is the sentence that was to be completed, with its mask: a reply may repeat it.
    """
    text = _THOUGHTS.sub(" ", text.replace(PLACE, " "))
    if not text.strip():
        return Reading(outcome=OTHER, reason="empty")
    plain = [word for word in words if not patterns.get(word)]
    whole = _whole(text, plain)
    if whole and not _matched(text, patterns, words):
        return Reading(words.index(whole), reason=f"names only {whole}")
    if refusal := REFUSES.search(text):
        return Reading(outcome=REFUSAL, reason=f"refusal: {_short(refusal[0])}")
    if prompt and (repeated := _repeated(text, plain, prompt)):
        return Reading(words.index(repeated), reason=f"the sentence with {repeated} in its place")
    spans = _outermost([_spans(text, word, tuple(patterns.get(word, ()))) for word in words])
    named = [place for place, own in enumerate(spans) if own]
    if not named:
        return Reading(outcome=OTHER, reason="names none of the candidates")
    if len(named) > 1:
        names = [words[place] for place in named]
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        return Reading(outcome=UNCLEAR, reason=f"names {listed}")
    place = named[0]
    if own := patterns.get(words[place]):
        pattern = next(p for p in own if re.search(p, text, re.IGNORECASE))
        return Reading(place, reason=f"matches the pattern {pattern}")
    return _stated(text, spans[place], place, words[place])


def read_choice(text: str, words: Sequence[str]) -> Reading:
    """Return which candidate a reply names that had to be one of them, as JSON."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        chosen = json.loads(text[begin : end + 1])["answer"]
    except (ValueError, KeyError, TypeError):
        if refusal := REFUSES.search(text):
            return Reading(outcome=REFUSAL, reason=f"refusal: {_short(refusal[0])}")
        return Reading(outcome=OTHER, reason="is not what it was constrained to")
    if chosen in words:
        return Reading(words.index(chosen), reason=f"chose {chosen}")
    return Reading(outcome=OTHER, reason=f"chose {_short(str(chosen))}, which was not offered")


def read_cut(reading: Reading, before: Reading, tokens: int) -> Reading:
    """Return how a reply is read that was cut off, from how all of it and its whole part are read.

    It names a candidate only if what stands before its last, unfinished sentence does.
    """
    if reading.outcome == REFUSAL or (reading.named >= 0 and reading.named == before.named):
        return reading
    room = f"cut off after {tokens} token{'' if tokens == 1 else 's'}" if tokens else "cut off"
    return Reading(outcome=CUT, reason=room)


def finished_part(text: str) -> str:
    """Return a text that was cut off without its last, unfinished sentence."""
    ends = [match.end() for match in _ENDS.finditer(text)]
    return text[: ends[-1]] if ends else ""


def _stated(text: str, spans: Sequence[Span], place: int, word: str) -> Reading:
    """Read a text in which one candidate stands: chosen, denied, or merely mentioned."""
    statement = statement_of(_marked(text, spans), PLACE, word)
    if statement is Stance.CHOOSES:
        return Reading(place, reason=f"names only {word}")
    why = {
        Stance.DENIES: f"{word}, but negated",
        Stance.DOUBTS: f"{word}, but with a doubt or a condition",
        Stance.MENTIONS: f"mentions {word} without choosing it",
    }
    return Reading(outcome=UNCLEAR, reason=why[statement])


def _marked(text: str, spans: Sequence[Span]) -> str:
    """Return a text with a mark in place of its candidate."""
    parts, end = [], 0
    for start, stop in sorted(spans):
        if start >= end:
            parts.append(text[end:start])
            end = stop
    return PLACE.join([*parts, text[end:]])


def _whole(text: str, words: Sequence[str]) -> str:
    """Return the candidate that is the whole text; empty: there is none, or it is not clear."""
    spellings = (" ".join(text.split()), " ".join(text.split()).strip(_AROUND))
    for fold in (str, str.casefold):  # of "us" and "US", the one as it is written
        given = {fold(spelling) for spelling in spellings}
        same = [w for w in words if given & {fold(w), fold(w).strip(_AROUND) or fold(w)}]
        if len(same) == 1:
            return same[0]
    return ""


def _repeated(text: str, words: Sequence[str], prompt: str) -> str:
    """Return the candidate with which a text, or a line of it, is (part of) the sentence asked.

    Empty: there is none, or other lines name another candidate, or take this one back.
    """
    before, after = (words_of(part) for part in prompt.split(MASK, 1))
    sentences = {word: (words_of(word), [*before, *words_of(word), *after]) for word in words}
    longest = max((len(filled) for _, filled in sentences.values()), default=0)
    lines = {line: words_of(line) for line in (text, *_lines(text))}
    short = {line: own for line, own in lines.items() if 0 < len(own) <= longest}
    same = []
    for word, (inner, filled) in sentences.items():
        first, last = len(before), len(before) + len(inner)
        places = (_places(filled, line) for line in short.values() if len(line) > len(inner))
        if inner and any(start <= first and last <= end for own in places for start, end in own):
            same.append(word)
    if len(same) != 1:
        return ""
    part = {
        line for line, own in short.items() if any(_places(f, own) for _, f in sentences.values())
    }
    rest = [] if text in part else [line for line in _lines(text) if line not in part]
    if any(_spans(line, word, ()) for word in words if word != same[0] for line in rest):
        return ""
    other = "\n".join(rest)
    stance = statement_of(_marked(other, _spans(other, same[0], ())), PLACE, same[0])
    return "" if stance in (Stance.DENIES, Stance.DOUBTS) else same[0]


def _lines(text: str) -> list[str]:
    """Return the lines of a text, without a heading ("Sentence:") before them."""
    return [_HEADING.sub("", line) for line in text.splitlines()]


def _places(filled: Sequence[str], line: Sequence[str]) -> list[Span]:
    """Return where in a sentence the words of a line stand, one after the other."""
    size = len(line)
    starts = range(len(filled) - size + 1)
    return [(k, k + size) for k in starts if list(filled[k : k + size]) == list(line)]


def _matched(text: str, patterns: Mapping[str, Sequence[str]], words: Sequence[str]) -> bool:
    """Say whether a pattern of any candidate is in a text."""
    own = (tuple(patterns.get(word, ())) for word in words)
    return any(_spans(text, "", each) for each in own if each)


def _spans(text: str, word: str, patterns: tuple[str, ...]) -> list[Span]:
    compiled = _compiled(word, patterns)
    return [match.span() for pattern in compiled for match in pattern.finditer(text)]


@lru_cache(maxsize=1024)
def _compiled(word: str, patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    given = patterns or (rf"(?<!\w)(?<!\w-){re.escape(word)}(?!\w)(?!-\w)",)
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in given)


def _outermost(spans: Sequence[list[Span]]) -> list[list[Span]]:
    """Return the spans of each candidate that are not inside those of another."""
    return [
        [span for span in own if not _inside(span, spans, place)] for place, own in enumerate(spans)
    ]


def _inside(span: Span, spans: Sequence[list[Span]], place: int) -> bool:
    begin, end = span
    return any(
        b <= begin and end <= e and e - b > end - begin
        for other, elsewhere in enumerate(spans)
        if other != place
        for b, e in elsewhere
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"
