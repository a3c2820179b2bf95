"""Progress as lines of text, for where nobody looks on: a log, a pipe, a job of many hours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, cast

from hornlens.counts import plural
from hornlens.formats.plain import visible

if TYPE_CHECKING:
    from hornlens.learning.events import Event, Sifting

FIRST = 3.0
"""Seconds until the first line: what takes less says nothing."""
GROWTH = 2.0
LONGEST = 60.0
"""The pauses between lines grow up to so many seconds."""


class Live:
    """What is going on, and how far a sift is: the name of a progress bar, which watches events.

    >>> from hornlens.learning.events import Sifting
    >>> live = Live("Asking m")
    >>> live.watch(Sifting(1240, 318, 9000, 900))
    >>> print(f"{live}: {live.standing}")
    Asking m: 1,240 asked, 318 candidates live, about 900 to go
    """

    def __init__(self, doing: object):
        """Begin; `doing` is shown as its text is at the time."""
        self._doing = doing
        self._sifting: Sifting | None = None

    def __str__(self) -> str:
        """Return what is going on."""
        return str(self._doing)

    def watch(self, event: Event) -> None:
        """Take note of an event; only those of a sift matter."""
        if type(event).__name__ == "Sifting":  # no other run imports learners for it
            self._sifting = cast("Sifting", event)

    def beside(self, other: Callable[[Event], object] | None) -> Callable[[Event], None]:
        """Return what watches, and passes events on."""

        def watch(event: Event) -> None:
            self.watch(event)
            if other is not None:
                other(event)

        return watch

    @property
    def standing(self) -> str:
        """How many cells were asked, and how many candidates are alive; "" before a sift begins."""
        now = self._sifting
        if now is None:
            return ""
        text = f"{now.asked:,} asked, {plural(now.live, 'candidate')} live"
        return text if now.to_go is None else f"{text}, about {now.to_go:,} to go"


def standing_of(doing: object) -> str:
    """Return how far something is that tells so by itself, instead of its count; "" for others."""
    return doing.standing if isinstance(doing, Live) else ""


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class ProgressLines:
    """Says now and then how much is done, how fast it goes, and how long the rest will take.

    The rate is that since the first advance: what came before it was loading, and what it brought
    may have come from the cache. Before a second one, neither a rate nor the time left is known.
    """

    def __init__(
        self,
        doing: object,
        total: int | None,
        unit: str,
        clock: Callable[[], float],
        write: Callable[[str], None] = _to_stderr,
    ):
        """Begin; nothing is said yet."""
        self.doing, self.total, self.unit = doing, total, unit
        self._clock, self._write = clock, write
        self._started, self._done = clock(), 0
        self._since: tuple[float, int] | None = None
        """When the first advance was, and what was done by then."""
        self._pause, self._next = FIRST, self._started + FIRST
        self._said = False

    def advance(self, count: int) -> None:
        """Note that so many more are done."""
        if not count:
            return
        now = self._clock()
        self._done += count
        if self._since is None:
            self._since = now, self._done
        if self._done == self.total:
            self.finish()
        elif now >= self._next:
            self._say(now)

    def _say(self, now: float) -> None:
        self._pause = min(self._pause * GROWTH, LONGEST)
        self._next, self._said = now + self._pause, True
        amount = standing_of(self.doing) or self._amount()
        self._write(f"{self._doing}: {', '.join([amount, *self._outlook(now)])}")

    def finish(self) -> None:
        """Say that it is over, once, if anything was said before."""
        if self._said:
            self._said = False
            took = length(self._clock() - self._started)
            self._write(f"{self._doing}: {self._amount()} in {took}")

    @property
    def _doing(self) -> str:
        return visible(str(self.doing))

    def _amount(self) -> str:
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self._done:,}{of} {self.unit}"

    def _outlook(self, now: float) -> list[str]:
        """Return the rate and the time left, as far as there is anything to tell them by."""
        since, before = self._since or (now, 0)
        if now <= since or self._done == before:  # so far there was one advance only
            return []
        rate = (self._done - before) / (now - since)
        said = f"{rate:.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2g} {self.unit}/s"
        if self.total is None:
            return [said]
        return [said, f"about {length((self.total - self._done) / rate)} left"]


class NoteRules(Protocol):
    """Takes note of how many rules there are, what share is settled, and what else to say."""

    def __call__(self, rules: int, settled: float | None, also: str = "") -> None:
        """Take note."""
        ...


class RuleLines:
    """Says now and then how many rules are proved, how fast they come, and how much is settled."""

    def __init__(
        self,
        doing: str,
        clock: Callable[[], float],
        write: Callable[[str], None] = _to_stderr,
        pause: float | None = None,
    ):
        """Begin; `pause` is that between two lines: None for pauses that grow."""
        self.doing, self._clock, self._write = doing, clock, write
        self._pause, self._grows = (FIRST, True) if pause is None else (pause, False)
        self._started = clock()
        self._next = self._started + self._pause

    def note(self, rules: int, settled: float | None, also: str = "") -> None:
        """Take note of where the search is; say it if it is time."""
        now = self._clock()
        if now < self._next:
            return
        if self._grows:
            self._pause = min(self._pause * GROWTH, LONGEST)
        self._next = now + self._pause
        rate = rules / (now - self._started)
        said = f"{rules:,} {'rule' if rules == 1 else 'rules'}"
        if rules:
            said += f", {rate:,.0f} rules/s" if rate >= 10 else f", {rate:.2g} rules/s"
        if settled is not None:
            said += f", {settled:.0%} settled"
        said += f", {also}" if also else ""
        self._write(f"{visible(self.doing)}{said}")


def length(seconds: float) -> str:
    """Return a time as people say it, to the second, then to the minute."""
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
