"""Numbered candidates: what the log-probabilities of a reply's first token say of them.

A number is one token whatever the candidate is, so candidates of many tokens, and such that begin
alike, are scored soundly. A number that is not listed has at most the probability of the last one
listed, and at most what is left of the whole; it gets that. So the lead of a candidate is never
overstated, and one that was not listed never wins.

Where the reply begins with something else and the numbers together hold less than half of the
probability, which of two unlikely numbers is likelier says nothing: that is no answer. White space
before a reply is no reply. Where it holds less than half, probabilities are those of first tokens
that are not white space.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from hornlens.formats.replies import Reply
from hornlens.models.chat.reading import OTHER, TIE, Reading
from hornlens.models.chat.wording import keys

LEAST_SHARE = 0.5
"""How much of the first token's probability the candidates' numbers must hold together, where the
reply does not begin with the likeliest of them."""
_FIRST = re.compile(r"\w+|\S")
_SPACES = str.maketrans({"▁": " ", "Ġ": " ", "Ċ": "\n"})
"""How vocabularies write white space, which some servers pass on."""


def scores_of(
    listed: Sequence[tuple[str, float]], order: Sequence[int]
) -> tuple[tuple[float | None, ...], float]:
    """Return each candidate's log-probability, and what one that is not listed has at most."""
    named = dict(zip(keys(len(order)), order, strict=True))
    tokens = [(token.translate(_SPACES), value) for token, value in listed]
    blank = math.fsum(math.exp(value) for token, value in tokens if token and not token.strip())
    rest = math.log1p(-blank) if blank < LEAST_SHARE else 0.0
    by_place: dict[int, float] = {}
    for token, value in tokens:
        place = named.get(token.strip())
        if place is not None:  # " 1" and "1" say the same
            share = math.exp(by_place.get(place, -math.inf)) + math.exp(value - rest)
            by_place[place] = math.log(share) if share > 0 else value - rest
    whole = math.fsum(math.exp(value) for _, value in listed)
    last = min((value for _, value in listed), default=0.0)
    bound = min(last, math.log(max(1.0 - whole, 1e-6))) - rest
    scores = tuple(
        min(by_place[place], 0.0) if place in by_place else None for place in range(len(order))
    )
    return scores, min(bound, 0.0)


def share_of(reply: Reply) -> float:
    """Return how much of the first token's probability the candidates' numbers hold together."""
    return min(math.fsum(math.exp(s) for s in reply.scores if s is not None), 1.0)


def read_scores(reply: Reply, words: Sequence[str]) -> Reading:
    """Return which candidate has the likeliest number, or why none has."""
    share, begin = share_of(reply), _FIRST.match(reply.text.strip())
    ordered = sorted((s, place) for place, s in enumerate(reply.scores) if s is not None)
    score, place = ordered[-1] if ordered else (0.0, -1)
    is_number = begin is not None and begin[0] == _key_of(place, reply.order)
    if not ordered or (share < LEAST_SHARE and not is_number):
        text = f"begins with {reply.text.strip()[:20]!r}" if begin else "begins with no number"
        return Reading(
            outcome=OTHER, reason=f"{text}: the options have {share:.0%} of the first token"
        )
    if len(ordered) > 1 and ordered[-2][0] == score:
        return Reading(outcome=TIE, reason=f"{words[ordered[-2][1]]} and {words[place]} tie")
    return Reading(place, reason=f"{words[place]} has {math.exp(score):.0%} of the first token")


def _key_of(place: int, order: Sequence[int]) -> str:
    """Return the number under which a candidate was offered; empty: it was not."""
    return keys(len(order))[order.index(place)] if place in order else ""


def average_scores(replies: Sequence[Reply]) -> tuple[float, ...]:
    """Return the mean log-probabilities over the orders; empty if the first may not be first."""
    columns = list(zip(*(reply.scores for reply in replies), strict=True))
    bounds = [reply.bound for reply in replies]
    scores = tuple(
        math.fsum(b if s is None else s for s, b in zip(column, bounds, strict=True)) / len(replies)
        for column in columns
    )
    best = scores.index(max(scores))
    return () if any(score is None for score in columns[best]) else scores
