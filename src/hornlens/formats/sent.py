"""What was sent to a model: one full example for each way of asking, and what is sent with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_OF_MESSAGES = ("messages", "system", "prompt")
"""The fields of a body that hold text for the model; the others are parameters."""
_DEEPEST = 20
"""So deep are a body's lists and objects at most."""


@dataclass(frozen=True)
class SentCall:
    """One call: its body is the JSON that is sent; no key is ever in it.

    `order` are the places of the candidates in the order in which they are offered.
    """

    body: Mapping[str, Any]
    order: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a body whose messages are none, or that is deeper than any that is sent."""
        if not _is_shallow(self.body, _DEEPEST):
            raise ValueError("has a body that is too deep")
        for role, content in self._messages():
            if not isinstance(role, str) or not isinstance(content, str):
                raise ValueError("has a message that is no text")

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """Role and content of each message; a text that is only scored has the role `text`."""
        return tuple(self._messages())

    @property
    def parameters(self) -> dict[str, Any]:
        """What is sent beside the messages."""
        return {name: value for name, value in self.body.items() if name not in _OF_MESSAGES}

    def _messages(self) -> list[tuple[Any, Any]]:
        body = self.body
        messages = body.get("messages", [])
        if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
            raise ValueError("has messages that are none")
        system = [("system", body["system"])] if "system" in body else []
        text = [("text", body["prompt"])] if "prompt" in body else []
        return [*system, *((m.get("role"), m.get("content")) for m in messages), *text]


def _is_shallow(value: Any, levels: int) -> bool:
    """Say whether lists and objects are no deeper than so many levels."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, list):
        return True
    return levels > 0 and all(_is_shallow(each, levels - 1) for each in value)


@dataclass(frozen=True)
class ReadBy:
    """The regular expressions that find a candidate in a reply; none: the word itself, whole."""

    word: str
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sent:
    """What is sent for a prompt, which is one of those that were answered, and how it is answered.

    A chat model is sent `calls`, one for each order in which candidates are offered. `texts` are
    what any other model scores: the sentence with its blank, or with each candidate in it.
    """

    model: str
    """What people call the model: its spec."""
    prompt: str
    """The example: a prompt as answers have it, with [MASK] where the candidate goes."""
    candidates: tuple[str, ...]
    """The words that an answer can be; the orders and readings of replies are places in this."""
    reading: str
    """How what comes back becomes an answer, in words."""
    calls: tuple[SentCall, ...] = ()
    texts: tuple[str, ...] = ()
    address: str = ""
    """Where calls are sent: host and path."""
    method: str = ""
    """How a chat model is made to name a candidate: choose, constrained, say or likelihood."""
    system: str = ""
    """The system message, the same in all calls."""
    template: str = ""
    """The user message, with {sentence} and {options} for what differs from call to call."""
    orders: tuple[tuple[str, ...], ...] = ()
    """The orders in which candidates are offered."""
    drawn: bool = False
    """Whether one of the orders is drawn for each call, in place of a call for each order."""
    seed: str = ""
    """How the seed of a call is chosen, in words; empty: none is sent."""
    read_by: tuple[ReadBy, ...] = ()
    """What replies are searched for, where they are free text."""
    refused_by: str = ""
    """The regular expression that finds a refusal in a reply, in capitals or not."""
    assumed: bool = False
    """Whether the parameters are those of now: those of the time were not kept."""
