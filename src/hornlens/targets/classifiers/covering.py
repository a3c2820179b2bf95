"""Rules that cover the rows, for an ensemble of trees whose cells are too many to be asked.

A box is grown around a cell that no rule decides yet: it is widened as far as the known cells of
other classes allow, and the ensemble is asked for a proof. What it returns instead, a cell of
another class, is known from then on, and a narrower box is tried. The axes that matter least are
widened first, so that rules speak of few columns. A box that is grown to the end cannot be made
wider: each step is stopped by a cell of another class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Axis, Box, Range
from hornlens.exact.boxes.bitboxes import widest
from hornlens.exact.boxes.cells import Levels, distinct_cells, rows_in
from hornlens.exact.boxes.rulesets import BoxRule, Stops, decided_by, never
from hornlens.limits import Stopped
from hornlens.logic.coverage import Coverage
from hornlens.targets.classifiers.measured import Measured
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.options import Options
from hornlens.targets.classifiers.short import KnownCells
from hornlens.targets.classifiers.voting import Vote

BATCH = 32
"""Around how many cells boxes are grown at once: their proofs are asked for together."""
MOST = 1_000
"""So many rules are added at most."""
TIME = 0.5
"""Which share of the time that is left is taken."""
OTHERS = 8_192
"""How many cells of other classes a box is held against at first; further ones are met."""
Settled: TypeAlias = tuple[int, Levels]
"""What became of a box, and a cell of another class in it; see `Vote.others_among`."""


class Covering(NamedTuple):
    """Rules that were looked for until they decide a `wanted` share of the rows.

    `hard` ones may not be as general as can be. What they decide is counted over `rows`, of which
    the model says `labels`, and over `uniform` inputs, where these were drawn.
    """

    rules: tuple[BoxRule, ...]
    wanted: float
    hard: frozenset[BoxRule]
    axes: tuple[Axis, ...] = ()
    rows: Levels = np.zeros((0, 0), dtype=np.intp)
    labels: Levels = np.zeros(0, dtype=np.intp)
    uniform: Measured | None = None

    def measured_on(
        self, axes: tuple[Axis, ...], rows: Levels, labels: Levels, uniform: Measured | None
    ) -> Covering:
        """Return the same, with the rows and inputs on which coverage is counted."""
        return self._replace(axes=axes, rows=rows, labels=labels, uniform=uniform)

    def of(self, boxes: Sequence[BoxRule], inputs: bool = True) -> Coverage:
        """Count what some rules decide, these or others: of rows, and of drawn inputs."""
        decides = np.zeros(len(self.rows), dtype=np.bool_)
        right = np.ones(len(self.rows), dtype=np.bool_)
        for box, place in boxes:
            inside = rows_in(self.rows, box, self.axes)
            decides |= inside
            right &= ~inside | (self.labels == place)
        decided = drawn = 0
        if inputs and self.uniform is not None:
            there = decided_by(boxes, self.uniform.cells, self.axes) >= 0
            counts = self.uniform.inputs.sum(axis=1)
            decided, drawn = int(counts[there].sum()), int(counts.sum())
        return Coverage(
            self.wanted,
            int(np.count_nonzero(decides)),
            len(self.rows),
            int(np.count_nonzero(decides & right)),
            decided,
            drawn,
            len(self.hard.intersection(boxes)),
        )


class Grown(NamedTuple):
    """A rule, and whether each wider box was refuted."""

    rule: BoxRule
    general: bool


@dataclass(frozen=True, eq=False)
class Weighed:
    """Different cells with their classes, and how much each of them counts."""

    cells: Levels
    labels: Levels
    weights: NDArray[np.intp]


def cover_rows(
    vote: Vote, known: KnownCells, rows: Levels, options: Options, meter: Meter | None
) -> Covering:
    """Prove rules until they decide enough of the rows, and as good a share of uniform inputs.

    Of a time limit, half is left for what comes after it.
    """
    pool = Weighed(known.pool.cells, known.pool.labels, np.ones(len(known.pool.cells), np.intp))
    stops = never if meter is None else meter.part_of_time(TIME)
    cover = Cover(vote, pool, options.seed, stops)
    unique, _, counts = distinct_cells(rows, vote.binned.shape)
    counts = counts[vote.occur(unique)][: len(known.rows.cells)]  # of those that were asked
    cover.decide(Weighed(known.rows.cells, known.rows.labels, counts), options.cover, MOST)
    hard = frozenset(grown.rule for grown in cover.rules if not grown.general)
    return Covering(tuple(grown.rule for grown in cover.rules), options.cover, hard)


@dataclass(eq=False)
class Cover:
    """Grows rules until they decide a share of some cells; what is proved stays in `rules`."""

    vote: Vote
    known: Weighed
    """Cells whose classes are known: what lies in a box of another class stops it."""
    seed: int = 0
    stops: Stops = never
    rules: list[Grown] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Order the axes, those first that matter least."""
        self._axes = self.vote.binned.axes
        self._order = [int(axis) for axis in np.argsort(influence(self.vote), kind="stable")]
        self._rng = np.random.default_rng([self.seed, 1])
        self._others: dict[int, list[Levels]] = {}

    def decide(self, wanted: Weighed, share: float, most: int | None = None) -> None:
        """Add rules until they decide such a share of cells, or so many were added, or it stops.

        Cells that count most are seen to first; of those that count alike, random ones.
        """
        order = np.lexsort((self._rng.random(len(wanted.cells)), -wanted.weights))
        cells, labels, weights = wanted.cells[order], wanted.labels[order], wanted.weights[order]
        left = np.ones(len(cells), dtype=np.bool_)
        for grown in self.rules:
            left &= ~rows_in(cells, grown.rule.box, self._axes)
        enough = (1 - share) * float(weights.sum())
        end = None if most is None else len(self.rules) + most
        with suppress(Stopped):
            while weights[left].sum() > enough and (end is None or len(self.rules) < end):
                some = np.flatnonzero(left)[:BATCH]
                batch = self._grown_around(cells[some], labels[some])
                for grown, inside in self._in_turn(batch, cells, weights, left):
                    self.rules.append(grown)
                    left &= ~inside
                    if end is not None and len(self.rules) >= end:
                        break
                if self.stops():
                    break

    def _in_turn(
        self, batch: Sequence[Grown], cells: Levels, weights: Levels, left: NDArray[np.bool_]
    ) -> Iterator[tuple[Grown, NDArray[np.bool_]]]:
        """Yield those first that decide most of what is `left`, with the cells in each.

        What one decides, the caller takes from `left`: then others gain less than before.
        """
        waiting = []
        for number, grown in enumerate(batch):
            inside = rows_in(cells, grown.rule.box, self._axes)
            waiting.append((-int(weights[inside & left].sum()), number, inside))
        heapify(waiting)
        while waiting:
            _, number, inside = heappop(waiting)
            gain = int(weights[inside & left].sum())
            if gain and waiting and (-gain, number) > waiting[0][:2]:
                heappush(waiting, (-gain, number, inside))
            elif gain:
                yield batch[number], inside

    def _grown_around(self, cells: Levels, labels: Levels) -> list[Grown]:
        """Return a rule around each cell; if it is stopped, as wide as it is proved by then."""
        growing = [
            _Growing(self._axes, cell, place, self._order, self._known_others(place))
            for cell, place in zip(cells.tolist(), labels.tolist(), strict=True)
        ]
        active = [one for one in growing if one.proposal is not None]
        try:
            while active and not self.stops():
                boxes = [self.vote.mask(one.proposal or ()) for one in active]
                places = [one.place for one in active]
                others, status = self.vote.others_among(boxes, places)
                for one, other, what in zip(active, others, status.tolist(), strict=True):
                    if what == 1:
                        self._others[one.place].append(other)
                    one.hear((what, other))
                self.vote.binned.check(len(self.rules))
                active = [one for one in active if one.proposal is not None]
        except Stopped:
            pass
        return [Grown(BoxRule(one.box, one.place), one.general) for one in growing]

    def _known_others(self, place: int) -> Levels:
        """Return known cells of other classes: a sample of those at hand, and all that were met."""
        if place not in self._others:
            at = np.flatnonzero(self.known.labels != place)
            if len(at) > OTHERS:
                at = np.sort(self._rng.choice(at, OTHERS, replace=False))
            self._others[place] = [self.known.cells[at]]
        parts = self._others[place]
        if len(parts) > 1:
            self._others[place] = parts = [np.vstack(parts)]
        return parts[0]


