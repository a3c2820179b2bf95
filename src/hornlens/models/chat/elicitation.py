"""The ways to make a chat model name a candidate: from a prompt to calls, from replies to answers.

choose: the candidates are numbered, and the log-probabilities of the reply's first token are those
of the numbers. A number is one token whatever the candidate is, so candidates of many tokens, and
such that begin alike, are scored soundly. A number that is not listed has at most the probability
of the last one listed, and at most what is left of the whole; it gets that. So the lead of a
candidate is never overstated, and one that was not listed never wins.

constrained: the reply must be one of the candidates. say: it is free, and read by patterns. Both
give no log-probabilities: the answer is the place of the candidate that most replies name, and a
tie where there is no such candidate.

likelihood: each candidate in its place, and the log-likelihood of the whole sentence.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hornlens.formats.replies import Reply
from hornlens.models.chat.calls import Call, Response
from hornlens.models.chat.reading import OTHER, REFUSAL, TIE, read_choice, read_text
from hornlens.models.chat.wording import WORDING_VERSION, keys, orders, question, system_of, user_of
from hornlens.models.protocol import ELICITATIONS, MASK, Answer, Elicitation, ModelError
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

    def reply(
        self, response: Response, order: tuple[int, ...], words: Sequence[str], how: str
    ) -> Reply:
        """Return the reply of a response, with how the candidates were offered and scored."""
        scores: tuple[float | None, ...] = ()
        bound = 0.0
        if self.method == "choose" and not response.reply.refused:
            scores, bound = _chosen(response.listed, order)
        elif self.method == "likelihood":
            total = math.fsum(value for _, value in response.listed)
            scores = tuple(total if place in order else None for place in range(len(words)))
        return replace(response.reply, order=order, scores=scores, bound=bound, how=how)

    def answer(self, replies: Sequence[Reply], words: Sequence[str]) -> Answer:
        """Return the answer that replies amount to."""
        if any(reply.refused for reply in replies):
            return Answer(outcome=REFUSAL, replies=tuple(replies))
        if self.method == "likelihood":
            sums = [reply.scores[reply.order[0]] or 0.0 for reply in replies]
            return Answer(log_softmax(sums), replies=tuple(replies))
        if self.method == "choose":
            return _averaged(replies)
        return _counted([(reply, self._read(reply.text, words)) for reply in replies])

    def _read(self, text: str, words: Sequence[str]) -> int | str:
        if self.method == "constrained":
            return read_choice(text, words)
        patterns: Mapping[str, Sequence[str]] = dict(self.elicitation.patterns)
        return read_text(text, words, patterns)


def _counted(read: Sequence[tuple[Reply, int | str]]) -> Answer:
    """Return the place that most replies name; one that names none leaves no answer."""
    replies = tuple(
        replace(reply, named=place if isinstance(place, int) else -1) for reply, place in read
    )
    places = [place for _, place in read]
    for outcome in (REFUSAL, OTHER):
        if outcome in places:
            return Answer(outcome=outcome, replies=replies)
    counts = Counter(reply.named for reply in replies)
    most = max(counts.values())
    first, *others = [place for place, count in counts.items() if count == most]
    return Answer(outcome=TIE, replies=replies) if others else Answer(replies=replies, named=first)


def _chosen(
    first: Sequence[tuple[str, float]], order: Sequence[int]
) -> tuple[tuple[float | None, ...], float]:
    """Return each candidate's log-probability, and what one that is not listed has at most."""
    named = dict(zip(keys(len(order)), order, strict=True))
    by_place: dict[int, float] = {}
    for token, value in first:
        place = named.get(token.strip())
        if place is not None:  # " 1" and "1" say the same
            share = math.exp(by_place.get(place, -math.inf)) + math.exp(value)
            by_place[place] = math.log(share) if share > 0 else value
    listed = math.fsum(math.exp(value) for _, value in first)
    last = min((value for _, value in first), default=0.0)
    bound = min(last, math.log(max(1.0 - listed, 1e-6)))
    scores = tuple(
        min(by_place[place], 0.0) if place in by_place else None for place in range(len(order))
    )
    return scores, min(bound, 0.0)


def _averaged(replies: Sequence[Reply]) -> Answer:
    """Return the mean log-probabilities over the orders; `other` if the first may not be first."""
    columns = list(zip(*(reply.scores for reply in replies), strict=True))
    bounds = [reply.bound for reply in replies]
    scores = tuple(
        math.fsum(b if s is None else s for s, b in zip(column, bounds, strict=True)) / len(replies)
        for column in columns
    )
    best = scores.index(max(scores))
    named = tuple(replace(reply, named=_top(reply.scores)) for reply in replies)
    if any(score is None for score in columns[best]):
        return Answer(outcome=OTHER, replies=named)
    shares = [math.fsum(math.exp(s) for s in reply.scores if s is not None) for reply in replies]
    share = min(math.fsum(shares) / len(shares), 1.0)
    return Answer(scores, share=share, replies=named)


def _top(scores: Sequence[float | None]) -> int:
    """Return the place of the best score; -1 if there is none, or no best one."""
    ordered = sorted((s, place) for place, s in enumerate(scores) if s is not None)
    tie = len(ordered) > 1 and ordered[-1][0] == ordered[-2][0]
    return ordered[-1][1] if ordered and not tie else -1


def first_words(response: Response) -> tuple[tuple[str, float], ...]:
    """Return the words that a model would say first, where its response lists them."""
    ordered = sorted(response.listed, key=lambda pair: -pair[1])[:FIRST]
    return tuple((token.strip() or repr(token), math.exp(min(v, 0.0))) for token, v in ordered)
