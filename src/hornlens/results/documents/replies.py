"""replies.csv: every reply of a chat model, how it was read and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hornlens.formats.csvfiles import csv_text
from hornlens.formats.plain import visible
from hornlens.formats.replies import Reply
from hornlens.results.documents.answers import answers_of
from hornlens.results.documents.details import NOTHING
from hornlens.results.documents.findings import Findings

COLUMNS = ("answer", "order", "reply", "read as", "why", "finish", "fingerprint")
"""Behind those of the prompt, the way of asking and the attributes."""


def has_replies(extraction: Findings) -> bool:
    """Say whether there are replies: those of a chat model."""
    return any(each.replies for world in extraction.each for each in world.details.values())


def replies_csv(extraction: Findings) -> str:
    """Return replies.csv: a line for each reply, in the order of the answers.

    Line ends and other controls in texts of others are written as \\n and the like. `answer` is
    what all replies to a prompt amount to, `order` the candidates as they were offered.
    """
    space, worlds = extraction.space, extraction.each
    several = bool(extraction.worlds)
    groups = list(zip(space.attributes, space.groups, strict=False))

    def lines() -> Iterator[list[str]]:
        for cell, place in answers_of(extraction):
            world = worlds[place]
            values = [" ".join(space.conditions(cell & group)) for _, group in groups]
            for number, prompt in enumerate(world.show(cell)):
                words = named_words(world, number)
                line = [prompt, *([world.world] if several else []), *values, world.reply_to(cell)]
                for reply in world.details.get(prompt, NOTHING).replies:
                    yield [visible(text) for text in (*line, *_reply(reply, words))]

    head = ["prompt", *([extraction.noun] if several else []), *(a.name for a, _ in groups)]
    return csv_text([*map(visible, head), *COLUMNS], lines())


def named_words(world: Findings, number: int = 0) -> tuple[str, ...]:
    """Return the words that replies to the prompts of a phrasing can name; empty: not known."""
    if world.question.compared is not None:  # whoever answered, it was asked the same
        return world.sent[0].candidates if world.sent else ()
    if number < len(world.sent):
        return world.sent[number].candidates
    return tuple(world.question.words.values())


def _reply(reply: Reply, words: Sequence[str]) -> list[str]:
    """Return what there is to say of a reply: its order, text, reading, end, and who gave it."""
    offered = " | ".join(words[place] for place in reply.order if 0 <= place < len(words))
    read_as = words[reply.named] if 0 <= reply.named < len(words) else ""
    return [offered, reply.text, read_as, reply.reading, reply.finish, reply.fingerprint]
