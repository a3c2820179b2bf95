"""The ways to make a chat model name a candidate: from a prompt to calls, from replies to answers.

choose: the candidates are numbered, and the log-probabilities of the reply's first token are those
of the numbers (see `choosing`). constrained: the reply must be one of the candidates. say: it is
free, and read by patterns or as a statement (see `reading`). Neither of these gives
log-probabilities: the answer is the place of the candidate that the replies name.

Candidates are offered in several orders. Where the replies to these name different candidates, the
model answers to the order, and there is no answer (`order`), unless orders are to be averaged: then
log-probabilities are, and of replies the candidate that most of them name is the answer.

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
from hornlens.models.chat.choosing import average_scores, read_scores, scores_of, share_of
from hornlens.models.chat.reading import (
    CUT,
    CUT_OFF,
    ORDER,
    OTHER,
    REFUSAL,
    TIE,
    UNCLEAR,
    Reading,
    finished_part,
    read_choice,
    read_cut,
    read_text,
)
from hornlens.models.chat.wording import (
    ONLY,
    WORDING_VERSION,
    longest_of,
    orders,
    question,
    system_of,
    user_of,
)
from hornlens.models.protocol import ELICITATIONS, MASK, Answer, Elicitation, ModelError
from hornlens.models.sentences import log_softmax
from hornlens.models.words import FIRST

ROOM = {"choose": 1, "constrained": 64, "say": 64, "likelihood": 1}
"""Tokens that a reply may have, at least."""
AROUND = 32
"""Tokens that a reply may have around a candidate."""
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
    drawn: bool = False
    """Whether each answer is one reply, to the candidates in one order."""

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
        """What replies depend on. How they are read is not in it: they are kept, and read again.

        So neither the patterns are in it, nor which of the orders count, and how.
        """
        words = f"{system_of(self.elicitation)}\0{user_of(self.method, self.elicitation)}"
        digest = hashlib.sha256(words.encode()).hexdigest()[:12]
        longest = self.elicitation.longest
        # Where candidates may be cut off in the usual room, replies may have been, once.
        is_long = self.method in ("constrained", "say") and longest > ROOM[self.method]
        more = f":room-{longest + AROUND}" if is_long else ""
        return f"{self.method}:{self._asked_in}:wording-{WORDING_VERSION}-{digest}{more}"

    @property
    def _asked_in(self) -> str:
        """The orders that are asked: several serve all that may be made of them."""
        shared = self.order == "average" or (self.order.startswith(ONLY) and not self.drawn)
        return "rotate" if shared else self.order

    def orders(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the orders in which the candidates are offered: a call each."""
        return self._orders(words, self._asked_in)

    def counted_orders(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return those of the orders that the answer rests on."""
        return self._orders(words, self.order)

    def _orders(self, words: Sequence[str], how: str) -> list[tuple[int, ...]]:
        if self.method == "likelihood":
            return [(place,) for place in range(len(words))]
        return orders(words, how, "{options}" in user_of(self.method, self.elicitation))

    def _room(self, longest: int) -> int:
        """Return the tokens of a reply that has so many bytes at most, and something around."""
        if self.method not in ("constrained", "say"):
            return self.room or ROOM[self.method]
        return max(self.room or ROOM[self.method], longest + AROUND if longest else 0)

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
        wording, room = user_of(self.method, self.elicitation), self._room(longest_of(words))
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
            scores, bound = scores_of(response.listed, order)
        elif self.method == "likelihood":
            total = math.fsum(value for _, value in response.listed)
            scores = tuple(total if place in order else None for place in range(len(words)))
        return replace(response.reply, order=order, scores=scores, bound=bound, how=how)

    def answer(self, replies: Sequence[Reply], words: Sequence[str], prompt: str = "") -> Answer:
        """Return the answer that replies amount to: of those in the orders that count."""
        counted = self.counted_orders(words)
        own = [reply for reply in replies if not reply.order or reply.order in counted]
        if not own:
            return Answer(outcome="none")
        readings = [self.reading(reply, words, prompt) for reply in own]
        read = tuple(map(_with_reading, own, readings))
        outcomes = {reading.outcome for reading in readings}
        share = None
        if self.method == "choose" and REFUSAL not in outcomes:
            share = math.fsum(map(share_of, read)) / len(read)
        for outcome in (REFUSAL, CUT, UNCLEAR, OTHER):
            if outcome in outcomes:
                return Answer(outcome=outcome, share=share, replies=read)
        if self.method == "likelihood":
            sums = [reply.scores[reply.order[0]] or 0.0 for reply in read]
            return Answer(log_softmax(sums), replies=read)
        averaged = self.order == "average"
        if TIE in outcomes and not averaged:
            return Answer(outcome=TIE, share=share, replies=read)
        if len({reply.named for reply in read}) > 1 and not averaged:
            return Answer(outcome=ORDER, share=share, replies=read)
        if self.method == "choose":
            scores = average_scores(read)
            return Answer(scores, share=share, outcome="" if scores else OTHER, replies=read)
        return _counted(read)

    def read(self, replies: Sequence[Reply], words: Sequence[str], prompt: str) -> list[Reply]:
        """Return replies, in whatever orders, with the candidate that each names, and why."""
        return [_with_reading(reply, self.reading(reply, words, prompt)) for reply in replies]

    def reading(self, reply: Reply, words: Sequence[str], prompt: str) -> Reading:
        """Return which candidate one reply names, or why it names none."""
        if reply.refused:
            return Reading(outcome=REFUSAL, reason="refusal, as the endpoint calls it")
        if self.method == "likelihood":
            return Reading(reason=f"the sentence with {words[reply.order[0]]} was scored")
        if self.method == "choose":
            return read_scores(reply, words)
        reading = self._read(reply.text, words, prompt)
        if reply.finish not in CUT_OFF:
            return reading
        whole = reply.text if self.method == "constrained" else finished_part(reply.text)
        return read_cut(reading, self._read(whole, words, prompt), reply.tokens[-1])

    def _read(self, text: str, words: Sequence[str], prompt: str) -> Reading:
        if self.method == "constrained":
            return read_choice(text, words)
        patterns: Mapping[str, Sequence[str]] = dict(self.elicitation.patterns)
        return read_text(text, words, patterns, prompt)


def _with_reading(reply: Reply, reading: Reading) -> Reply:
    return replace(reply, named=reading.named, reading=reading.reason)


def _counted(replies: tuple[Reply, ...]) -> Answer:
    """Return the place that most replies name; a tie if there is no such place."""
    counts = Counter(reply.named for reply in replies)
    most = max(counts.values())
    first, *others = [place for place, count in counts.items() if count == most]
    return Answer(outcome=TIE, replies=replies) if others else Answer(replies=replies, named=first)


def first_words(response: Response) -> tuple[tuple[str, float], ...]:
    """Return the words that a model would say first, where its response lists them."""
    ordered = sorted(response.listed, key=lambda pair: -pair[1])[:FIRST]
    return tuple((token.strip() or repr(token), math.exp(min(v, 0.0))) for token, v in ordered)
