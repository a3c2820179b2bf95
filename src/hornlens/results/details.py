"""What a model said of a prompt beside its scores: first words, unknown ones, whole replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Said:
    """One reply of a chat model: its text, and how it came about.

    `order` are the places of the candidates as they were offered, `scores` their log-probabilities
    (None: not listed), `named` the place of the one that this reply speaks for (-1: none).
    """

    text: str
    order: tuple[int, ...] = ()
    scores: tuple[float | None, ...] = ()
    named: int = -1
    finish: str = ""
    tokens: tuple[int, ...] = ()
    fingerprint: str = ""
    how: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return what is known of it."""
        content = {name: getattr(self, name) for name in self.__slots__}
        return {k: v for k, v in content.items() if v not in ((), "") or k == "text"}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Said:
        """Return what `as_json` wrote."""
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in content.items()
        }
        return cls(**{name: values[name] for name in cls.__slots__ if name in values})


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of one prompt, as far as the model can say it.

    `first_words` are those that it would itself put first, of all it knows, with probabilities;
    `share` is how much of its probability the candidates hold; `unknown` are the words of the
    prompt that it does not know. `said` are the replies of a chat model that its answer rests on.
    """

    first_words: tuple[tuple[str, float], ...] = ()
    share: float | None = None
    unknown: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what is known, and nothing else."""
        content: dict[str, Any] = {}
        if self.first_words:
            content["first_words"] = [list(pair) for pair in self.first_words]
        if self.share is not None:
            content["share"] = self.share
        if self.unknown:
            content["unknown"] = list(self.unknown)
        if self.said:
            content["replies"] = [each.as_json() for each in self.said]
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Details:
        """Return what `as_json` wrote, perhaps among other things."""
        first = tuple((str(word), float(share)) for word, share in content.get("first_words", ()))
        said = tuple(Said.from_json(each) for each in content.get("replies", ()))
        return cls(first, content.get("share"), tuple(content.get("unknown", ())), said)


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
