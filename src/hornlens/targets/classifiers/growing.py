"""Boxes that are proved, made as wide as proofs reach.

A box is widened, axis by axis, as far as known cells of other classes allow, and the ensemble is
asked for a proof. What it returns instead, a cell of another class, is known from then on, and less
is tried. A box that is grown to the end cannot be made wider: each step is stopped by a cell of
another class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Axis, Box, Range
from hornlens.exact.boxes.bitboxes import widest
from hornlens.exact.boxes.cells import Levels
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.targets.classifiers.voting import Vote

Settled: TypeAlias = tuple[int, Levels]
"""What became of a box, and a cell of another class in it; see `Vote.others_among`."""


class Growing:
    """A proved box, and the wider one that is to be proved next."""

    def __init__(self, axes: Sequence[Axis], rule: BoxRule, order: Sequence[int], others: Levels):
        """Begin with a proved rule.

        Args:
            axes: The axes of the box.
            rule: The box and its class.
            order: In which order the axes are widened.
            others: Cells of other classes; none is in the box.
        """
        self.place, self.general = rule.place, True
        """The class, and whether each wider box than the last one is refuted."""
        self._axes, self._order = axes, order
        self._ranges: list[Range] = list(rule.box)
        self._others = Others(others, self._ranges)
        self._at, self._step = 0, 1
        self._caps: dict[int, Range] = {}
        self.proposal: Box | None = None
        self._propose()

    @property
    def rule(self) -> BoxRule:
        """The rule, as far as it is proved."""
        return BoxRule(tuple(self._ranges), self.place)

    def hear(self, answer: Settled) -> None:
        """Take what became of the proposal, and make the next one."""
        assert self.proposal is not None
        (what, other), part = answer, self._part
        if what == 0:
            self._ranges = list(self.proposal)
            self._at, self._step = self._at + len(part), 2 * self._step
        else:
            wide = self.proposal
            for place in part:
                self._others.move(place, self._ranges[place])
            if what == 1:
                self._others.add(other, self._ranges)
            elif len(part) == 1:
                self._cap(part[0], wide[part[0]])
            self._step = max(1, len(part) // 2)
        self._propose()

    @property
    def _part(self) -> Sequence[int]:
        """The axes that are widened together."""
        return self._order[self._at : self._at + self._step]

    def _propose(self) -> None:
        """Widen the next axes as far as no known cell of another class gets in."""
        self.proposal = None
        while self._at < len(self._order):
            part, wide = self._part, list(self._ranges)
            for place in part:
                wide[place] = self._widest(place)
                self._others.move(place, wide[place])
            if wide != self._ranges:
                self.proposal = tuple(wide)
                return
            self._at += len(part)

    def _widest(self, place: int) -> Range:
        """Return how far the box can be widened along an axis, as far as that is not too hard."""
        low, high = self._others.widest(place, self._axes[place], self._ranges[place][0])
        first, last = self._caps.get(place, self._axes[place].whole)
        return max(low, first), min(high, last)

    def _cap(self, place: int, tried: Range) -> None:
        """Go half as far along an axis where the whole was too hard to settle."""
        (low, high), (first, last) = self._ranges[place], tried
        self.general = False
        halfway = low - (low - first) // 2, high + (last - high) // 2
        is_between = self._axes[place].is_ranged and last < self._axes[place].known
        self._caps[place] = halfway if is_between else (low, high)


class Others:
    """Cells of other classes, and along how many axes each lies outside a box."""

    def __init__(self, cells: Levels, box: Sequence[Range]):
        """Hold the cells against a box in which none of them lies."""
        self._levels = np.ascontiguousarray(cells.T, dtype=np.int32)
        self._outside = np.stack(
            [_out(own, span) for own, span in zip(self._levels, box, strict=True)]
        )
        self._misses = self._outside.sum(axis=0, dtype=np.int32)

    def widest(self, place: int, axis: Axis, level: int) -> Range:
        """Return the widest range around a level that lets none of the cells into the box."""
        alone = self._outside[place] & (self._misses == 1)
        hits = np.zeros(axis.size, dtype=np.bool_)
        hits[self._levels[place, alone]] = True
        return widest(axis, level, hits.tolist().__getitem__)

    def move(self, place: int, span: Range) -> None:
        """Give the box another range along an axis."""
        now = _out(self._levels[place], span)
        self._misses += now
        self._misses -= self._outside[place]
        self._outside[place] = now

    def add(self, cell: Levels, box: Sequence[Range]) -> None:
        """Add a cell that lies outside the box."""
        own = cell.astype(np.int32)[:, None]
        outside = np.array(
            [
                [not low <= level <= high]
                for level, (low, high) in zip(cell.tolist(), box, strict=True)
            ]
        )
        self._levels = np.concatenate([self._levels, own], axis=1)
        self._outside = np.concatenate([self._outside, outside], axis=1)
        self._misses = np.append(self._misses, np.int32(outside.sum()))


def _out(levels: NDArray[np.int32], span: Range) -> NDArray[np.bool_]:
    low, high = span
    return (levels < low) | (levels > high)


def influence(vote: Vote) -> NDArray[np.float64]:
    """Return how much each axis matters: how far apart the scores of leaves are that ask for it."""
    masks, scores, starts = vote.leaves
    count, words = len(vote.features), vote.words
    full = vote.packed([[(1 << feature.size) - 1 for feature in vote.features]])[0]
    asks = (masks != full).reshape(len(masks), count, words).any(axis=2)
    sizes = np.diff(np.append(starts, len(masks)))
    means = np.add.reduceat(scores, starts, axis=0) / sizes[:, None]
    apart = np.abs(scores - np.repeat(means, sizes, axis=0)).max(axis=1)
    return np.asarray((asks * (apart / np.repeat(sizes, sizes))[:, None]).sum(axis=0))
