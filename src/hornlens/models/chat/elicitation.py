"""The ways to make a chat model name a candidate: from a prompt to calls, from replies to answers.

choose: the candidates are numbered, and the log-probabilities of the reply's first token are those
of the numbers. A number is one token whatever the candidate is, so candidates of many tokens, and
such that begin alike, are scored soundly. A number that is not listed has at most the probability
of the last one listed, and at most what is left of the whole; it gets that. So the lead of a
candidate is never overstated, and one that was not listed never wins.

constrained: the reply must be one of the candidates. say: it is free, and read by patterns. Both
give no log-probabilities: of n candidates, one that k of m replies name gets
log((k + ½)/(m + n/2)), which is finite whatever was said.

likelihood: each candidate in its place, and the log-likelihood of the whole sentence.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hornlens.models.chat.calls import Call, Reply
from hornlens.models.chat.reading import OTHER, REFUSAL, read_choice, read_text
from hornlens.models.chat.wording import WORDING_VERSION, keys, orders, question, system_of, user_of
from hornlens.models.protocol import ELICITATIONS, MASK, Answer, Elicitation, ModelError, Said
from hornlens.models.sentences import log_softmax
from hornlens.models.words import FIRST

ROOM = {"choose": 1, "constrained": 64, "say": 64, "likelihood": 1}
"""Tokens that a reply may have."""
TOP = 20
"""How many first tokens are wanted: what OpenAI gives at most."""


@dataclass(frozen=True)
class Asking:
    """One way of asking: the method, the words, the orders, and how much a reply may say."""

    method: str
    elicitation: Elicitation = field(default_factory=Elicitation)
    order: str = "rotate"
    room: int = 0
    """Tokens of a reply; 0: what the method needs."""

    def __post_init__(self) -> None:
        """Refuse what is no method."""
        if self.method not in ELICITATIONS:
            known = ", ".join(ELICITATIONS)
            raise ModelError(f"--elicit must be auto or one of {known}, not {self.method!r}")
        offered = "{options}" in user_of(self.method, self.elicitation)
        if self.method in ("choose", "constrained") and not offered:
            raise ModelError(
                f"the probe's own wording offers no {{options}}, so it cannot be asked by "
                f"{self.method}: use --elicit say"
            )

    @property
    def identity(self) -> str:
        """What answers depend on; not the patterns, for the replies are kept and read again."""
        words = f"{system_of(self.elicitation)}\0{user_of(self.method, self.elicitation)}"
        digest = hashlib.sha256(words.encode()).hexdigest()[:12]
        return f"{self.method}:{self.order}:wording-{WORDING_VERSION}-{digest}"

    def orders(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the orders in which the candidates are offered: a call each."""
        if self.method == "likelihood":
            return [(place,) for place in range(len(words))]
        offered = "{options}" in user_of(self.method, self.elicitation)
        return orders(words, self.order, offered)

    def call(
        self,
        prompt: str,
        words: Sequence[str],
        order: Sequence[int],
        seed: int,
        temperature: float = 0.0,
    ) -> Call:
        """Return what is sent for a prompt, with the candidates in this order."""
        if self.method == "likelihood":
            return Call(prompt.replace(MASK, words[order[0]]), echo=True)
        offered = [words[place] for place in order]
        wording, room = user_of(self.method, self.elicitation), self.room or ROOM[self.method]
        return Call(
            question(wording, self.method, prompt, offered),
            system_of(self.elicitation),
            room,
            TOP if self.method == "choose" else 0,
            tuple(offered) if self.method == "constrained" else (),
            seed=seed,
            temperature=temperature,
        )

    def said(self, reply: Reply, order: tuple[int, ...], words: Sequence[str], how: str) -> Said:
        """Return a reply as it is kept."""
        scores: tuple[float | None, ...] = ()
        bound = 0.0
        if self.method == "choose" and not reply.refused:
            scores, bound = _chosen(reply.first, order)
        elif self.method == "likelihood":
            total = math.fsum(value for _, value in reply.echo)
            scores = tuple(total if place in order else None for place in range(len(words)))
        fingerprint = " ".join(part for part in (reply.model, reply.fingerprint) if part)
        return Said(
            reply.text,
            order,
            scores,
            bound,
            reply.finish,
            reply.refused,
            reply.tokens,
            fingerprint,
            how,
        )

    def answer(self, said: Sequence[Said], words: Sequence[str]) -> Answer:
        """Return the answer that replies amount to."""
        if any(each.refused for each in said):
            return _nothing(REFUSAL, said, words)
        if self.method == "likelihood":
            sums = [each.scores[each.order[0]] or 0.0 for each in said]
            return Answer(log_softmax(sums), said=tuple(said))
        if self.method == "choose":
            return _averaged(said, words)
        patterns: Mapping[str, Sequence[str]] = dict(self.elicitation.patterns)
        read: list[Any] = [
            read_choice(each.text, words)
            if self.method == "constrained"
            else read_text(each.text, words, patterns)
            for each in said
        ]
        named = [
            each._replace(named=-1 if isinstance(place, str) else place)
            for each, place in zip(said, read, strict=True)
        ]
        for outcome in (REFUSAL, OTHER):
            if outcome in read:
                return _nothing(outcome, named, words)
        whole = len(read) + len(words) / 2
        scores = tuple(math.log((read.count(k) + 0.5) / whole) for k in range(len(words)))
        return Answer(scores, said=tuple(named))


