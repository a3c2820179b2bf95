"""Families: rules that are fixed before cells are drawn for them, and what the draws show.

A rule is *bad* if more than ε of its cells break it. In a family of rules, fixed at some time, only
cells count that are drawn afterwards, uniformly among the cells of a base that were not asked: the
base is the rule's own cells or has them in it, and given that the cell falls among those of the
rule, it is uniform there.

A bad rule with `room` cells, none of which is known to break it, has at least b = ⌊ε·room⌋ + 1 that
do among the `left` ones not asked. So a draw is clean with chance 1 - b/left at most, and the
product E of 1/(1 - b/left) over its clean draws, 0 once it is broken, is a test supermartingale
whatever else is asked in between; so is the mean of E over any fixed set of bad rules. (Where the
room is not known, ε is used: b/left is never less.)

*Listing* f when E(f) ≥ (j + 1)/δ, where j members that are not proved are not listed: were bad ones
B listed wrongly, at most j of B would be below, so that the mean over B would be at least
max(1, |B| - j)/|B| · (j + 1)/δ ≥ 1/δ, which it ever reaches with a chance of δ at most (Ville).

*Bounds*: with S members, each is broken by at most 1 - (δ/S)^(1/n) of its cells after n clean
draws, all at once and at any time, but for a chance of δ (Ville for each, and their union).

Answers that vary: bad is then that more than ε of the answers break it, on average over its cells.
Cells that were asked may hold one answer's worth each, so that the others hold at least ε·room less
as many as were asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, log, log1p

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Box, Cells, Flags, Ground
from hornlens.learning.sifting.members import Member

SURE = 60.0
"""The logarithm of what a draw shows that no bad rule can pass."""
ROUNDING = 1e-9
LARGEST = 10**300
"""More cells than that are not counted."""


def gain(room: int | None, used: int, epsilon: float, varies: bool = False) -> float:
    """Return the logarithm of what one clean draw shows, where `used` cells were asked before.

    More cells than a float can hold are as many as nobody can count: that shows no more.
    """
    if room is None or room > LARGEST:
        return 0.0 if varies else -log1p(-epsilon)
    left = room - used
    if varies:
        rate = (epsilon * room - used) / left if left > 0 else 0.0
        return -log1p(-rate) if 0 < rate < 1 else 0.0
    bad = floor(epsilon * room + ROUNDING) + 1
    return SURE if bad >= left else -log1p(-bad / left)


class Family:
    """Members that are fixed, the share of δ that they have, and what was drawn for them."""

    purpose = "list"

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
        bounds: bool = False,
    ):
        """Fix a family after `at` cells were asked, `used` of them in each member."""
        self.number, self.at, self.delta, self.bounds = number, at, delta, bounds
        if bounds:
            self.purpose = "bounds"
        self.members, self.epsilon, self.varies = tuple(members), epsilon, varies
        many = len(self.members)
        self.shown = np.zeros(many)
        """The logarithm of E."""
        self.drawn = np.zeros(many, dtype=np.int64)
        """How many clean draws count."""
        self.used = np.array(used, dtype=np.int64)
        self.rooms = [m.room if ground.counted else None for m in self.members]
        self._parts = [
            np.stack(
                [
                    np.ones(int(size), dtype=np.bool_) if part is None else part
                    for part in (m.box[i] for m in self.members)
                ]
            )
            if many
            else np.zeros((0, int(size)), dtype=np.bool_)
            for i, size in enumerate(ground.sizes)
        ]
        self._statements = np.array([m.statement for m in self.members], dtype=np.int64)
        self.bases: list[tuple[Box, int]] = []
        """The boxes that cells are drawn from, each with a mask of its conditions."""
        self._under: list[Flags] = []
        """For each base the members that it has in it."""

    def base(self, box: Box, mask: int) -> int:
        """Return the number of a base."""
        for number, (_, other) in enumerate(self.bases):
            if other == mask and all(
                a is b or (a is not None and b is not None and np.array_equal(a, b))
                for a, b in zip(self.bases[number][0], box, strict=True)
            ):
                return number
        self.bases.append((box, mask))
        under = np.ones(len(self.members), dtype=np.bool_)
        for part, own in zip(box, self._parts, strict=True):
            if part is not None:
                under &= ~(own & ~part).any(axis=1)
        self._under.append(under)
        return len(self.bases) - 1

    def having(self, cell: NDArray[np.int64]) -> Flags:
        """Say which members have a cell."""
        inside = np.ones(len(self.members), dtype=np.bool_)
        for part, level in zip(self._parts, cell, strict=True):
            inside &= part[:, level]
        return inside

    def hear(
        self, base: int | None, cell: NDArray[np.int64], broken: Flags, unknown: Flags
    ) -> None:
        """Take the answer to a cell, drawn from a base or not: which statements it breaks."""
        inside = self.having(cell)
        if base is not None:
            for f in np.flatnonzero(inside & self._under[base]):
                r = self._statements[f]
                if unknown[r]:
                    self.shown[f] = -inf
                elif not broken[r]:
                    self.drawn[f] += 1
                    self.shown[f] += gain(
                        self.rooms[f], int(self.used[f]), self.epsilon, self.varies
                    )
        self.shown[inside & broken[self._statements]] = -inf
        self.used += inside

    def proved(self) -> Flags:
        """Say which members had every cell asked: that is, where answers do not vary."""
        if self.varies:
            return np.zeros(len(self.members), dtype=np.bool_)
        pairs = zip(self.rooms, self.used, strict=True)
        whole = [room is not None and used >= room for room, used in pairs]
        return np.array(whole, dtype=np.bool_) & ~self.lost

    @property
    def lost(self) -> Flags:
        """Which members are broken, or had an answer that is not known."""
        return np.isneginf(self.shown)

    @property
    def goal(self) -> float:
        """What must be shown of a member so that it can be listed, if all others left are."""
        return log((int(self.lost.sum()) + 1) / self.delta)

    def listed(self) -> Flags:
        """Say which members may be listed: not broken by more than ε of their cells."""
        passed = np.zeros(len(self.members), dtype=np.bool_)
        open_ones = np.flatnonzero(~self.proved())
        order = open_ones[np.argsort(-self.shown[open_ones], kind="stable")]
        for many in range(len(order), 0, -1):
            if self.shown[order[many - 1]] >= log((len(order) - many + 1) / self.delta):
                passed[order[:many]] = True
                break
        return passed

    def bound_of(self, f: int, delta: float) -> float | None:
        """Return how many of a member's cells break it at most, by a share of δ for all of them."""
        drawn = int(self.drawn[f])
        if not drawn or self.lost[f]:
            return None
        bound = 1 - (delta / len(self.members)) ** (1 / drawn)
        if self.varies:
            room, used = self.rooms[f], int(self.used[f])
            if room is None or used >= room:
                return None
            bound += used / (room - used)
        return bound if bound < 1 else None

    def draws_needed(self, f: int) -> int:
        """Return how many more clean draws a member takes, if no other one is lost."""
        step = gain(self.rooms[f], int(self.used[f]), self.epsilon, self.varies)
        rest = self.goal - self.shown[f]
        return max(1, -int(-rest // step)) if step > 0 else 1


def count_in(members: Sequence[Member], ground: Ground, cells: Cells) -> list[int]:
    """Return how many cells each member has."""
    return [int(ground.holds(member.box, cells).sum()) for member in members]
