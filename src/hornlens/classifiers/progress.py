"""Progress and events of the doors to classifiers: `explain`, `prove` and `flips`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hornlens.classifiers.explanation import Explained
from hornlens.targets.classifiers.metering import Progress

if TYPE_CHECKING:
    from hornlens.learning.events import Event, Sifting

Watch = Callable[["Event"], object]
"""Is called with each event of a run."""


class AskedModel:
    """What a progress bar says: who is asked and, of a sift, how many rules are still alive."""

    def __init__(self, name: str, watch: Watch | None = None):
        """Take the name of the model, and who else wants to know of events."""
        self.name, self.watch = name, watch
        self.last: Sifting | None = None

    def hear(self, event: Sifting) -> None:
        """Take what a sift does, and pass it on."""
        self.last = event
        if self.watch is not None:
            self.watch(event)

    def __str__(self) -> str:
        """Return it as it is now."""
        if self.last is None:
            return f"Asking {self.name}"
        event = self.last
        to_go = "" if event.to_go is None else f", about {event.to_go:,} cells to go"
        alive = f"{event.live:,} of {event.candidates:,} rules alive"
        return f"Sifting {self.name}: {event.asked:,} cells, {alive}{to_go}"


@contextmanager
def shown(progress: Progress | bool | None, name: str | AskedModel) -> Iterator[Progress | None]:
    """Show a progress bar, if it is wanted; yield what is told how many more inputs were asked."""
    if progress is not True:
        yield progress or None
        return
    from hornlens.report.terminal import Terminal

    doing = AskedModel(name) if isinstance(name, str) else name
    with Terminal().bar(doing, None, "inputs") as advance:
        yield advance


def cells_asked(watch: Watch) -> Progress:
    """Return what tells, as an event, how many cells were asked so far."""
    from hornlens.learning.events import Progress, Queries

    return lambda cells: watch(Progress(Queries(cells=cells)))


def tell_events(result: Explained, watch: Watch) -> None:
    """Tell the rules that were found, as rules of the space of its cells, and how it ended."""
    from hornlens.learning.events import Ended, RuleAdded

    for position, rule in enumerate(result.envelope.readable):
        watch(RuleAdded(position, rule))
    watch(Ended(result.certificate))
