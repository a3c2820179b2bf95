"""Elimination: cells are asked in which many doubtful candidates meet, while that is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from hornlens.learning.sifting.design import Design, Weights
from hornlens.learning.sifting.members import Member
from hornlens.learning.sifting.run import Phase, SiftRun

PROMISED = 0.2
"""Cells are asked if they promise to break so many candidates each, on average."""
SURPRISE = 20.0
"""By how much (log) a candidate must have survived beyond all chance to be left alone."""
MANY = 30_000
"""With more candidates than this, more cells are asked at a time."""
AT_A_TIME = {False: (32, 4), True: (64, 8)}
"""How many cells are asked, and how many of these chosen together: with few candidates, or many."""


class Elimination:
    """Asks what breaks most."""

    def __init__(self, run: SiftRun):
        """Lay out the tables."""
        self.run, self.design = run, Design(run.tally, run.rng)
        count = run.tally.candidates.count
        self._batch, self._group = AT_A_TIME[count > MANY]
        self._prior = log(20 / (count * max(1, len(run.tally.statements)))) - SURPRISE

    def weights(self, tested: Sequence[Member] = ()) -> Weights:
        """Return how likely each candidate is no rule, in spite of what it survived.

        None is in more doubt than those that are more general; what is `tested`, in none.
        """
        tally, candidates = self.run.tally, self.run.tally.candidates
        weights = np.zeros(tally.survival.shape, dtype=np.float32)
        sure = {(m.statement, m.candidate) for m in tested}
        for r, own in enumerate(weights):
            alive = tally.alive(r)
            live = np.flatnonzero(alive)
            doubt = np.clip(self._prior - tally.survival[r, live], -60, 60)
            own[live] = 1 / (1 + np.exp(doubt))
            own[[c for s, c in sure if s == r]] = 0
            for rank in candidates.ranked(alive[:-1]):
                above = candidates.parents[rank]
                free = tally.dead[r][above] | (above == candidates.count)
                own[rank] = np.minimum(own[rank], np.where(free, 1, own[above]).min(axis=1))
        return weights

    def phase(self, tested: Sequence[Member] = (), until: int | None = None) -> Phase:
        """Ask until little is promised, so many cells were asked, or a `tested` rule is broken."""
        run, first = self.run, len(self.run.tally)
        while run.room and (until is None or len(run.tally) < until):
            cells, promised = self.design.cells(self._batch, self._group, self.weights(tested))
            if promised.mean() < PROMISED:
                break
            if not (yield from run.ask(list(cells[promised > PROMISED / 2]))):
                break
            if any(run.tally.dead[m.statement, m.candidate] for m in tested):
                break
        return len(run.tally) - first
