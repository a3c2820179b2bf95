"""Progress bars in notebooks: plain HTML, replaced as the work goes on; no widgets are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from hornlens.formats.plain import visible
from hornlens.report.progress import length, standing_of

PAUSE = 0.2
"""Seconds between two looks of a bar: a notebook keeps up with that."""


def bars(
    display: Callable[..., Any],
    tasks: Sequence[tuple[object, int | None, str]],
    clock: Callable[[], float],
) -> list[Callable[[int], None]]:
    """Show a bar for each (doing, total, unit), by IPython's `display`; return what moves it on."""
    return [Bar(display, doing, total, unit, clock).advance for doing, total, unit in tasks]


class Bar:
    """One bar of a notebook: it comes with the first advance, and stays, with how long it took."""

    def __init__(
        self,
        display: Callable[..., Any],
        doing: object,
        total: int | None,
        unit: str,
        clock: Callable[[], float],
    ):
        """Begin; nothing is shown yet."""
        self.doing, self.total, self.unit = doing, total, unit
        self._display, self._clock = display, clock
        self._began, self._done, self._next = clock(), 0, 0.0
        self._shown: Any = None

    def advance(self, count: int) -> None:
        """Note that so many more are done; show it, but not too often."""
        self._done += count
        now = self._clock()
        if now < self._next and self._done != self.total:
            return
        self._next = now + PAUSE
        look = {"text/html": self.html(now), "text/plain": self.text(now)}
        if self._shown is None:
            self._shown = self._display(look, raw=True, display_id=True)
        else:
            self._shown.update(look, raw=True)

    def text(self, now: float) -> str:
        """Return how far it is, in words."""
        of = "" if self.total is None else f" of {self.total:,}"
        took = length(now - self._began)
        amount = standing_of(self.doing) or f"{self._done:,}{of} {self.unit}"
        return f"{visible(str(self.doing))}: {amount} in {took}"

    def html(self, now: float) -> str:
        """Return the same with a bar."""
        most = "" if self.total is None else f' max="{self.total}" value="{self._done}"'
        said = escape(self.text(now))
        return f'<progress{most} style="width: 16em" aria-label="{said}"></progress> {said}'
