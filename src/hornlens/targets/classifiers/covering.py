"""Rules that decide as many rows as possible, of an ensemble whose cells cannot all be asked.

A rule is found where the rows are: `narrowing` cuts a box until plain bounds prove it, and of the
boxes on the way, the earliest is taken that a search proves, too. The same of a few steps outwards
that let in most rows (`relaxing`). So each rule takes some eight questions. Then rules are made as
wide as proofs reach (`growing`), those first that decide most; so others may decide no row alone,
and are left out. Under a time limit, part of the time is kept for that; rules that were not made
wider by then are true as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Axis, Box
from hornlens.exact.boxes.cells import Levels, ListedCells, distinct_cells, rows_in
from hornlens.exact.boxes.rulesets import BoxRule, Stops, decided_by, never
from hornlens.limits import Stopped
from hornlens.logic.coverage import Coverage
from hornlens.targets.classifiers.bounding.rows import Flags, Floats
from hornlens.targets.classifiers.bounding.stacks import Intervals
from hornlens.targets.classifiers.growing import Growing, Settled, influence
from hornlens.targets.classifiers.measured import Measured
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.narrowing import Narrowing, Weighed
from hornlens.targets.classifiers.relaxing import relaxed
from hornlens.targets.classifiers.short import KnownCells
from hornlens.targets.classifiers.voting import Vote

FEWEST, TOGETHER = 4, 16
"""So few rules are made wider at once at first, so many later: together is quicker, but later."""
MOST = 1_000
"""So many rules are looked for at most."""
TIME, LATER = 0.5, 0.8
"""Which share of the time that is left is taken at first, and which in the end."""
FINDING = 0.7
"""Which share of that is taken to find rules; the rest is to make them wider."""
OTHERS = 8_192
"""How many cells of other classes a box is held against at first; so many more are met."""
LOOKED_AT = 1 << 15
"""So many rows are looked at to find one rule."""
KEPT = 1 << 31
"""Of so many cells it is kept in all, as bits, whether they lie in rules."""
PATIENCE = 1_000
"""After so many boxes, a question is given up: another one may be easier."""


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

    @classmethod
    def by(cls, cover: Cover, wanted: float) -> Covering:
        """Return the rules of a cover."""
        rules = cover.rules
        hard = frozenset(grown.rule for grown in rules if not grown.general)
        return cls(tuple(grown.rule for grown in rules), wanted, hard)

    def measured_on(
        self, axes: tuple[Axis, ...], rows: Levels, labels: Levels, uniform: Measured | None
    ) -> Covering:
        """Return the same, with the rows and inputs on which coverage is counted."""
        by_columns = np.asfortranarray(rows)  # rules ask for columns
        return self._replace(axes=axes, rows=by_columns, labels=labels, uniform=uniform)

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
    """A proved rule, and whether each wider box was refuted."""

    rule: BoxRule
    general: bool


@dataclass(frozen=True, eq=False)
class RowsToDecide:
    """Cells that rules are to decide, those first that count most: classes, and what they count."""

    axes: tuple[Axis, ...]
    cells: Levels
    labels: Levels
    weights: Floats
    _inside: dict[BoxRule, NDArray[np.uint8]] = field(default_factory=dict)
    """Which cells lie in some of the rules, as bits."""

    @classmethod
    def of(cls, known: ListedCells, counts: Levels, rng: np.random.Generator) -> RowsToDecide:
        """Return cells whose classes are known; of those that count alike, random ones first."""
        order = np.lexsort((rng.random(len(counts)), -counts))
        cells = np.asfortranarray(known.cells[order])  # rules ask for columns
        return cls(known.axes, cells, known.labels[order], counts[order].astype(np.float64))

    def inside(self, rule: BoxRule) -> Flags:
        """Say of each cell whether it lies in a rule; what was found out is kept."""
        if rule in self._inside:
            bits = np.unpackbits(self._inside[rule], count=len(self.cells))
            return np.asarray(bits.view(np.bool_))
        inside = rows_in(self.cells, rule.box, self.axes)
        if (len(self._inside) + 1) * len(self.cells) <= KEPT:
            self._inside[rule] = np.packbits(inside)
        return inside

    def of_class(self, place: int, which: Flags) -> Weighed:
        """Return the first of some cells that have a class."""
        some = np.flatnonzero(which & (self.labels == place))[:LOOKED_AT]
        return Weighed(self.cells[some], self.weights[some])


class Cover:
    """Finds rules that decide some cells, and makes them wider."""

    def __init__(self, vote: Vote, pool: ListedCells, rows: RowsToDecide, rng: np.random.Generator):
        """Begin with no rules.

        Args:
            vote: The ensemble.
            pool: Cells whose classes are known: what lies in a box of another class stops it.
            rows: What is to be decided.
            rng: Which cells are looked at, and which class is next.
        """
        self._vote, self._pool, self._rows, self._rng = vote, pool, rows, rng
        self._axes = vote.binned.axes
        self._narrowing = Narrowing(self._axes)
        self._influence = influence(vote)
        self._others: dict[int, list[Levels]] = {}
        self._beside: list[BoxRule] = []
        self._drafts: list[BoxRule] = []
        self._grown: list[Grown] = []
        self._open = np.ones(len(rows.cells), dtype=np.bool_)

    def run(self, share: float, most: int, finding: Stops = never, widening: Stops = never) -> None:
        """Find rules until they decide a share of the cells, or so many, and make them wider.

        What is known when a limit is reached, stays known.
        """
        with suppress(Stopped):
            self._find((1 - share) * float(self._rows.weights.sum()), most, finding)
            self._widen(widening)

    def beside(self, rules: Sequence[BoxRule]) -> None:
        """Note other rules that were proved: what they decide need not be decided twice."""
        self._beside += rules
        for rule in rules:
            self._open &= ~self._rows.inside(rule)

    @property
    def rules(self) -> list[Grown]:
        """The rules, each with cells that those before it leave open: those first with most."""
        every = [*self._grown, *(Grown(draft, False) for draft in self._drafts)]
        turns = _Turns(self._rows, self._beside)
        turns.wait([grown.rule for grown in every])
        chosen = []
        while (number := turns.next()) is not None:
            turns.take(every[number].rule)
            chosen.append(every[number])
        return chosen

    # --- finding ---

    def _find(self, enough: float, most: int, stops: Stops) -> None:
        """Find rules until no more cells are open than is good enough."""
        weights, labels = self._rows.weights, self._rows.labels
        passed = np.zeros_like(self._open)
        while (
            weights[self._open].sum() > enough
            and len(self._drafts) + len(self._grown) < most
            and not stops()
        ):
            rest = np.flatnonzero(self._open & ~passed)
            if not len(rest):
                break
            self._vote.binned.check()
            counts = np.bincount(labels[rest], weights[rest])
            place = int(self._rng.choice(len(counts), p=counts / counts.sum()))
            narrow, rule = self._draft(place, self._open & ~passed)
            if rule is None:
                passed |= self._rows.inside(narrow)
            else:
                self._drafts.append(rule)
                self._open &= ~self._rows.inside(rule)

    def _draft(self, place: int, which: Flags) -> tuple[BoxRule, BoxRule | None]:
        """Return a box around some cells of a class, and a wide rule around it that is proved."""
        rows, leads = self._rows.of_class(place, which), self._vote.leads_over(place)
        path = self._narrowing.path(rows, self._others_of(place), leads, self._vote.tolerance)
        rule = self._first_proved(path.boxes, place, path.proved)
        if rule is not None:
            wider = relaxed(self._axes, rule.box, rows, self._others_of(place), leads)
            rule = self._first_proved(wider, place, True)
        return BoxRule(path.boxes[-1], place), rule

    def _first_proved(self, boxes: Sequence[Box], place: int, proved: bool) -> BoxRule | None:
        """Return the first box that is proved, as far as the middle ones tell.

        Args:
            boxes: Boxes, each within the one before it.
            place: Their class.
            proved: Whether the last one is proved already.
        """
        first, last = 0, len(boxes) - proved
        while first < last:
            middle = (first + last) // 2
            ((status, _),) = self._settled([BoxRule(boxes[middle], place)])
            if status == 0:
                last = middle
            else:
                first = middle + 1
        return BoxRule(boxes[last], place) if last < len(boxes) else None

    def _settled(self, rules: Sequence[BoxRule]) -> list[Settled]:
        """Return what became of rules, and cells that refute them, which are noted."""
        shape = len(rules), len(self._axes), 2
        ends = np.array([rule.box for rule in rules], dtype=np.intp).reshape(shape)
        boxes = Intervals(ends[:, :, 0], ends[:, :, 1], np.arange(len(rules)))
        places = np.array([rule.place for rule in rules], dtype=np.intp)
        outcomes = self._vote.outcomes_in(boxes, places, PATIENCE)
        answers = list(zip(outcomes.status.tolist(), outcomes.cells, strict=True))
        for rule, (status, cell) in zip(rules, answers, strict=True):
            if status == 1:
                self._others[rule.place].append(cell[None])
        return answers

    def _others_of(self, place: int) -> Levels:
        """Return known cells of other classes: a sample of those at hand, and the last ones met."""
        if place not in self._others:
            at = np.flatnonzero(self._pool.labels != place)
            if len(at) > OTHERS:
                at = np.sort(self._rng.choice(at, OTHERS, replace=False))
            self._others[place] = [self._pool.cells[at]]
        parts = self._others[place]
        if len(parts) > 2:
            met = np.vstack(parts[1:])[-OTHERS:]
            self._others[place] = parts = [parts[0], met]
        return np.vstack(parts)

    # --- making wider ---

    def _widen(self, stops: Stops) -> None:
        """Make rules wider, those first that decide most; leave out what then decides nothing."""
        turns = _Turns(self._rows, self._beside)
        for grown in self._grown:
            turns.take(grown.rule)
        turns.wait(self._drafts)
        waiting, count = dict(enumerate(self._drafts)), FEWEST
        while not stops():
            numbers = [number for _ in range(count) if (number := turns.next()) is not None]
            count = min(2 * count, TOGETHER)
            if not numbers:
                waiting = {}
                break
            some = self._widened([waiting.pop(number) for number in numbers], turns.open, stops)
            for number, one in zip(numbers, some, strict=True):
                self._open &= ~self._rows.inside(one.rule)
                if one.proposal is not None:
                    waiting[number] = one.rule
                else:
                    turns.take(one.rule)
                    self._grown.append(Grown(one.rule, one.general))
        self._drafts = list(waiting.values())

    def _widened(self, rules: Sequence[BoxRule], which: Flags, stops: Stops) -> list[Growing]:
        """Return the rules as wide as they are proved by the time that it stops."""
        growing = [
            Growing(self._axes, rule, self._order(rule, which), self._others_of(rule.place))
            for rule in rules
        ]
        while active := [one for one in growing if one.proposal is not None]:
            if stops() or self._is_over():
                break
            wider = [BoxRule(one.proposal or (), one.place) for one in active]
            for one, answer in zip(active, self._settled(wider), strict=True):
                one.hear(answer)
        return growing

    def _is_over(self) -> bool:
        try:
            self._vote.binned.check()
        except Stopped:
            return True
        return False

    def _order(self, rule: BoxRule, which: Flags) -> list[int]:
        """Return the axes: those first that alone keep out most of what is open."""
        rows = self._rows.of_class(rule.place, which)
        low, high = np.array(rule.box, dtype=np.intp).reshape(-1, 2).T
        outside = (rows.cells < low) | (rows.cells > high)
        alone = outside & (outside.sum(axis=1) == 1)[:, None]
        gains = rows.weights @ alone
        return [int(axis) for axis in np.lexsort((self._influence, -gains))]


class _Turns:
    """Whose turn it is among rules: the next one decides most of what those before leave open."""

    def __init__(self, rows: RowsToDecide, before: Sequence[BoxRule]):
        self.open = np.ones(len(rows.cells), dtype=np.bool_)
        self._rows = rows
        self._rules: Sequence[BoxRule] = ()
        self._heap: list[tuple[float, int]] = []
        for rule in before:
            self.take(rule)

    def wait(self, rules: Sequence[BoxRule]) -> None:
        """Let rules wait for their turn."""
        self._rules = rules
        self._heap = [(-self._gain(rule), number) for number, rule in enumerate(rules)]
        heapify(self._heap)

    def take(self, rule: BoxRule) -> None:
        """Note that a rule decides its cells: then others gain less than before."""
        self.open &= ~self._rows.inside(rule)

    def next(self) -> int | None:
        """Return the number of the next rule; None if no rule that waits decides anything."""
        while self._heap:
            _, number = heappop(self._heap)
            gain = self._gain(self._rules[number])
            if gain and self._heap and (-gain, number) > self._heap[0]:
                heappush(self._heap, (-gain, number))
            elif gain:
                return number
        return None

    def _gain(self, rule: BoxRule) -> float:
        return float(self._rows.weights[self.open & self._rows.inside(rule)].sum())


def row_cover(vote: Vote, known: KnownCells, rows: Levels, seed: int) -> Cover:
    """Return a cover of rows, as yet without rules."""
    unique, _, counts = distinct_cells(rows, vote.binned.shape)
    counts = counts[vote.occur(unique)][: len(known.rows.cells)]  # of those that were asked
    rng = np.random.default_rng([seed, 1])
    return Cover(vote, known.pool, RowsToDecide.of(known.rows, counts, rng), rng)


def cover_rows(cover: Cover, share: float, meter: Meter | None, time: float = TIME) -> None:
    """Add rules until they decide a share of the rows; of a time limit, such a part is taken."""
    finding, widening, most = never, never, MOST
    if meter is not None:
        finding, widening = meter.part_of_time(FINDING * time), meter.part_of_time(time)
        if meter.limits is not None and meter.limits.max_rules is not None:
            most = min(MOST, meter.limits.max_rules)
    cover.run(share, most, finding, widening)
