"""Whether repeated replies are copies of each other, as from a cache between us and the model.

A model that is sure names the same candidate each time, and says so in the same few words: that is
no evidence. What is evidence: an endpoint that gives several replies to a question the same id; and
replies of many words of their own that agree word for word at a high temperature, for nearly every
prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hornlens.formats.replies import Reply
from hornlens.results.documents.details import Details

SEVERAL = 3
"""So many replies to one question are compared word for word, at least."""
PROMPTS = 5
"""So many questions with as many replies are needed, at least."""
SHARE = 0.95
"""Replies to so many of these questions are the same."""
OWN_WORDS = 6
"""So many different words that are not the prompt's make a reply one that would vary."""
WARM = 0.7
"""From this temperature on, it would."""


@dataclass(frozen=True)
class Copies:
    """How repeated replies agree: in `same` of `compared` questions, word for word.

    Only replies that are long enough to vary are compared. `marked` of the `later` replies, all but
    the first to each question, have the id of an earlier one.
    """

    compared: int
    same: int
    later: int = 0
    marked: int = 0

    @property
    def by_ids(self) -> bool:
        """Whether ids show that at least half of the later replies are copies."""
        return self.marked >= SEVERAL and 2 * self.marked >= self.later

    @property
    def by_words(self) -> bool:
        """Whether nearly all replies agree that are long enough to differ."""
        return self.compared >= PROMPTS and self.same >= SHARE * self.compared

    @property
    def count(self) -> int:
        """How many replies are copies, by their ids, or at least one to each such question."""
        return max(self.marked, self.same)

    @property
    def evident(self) -> bool:
        """Whether repeated replies cannot be taken for independent ones."""
        return self.by_ids or self.by_words

    @property
    def sentence(self) -> str:
        """What was seen, and what it means."""
        seen = []
        if self.by_ids:
            seen.append(
                f"{self.marked:,} of {self.later:,} repeated replies have the id of an earlier one"
            )
        if self.by_words:
            seen.append(
                f"replies to {self.same:,} of {self.compared:,} prompts are the same word for word "
                "each time, though they are long and the temperature is above 0"
            )
        cause = "a cache seems to answer in the model’s place"
        if not self.by_ids:
            cause = "a cache answers in the model’s place, or the model does not sample"
        return (
            f"Repeats tell nothing here: {', and '.join(seen)}: {cause}. Copies are one answer, so "
            "no prompt is decided by them, and no probability is claimed."
        )


def copies_of(worlds: Iterable[Mapping[str, Details]]) -> Copies:
    """Return how replies to the same question agree, in one way of asking or in several."""
    compared = same = later = marked = 0
    for prompt, replies in _questions(worlds):
        later += len(replies) - 1
        marked += sum(reply.copied for reply in replies)
        if len(replies) < SEVERAL or not all(map(_is_warm, replies)):
            continue
        if not all(len(_own_words(reply.text, prompt)) >= OWN_WORDS for reply in replies):
            continue
        compared += 1
        same += len({reply.text for reply in replies}) == 1
    return Copies(compared, same, later, marked)


def _questions(worlds: Iterable[Mapping[str, Details]]) -> Iterator[tuple[str, Sequence[Reply]]]:
    """Yield replies to the same question: of one prompt, with candidates in the same order."""
    for details in worlds:
        for prompt, known in details.items():
            groups: dict[tuple[int, ...], list[Reply]] = {}
            for reply in known.replies:
                groups.setdefault(reply.order, []).append(reply)
            yield from ((prompt, replies) for replies in groups.values() if len(replies) > 1)


def _own_words(text: str, prompt: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - set(re.findall(r"\w+", prompt.lower()))


def _is_warm(reply: Reply) -> bool:
    """Say whether a reply was sampled at a temperature at which words vary; the usual one is 1."""
    given = re.search(r"temperature ([0-9.]+)", reply.how)
    return given is None or float(given[1]) >= WARM
