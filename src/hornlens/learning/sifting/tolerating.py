"""Rules with exceptions: a family whose members are broken now and then, and hardly ever more.

A member here is *bad* if more than ε of its cells break it: at least b = ⌊ε·room⌋ + 1. Of these,
`known` are on record, so that a cell drawn among the `left` others breaks it with a chance of at
least e = (b - known)/left. Betting on that: a draw that breaks it multiplies a factor by ρ, and any
other by (1 - ρe)/(1 - e). If a member is bad, the factor's mean is at most 1, since it is 1 at the
chance e and falls from there on. So the product E is a test supermartingale, and so is the mean of
those for several ρ; members are listed by E as in any family. Where answers vary, the cells that
were asked may hold an answer's worth each, whatever they answered: then e = (ε·room - used)/left.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Flags, Ground
from hornlens.learning.sifting.families import ROUNDING, Family, count_in
from hornlens.learning.sifting.members import CandidateMember, Member
from hornlens.learning.sifting.run import Phase, SiftRun
from hornlens.learning.sifting.survivors import is_within

BETS = np.array([0.15, 0.4, 0.6])
"""The factors ρ of a draw that breaks a member; the mean of their products is what counts."""
SUREST = 0.999
"""No more is bet on the chance of an exception."""
FEWEST = 3
"""So many narrower rules, at least, a rule with exceptions stands for."""
TOLERATING = 0.2
"""The share of what is left of δ that such a family gets."""
A_KID = 20
"""So many draws for each rule that it would stand for are worth it."""
AT_A_TIME = 9
"""How many cells are drawn from each member before it is looked at again."""
LONGEST = 8
"""A member is given up after so many times 1/ε draws, unless more is at stake."""


class TolerantFamily(Family):
    """Members with exceptions: E falls when one more is drawn, and goes on."""

    purpose = "almost"

    def __init__(
        self,
        number: int,
        at: int,
        delta: float,
        members: Sequence[Member],
        ground: Ground,
        epsilon: float,
        varies: bool = False,
        used: Sequence[int] = (),
        known: Sequence[int] = (),
    ):
        """Fix a family after `at` cells, of which `known` break each member."""
        super().__init__(number, at, delta, members, ground, epsilon, varies, used)
        self.known = np.array(known, dtype=np.int64)
        self.hits = np.zeros(len(self.members), dtype=np.int64)
        """How many draws of each member broke it."""
        self.bad = [floor(epsilon * m.room + ROUNDING) + 1 for m in self.members]
        self._bets = np.zeros((len(self.members), len(BETS)))
        self._given_up = np.zeros(len(self.members), dtype=np.bool_)

    def hear(
        self, base: int | None, cell: NDArray[np.int64], broken: Flags, unknown: Flags
    ) -> None:
        """Take the answer to a cell; what is not known counts as an exception."""
        inside = self.having(cell)
        hit = (broken | unknown)[self._statements] & inside
        if base is not None:
            for f in np.flatnonzero(inside & self._under[base]):
                chance = self._chance(int(f))
                self.drawn[f] += 1
                self.hits[f] += hit[f]
                if hit[f]:
                    self._bets[f] += np.log(BETS)
                elif chance > 0:
                    self._bets[f] += np.log1p(-BETS * chance) - np.log1p(-chance)
                if not self._given_up[f]:
                    mean = np.logaddexp.reduce(self._bets[f]) - np.log(len(BETS))
                    self.shown[f] = mean
        self.used += inside
        self.known += hit
        self.give_up(self.known >= np.array(self.bad))

    def _chance(self, f: int) -> float:
        """Return how likely a draw breaks a member, at least, if it is bad."""
        room, used = self.members[f].room, int(self.used[f])
        worst = self.epsilon * room - used if self.varies else self.bad[f] - int(self.known[f])
        return min(worst / (room - used), SUREST) if used < room else 0.0

    def give_up(self, which: Flags) -> None:
        """Draw no more for some members: they are not listed."""
        self._given_up |= which
        self.shown[self._given_up] = -inf

    def proved(self) -> Flags:
        """Say that nothing is proved: there are exceptions."""
        return np.zeros(len(self.members), dtype=np.bool_)


class Tolerated(NamedTuple):
    """A rule with exceptions that is listed: the place of a member in its family."""

    family: TolerantFamily
    place: int

    @property
    def member(self) -> Member:
        """The rule."""
        return self.family.members[self.place]


class Tolerance:
    """Tries rules with exceptions, each in the place of several narrower ones."""

    def __init__(self, run: SiftRun):
        """Begin with none."""
        self.run = run
        self.listed: list[Tolerated] = []
        self._tried: set[tuple[int, ...]] = set()

    @property
    def members(self) -> list[Member]:
        """The rules that are listed."""
        return [one.member for one in self.listed]

    def phase(
        self,
        members: Sequence[Member],
        bound: float | None = None,
        longest: float = LONGEST,
        patience: float = 1.0,
        todo: Sequence[Member] = (),
    ) -> Phase:
        """Draw inside members until each is listed or given up; return how many were tried.

        `bound` is the share of its cells that may break a listed one: ε, unless it is given. One
        is given up after `longest` times 1/ε draws, or when it breaks too often for `patience`; it
        gets more if many rules of the `todo` are its special cases.
        """
        if not members:
            return 0
        run = self.run
        epsilon = run.options.epsilon if bound is None else bound
        family = TolerantFamily(
            *(len(run.families), len(run.tally), run.share(TOLERATING), members, run.ground),
            *(epsilon, run.options.varies),
            count_in(members, run.ground, run.tally.cells),
            [self._known(member) for member in members],
        )
        run.families.append(family)
        spared = [sum(is_within(kid, member) for kid in todo) for member in members]
        most = np.maximum(longest / epsilon, A_KID * np.array(spared))
        while run.room:
            need = ~family.lost & (family.shown < family.goal)
            if not need.any():
                break
            places = np.flatnonzero(need).tolist()
            plan = {family.base(members[f].box, -1 - f): AT_A_TIME for f in places}
            run.to_go = sum(family.draws_needed(f) for f in places)
            if not (yield from run.draw(family, plan)):
                break
            many = family.hits > patience * (2 + 0.6 * epsilon * family.drawn)
            family.give_up(need & (many | (family.drawn > most)))
        self._keep(family)
        return len(members)

    def _keep(self, family: TolerantFamily) -> None:
        passed = family.listed()
        for f, member in enumerate(family.members):
            if passed[f]:
                self.listed.append(Tolerated(family, f))
                self.run.tally.hide(member.statement, member.candidate)
            self._tried.add(member.key)

    def review(self) -> bool:
        """Take back what more answers break by now than its bound allows; say if anything was.

        What it stood for has to be shown by itself again.
        """
        if self.run.options.varies:  # what breaks it now and then is no proof
            return False
        kept = [one for one in self.listed if self._known(one.member) < one.family.bad[one.place]]
        if len(kept) == len(self.listed):
            return False
        self.listed, tally = kept, self.run.tally
        tally.hidden[:] = False
        for member in self.members:
            tally.hide(member.statement, member.candidate)
        return True

    def _known(self, member: Member) -> int:
        """Return how many answers on record break a member."""
        tally = self.run.tally
        inside = self.run.ground.holds(member.box, tally.cells)
        return int((inside & tally.broken[member.statement]).sum())

    def broader(self, todo: Sequence[Member]) -> list[Member]:
        """Return what is broken, but hardly ever, and has several of these rules right under it.

        Of each, what is most general above it, if that seems to be broken as seldom.
        """
        candidates = self.run.tally.candidates
        kids: dict[tuple[int, int], int] = {}
        for member in todo:
            if member.candidate >= 0:
                for parent in set(candidates.parents[member.candidate].tolist()):
                    if parent < candidates.count:
                        key = member.statement, parent
                        kids[key] = kids.get(key, 0) + 1
        wide: dict[tuple[int, ...], Member] = {}
        for key, many in sorted(kids.items()):
            member = self.member(*key)
            if many >= FEWEST and member.room * 4 * many >= 100 and self._is_able(member):
                widest = self._widest(member)
                wide[widest.key] = widest
        return list(wide.values())

    def _widest(self, member: Member) -> Member:
        """Return what is most general above a member, and still seems to be broken hardly ever."""
        candidates = self.run.tally.candidates
        while True:
            above = set(candidates.parents[member.candidate].tolist()) - {candidates.count}
            wider = [self.member(member.statement, parent) for parent in sorted(above)]
            likely = [m for m in wider if self._is_able(m) and self._seems_rare(m)]
            if not likely:
                return member
            member = max(likely, key=lambda m: m.room)

    def _seems_rare(self, member: Member) -> bool:
        """Say whether few of the cells that were asked break a member: they are no sample."""
        asked = int(self.run.ground.holds(member.box, self.run.tally.cells).sum())
        return self._known(member) <= self.run.options.epsilon * asked

    def able(self, members: Sequence[Member]) -> list[Member]:
        """Return the members that were not tried yet, and have few exceptions on record."""
        return [member for member in members if self._is_able(member)]

    def _is_able(self, member: Member) -> bool:
        is_new = member.key not in self._tried and self.run.ground.counted
        return is_new and self._known(member) < self.run.options.epsilon / 2 * member.room

    def member(self, statement: int, candidate: int) -> Member:
        """Return a candidate as a member of a family."""
        return CandidateMember(self.run.tally, statement, candidate)
