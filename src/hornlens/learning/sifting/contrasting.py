"""Rare labels: where a label that is hardly ever given is given more often.

That a label is never given where something holds, but for ε of the cells, says little if it is
hardly ever given anywhere; and it takes most questions. So for a label that is shown to be given in
at most 2ε of *all* cells no such rules are sifted: a smaller ε brings them back.

Cells are sought in which it is given, around those that are known; the sets of conditions in which
it was given most are fixed; and a fixed number of cells is drawn in each. Of n draws, h gave it:
but for δ divided by the number S of sets, its share of the cells that were not asked is at least
the p with P(Binomial(n, p) ≥ h) = δ/S (Clopper and Pearson; draws without replacement are no
worse).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Cells, Flags
from hornlens.learning.sifting.families import Family, count_in
from hornlens.learning.sifting.members import Member
from hornlens.learning.sifting.run import Looking, Phase, SiftRun
from hornlens.learning.sifting.tolerating import Tolerance
from hornlens.logic.shares import least_share
from hornlens.logic.sifting import MoreOften

ROUNDS, BATCH = 8, 32
"""How often, and how many cells at a time, are looked at for a rare label."""
RAREST = 0.15
"""A label that is given in more of all cells than this is never called rare."""
DOUBT = 1.5
"""By how many standard deviations a label may be given more often, and still be tried."""
SETS = 8
"""How many sets of conditions are looked at more closely."""
DRAWS = 50
"""How many cells are drawn in each of them."""
RATING = 0.2
"""The share of what is left of δ that they get."""
CHUNK = 256
"""So many cells are looked up in one go."""
TRIES = 24
"""How many sets are tried for that."""
TRIED = 12
"""How many random cells tell whether a condition can be left out."""
LEAST = 3
"""So many cells must have the label, in a set of conditions that is looked at."""
NEARLY = 0.8
"""So much of the share of special conditions, at least, broader ones must have to be preferred."""
CAREFUL = 2.0
"""By how many standard deviations shares are lowered before they are compared."""


class Contrast:
    """Looks for where rare labels are given more often."""

    def __init__(self, run: SiftRun, tolerance: Tolerance):
        """Begin with none."""
        self.run, self.tolerance = run, tolerance
        self.rated: list[RatedFamily] = []
        """Each family whose draws are complete."""

    @property
    def bound(self) -> float:
        """The share of all cells up to which a label is rare."""
        return min(self.run.options.rare * self.run.options.epsilon, RAREST)

    def unseen(self) -> list[Member]:
        """Return the statements that no answer breaks, without any condition."""
        if not self.bound:
            return []
        broken = self.run.tally.broken.any(axis=1)
        return [self.tolerance.member(r, 0) for r in np.flatnonzero(~broken).tolist()]

    def rare(self) -> list[Member]:
        """Return the statements that hardly any answer breaks so far, without any condition."""
        tally = self.run.tally
        if not self.bound:
            return []
        members = []
        for r, statement in enumerate(tally.statements):
            hits = int(tally.broken[r, self.run.uniform].sum())
            expected = self.bound * len(self.run.uniform)
            seems_rare = hits <= expected + DOUBT * expected**0.5
            if statement.given is not None and tally.broken[r].any() and seems_rare:
                members.append(self.tolerance.member(r, 0))
        return self.tolerance.able(members)

    def phase(self) -> Phase:
        """Seek each label that is shown to be rare, and rate the sets where it is given most."""
        run, asked = self.run, 0
        rare = [m.statement for m in self.tolerance.members if m.candidate == 0]
        for r in rare:
            if run.room < ROUNDS * BATCH + SETS * DRAWS or not run.tally.statements[r].given:
                continue
            if not run.tally.broken[r].any():
                continue
            asked += yield from self._seek(r)
            members = yield from self._sets(r)
            if members:
                asked += yield from self._rate(members)
        return asked

    def _seek(self, r: int) -> Phase:
        """Ask where the label is likely: cells near known ones, and any, by the surrogate."""
        run, asked = self.run, 0
        for _ in range(ROUNDS):
            near = self._near(r, 40 * BATCH)
            if not len(near):
                break
            chances = run.tally.surrogate.chances(near)[r]
            best = near[np.argsort(-chances, kind="stable")[:BATCH]]
            asked += yield from run.ask(list(best))
        return asked

    def _near(self, r: int, count: int) -> Cells:
        """Return new cells: known ones that have the label, with one or two attributes changed."""
        run, tally, rng = self.run, self.run.tally, self.run.rng
        known = tally.cells[tally.broken[r]]
        cells = known[rng.integers(len(known), size=count)].copy()
        for _ in range(2):
            column = rng.integers(cells.shape[1], size=count)
            cells[np.arange(count), column] = rng.integers(0, run.ground.sizes[column])
        cells = np.unique(cells[run.ground.allows(cells)], axis=0)
        fresh = [tally.is_new(cell) for cell in cells]
        return cells[np.array(fresh, dtype=np.bool_)]

    def _sets(self, r: int) -> Looking[list[Member]]:
        """Return sets of conditions in which the label was given most, each for other cells.

        The cells were chosen where the label is likely, and are much alike: what they have in
        common beside that is told by random ones.
        """
        tally, candidates = self.run.tally, self.run.tally.candidates
        longest = len(candidates.blocks[-1])
        passed_over = np.array([len(block) < longest for block in candidates.blocks])
        passed_over = np.append(passed_over[candidates.block_of], True)
        covered = np.zeros(len(tally), dtype=np.bool_)
        chosen: dict[int, Member] = {}
        for _ in range(TRIES):
            covered = np.append(covered, np.zeros(len(tally) - len(covered), dtype=np.bool_))
            open_ones = tally.broken[r] & ~covered
            every, given = self._counts(np.ones_like(open_ones)), self._counts(open_ones)
            share = np.where(passed_over, 0.0, _surely(given, every))
            best = int(np.argmax(share))
            if given[best] < LEAST or share[best] <= self.bound / 2:
                break
            wide, rate = yield from self._broadest(r, best)
            passed_over[best] = True
            if rate <= self.bound:
                continue
            member = self.tolerance.member(r, wide)
            covered |= self.run.ground.holds(member.box, tally.cells[: len(covered)])
            if member.room > 4 * DRAWS:
                chosen[wide] = member
            if len(chosen) == SETS:
                break
        return list(chosen.values())

    def _counts(self, which: Flags) -> NDArray[np.float64]:
        """Return how many of some of the cells that were asked lie in each candidate."""
        candidates = self.run.tally.candidates
        counts = np.zeros(candidates.count + 1)
        cells = self.run.tally.cells[which]
        for first in range(0, len(cells), CHUNK):
            index = candidates.containing(cells[first : first + CHUNK])
            counts += np.bincount(index.ravel(), minlength=len(counts))
        return counts

    def _broadest(self, r: int, best: int) -> Looking[tuple[int, float]]:
        """Leave out conditions as long as nearly the same share of random cells has the label."""
        candidates = self.run.tally.candidates
        rate = yield from self._tried(r, best)
        while rate > self.bound:
            rates: dict[int, float] = {}
            for wide in sorted(set(candidates.parents[best].tolist())):
                if 0 < wide < candidates.count:
                    rates[wide] = yield from self._tried(r, wide)
            wide = max(rates, key=lambda p: rates[p], default=best)
            if wide == best or rates[wide] < NEARLY * rate:
                break
            best, rate = wide, rates[wide]
        return best, rate

    def _tried(self, r: int, candidate: int) -> Looking[float]:
        """Ask a few random cells of a candidate; return how many of them have the label."""
        run, tally = self.run, self.run.tally
        cells = run.inside(tally.candidates.box(candidate), TRIED)
        yield from run.ask(cells)
        places = [tally.place.get(cell.tobytes()) for cell in cells]
        known = [place for place in places if place is not None]
        return float(tally.broken[r, known].mean()) if known else 0.0

    def _rate(self, members: Sequence[Member]) -> Phase:
        """Draw as many cells in each set of conditions, whatever the answers are."""
        run = self.run
        used = count_in(members, run.ground, run.tally.cells)
        family = RatedFamily(
            *(len(run.families), len(run.tally), run.share(RATING), members, run.ground),
            *(run.options.epsilon, run.options.varies, used),
        )
        run.families.append(family)
        run.to_go = DRAWS * len(members)
        plan = {family.base(m.box, -1 - f): DRAWS for f, m in enumerate(members)}
        asked = yield from run.draw(family, plan)
        if (family.drawn == DRAWS).all():
            self.rated.append(family)
        return asked

    def shown(self) -> list[MoreOften]:
        """Return where a label is given more often than anywhere else, surely."""
        rated = []
        rare = {m.statement for m in self.tolerance.members if m.candidate == 0}
        for family in self.rated:
            for f, member in enumerate(family.members):
                if member.statement not in rare:
                    continue
                level = family.delta / len(family.members)
                share = least_share(int(family.hits[f]), int(family.drawn[f]), level)
                # The cells that were asked before may all have another label.
                share *= 1 - int(family.used_at_first[f]) / member.room
                if share > self.bound:
                    rated.append(
                        MoreOften(
                            member.rule.antecedent & ~self.run.space.label_mask,
                            self.run.tally.statements[member.statement].given or 0,
                            int(family.drawn[f]),
                            int(family.hits[f]),
                            share,
                            self.bound,
                        )
                    )
        return sorted(rated, key=lambda one: -one.at_least)


def _surely(given: NDArray[np.float64], every: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares that are hardly overrated: the lower ends of Wilson's intervals."""
    many = np.maximum(every, 1)
    share, spread = given / many, CAREFUL**2 / many
    middle = share + spread / 2
    around = CAREFUL * np.sqrt(share * (1 - share) / many + spread / many / 4)
    lower: NDArray[np.float64] = (middle - around) / (1 + spread)
    return lower


class RatedFamily(Family):
    """Members in which a label is counted: draws from a member's own cells only."""

    purpose = "rates"

    def __init__(self, *arguments: object, **named: object):
        """Fix a family."""
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self.hits = np.zeros(len(self.members), dtype=np.int64)
        self.used_at_first = self.used.copy()

    def hear(
        self,
        base: int | None,
        cell: NDArray[np.int64],
        broken: NDArray[np.bool_],
        unknown: NDArray[np.bool_],
    ) -> None:
        """Count a draw for the member that it was drawn from."""
        if base is not None:
            f = -1 - self.bases[base][1]
            self.drawn[f] += 1
            self.hits[f] += broken[self._statements[f]]
        self.used += self.having(cell)
