"""How fast an endpoint is asked: as many calls at once as it takes, and again after trouble.

The number of calls at once grows with every answer, at first quickly, and is halved when the
endpoint says that it is too much (additive increase, multiplicative decrease, as TCP does it).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from hornlens.logging import get_logger
from hornlens.models.chat.calls import Passing
from hornlens.models.protocol import GO_ON, ModelError

T = TypeVar("T")
_log = get_logger(__name__)


@dataclass(frozen=True)
class Patience:
    """How long trouble is put up with. All times in seconds."""

    attempts: int = 6
    """How often a call is sent whose answers fail one after another."""
    busy: float = 900.0
    """How long an endpoint may say that it is busy, or loading, before it is given up."""
    first_pause: float = 0.5
    """Before the second attempt; each further one is twice as long."""
    longest_pause: float = 30.0
    timeout: float = 120.0
    """For one answer, from the question to its last byte."""


class Pace:
    """Sends calls to one model of one endpoint. Lives in one event loop."""

    def __init__(self, most: int, patience: Patience, start: int = 4):
        """Begin with a few calls at once; `most` is never exceeded."""
        self.most, self.patience = most, patience
        self.limit = float(min(start, most))
        """How many calls may be under way now."""
        self.under_way = 0
        self._slow_start = True
        self._decreased = self._quiet_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def call(self, where: str, send: Callable[[], Awaitable[T]]) -> T:
        """Return what is sent for, sent again while the trouble is such that may pass.

        Raises ModelError when patience is at an end.
        """
        failures, busy_since = 0, 0.0
        while True:
            await self._enter()
            started = time.monotonic()
            try:
                async with asyncio.timeout(self.patience.timeout):
                    response = await send()
                self._faster()
                return response
            except TimeoutError:
                trouble = Passing(f"no answer in {self.patience.timeout:g} s", paid=True)
            except Passing as error:
                trouble = error
            finally:
                self._leave()
            now = time.monotonic()
            if trouble.busy:
                self._slower(started, now)
                busy_since = busy_since or started
            else:
                busy_since = 0.0
            if now + (trouble.wait or 0.0) - (busy_since or now) > self.patience.busy:
                raise ModelError(f"{where}: is busy for too long ({trouble}){GO_ON}") from None
            # Everybody waits, not only this call.
            self._quiet_until = max(self._quiet_until, now + (trouble.wait or 0.0))
            failures += 1
            if not trouble.busy and failures >= self.patience.attempts:
                raise ModelError(f"{where}: {failures} attempts failed: {trouble}{GO_ON}") from None
            pause = min(
                self.patience.first_pause * 2 ** min(failures - 1, 16), self.patience.longest_pause
            )
            wait = trouble.wait or pause * random.uniform(0.5, 1.0)
            _log.info(
                "%s: attempt %d failed (%s); asking again in %.1f s, at most %d calls at once",
                where,
                failures,
                _in_short(trouble),
                wait,
                int(self.limit),
            )
            if not trouble.wait:
                await asyncio.sleep(wait)

    async def _enter(self) -> None:
        while True:
            if (quiet := self._quiet_until - time.monotonic()) > 0:
                await asyncio.sleep(quiet)
            elif self.under_way < int(self.limit):
                self.under_way += 1
                return
            else:
                place = asyncio.get_running_loop().create_future()
                self._waiting.append(place)
                try:
                    await place
                finally:
                    if place.cancelled() and place in self._waiting:
                        self._waiting.remove(place)

    def _leave(self) -> None:
        self.under_way -= 1
        self._wake()

    def _wake(self) -> None:
        free = int(self.limit) - self.under_way
        while self._waiting and free > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1

    def _faster(self) -> None:
        self.limit = min(self.limit + (1.0 if self._slow_start else 1 / self.limit), self.most)

    def _slower(self, started: float, now: float) -> None:
        """Halve the limit, but once only for all the calls that were under way together."""
        self._slow_start = False
        if started >= self._decreased:
            self.limit, self._decreased = max(self.limit / 2, 1.0), now


def _in_short(trouble: Passing) -> str:
    """Return what the trouble was, without the endpoint's own words: they may repeat a prompt."""
    status = str(trouble).partition(":")[0]
    return f"status {status}" if status.isdigit() else str(trouble).partition(" (")[0]
