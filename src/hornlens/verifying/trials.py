"""What draws show of rules that were fixed before: e-values, which rules they list, and bounds.

A rule is bad if more than ε of its cells break it: at least b = ⌊ε·room⌋ + 1 of them. Before a
draw, `used` of its cells were asked, and `known` of these break it or may do so. So a bad rule is
broken by a cell drawn among the `left` others with a chance of at least e = (b - known)/left. A
rule that has to be without exception gains a factor of 1/(1 - e) from each clean draw. For one that
may have exceptions, the factor is ρ for a draw that breaks it, (1 - ρe)/(1 - e) for another, and
the mean of the products for ρ = 0.15, 0.4 and 0.6 counts. Where answers vary, what is bad is that
more than ε of the answers break it, whichever cells they are of, so that e = (ε·room - used)/left.

Members of a family are listed together if each has E ≥ (j + 1)/δ, where j others are neither listed
nor proved: of bad ones, the mean of E reaches 1/δ with a chance of δ at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.attributes import Rule
from hornlens.verifying.draws import DrawnCell
from hornlens.verifying.levels import Box, Marks
from hornlens.verifying.stated import AskedCells, StatedRule

BETS = (0.15, 0.4, 0.6)
"""What a draw that breaks a rule multiplies its evidence by, if it may have exceptions."""
SURE = 60.0
"""The logarithm of what a draw shows that would have broken any bad rule."""
SUREST = 0.999
"""No more is bet on the chance of an exception."""
NEARLY = 1e-9
"""By so much figures may differ that were added up in another order."""
LARGEST = 10**300
"""Larger rooms are no numbers that a computer reckons with."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FixedFamily:
    """Rules that were fixed after `at` questions with a share of δ, and what was drawn for them."""

    members: Sequence[StatedRule]
    at: int
    delta: float
    epsilon: float
    purpose: str
    bases: Sequence[Box]
    owners: Sequence[int]
    """For each base the member whose cells it has; -1 if it was not made for one."""
    drawn: Sequence[DrawnCell]

    @property
    def end(self) -> int:
        """How many questions had been asked after its last draw."""
        return self.drawn[-1].at + 1 if self.drawn else self.at


