"""Limits: what may end a run early, so that it keeps what it has proved by then.

Whoever works in steps asks between two of them whether a limit is reached. Nothing is torn out of
the midst of a step, so what was found up to there is whole.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, TypeAlias

from hornlens.errors import HornlensError

Reason: TypeAlias = Literal[
    "time_limit",
    "max_rules",
    "interrupt",
    "max_questions",
    "max_calls",
    "max_tokens",
    "max_cost",
    "max_equivalence_queries",
    "samples",
]
"""Why a run was ended early."""
ENDED: dict[Reason, str] = {
    "time_limit": "by its time limit",
    "max_rules": "by the limit on rules",
    "interrupt": "by hand",
    "max_questions": "by the limit on questions",
    "max_calls": "by the limit on calls",
    "max_tokens": "by the limit on tokens",
    "max_cost": "by the limit on cost",
    "max_equivalence_queries": "by the limit on equivalence queries",
    "samples": "with too few samples",
}
"""Why a run was ended early, in words."""
ENDING = b"hornlens: ending with what is proved so far; Ctrl-C again ends at once\n"


class Stopped(Exception):
    """A limit is reached: raised by `Limits.check`, for work that cannot simply stop to be asked.

    Whoever began the work catches it, and goes on with what is there.
    """

    def __init__(self, reason: Reason):
        """Say why."""
        super().__init__(reason)
        self.reason = reason


class Limits:
    """How long a run may take, how many questions and rules, and whether somebody has ended it.

    Use a new one for each run: its clock starts when the run begins. Afterwards, `reason` says
    which limit ended it.

    Args:
        time_limit: Seconds after which the run ends. None: no limit.
        max_rules: The run ends when it has found more rules than that. None: no limit.
        clock: What tells the time, in seconds.
        max_questions: The run ends when it has asked that many prompts or cells. None: no limit.
        max_calls: The run ends before a classifier or a function is given more inputs than that,
            whatever for: each row counts as one call, however many rows are given at once. None:
            no limit. Afterwards, `calls` is how many there were. (Calls of language models are
            limited by `Spending`.)

    Raises:
        HornlensError: if a limit makes no sense.

    >>> from hornlens import extract
    >>> extract(lambda prompt, words: [0.9, 0.1], cache=False, limits=Limits(time_limit=3600)).rules
    <Rules: 1>
    """

    def __init__(
        self,
        time_limit: float | None = None,
        max_rules: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        max_questions: int | None = None,
        max_calls: int | None = None,
    ):
        """Set the limits."""
        if max_calls is not None and not max_calls >= 1:
            raise HornlensError(f"--max-calls must be 1 or more, not {max_calls!r}")
        self.max_calls, self.calls = max_calls, 0
        if max_questions is not None and not max_questions >= 1:
            raise HornlensError(f"--max-questions must be 1 or more, not {max_questions!r}")
        self.max_questions, self.questions = max_questions, 0
        if time_limit is not None and not (time_limit > 0 and math.isfinite(time_limit)):
            raise HornlensError(f"--time-limit must be more than 0 seconds, not {time_limit!r}")
        if max_rules is not None and not max_rules >= 1:
            raise HornlensError(f"--max-rules must be 1 or more, not {max_rules!r}")
        self.time_limit, self.max_rules = time_limit, max_rules
        self.reason: Reason | None = None
        """Why the run, or a part of it, was ended; None as long as it was not."""
        self._clock = clock
        self._began: float | None = None
        self._interrupted = False
        self._by_ctrl_c = False
        """Whether Ctrl-C ends the run with what it has: see `ended_by_ctrl_c`."""

    @property
    def begun(self) -> bool:
        """Whether the run has begun: from then on there may be something to keep."""
        return self._began is not None

    def begin(self) -> None:
        """Start the clock, unless it runs already."""
        if self._began is None:
            self._began = self._clock()

    def interrupt(self) -> None:
        """End the run at its next step: for signal handlers and other threads."""
        self._interrupted = True

    def caught(self, error: Exception) -> bool:
        """End the run if an error is the Ctrl-C that was to end it; say whether it was.

        One that comes while a SAT solver is at work never reaches Python: the solver gives up, and
        tells it as an error of its own. What it was doing is lost, all that was proved is not.
        """
        if not is_ctrl_c(error):
            return False
        ours = self._by_ctrl_c and self.begun and not self._interrupted
        if ours:
            self.interrupt()
            self.reason = "interrupt"
            _say_that_it_ends()
        _hear_it_again()
        return ours

    def reached(self, rules: int = 0) -> Reason | None:
        """Return which limit is reached, if any; `rules` have been proved so far.

        One rule more than `max_rules` is needed to reach it: if there is none, they are all.
        """
        self.begin()
        reason = self._reached(rules)
        if reason is not None:
            if self.reason is None:
                from hornlens.logging import get_logger  # not before: starting has to be quick

                get_logger(__name__).info("ended early: %s is reached", reason)
            self.reason = reason
        return reason

    def _reached(self, rules: int) -> Reason | None:
        if self._interrupted:
            return "interrupt"
        if self.max_rules is not None and rules > self.max_rules:
            return "max_rules"
        if self.time_limit is None or self._began is None:
            return None
        return "time_limit" if self._clock() - self._began >= self.time_limit else None

    @property
    def time_left(self) -> float | None:
        """How many seconds are left of the time limit; None: there is none."""
        if self.time_limit is None:
            return None
        self.begin()
        assert self._began is not None
        return max(0.0, self.time_limit - (self._clock() - self._began))

    def room(self, each: int = 1) -> int | None:
        """Return how many cells may still be asked, each in so many questions; None: all."""
        if self.max_questions is None:
            return None
        return max(0, (self.max_questions - self.questions) // each)

    def calls_room(self, each: int = 1) -> int | None:
        """Return how many inputs may still be given, each so many times; None: all."""
        if self.max_calls is None:
            return None
        return max(0, (self.max_calls - self.calls) // each)

    def call(self, inputs: int) -> None:
        """Count inputs before they are given; raise Stopped if there is no room for all of them."""
        room = self.calls_room()
        if room is not None and inputs > room:
            self.reason = "max_calls"
            raise Stopped("max_calls")
        self.calls += inputs

    def count(self, questions: int) -> None:
        """Count questions that were asked. What was known from before counts, too: resumed or not,
        a run ends with the same result.
        """
        self.questions += questions

    def check(self, rules: int = 0) -> None:
        """Raise Stopped if a limit is reached."""
        reason = self.reached(rules)
        if reason is not None:
            raise Stopped(reason)


def is_ctrl_c(error: BaseException) -> bool:
    """Return whether an error is a Ctrl-C, as Python raises it, a SAT solver, or pydantic.

    pydantic tells one that comes while it builds a class as an error of that class.
    """
    library = type(error).__module__.partition(".")[0]
    by_solver = library == "pysolvers" and "keyboard interrupt" in str(error)
    by_pydantic = library == "pydantic_core" and str(error).rstrip().endswith("KeyboardInterrupt:")
    return by_solver or by_pydantic or isinstance(error, KeyboardInterrupt)


def _say_that_it_ends() -> None:
    """Say so past all streams, which may be in the midst of writing, to whoever is left to read."""
    with suppress(OSError):
        os.write(2, ENDING)


def _hear_it_again() -> None:
    """Take Ctrl-C back from a solver: it jumps out of its handler, which leaves that in place."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def ended_by_ctrl_c(limits: Limits) -> Iterator[None]:
    """Let the first Ctrl-C end a run with what it has proved, and the second at once.

    Before the run has begun there is nothing to keep, and Ctrl-C is what it always is. Where
    another handler is set already, or in another thread than the main one, nothing is changed.

    Args:
        limits: The limits that the run is given; their `reason` is "interrupt" afterwards.

    >>> limits = Limits()
    >>> with ended_by_ctrl_c(limits):
    ...     pass  # here: extract(…, limits=limits)
    >>> limits.reason is None
    True
    """
    before: Any = None
    if threading.current_thread() is threading.main_thread():
        before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return

    def end(number: int, frame: Any) -> None:
        if not limits.begun or limits._interrupted:
            signal.default_int_handler(number, frame)
        limits.interrupt()
        _say_that_it_ends()

    signal.signal(signal.SIGINT, end)
    limits._by_ctrl_c = True
    try:
        yield
    finally:
        limits._by_ctrl_c = False
        signal.signal(signal.SIGINT, before)
