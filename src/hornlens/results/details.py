"""What a model said of a prompt beside its scores: its own first words, and what it cannot read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of one prompt, as far as the model can say it.

    `first_words` are those that it would itself put first, of all it knows, with probabilities;
    `share` is how much of its probability the candidates hold; `unknown` are the words of the
    prompt that it does not know.
    """

    first_words: tuple[tuple[str, float], ...] = ()
    share: float | None = None
    unknown: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what is known, and nothing else."""
        content: dict[str, Any] = {}
        if self.first_words:
            content["first_words"] = [list(pair) for pair in self.first_words]
        if self.share is not None:
            content["share"] = self.share
        if self.unknown:
            content["unknown"] = list(self.unknown)
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Details:
        """Return what `as_json` wrote, perhaps among other things."""
        first = tuple((str(word), float(share)) for word, share in content.get("first_words", ()))
        return cls(first, content.get("share"), tuple(content.get("unknown", ())))


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