def _chosen(
    first: Sequence[tuple[str, float]], order: Sequence[int]
) -> tuple[tuple[float | None, ...], float]:
    """Return each candidate's log-probability, and what one that is not listed has at most."""
    named = dict(zip(keys(len(order)), order, strict=True))
    found: dict[int, float] = {}
    for token, value in first:
        place = named.get(token.strip())
        if place is not None:  # " 1" and "1" say the same
            share = math.exp(found.get(place, -math.inf)) + math.exp(value)
            found[place] = math.log(share) if share > 0 else value
    listed = math.fsum(math.exp(value) for _, value in first)
    last = min((value for _, value in first), default=0.0)
    bound = min(last, math.log(max(1.0 - listed, 1e-6)))
    scores = tuple(
        min(found[place], 0.0) if place in found else None for place in range(len(order))
    )
    return scores, min(bound, 0.0)


def _averaged(said: Sequence[Said], words: Sequence[str]) -> Answer:
    """Return the mean log-probabilities over the orders; `other` if the first may not be first."""
    columns = list(zip(*(each.scores for each in said), strict=True))
    bounds = [each.bound for each in said]
    scores = tuple(
        math.fsum(b if s is None else s for s, b in zip(column, bounds, strict=True)) / len(said)
        for column in columns
    )
    best = scores.index(max(scores))
    said = [each._replace(named=_top(each.scores)) for each in said]
    if any(score is None for score in columns[best]):
        return _nothing(OTHER, said, words)
    shares = [math.fsum(math.exp(s) for s in each.scores if s is not None) for each in said]
    share = min(math.fsum(shares) / len(shares), 1.0)
    return Answer(scores, None, (), share, said=tuple(said))


def _top(scores: Sequence[float | None]) -> int:
    """Return the place of the best score; -1 if there is none, or no best one."""
    ordered = sorted((s, place) for place, s in enumerate(scores) if s is not None)
    tie = len(ordered) > 1 and ordered[-1][0] == ordered[-2][0]
    return ordered[-1][1] if ordered and not tie else -1


def first_words(reply: Reply) -> tuple[tuple[str, float], ...]:
    """Return the words that a model would say first, of a reply that lists them."""
    ordered = sorted(reply.first, key=lambda pair: -pair[1])[:FIRST]
    return tuple((token.strip() or repr(token), math.exp(min(v, 0.0))) for token, v in ordered)


def _nothing(outcome: str, said: Sequence[Said], words: Sequence[str]) -> Answer:
    """Return an answer that names no candidate: scores that say nothing."""
    return Answer((-math.log(len(words)),) * len(words), outcome=outcome, said=tuple(said))
