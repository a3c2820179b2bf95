"""Progress and events of the doors to classifiers: `explain`, `prove` and `flips`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hornlens.classifiers.explanation import Explained
from hornlens.targets.classifiers.metering import Progress

if TYPE_CHECKING:
    from hornlens.learning.events import Event

Watch = Callable[["Event"], object]
"""Is called with each event of a run."""


@contextmanager
def shown(progress: Progress | bool | None, name: str) -> Iterator[Progress | None]:
    """Show a progress bar, if it is wanted; yield what is told how many more inputs were asked."""
    if progress is not True:
        yield progress or None
        return
    from hornlens.report.terminal import Terminal

    with Terminal().bar(f"Asking {name}", None, "inputs") as advance:
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
