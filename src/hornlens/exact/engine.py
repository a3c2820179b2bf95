"""Engines: they prove rules step by step, and may be ended between any two steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from hornlens.limits import Limits, Reason
from hornlens.logic.basis import in_canonical_order
from hornlens.logic.certificates import EXACT, Certificate, ended_early
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

Progress: TypeAlias = Callable[[int, float | None], None]
"""Is told how many rules are proved, and what share of the work is done, where that is known."""


class Step(NamedTuple):
    """What an engine has just done.

    `proved` are the rules that are new. `settled` is the share of the work that is done, from 0 to
    1: None where nobody can know.
    """

    proved: Sequence[Rule] = ()
    settled: float | None = None


class Engine(Protocol):
    """Finds the rules of a target, step by step.

    Between two steps it may be left alone for ever: what it has proved by then holds. A step should
    take no longer than somebody waits who has pressed Ctrl-C.
    """

    width: int

    def steps(self) -> Iterator[Step]:
        """Do the work. When it has ended, `proved` are all rules of the DG basis."""
        ...

    def proved(self) -> Sequence[Rule]:
        """Return rules that hold, in the order in which they were found.

        They are saturated, and so is any part of them: each left side obeys the other rules, and
        each right side is all that follows from it.
        """
        ...


class ProvedRules(NamedTuple):
    """Rules that an engine has proved, in canonical order, and why it ended before it was done."""

    basis: Theory
    ended: Reason | None = None

    @property
    def certificate(self) -> Certificate:
        """What may be claimed."""
        return EXACT if self.ended is None else ended_early(self.ended, len(self.basis))


def run(
    engine: Engine, limits: Limits | None = None, progress: Progress | None = None
) -> ProvedRules:
    """Let an engine work until it is done, or a limit is reached; return what it has proved."""
    allowed, count, ended = limits or Limits(), 0, None
    allowed.begin()
    try:
        for step in engine.steps():
            count += len(step.proved)
            if progress is not None:
                progress(count, step.settled)
            ended = allowed.reached(count)
            if ended is not None:
                break
    except Exception as error:
        if not allowed.caught(error):
            raise
        ended = allowed.reached(count)
    rules = engine.proved()
    if ended is not None and allowed.max_rules is not None:
        rules = rules[: allowed.max_rules]
    return ProvedRules(in_canonical_order(Theory(engine.width, tuple(rules))), ended)
