"""What is sent to an endpoint and what comes back, as values; and trouble that may pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Protocol

from hornlens.formats.replies import Reply
from hornlens.models.protocol import ModelError


@dataclass(frozen=True)
class Call:
    """One question to an endpoint."""

    user: str
    system: str = ""
    room: int = 1
    """Tokens that the reply may have."""
    top: int = 0
    """How many of the reply's possible first tokens are wanted, with their log-probabilities."""
    choices: tuple[str, ...] = ()
    """The reply must be one of these, where there are any."""
    echo: bool = False
    """No question: the log-probabilities of the text itself are wanted."""
    seed: int | None = None
    temperature: float = 0.0


@dataclass(frozen=True)
class Response:
    """What an endpoint sent back: a reply, and log-probabilities as far as they were wanted."""

    reply: Reply
    listed: tuple[tuple[str, float], ...] = ()
    """Tokens with log-probabilities: the likeliest first ones of the reply, or those of the text
    that was to be scored, without its first where that has none."""
    model: str = ""
    """What the endpoint says has answered."""
    id: str = ""
    """What the endpoint calls this response."""


@dataclass(frozen=True)
class Manner:
    """Which parameters an endpoint takes for a model, as far as it was tried."""

    temperature: bool = True
    seed: bool = True
    room: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    top: int = 20
    """How many first tokens it lists."""

    def written(self, room: int) -> str:
        """Return it as answers keep it, with the room of a reply: "max_tokens=64 seed top=20"."""
        taken = [name for name in ("temperature", "seed") if getattr(self, name)]
        return " ".join((f"{self.room}={room}", *taken, f"top={self.top}"))

    @classmethod
    def read(cls, text: str) -> tuple[Manner, int] | None:
        """Return what `written` wrote, with the room; None if it is something else."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            return None
        name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
        if match["name"] == "max_completion_tokens":
            name = "max_completion_tokens"
        manner = cls(bool(match["temperature"]), bool(match["seed"]), name, int(match["top"]))
        return manner, int(match["room"])


_WRITTEN = re.compile(
    r"(?P<name>max_tokens|max_completion_tokens)=(?P<room>\d{1,9})"
    r"(?P<temperature> temperature)?(?P<seed> seed)? top=(?P<top>\d{1,9})"
)


class Endpoint(Protocol):
    """One model at one address, in the dialect that is spoken there."""

    async def ask(self, call: Call, manner: Manner) -> Response:
        """Return what comes back; raises Passing for what may pass, ModelError for what may not."""
        ...

    async def models(self) -> list[str]:
        """Return the names of the models that can be asked there; none if it does not say."""
        ...


class Passing(Exception):
    """Trouble that may pass: the call may be sent again."""

    def __init__(
        self, reason: str, *, busy: bool = False, wait: float | None = None, paid: bool = False
    ):
        """Say what it was; whether less should be asked at a time, and for how long nothing.

        `paid`: the endpoint may have done the work all the same.
        """
        super().__init__(reason)
        self.busy, self.wait, self.paid = busy, wait, paid


class NotOurs(Exception):
    """A call that another process makes by now: it is not sent."""


class WrongParameter(ModelError):
    """A parameter that an endpoint does not take for a model; `reason` is its own text."""

    def __init__(self, message: str, reason: str):
        """Keep the endpoint's own words."""
        super().__init__(message)
        self.reason = reason
