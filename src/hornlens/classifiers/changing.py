"""The search for the smallest change of a row: sets of columns, each proved or tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.changes import Recourse, Status, answer, comma_list, python_value, text_of
from hornlens.classifiers.proofs import measured_agreement
from hornlens.errors import InputError
from hornlens.exact.boxes.cells import Levels, cells_at
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.limits import Stopped
from hornlens.logic.cuts import shortest_between
from hornlens.targets.classifiers.binning import Binning
from hornlens.targets.classifiers.columns import Column, Table
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.guard import is_measured
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.voting import Vote

BLOCK = 4_096
"""How many changed rows are asked at once, the least changed first."""
NEAR = 0.01
"""A new number may lie so far beyond the nearest one that will do, in scales, if it is shorter."""


@dataclass(frozen=True, eq=False)
class Searches:
    """A classifier over its cells, what is wanted of it, and which columns may change how."""

    binned: Binned
    binning: Binning
    forbidden: Forbidden
    wanted: int
    to: str
    moves: Mapping[str, str]

    @cached_property
    def vote(self) -> Vote | None:
        """The trees, if they can be looked into."""
        trees = self.binning.trees
        if trees is None or not trees.trees.summed:
            return None
        return Vote(self.binned, self.forbidden.boxes, model=trees)

    @cached_property
    def scales(self) -> list[float]:
        """What counts as a change of 1 in each feature."""
        scales = []
        for place in self.binned.telling:
            feature, column = self.binned.every[place], self.binned.classifier.table.columns[place]
            scale = 1.0
            if feature.cuts is not None:
                numbers = np.asarray(column, dtype=np.float64)
                numbers = numbers[np.isfinite(numbers)]
                low, high = np.quantile(numbers, [0.25, 0.75]) if len(numbers) else (0.0, 0.0)
                spread = high - low or (float(np.ptp(numbers)) if len(numbers) else 0.0)
                scale = float(spread) or 1.0
            elif feature.kind == "ordered":
                scale = max(1.0, feature.known - 1.0)
            scales.append(scale)
        return scales

    def of(self, values: list[Column], most: int, limit: int, seed: int) -> Recourse:
        """Return the smallest change of a row, given by columns of one value."""
        table = self.binned.classifier.table
        names, labels = table.names, self.binned.classifier.labels
        row = {name: python_value(column[0]) for name, column in zip(names, values, strict=True)}
        try:
            said = int(self._decide(values)[0])
        except Stopped:
            return answer(row, "", self.to, "not found", "The run was ended before.")
        if self.wanted >> said & 1:
            sentence = f"The model already says {labels[said]}."
            return answer(row, labels[said], self.to, "already", sentence, row, 0.0)
        search = _OfRow(self, values, limit)
        best, proved = None, True
        try:
            best, proved = search.run(most)
            if best is None and not self.binning.exact:  # the near ends of bins may lie before
                search = _OfRow(self, values, limit, at_points=True)
                best, proved = search.run(most)
            proved = proved and self._is_measured(seed)
        except Stopped:
            best, proved = search.best, False
        if best is None:
            return self._without(row, labels[said], proved, search, most)
        distance, changes, place = best
        changed = {**row, **changes}
        texts = [
            f"{name} from {text_of(row[name])} to {text_of(new)}" for name, new in changes.items()
        ]
        smallest = (
            "Nothing smaller does: proved."
            if proved
            else "That is the smallest change that was found; a smaller one may do."
        )
        sentence = f"Change {comma_list(texts)}, and the model says {labels[place]}. {smallest}"
        status: Status = "proved" if proved else "found"
        return answer(row, labels[said], self.to, status, sentence, changed, distance, changes)

    def _without(
        self, row: Mapping[str, Any], said: str, proved: bool, search: _OfRow, most: int
    ) -> Recourse:
        """Return that no change was found, and whether there is none."""
        if proved and search.is_impossible:
            which = "" if not self.moves else " that is allowed"
            sentence = f"No change{which} makes the model say {self.to}: proved."
            return answer(row, said, self.to, "impossible", sentence)
        sentence = f"No change was found that makes the model say {self.to}"
        if proved:
            sentence = f"No change of at most {most} columns makes the model say {self.to}: proved"
        return answer(row, said, self.to, "not found", f"{sentence}.")

    def _is_measured(self, seed: int) -> bool:
        """Say whether the model as it was read is the model, as far as was measured."""
        if "is_measured" not in self.__dict__:
            self.__dict__["is_measured"] = is_measured(measured_agreement(self.binned, seed)[0])
        return bool(self.__dict__["is_measured"])

    def _decide(self, columns: Sequence[Column]) -> Levels:
        """Ask about rows; if a limit does not allow that, raise Stopped."""
        meter, decide = self.binned.meter, self.binned.classifier.decide
        if meter is None:
            return decide(columns)
        said = meter.answers(decide, columns)
        if len(said) < len(columns[0]):
            raise Stopped(meter.ended or "interrupt")
        return said


@dataclass(eq=False)
class _OfRow:
    """The search for the smallest change of one row."""

    given: Searches
    values: list[Column]
    limit: int
    at_points: bool = False
    """Whether numbers are moved to the points that stand for bins, and not to the near ends."""
    is_impossible: bool = False
    best: tuple[float, dict[str, Any], int] | None = None

    def __post_init__(self) -> None:
        binned = self.given.binned
        table = binned.classifier.table
        place = Table(table.names, tuple(self.values), table.kinds, table.levels, table.rebuild)
        self.cell = binned.places(place)[0]
        self.options = [self._levels(axis) for axis in range(len(binned.features))]

    def run(self, most: int) -> tuple[tuple[float, dict[str, Any], int] | None, bool]:
        """Return the least change, and whether that is proved; None if there is none."""
        free = [axis for axis, levels in enumerate(self.options) if len(levels) > 1]
        exact, vote = self.given.binning.exact, self.given.vote
        proved = exact
        if vote is not None and exact:
            cell, settled = vote.any_of(self._box(free), self.given.wanted)
            if cell is None and settled:
                self.is_impossible = True
                return None, True
        for size in range(1, min(most, len(free)) + 1):
            for axes in combinations(free, size):
                if vote is not None and exact:
                    cell, settled = vote.any_of(self._box(axes), self.given.wanted)
                    if cell is None:
                        proved = proved and settled
                        continue
                proved &= self._try(axes)
                if vote is not None and exact and cell is not None and self.best is None:
                    self._keep(axes, cell)
            if self.best is not None:
                return self.best, proved
        self.is_impossible = proved and most >= len(free)
        return None, proved

    def _levels(self, axis: int) -> list[int]:
        """Return the levels that a feature may get, its own among them."""
        feature = self.given.binned.features[axis]
        own, move = int(self.cell[axis]), self.given.moves.get(feature.name)
        if move == "fixed":
            return [own]
        known = range(feature.known)
        if move is not None:
            if not feature.is_ranged:
                raise InputError(
                    f"column {feature.name!r} has no order: it goes neither up nor down"
                )
            if own == feature.known:  # from missing, there is no up or down
                return [own]
            known = range(own, feature.known) if move == "up" else range(own + 1)
        return sorted({own, *known})

    def _box(self, axes: Sequence[int]) -> list[int]:
        """Return the cells in which only some features are changed, as sets of levels."""
        return [
            sum(1 << level for level in levels) if axis in axes else 1 << int(self.cell[axis])
            for axis, levels in enumerate(self.options)
        ]

    def _try(self, axes: Sequence[int]) -> bool:
        """Try changes of all of some columns, the least first; return whether that was enough."""
        for block in self._changes(axes):
            if block is None:
                return False
            costs, chosen = block
            costs_left = costs < (np.inf if self.best is None else self.best[0])
            if not costs_left.any():
                return True
            chosen = chosen[costs_left]
            columns = self._rows(axes, chosen)
            said = self.given._decide(columns)
            hits = np.flatnonzero([self.given.wanted >> place & 1 for place in said.tolist()])
            if len(hits):
                row = int(hits[0])
                names = self.given.binned.classifier.table.names
                places = [self.given.binned.telling[axis] for axis in axes]
                new = {names[place]: python_value(columns[place][row]) for place in places}
                self.best = float(costs[costs_left][row]), new, int(said[row])
                return True
        return True

    def _keep(self, axes: Sequence[int], cell: Levels) -> None:
        """Keep a change that the trees show, where trying came to its limit before it."""
        columns = self._rows(axes, cell[None, :])
        (place,) = self.given._decide(columns).tolist()
        if self.given.wanted >> place & 1:
            names, telling = self.given.binned.classifier.table.names, self.given.binned.telling
            changed = [telling[axis] for axis in axes if cell[axis] != self.cell[axis]]
            new = {names[at]: python_value(columns[at][0]) for at in changed}
            costs = (self._costs(axis, [int(cell[axis])])[0] for axis in axes)
            self.best = float(sum(costs)), new, place

    def _changes(self, axes: Sequence[int]) -> Iterator[tuple[NDArray[np.float64], Levels] | None]:
        """Yield costs and the levels of changes in blocks, the least first; None past the limit."""
        levels = [[one for one in self.options[a] if one != self.cell[a]] for a in axes]
        costs = [self._costs(axis, own) for axis, own in zip(axes, levels, strict=True)]
        count = prod(map(len, levels))
        if count > 20 * self.limit:  # only the nearest levels of each
            keep = max(1, int((20 * self.limit) ** (1 / len(axes))))
            for at, own in enumerate(costs):
                nearest = np.argsort(own, kind="stable")[:keep]
                levels[at], costs[at] = [levels[at][i] for i in nearest], own[nearest]
        shape = tuple(map(len, levels))
        places = cells_at(np.arange(prod(shape)), shape)
        total = np.zeros(len(places))
        for at, own in enumerate(costs):
            total += own[places[:, at]]
        order = np.argsort(total, kind="stable")
        cells = np.tile(self.cell, (len(order), 1))
        for at, axis in enumerate(axes):
            cells[:, axis] = np.array(levels[at])[places[order, at]]
        allowed = self.given.forbidden.allows(cells)
        cells, total = cells[allowed], total[order][allowed]
        for start in range(0, min(len(cells), self.limit), BLOCK):
            some = slice(start, min(start + BLOCK, self.limit))
            yield total[some], cells[some]
        if len(cells) > self.limit or prod(shape) < count:
            yield None

    def _costs(self, axis: int, levels: Sequence[int]) -> NDArray[np.float64]:
        """Return how far each of some levels is from the row's value, in scales."""
        feature, own = self.given.binned.features[axis], int(self.cell[axis])
        if own == feature.known or not feature.is_ranged:
            return np.ones(len(levels))
        if feature.cuts is None:
            return np.asarray(np.abs(np.array(levels) - own) / self.given.scales[axis])
        value = float(self.values[self.given.binned.telling[axis]][0])
        ends = np.array([_end(feature, own, level) for level in levels])
        if self.at_points:
            ends = feature.column(np.array(levels)).astype(np.float64)
        return np.asarray(np.abs(ends - value) / self.given.scales[axis])

    def _rows(self, axes: Sequence[int], cells: Levels) -> list[Column]:
        """Return the row with changed columns, once for each cell."""
        columns = [np.repeat(column, len(cells)) for column in self.values]
        for axis in axes:
            place = self.given.binned.telling[axis]
            feature, own = self.given.binned.features[axis], int(self.cell[axis])
            levels = cells[:, axis]
            if feature.cuts is None or own == feature.known or self.at_points:
                columns[place] = feature.column(levels)
                continue
            scale = self.given.scales[axis]
            new = {level: _number(feature, own, level, scale) for level in set(levels.tolist())}
            kind = np.int64 if feature.kind == "whole" else np.float64
            columns[place] = np.array([new[level] for level in levels.tolist()], dtype=kind)
        return columns


def _end(feature: Feature, own: int, level: int) -> float:
    """Return the number of a bin that is nearest to another bin."""
    assert feature.cuts is not None
    if level > own:
        return feature.cuts.values[level - 1]
    below = float(np.nextafter(feature.cuts.values[level], -np.inf))
    return float(np.floor(below)) if feature.kind == "whole" else below


def _number(feature: Feature, own: int, level: int, scale: float) -> float:
    """Return a number of a bin that is nearly the nearest to another bin, in few digits."""
    assert feature.cuts is not None
    cuts, end = feature.cuts.values, _end(feature, own, level)
    if feature.kind == "whole":
        return end
    if level > own:
        last = float(np.nextafter(cuts[level], -np.inf)) if level < len(cuts) else np.inf
        return shortest_between(float(np.nextafter(end, -np.inf)), min(last, end + NEAR * scale))
    first = float(np.nextafter(cuts[level - 1], -np.inf)) if level else -np.inf
    return shortest_between(max(first, end - NEAR * scale), end)
