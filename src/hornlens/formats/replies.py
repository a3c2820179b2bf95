"""A reply of a chat model, as models give it, stores keep it and results show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KEPT = 10
"""So many fields of a reply are kept in stores."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of a chat model: its text, how it came about, and which candidate it names.

    `order` are the places of the candidates as they were offered (empty: they were not). `scores`
    are their log-probabilities, where the endpoint gives any (null: not among those listed), and
    `bound` is the most that a candidate which is not listed can have. `finish` is why the reply
    ended, in the endpoint's word; `refused`: the endpoint itself calls it a refusal. `tokens` are
    those of the question and of the reply, `fingerprint` is who the endpoint says has answered, and
    `how` the temperature. `named` is the place of the candidate that it names (-1: none), and
    `reading` says why it was read so. `created` is when the endpoint says it was made, in seconds
    since 1970 (0: it does not say). `copied`: the endpoint sent this very reply to the same
    question before, by its id.
    """

    text: str
    order: tuple[int, ...] = ()
    scores: tuple[float | None, ...] = ()
    bound: float = 0.0
    finish: str = ""
    refused: bool = False
    tokens: tuple[int, ...] = (0, 0)
    fingerprint: str = ""
    how: str = ""
    named: int = -1
    reading: str = ""
    created: int = 0
    copied: bool = False

    @property
    def model(self) -> str:
        """The name under which the endpoint says it has answered; "" if it does not say."""
        return self.fingerprint.partition(" ")[0]

    def as_json(self) -> dict[str, Any]:
        """Return what a result writes: what is known of it, and always text and name."""
        default = Reply(self.text)
        content = {name: getattr(self, name) for name in self.__slots__}
        known = ("text", "named")
        return {k: v for k, v in content.items() if k in known or v != getattr(default, k)}

    def as_row(self) -> list[Any]:
        """Return what a store keeps: the fields in order, as version 0.2 wrote and reads them.

        Replies are read again whenever they come from a store, so why is not kept.
        """
        return [getattr(self, name) for name in self.__slots__[:KEPT]]

    @classmethod
    def read(cls, content: Mapping[str, Any] | Sequence[Any]) -> Reply:
        """Return the reply that `as_json` or `as_row` wrote, in this version or an older one."""
        if not isinstance(content, Mapping):
            content = dict(zip(cls.__slots__, content, strict=False))
        known = {name: content[name] for name in cls.__slots__ if name in content}
        given: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in known.items()
        }
        return cls(**given)
