"""Sift: all rules with few conditions, from few questions. See docs/theory.md for the proofs.

*Eliminate*: ask cells in which many doubtful candidates meet. *Race*: draw a few cells inside what
is left. *Confirm*: fix a family of rules, draw cells inside them, and list what passes. Whenever it
stops, every rule that holds without exception follows from the listed and the open ones, or is a
special case of a listed rule with exceptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Cells
from hornlens.learning.sifting.candidates import Statement, statements_of
from hornlens.learning.sifting.confirming import Confirmation
from hornlens.learning.sifting.contrasting import Contrast
from hornlens.learning.sifting.drawing import first_cells
from hornlens.learning.sifting.eliminating import Elimination
from hornlens.learning.sifting.guessing import Forms, GuidedSurrogate
from hornlens.learning.sifting.members import Member
from hornlens.learning.sifting.outcome import outcome_of
from hornlens.learning.sifting.run import Phase, SiftOptions, SiftRun
from hornlens.learning.sifting.survivors import Survivors
from hornlens.learning.sifting.tally import Answers
from hornlens.learning.sifting.tolerating import Tolerance
from hornlens.learning.strategies import Proposal, Steps
from hornlens.logic.decisions import Policy
from hornlens.logic.sifting import Sifted
from hornlens.logic.space import Space

RARE_LONGEST, RARE_PATIENCE = 60, 1.4
"""Showing that a label is rare is worth more draws than other rules with exceptions."""
ELIMINATING = 0.7
"""The share of a budget that elimination may take."""


class Sift:
    """The strategy. It yields `Lines` to be asked, and `Sifting` events."""

    def __init__(
        self,
        space: Space,
        policies: Sequence[Policy],
        options: SiftOptions,
        statements: Sequence[Statement] | None = None,
        forms: Forms | None = None,
    ):
        """Lay out all candidates of a space; nothing is asked yet.

        With `statements`, only rules that say one of these are sifted. `forms`: the label says
        whether the answers to these differ.
        """
        stated = statements_of(space, policies) if statements is None else statements
        self.run = SiftRun.of(space, stated, options)
        if forms is not None:
            ground = self.run.ground
            self.run.tally.surrogate = GuidedSurrogate(ground, self.run.tally.statements, forms)
        self.survivors = Survivors(self.run)
        self.elimination = Elimination(self.run)
        self.confirmation = Confirmation(self.run, self.survivors)
        self.tolerance = Tolerance(self.run)
        self.contrast = Contrast(self.run, self.tolerance)

    def steps(self) -> Steps:
        """Ask, phase after phase, until every candidate is dead, listed or cannot be shown."""
        yield from self._start()
        while True:
            yield from self._sift()
            todo = self.todo()
            if self.run.room and todo:
                yield from self.confirmation.measure(todo)
            yield from self.contrast.phase()
            if not self.tolerance.review():
                break

    def todo(self) -> list[Member]:
        """Return the survivors of which something is still to be shown."""
        self.tolerance.review()
        return self.confirmation.todo(self.tolerance.members)

    def _start(self) -> Phase:
        """Ask the cell that says nothing, by which others may be measured, and some by chance."""
        run = self.run
        start = min(run.room, 2 * int(run.ground.sizes.max(initial=0)) + 8)
        cells = list(first_cells(run.ground, start, run.options.seed))
        if not run.space.complete:
            blank = run.ground.levels([0])
            cells = [*blank[run.ground.allows(blank)], *cells]
        first = len(run.tally)
        asked = yield from run.ask(cells)
        run.uniform += range(first, first + asked)
        return asked

    def _sift(self) -> Phase:
        run, confirmation = self.run, self.confirmation
        budget = run.options.budget
        until = None if budget is None else ceil(ELIMINATING * budget)
        while run.room:
            yield from self._look_for_rare()
            yield from self.elimination.phase(confirmation.surviving(), until)
            todo = self.todo()
            spent = until is not None and len(run.tally) >= until
            if not todo or (spent and not confirmation.affords(todo)):
                break
            if slow := confirmation.slow(todo):
                yield from confirmation.race(slow)
                continue
            if budget is not None and not confirmation.affords(todo):
                break
            if (yield from self.tolerance.phase(self.tolerance.broader(todo), todo=todo)):
                continue
            yield from confirmation.confirm(todo)
        return len(run.tally)

    def _look_for_rare(self) -> Phase:
        """See whether labels are hardly ever given, before all candidates are eliminated."""
        confirmation, contrast = self.confirmation, self.contrast
        first = len(self.run.tally)
        if unseen := [m for m in contrast.unseen() if m.key not in confirmation.tested]:
            yield from confirmation.confirm(unseen)
        rare = contrast.rare()
        yield from self.tolerance.phase(rare, contrast.bound, RARE_LONGEST, RARE_PATIENCE)
        return len(self.run.tally) - first

    def hear(self, cells: Cells, answers: Answers) -> None:
        """Take answers to cells that were asked beforehand: they refute, and support no claim."""
        self.run.hear(cells, answers)

    def hear_rest(self, known: Mapping[int, NDArray[np.int8]]) -> None:
        """Take what is known of the last cells, where asking was ended in their midst."""
        self.run.hear_rest(known)

    def sifted(self) -> Sifted:
        """Return the rules that are listed, each with its warrant, and those that are open."""
        return outcome_of(
            *(self.run, self.survivors, self.confirmation, self.tolerance, self.contrast)
        )

    def proposal(self) -> Proposal:
        """Return the same, with what a result counts."""
        sifted = self.sifted()
        tally = self.run.tally
        statistics = {
            "equivalence_queries": 0,
            "membership_queries": len(tally) * max(1, len(tally.statements)),
            "questions": len(tally),
            "drawn": len(self.run.draws),
            "candidates": tally.possible,
            "refuted": tally.possible - tally.live,
        }
        return Proposal(statistics=statistics, sifted=sifted)