@dataclass(eq=False)
class Shown:
    """What the draws of a family show of each member, after the last of them.

    `drawn` counts the draws that fell into a member, `hits` those that broke it, where it may be
    broken. `evidence` is the logarithm of E.
    """

    family: FixedFamily
    asked: AskedCells
    varies: bool

    def __post_init__(self) -> None:
        """Begin with what was asked before the family was fixed, and go through its draws."""
        family, many = self.family, len(self.family.members)
        self.drawn = np.zeros(many, dtype=np.int64)
        self.hits = np.zeros(many, dtype=np.int64)
        self.evidence: Floats = np.zeros(many)
        self.used = np.zeros(many, dtype=np.int64)
        self.known = np.zeros(many, dtype=np.int64)
        """How many of the cells asked may break a member: they do, or nobody knows."""
        self._bets = np.zeros((many, len(BETS)))
        self._contained: dict[int, Marks] = {}
        for number in range(many):
            self._begin(number)
        self.used_before = self.used.copy()
        draws = {draw.at: draw for draw in family.drawn}
        for place in range(family.at, family.end):
            self._take(place, draws.get(place))

    # --- the members ---

    @cached_property
    def rooms(self) -> list[int | None]:
        """How many cells can break each member; None where nobody can count them."""
        layout = self.asked.layout
        if not layout.counted:
            return [None] * len(self.family.members)
        return [layout.room(member.box) for member in self.family.members]

    @cached_property
    def _room(self) -> Floats:
        """The same as numbers; infinite where it is not known, or too large to be one."""
        return np.array([inf if n is None or n > LARGEST else float(n) for n in self.rooms])

    @cached_property
    def bad(self) -> Floats:
        """How many cells of a bad member break it, at least."""
        share = Fraction(repr(self.family.epsilon))
        return np.array(
            [inf if n is None or n > LARGEST else float(int(share * n) + 1) for n in self.rooms]
        )

    @cached_property
    def _parts(self) -> list[tuple[int, Marks]]:
        """For each attribute that a member restricts, which members have which of its levels."""
        members, layout = self.family.members, self.asked.layout
        parts = []
        for i, size in enumerate(layout.sizes):
            boxes = [member.box[i] for member in members]
            if any(part is not None for part in boxes):
                every = np.ones(size, dtype=np.bool_)
                parts.append((i, np.array([every if part is None else part for part in boxes])))
        return parts

    def _under(self, base: int) -> Marks:
        """Return the members all of whose cells are in a base."""
        if base not in self._contained:
            parts = dict(self._parts)
            under = np.ones(len(self.used), dtype=np.bool_)
            for i, wide in enumerate(self.family.bases[base]):
                if wide is not None:
                    under &= ~(parts[i] & ~wide).any(axis=1) if i in parts else False
            self._contained[base] = under
        return self._contained[base]

    @cached_property
    def _judged(self) -> tuple[NDArray[np.intp], Marks, Marks]:
        """For each member its saying, and for each of these the cells that break it, or may."""
        sayings = list(dict.fromkeys(member.saying for member in self.family.members))
        which = np.array([sayings.index(member.saying) for member in self.family.members])
        broken = [self.asked.breaking(saying.breaks) for saying in sayings]
        unsure = [self.asked.unsure(saying.breaks) for saying in sayings]
        return which.astype(np.intp), np.array(broken), np.array(unsure)

    def _begin(self, number: int) -> None:
        cells, at = self.asked.cells, self.family.at
        inside = np.arange(at)
        for i, part in enumerate(self.family.members[number].box):
            if part is not None:
                inside = inside[part[cells[inside, i]]]
        which, broken, unsure = self._judged
        hits, maybe = broken[which[number], inside], unsure[which[number], inside]
        self.used[number], self.known[number] = len(inside), int(hits.sum() + maybe.sum())
        if hits.any() and not self.tolerant:
            self.evidence[number] = -inf

    @property
    def tolerant(self) -> bool:
        """Whether members may have exceptions."""
        return self.family.purpose == "almost"

    # --- the draws ---

    def _take(self, place: int, draw: DrawnCell | None) -> None:
        """Take the answer to a cell, in the order of asking."""
        cell = self.asked.cells[place]
        inside = np.ones(len(self.used), dtype=np.bool_)
        for i, part in self._parts:
            inside &= part[:, cell[i]]
        which, broken, unsure = self._judged
        hit, maybe = broken[which, place] & inside, unsure[which, place] & inside
        if draw is not None:
            fell = np.flatnonzero(inside & self._under(draw.base))
            if self.tolerant:
                self._bet(fell, hit | maybe)
            else:
                clean = fell[~(hit | maybe)[fell]]
                self.drawn[clean] += 1
                self.evidence[clean] += self._gain(clean)
                self.evidence[fell[maybe[fell]]] = -inf
        self.used += inside
        self.known += hit | maybe
        if self.tolerant:
            self.evidence[self.known >= self.bad] = -inf
        else:
            self.evidence[hit] = -inf

    def _chance(self, which: NDArray[np.intp]) -> Floats:
        """Return how likely a draw breaks each of some members, at least, if it is bad."""
        room, used = self._room[which], self.used[which]
        endless = np.isinf(room)
        left = np.where(endless, 1, room - used)
        if self.varies:
            least = np.where(endless, 0, self.family.epsilon * np.where(endless, 0, room) - used)
        else:
            least = np.where(endless, 0, self.bad[which] - self.known[which])
        chance = np.divide(least, left, out=np.zeros(len(which)), where=left > 0)
        unknown = 0.0 if self.varies else self.family.epsilon
        return np.where(endless, unknown, np.clip(chance, 0, 1))

    def _gain(self, which: NDArray[np.intp]) -> Floats:
        chance = self._chance(which)
        sure = chance >= 1
        gain: Floats = np.where(sure, SURE, -np.log1p(-np.where(sure, 0, chance)))
        return gain

    def _bet(self, fell: NDArray[np.intp], hit: Marks) -> None:
        chance = np.minimum(self._chance(fell), SUREST)
        for column, factor in enumerate(BETS):
            clean = np.log1p(-factor * chance) - np.log1p(-chance)
            self._bets[fell, column] += np.where(hit[fell], log(factor), clean)
        self.drawn[fell] += 1
        self.hits[fell] += hit[fell]
        lost = np.isneginf(self.evidence[fell])
        mean = np.logaddexp.reduce(self._bets[fell], axis=1) - log(len(BETS))
        self.evidence[fell] = np.where(lost, -inf, mean)

    # --- what follows ---

    @cached_property
    def places(self) -> dict[Rule, int]:
        """Where each member stands."""
        return {member.rule: place for place, member in enumerate(self.family.members)}

    @cached_property
    def own_draws(self) -> list[tuple[int, int]]:
        """For each member how many draws from its own cells there were, and how many broke it."""
        counts = [(0, 0)] * len(self.used)
        which, broken, _ = self._judged
        for draw in self.family.drawn:
            owner = self.family.owners[draw.base]
            if owner >= 0:
                drawn, hits = counts[owner]
                counts[owner] = drawn + 1, hits + int(broken[which[owner], draw.at])
        return counts

    def why_not(self, place: int) -> str:
        """Return in words why a member is not listed."""
        if np.isneginf(self.evidence[place]):
            return "are not all clean"
        others = int((~self.proved & ~self.listed).sum())
        e, goal = np.exp(self.evidence[place]), max(1, others) / self.family.delta
        return f"are too few to list it: E is {e:.4g}, {goal:.4g} or more is needed"

    @cached_property
    def proved(self) -> Marks:
        """Which members had every cell asked, and none of them may break it."""
        if self.varies or self.tolerant:
            return np.zeros(len(self.used), dtype=np.bool_)
        whole: Marks = (self._room <= self.used) & (self.known == 0)
        return whole & ~np.isneginf(self.evidence)

    @cached_property
    def listed(self) -> Marks:
        """Which members are listed: as many as pass together."""
        passed = np.zeros(len(self.used), dtype=np.bool_)
        rest = np.flatnonzero(~self.proved)
        order = rest[np.argsort(-self.evidence[rest], kind="stable")]
        others = np.arange(len(order))[::-1] + 1
        enough = self.evidence[order] >= np.log(others / self.family.delta) - NEARLY
        if enough.any():
            passed[order[: np.flatnonzero(enough)[-1] + 1]] = True
        return passed

    def bound(self, number: int, delta: float) -> float | None:
        """Return how many of a member's cells break it at most, if each member has a share of δ."""
        drawn, room, used = int(self.drawn[number]), self.rooms[number], int(self.used[number])
        if not drawn or np.isneginf(self.evidence[number]) or self.known[number] or delta <= 0:
            return None
        bound: float = 1 - (delta / len(self.used)) ** (1 / drawn)
        if self.varies:
            if room is None or used >= room:
                return None
            bound += used / (room - used)
        return bound if bound < 1 else None
