"""What is known of a prompt beside its scores: first words, unknown ones, whole replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hornlens.formats.replies import Reply


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of one prompt, as far as the model can say it.

    `first_words` are those that it would itself put first, of all it knows, with probabilities;
    `share` is how much of its probability the candidates hold; `unknown` are the words of the
    prompt that it does not know. `replies` are those of a chat model that its answer rests on.
    `reply` is what was answered, where the answers to several prompts are compared.
    """

    first_words: tuple[tuple[str, float], ...] = ()
    share: float | None = None
    unknown: tuple[str, ...] = ()
    replies: tuple[Reply, ...] = ()
    reply: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return what is known, and nothing else."""
        content: dict[str, Any] = {}
        if self.first_words:
            content["first_words"] = [list(pair) for pair in self.first_words]
        if self.share is not None:
            content["share"] = self.share
        if self.unknown:
            content["unknown"] = list(self.unknown)
        if self.replies:
            content["replies"] = [reply.as_json() for reply in self.replies]
        if self.reply:
            content["reply"] = self.reply
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Details:
        """Return what `as_json` wrote, perhaps among other things."""
        first = tuple((str(word), float(share)) for word, share in content.get("first_words", ()))
        replies = tuple(Reply.read(reply) for reply in content.get("replies", ()))
        unknown = tuple(content.get("unknown", ()))
        return cls(first, content.get("share"), unknown, replies, str(content.get("reply", "")))


NOTHING = Details()
"""Of a prompt of which nothing is known."""


def details_as_json(details: Mapping[str, Details], prompts: Sequence[str]) -> dict[str, Any]:
    """Return what is known of an answer's prompts: of several, a list under `phrasings`."""
    known = [details.get(prompt, NOTHING).as_json() for prompt in prompts]
    if len(known) == 1:
        return known[0]
    return {"phrasings": known} if any(known) else {}


def details_from_json(answer: Mapping[str, Any]) -> Iterator[tuple[str, Details]]:
    """Yield what is known of each prompt of an answer in envelope.json."""
    prompts = answer["prompts"]
    parts = [answer] if len(prompts) == 1 else answer.get("phrasings", ())
    for prompt, part in zip(prompts, parts, strict=False):
        if (found := Details.from_json(part)) != NOTHING:
            yield prompt, found
