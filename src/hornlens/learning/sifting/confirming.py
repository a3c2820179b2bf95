"""Confirming: a race inside what is left, then a family of which as much as possible is listed.

Within a budget that is too small for that, each of a few rules gets a bound of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log, log1p

import numpy as np

from hornlens.learning.sifting.axes import Flags
from hornlens.learning.sifting.candidates import MOST_ROOM
from hornlens.learning.sifting.families import Family, count_in
from hornlens.learning.sifting.members import Member
from hornlens.learning.sifting.run import Phase, SiftRun
from hornlens.learning.sifting.survivors import Survivors

DOSE, MORE_DOSE, MOST_DOSE = 6, 3, 24
"""How many draws a survivor gets in a race; more if too many die of them."""
DYING = 0.04
"""So large a share of those in a race may die before the dose is raised."""
CONFIRMING = 0.6
"""The share of what is left of δ that a family gets; one for bounds, within a budget."""
BOUNDING = 0.5
WORTH = 1.1
"""A draw in a wider box is worth it if it falls into more rules than this, on average."""
AT_MOST = 8
"""So many cells are drawn from a rule before others have their turn."""
A_RULE = 30
"""Questions that are set aside for each rule whose bound is wanted, within a budget."""


class Confirmation:
    """Races, families, bounds: what they have shown."""

    def __init__(self, run: SiftRun, survivors: Survivors):
        """Begin with nothing shown."""
        self.run, self.survivors = run, survivors
        self.tested: dict[tuple[int, ...], tuple[Member, int]] = {}
        """The members that were listed, each with its clean draws."""
        self.stuck: set[tuple[int, ...]] = set()
        """The members of which no more can be shown."""
        self._raced: dict[tuple[int, ...], int] = {}
        self._dose = DOSE

    def todo(self, almost: Sequence[Member] = ()) -> list[Member]:
        """Return the survivors of which something is still to be shown."""
        return [
            m
            for m in self.survivors.all(almost)
            if m.key not in self.tested and m.key not in self.stuck
            if not self.survivors.is_whole(m)
        ]

    def surviving(self) -> list[Member]:
        """Return the rules that were listed, and that nothing has broken since."""
        listed = (member for member, _ in self.tested.values() if member.candidate >= 0)
        return [member for member in listed if not self.survivors.is_dead(member)]

    def affords(self, todo: Sequence[Member]) -> bool:
        """Say whether there are questions enough to confirm all that is left."""
        each = log(2 / (CONFIRMING * self.run.left)) / -log1p(-self.run.options.epsilon)
        return self.run.room >= each * len(todo)

    # --- a race ---

    def slow(self, todo: Sequence[Member]) -> list[Member]:
        """Return those that are still to be raced."""
        return [m for m in todo if self._raced.get(m.key, 0) < self._dose]

    def race(self, slow: Sequence[Member]) -> Phase:
        """Draw a few cells inside each rule: cheaper than a family that many fail in."""
        cells = []
        for member in slow:
            self._raced[member.key] = self._raced.get(member.key, 0) + MORE_DOSE
            cells += self.run.inside(member.box, MORE_DOSE)
        asked = yield from self.run.ask(cells)
        died = sum(map(self.survivors.is_dead, slow))
        if died > max(1, DYING * len(slow)):
            self._dose = min(self._dose + MORE_DOSE, MOST_DOSE)
        return asked

    # --- a family ---

    def _fix(self, members: Sequence[Member], share: float, bounds: bool = False) -> Family:
        run = self.run
        used = count_in(members, run.ground, run.tally.cells)
        family = Family(
            *(len(run.families), len(run.tally), run.share(share), members, run.ground),
            *(run.options.epsilon, run.options.varies, used, bounds),
        )
        run.families.append(family)
        return family

    def confirm(self, todo: Sequence[Member]) -> Phase:
        """Draw inside all members of a family at once, until each is listed or dead."""
        family, first = self._fix(todo, CONFIRMING), len(self.run.tally)
        while self.run.room:
            need = ~family.lost & ~family.proved() & (family.shown < family.goal)
            if not need.any():
                break
            self.run.to_go = sum(family.draws_needed(int(f)) for f in np.flatnonzero(need))
            if not (yield from self.run.draw(family, self._plan(family, need))):
                break
        self._keep(family)
        return len(self.run.tally) - first

    def _plan(self, family: Family, need: Flags) -> dict[int, int]:
        """Return how many cells to draw from which base.

        One draw in what is more general falls into several members, if enough of them are there.
        """
        run = self.run
        candidates, members = run.tally.candidates, family.members
        kids: dict[tuple[int, int], list[int]] = {}
        for f in np.flatnonzero(need).tolist():
            if members[f].candidate >= 0:
                for parent in set(candidates.parents[members[f].candidate].tolist()):
                    if parent < candidates.count:
                        kids.setdefault((members[f].statement, parent), []).append(f)
        alone = set(np.flatnonzero(need).tolist())
        plan: dict[int, int] = {}
        for (_, parent), own in sorted(kids.items(), key=lambda item: (-len(item[1]), item[0])):
            live = [f for f in own if f in alone]
            room: float = max(1.0, float(candidates.rooms[parent]))
            if room >= MOST_ROOM:
                room = run.ground.room(candidates.box(parent))
            if sum(members[f].room for f in live) / room <= WORTH:
                continue
            least = min(members[f].room for f in live) / room
            rest = max(family.draws_needed(f) for f in live)
            alone -= set(live)
            base = family.base(candidates.box(parent), candidates.mask(parent))
            plan[base] = max(plan.get(base, 1), min(ceil(4 / least), ceil(rest / least)))
        for f in sorted(alone):
            base = family.base(members[f].box, -1 - f)
            plan[base] = min(AT_MOST, family.draws_needed(f))
        return plan

    def _keep(self, family: Family) -> None:
        """Keep what a family shows; what it cannot show of a rule stays open."""
        passed, proved = family.listed(), family.proved()
        for f, member in enumerate(family.members):
            if passed[f] and not proved[f]:
                self.tested[member.key] = member, int(family.drawn[f])
            elif not proved[f] and not self.survivors.is_dead(member) and self.run.room:
                self.stuck.add(member.key)

    # --- bounds ---

    def measure(self, todo: Sequence[Member]) -> Phase:
        """Within a budget: draw in turn inside as many rules as it is good for, for a bound each.

        Those come first that are least likely to have survived by chance.
        """
        run, first, rest = self.run, len(self.run.tally), list(todo)
        while run.room and rest:
            rest.sort(key=self._belief)
            family = self._fix(rest[: max(3, run.room // A_RULE)], BOUNDING, bounds=True)
            yield from self._in_turn(family)
            if (~family.lost).any():
                break
            rest = self.todo()
        return len(run.tally) - first

    def _in_turn(self, family: Family) -> Phase:
        run, first = self.run, len(self.run.tally)
        while run.room:
            going = np.flatnonzero(~family.lost & ~family.proved())
            if not len(going):
                break
            least = int(family.drawn[going].min())
            turn = [int(f) for f in going if family.drawn[f] == least]
            plan = {family.base(family.members[f].box, -1 - f): 1 for f in turn}
            run.to_go = run.room
            if not (yield from run.draw(family, plan)):
                break
        return len(run.tally) - first

    def _belief(self, member: Member) -> float:
        """Return the log of how likely it was to survive, for what is no rule."""
        if member.candidate < 0:
            return 0.0
        return float(self.run.tally.survival[member.statement, member.candidate])
