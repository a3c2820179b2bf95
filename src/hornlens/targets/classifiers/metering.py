"""Metering: what a classifier is asked is counted, shown and, when a limit is reached, ended.

Inputs are put to the model in parts that take a fraction of a second, so that nobody waits long for
a limit to be noticed. What was answered by then is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.limits import Limits, Reason, Stopped
from hornlens.targets.classifiers.columns import Column

Places = NDArray[np.intp]
Decide = Callable[[Sequence[Column]], Places]
Progress = Callable[[int], object]
LARGEST = 1 << 16
"""How many inputs are one part at most."""
PART = 0.2
"""Seconds that a part may take."""
GRACE = 1.0
"""Seconds that measuring the agreement may take after a limit was reached."""
CONCLUDING = 2.0
"""Seconds that finding rules in what was asked takes at least, whatever limit is reached."""


class Meter:
    """Puts inputs to a classifier until a limit is reached, and tells who wants to know.

    Args:
        limits: What may end the run. None: nothing does.
        progress: Is called with how many more inputs were put to the model, each time.
        counted: Is called with how many cells were asked so far, each time.
        watch: Is called with each event of a strategy that chooses the cells.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        progress: Progress | None = None,
        counted: Progress | None = None,
        watch: Callable[[Any], object] | None = None,
    ):
        """Begin with nothing asked."""
        self.limits = limits
        self.ended: Reason | None = None
        """Why something was left out; None as long as nothing was."""
        self.asked = 0
        """How many cells were asked. Rows, and inputs that measure the agreement, are none."""
        self._progress, self._counted, self._watch = progress, counted, watch
        self._part = LARGEST if limits is None else 1
        self._graced: float | None = None

    def begin(self) -> None:
        """Start the clock of the limits: from now on, there is something to keep."""
        if self.limits is not None:
            self.limits.begin()

    @property
    def room(self) -> int | None:
        """How many cells may still be asked; None: all."""
        return None if self.limits is None else self.limits.room()

    def stops(self, rules: int = 0) -> bool:
        """Return whether a limit is reached, which is noted: whoever asks leaves something out."""
        reason = None if self.limits is None else self.limits.reached(rules)
        self.ended = self.ended or reason
        return reason is not None

    def check(self, rules: int = 0) -> None:
        """Raise Stopped if a limit is reached; so many rules were found."""
        if self.stops(rules):
            raise Stopped(self.ended or "interrupt")

    def passes(self, event: Any) -> bool:
        """Pass on what a strategy does; return whether a limit is reached, which ends it."""
        if self._watch is not None:
            self._watch(event)
        return self.stops()

    def concluding(self) -> Callable[[], bool]:
        """Return what says whether to stop finding rules in what was asked: not at once."""
        start = time.perf_counter()

        def stops() -> bool:
            if self.limits is None or self.limits.reached() is None:
                return False
            return time.perf_counter() - start >= CONCLUDING and self.stops()

        return stops

    def part_of_time(self, share: float) -> Callable[[], bool]:
        """Return what says whether such a share of the time that is left has passed."""
        seconds, start = None if self.limits is None else self.limits.time_left, time.perf_counter()
        return lambda: seconds is not None and time.perf_counter() - start >= share * seconds

    def answers(self, decide: Decide, columns: Sequence[Column]) -> Places:
        """Return what is said of cells: of all, or of as many as the limits allow.

        The first cell of a run is asked in any case.
        """
        count, room = len(columns[0]), self.room
        allowed = self._called(count)
        reason: Reason = "max_calls"
        if room is not None and room < allowed:
            allowed, reason = room, "max_questions"
        parts: list[Places] = []
        start = 0
        while start < allowed and not (self.asked and self.stops()):
            parts.append(self._decided(decide, columns, start, allowed))
            start += len(parts[-1])
            self._count(len(parts[-1]))
        if start == allowed < count:
            self.out_of(reason)
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)

    def measured(self, decide: Decide, columns: Sequence[Column], grace: bool = True) -> Places:
        """Return what is said of inputs that only measure: they are shown, and not counted.

        With `grace`, measuring goes on for a moment after a limit was reached.
        """
        count = len(columns[0])
        allowed = self._called(count)
        parts: list[Places] = []
        start = 0
        while start < allowed and not (start and self._is_over(grace)):
            parts.append(self._decided(decide, columns, start, allowed))
            start += len(parts[-1])
        if start == allowed < count:
            self.out_of("max_calls")
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)

    def _called(self, count: int) -> int:
        """Return how many of so many inputs may be given to the model: each is a call."""
        room = None if self.limits is None else self.limits.calls_room()
        return count if room is None else min(room, count)

    def _is_over(self, grace: bool) -> bool:
        if self.limits is None or self.limits.reached() is None:
            return False
        now = time.perf_counter()
        if self._graced is None:
            self._graced = now + GRACE
        if grace and now < self._graced:
            return False
        return self.stops()

    def _decided(self, decide: Decide, columns: Sequence[Column], start: int, end: int) -> Places:
        """Return what is said of the next part; the part after it is sized by the time it took."""
        clock = time.perf_counter()
        said = decide([column[start : min(start + self._part, end)] for column in columns])
        took = time.perf_counter() - clock
        if took < PART / 2:
            self._part = min(LARGEST, 2 * self._part)
        elif took > 2 * PART and self.limits is not None:
            self._part = max(1, self._part // 2)
        if self._progress is not None:
            self._progress(len(said))
        return said

    def _count(self, cells: int) -> None:
        self.asked += cells
        if self.limits is not None:
            self.limits.count(cells)
        if self._counted is not None:
            self._counted(self.asked)

    def out_of(self, reason: Reason = "max_questions") -> None:
        """Note that no more may be asked: no more questions, or no more calls."""
        self.ended = self.ended or reason
        if self.limits is not None and self.limits.reason is None:
            self.limits.reason = reason


def meter_of(
    limits: Limits | None,
    progress: Progress | None,
    counted: Progress | None = None,
    watch: Callable[[Any], object] | None = None,
) -> Meter | None:
    """Return a meter, if anything has to be metered."""
    if limits is None and progress is None and counted is None and watch is None:
        return None
    return Meter(limits, progress, counted, watch)
