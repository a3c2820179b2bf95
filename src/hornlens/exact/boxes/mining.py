"""The rules that rows obey, as boxes in which no row lies, though many would by chance.

A box has a condition on two or three axes: what has all but one of them never has the last. On
ordered axes no row lies next to it either, so that rows to come hardly ever break a rule. Those
that shut out most of what does not occur are chosen: of cells whose levels are drawn at random, and
of rows of which some levels are those of another row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Axis, Range
from hornlens.exact.boxes.cells import Levels

Empty: TypeAlias = tuple[tuple[int, Range], ...]
"""A box in which no row lies: the axes with a condition, and the range of each."""
MOST_BOXES = 200
"""So many boxes are chosen at most."""
EXPECTED = 10.0
"""So many rows would lie in a box, if its conditions were independent: that none does is no chance.
"""
FEW = 5
"""Of so few ordered levels, the next one is far away."""
DEPTH = 10
"""A box is worth less where cells lie in boxes already, and nothing where they lie in so many."""
DRAWN = 1_000
"""So many cells of each sort are to be shut out."""
PAIRS = 2_000
"""So many pairs of conditions get a third one: those that meet least often."""
TRIPLES = 5_000
"""So many empty triples are looked at: those in which most rows would lie by chance."""
AT_ONCE = 1 << 20
"""So many pairs of boxes are held against each other at once."""
LOOKED_AT = 4_000
"""So many boxes are held against each other at most: those with the most cells in them."""


def empty_boxes(rows: Levels, axes: Sequence[Axis], seed: int) -> list[Empty]:
    """Return boxes in which none of the rows lies, the most useful one first."""
    work = _Conditions(tuple(axes), rows)
    if len(work.every) < 2:
        return []
    boxes = list(_widest([work.shown(box) for box in (*work.pairs(), *work.triples())]))
    cells = _unlike(rows, axes, np.random.default_rng(seed))
    return _chosen(boxes, cells)


@dataclass(frozen=True, eq=False)
class _Conditions:
    """All conditions on one axis, and which rows meet each of them."""

    axes: tuple[Axis, ...]
    rows: Levels

    @cached_property
    def every(self) -> list[tuple[int, Range]]:
        """Half of the ordered levels, one of the others, or "missing"."""
        return [(place, span) for place, axis in enumerate(self.axes) for span in _ranges(axis)]

    @cached_property
    def met(self) -> NDArray[np.float32]:
        """Which row meets which condition; as numbers, so that products count."""
        return np.column_stack([_meets(self.rows, *one) for one in self.every]).astype(np.float32)

    @cached_property
    def near(self) -> NDArray[np.float32]:
        """Which row meets which condition, or has the level next to it."""
        wider = [(place, _wider(self.axes[place], span)) for place, span in self.every]
        return np.column_stack([_meets(self.rows, *one) for one in wider]).astype(np.float32)

    @cached_property
    def of(self) -> NDArray[np.intp]:
        """The axis of each condition."""
        return np.array([place for place, _ in self.every])

    @cached_property
    def shares(self) -> NDArray[np.float32]:
        """Which share of the rows meets each condition."""
        shares: NDArray[np.float32] = self.met.mean(axis=0)
        return shares

    @cached_property
    def both(self) -> NDArray[np.float32]:
        """How many rows meet each two conditions, or are next to them."""
        return self.near.T @ self.near

    @cached_property
    def by_chance(self) -> NDArray[np.float32]:
        """How many would, were they independent; none for two conditions of one axis."""
        expected = len(self.rows) * np.outer(self.shares, self.shares)
        return np.where(self.of[:, None] < self.of[None, :], expected, 0).astype(np.float32)

    def pairs(self) -> list[tuple[int, ...]]:
        """Return pairs of conditions that no row meets."""
        return _rows(np.argwhere((self.both == 0) & (self.by_chance >= EXPECTED)))

    def triples(self) -> list[tuple[int, ...]]:
        """Return triples of conditions that no row meets, though two of them are met by some.

        Only pairs that rows meet less often than by chance get a third condition.
        """
        able = (self.both > 0) & (self.by_chance >= EXPECTED)
        rare = np.where(able, self.both / np.maximum(self.by_chance, 1e-9), np.inf)
        order = np.argsort(rare, axis=None, kind="stable")[:PAIRS]
        first, second = np.unravel_index(order[np.isfinite(rare.flat[order])], rare.shape)
        near = self.near[:, first] * self.near[:, second]
        together = self.met[:, first] * self.met[:, second]
        empty = (near.T @ self.near == 0) & (self.both[first] > 0) & (self.both[second] > 0)
        empty &= together.sum(axis=0)[:, None] * self.shares[None, :] >= EXPECTED
        empty &= (self.of[first][:, None] != self.of) & (self.of[second][:, None] != self.of)
        expected = np.where(empty, together.sum(axis=0)[:, None] * self.shares[None, :], 0)
        order = np.argsort(-expected, axis=None, kind="stable")[: min(TRIPLES, empty.sum())]
        pair, third = np.unravel_index(order, expected.shape)
        triples = np.sort(np.column_stack([first[pair], second[pair], third]), axis=1)
        return _rows(np.unique(triples, axis=0))

    def shown(self, box: tuple[int, ...]) -> Empty:
        """Return conditions by their places as a box."""
        return tuple(self.every[place] for place in box)


def _ranges(axis: Axis) -> list[Range]:
    ranges: list[Range] = [(level, level) for level in range(axis.known)]
    if axis.is_ranged:
        cuts = range(axis.known - 1)
        ranges = [half for cut in cuts for half in ((0, cut), (cut + 1, axis.known - 1))]
    ranges += [(level, level) for level in range(axis.known, axis.size)]
    return ranges if axis.size > 1 else []


def _wider(axis: Axis, span: Range) -> Range:
    """Return half of some ordered levels with the level next to it; of few levels, the half."""
    low, high = span
    if not axis.is_ranged or high >= axis.known or axis.known <= FEW:
        return span
    return max(0, low - 1), min(axis.known - 1, high + 1)


def _meets(cells: Levels, axis: int, span: Range) -> NDArray[np.bool_]:
    return (cells[:, axis] >= span[0]) & (cells[:, axis] <= span[1])


def _inside(cells: Levels, box: Empty) -> NDArray[np.bool_]:
    inside = np.ones(len(cells), dtype=np.bool_)
    for axis, span in box:
        inside &= _meets(cells, axis, span)
    return inside


def _rows(places: NDArray[np.intp]) -> list[tuple[int, ...]]:
    return [tuple(row) for row in places.tolist()]


def _widest(boxes: Sequence[Empty]) -> Iterator[Empty]:
    """Yield the boxes that lie in no other one."""
    by_axes: dict[tuple[int, ...], list[Empty]] = {}
    for box in boxes:
        by_axes.setdefault(tuple(axis for axis, _ in box), []).append(box)
    spans = {
        axes: np.array([[own for _, own in box] for box in group])
        for axes, group in by_axes.items()
    }
    for axes, group in by_axes.items():
        inner = np.zeros(len(group), dtype=np.bool_)
        for count in range(2, len(axes) + 1):
            for places in combinations(range(len(axes)), count):
                wide = spans.get(tuple(axes[place] for place in places))
                if wide is not None:
                    inner |= _lie_in(spans[axes][:, list(places)], wide, count == len(axes))
        yield from (box for box, lies in zip(group, inner.tolist(), strict=True) if not lies)


def _lie_in(spans: NDArray[np.intp], wide: NDArray[np.intp], same: bool) -> NDArray[np.bool_]:
    """Say of boxes whether one of the wide ones has them in it; if those are the same, another."""
    inner, step = np.zeros(len(spans), dtype=np.bool_), max(1, AT_ONCE // len(wide))
    for start in range(0, len(spans), step):
        some = spans[start : start + step]
        lies = np.ones((len(some), len(wide)), dtype=np.bool_)
        for place in range(spans.shape[1]):
            low, high = some[:, place].T
            lies &= (wide[:, place, 0] <= low[:, None]) & (high[:, None] <= wide[:, place, 1])
        if same:
            lies[np.arange(len(some)), start + np.arange(len(some))] = False
        inner[start : start + step] = lies.any(axis=1)
    return inner


def _unlike(rows: Levels, axes: Sequence[Axis], rng: np.random.Generator) -> Levels:
    """Draw cells that most rows are unlike: at random, and rows with levels of other rows."""
    sizes = np.array([axis.size for axis in axes])
    alike, other, changed = (rows[rng.integers(0, len(rows), DRAWN)] for _ in range(3))
    mixed = np.where(rng.random(alike.shape) < rng.random((DRAWN, 1)), alike, other)
    moved = rng.integers(0, len(axes), DRAWN)
    changed[np.arange(DRAWN), moved] = rng.integers(0, sizes[moved])
    apart = np.column_stack([rng.choice(rows[:, axis], DRAWN) for axis in range(len(axes))])
    uniform = rng.integers(0, sizes, (DRAWN, len(axes)))
    return np.concatenate([uniform, apart, mixed, changed])


def _chosen(boxes: Sequence[Empty], cells: Levels) -> list[Empty]:
    """Choose boxes one by one: each time the one with the most cells that lie in few boxes."""
    inside = [np.flatnonzero(_inside(cells, box)) for box in boxes]
    order = sorted(range(len(boxes)), key=lambda place: -len(inside[place]))[:LOOKED_AT]
    marks = np.zeros((len(order), len(cells)), dtype=np.float32)
    for line, place in enumerate(order):
        marks[line, inside[place]] = 1
    worth = np.ones(len(cells), dtype=np.float32)
    chosen: list[Empty] = []
    while len(chosen) < min(MOST_BOXES, len(order)):
        gain = marks @ worth
        best = int(gain.argmax())
        if gain[best] < 1:
            break
        chosen.append(boxes[order[best]])
        worth = np.maximum(0, worth - marks[best] / DEPTH).astype(np.float32)
        marks[best] = 0
    return chosen