class _Growing:
    """A box around a cell: how far it is proved, and the wider one that is to be proved next."""

    def __init__(
        self,
        axes: Sequence[Axis],
        cell: Sequence[int],
        place: int,
        order: Sequence[int],
        others: Levels,
    ):
        """Begin with the cell itself; `others` are cells of other classes."""
        self.cell, self.place, self.general = tuple(cell), place, True
        self._axes, self._order = axes, order
        self._ranges: list[Range] = [(level, level) for level in cell]
        self._others = _Others(others, self._ranges)
        self._at, self._step = 0, len(order)
        self._caps: dict[int, Range] = {}
        self.proposal: Box | None = None
        self._propose()

    @property
    def box(self) -> Box:
        """The box, as far as it is proved."""
        return tuple(self._ranges)

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
        if place in self._caps:
            return self._caps[place]
        return self._others.widest(place, self._axes[place], self.cell[place])

    def _cap(self, place: int, tried: Range) -> None:
        """Go half as far along an axis where the whole was too hard to settle."""
        (low, high), (first, last) = self._ranges[place], tried
        self.general = False
        halfway = low - (low - first) // 2, high + (last - high) // 2
        is_between = self._axes[place].is_ranged and last < self._axes[place].known
        self._caps[place] = halfway if is_between else (low, high)


class _Others:
    """Cells of other classes, and along how many axes each lies outside a box."""

    def __init__(self, cells: Levels, box: Sequence[Range]):
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
