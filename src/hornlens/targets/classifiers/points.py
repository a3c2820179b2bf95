"""Points: what a classifier says of a cell is what it says of the point that stands for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Axis, shape_of
from hornlens.exact.boxes.cells import OPEN, Labels, Levels, cells_at
from hornlens.limits import Stopped
from hornlens.targets.classifiers.answering import BLOCK, Classifier
from hornlens.targets.classifiers.columns import Column, Table
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.metering import Meter


@dataclass(frozen=True, eq=False)
class Binned:
    """A classifier over levels: what it says of a cell is what it says of the cell's point.

    `every` has a feature for each column; those with one level say nothing, and are no part of a
    cell: `features` are the others.
    """

    classifier: Classifier
    every: tuple[Feature, ...]
    meter: Meter | None = None
    """Counts the cells that are asked, and ends it; only while a run lasts."""

    @cached_property
    def telling(self) -> tuple[int, ...]:
        """The places of the features that have several levels."""
        return tuple(place for place, feature in enumerate(self.every) if feature.size > 1)

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The features that have several levels."""
        return tuple(self.every[place] for place in self.telling)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The levels of these features."""
        return tuple(feature.axis for feature in self.features)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each of these features has."""
        return shape_of(self.axes)

    @property
    def cell_count(self) -> int:
        """How many cells there are."""
        return prod(self.shape)

    def columns(self, cells: Levels) -> list[Column]:
        """Return the points of cells, as columns of the classifier."""
        made = [feature.column(np.zeros(len(cells), dtype=np.intp)) for feature in self.every]
        for axis, place in enumerate(self.telling):
            made[place] = self.every[place].column(cells[:, axis])
        return made

    def ask(self, cells: Levels) -> Levels:
        """Return the class of each cell; if a limit does not allow that, raise Stopped."""
        said = self.ask_first(cells)
        if len(said) < len(cells):
            assert self.meter is not None
            raise Stopped(self.meter.ended or "interrupt")
        return said

    def ask_first(self, cells: Levels) -> Levels:
        """Return the class of each cell: of all, or of as many as the limits allow."""
        columns = self.columns(cells)
        if self.meter is None or not len(cells):
            return self.classifier.decide(columns)
        return self.meter.answers(self.classifier.decide, columns)

    def check(self, rules: int = 0) -> None:
        """Raise Stopped if a limit of the run is reached; so many rules were found."""
        if self.meter is not None:
            self.meter.check(rules)

    def places(self, table: Table) -> Levels:
        """Return the cell that each row lies in."""
        columns = [self.every[p].places(table.columns[p]) for p in range(len(self.every))]
        if not self.telling:
            return np.zeros((len(table), 0), dtype=np.intp)
        return np.column_stack([columns[place] for place in self.telling])

    def knows(self, table: Table) -> NDArray[np.bool_]:
        """Return whether each row lies in a cell: whether all of its values have a level."""
        known = np.ones(len(table), dtype=np.bool_)
        for feature, column in zip(self.every, table.columns, strict=True):
            known &= feature.knows(column)
        return known

    def label_grid(self) -> Labels:
        """Return the class of every cell, as an array with an axis for each feature."""
        labels = np.empty(self.cell_count, dtype=np.int8)
        for start, columns in self._blocks():
            said = self.classifier.decide(columns)
            labels[start : start + len(said)] = said
        return labels.reshape(self.shape)

    def part_of_grid(self, first: Levels, allowed: NDArray[np.bool_] | None = None) -> Labels:
        """Return the class of every cell as far as the limits allow; OPEN where it is not known.

        The cells in `first` are asked first. Those that are not `allowed` come last, and only if
        there is room for all of them.
        """
        labels = np.full(self.cell_count, OPEN, dtype=np.int8)
        places = np.zeros(0, dtype=np.intp)
        if self.shape and len(first):
            places = np.ravel_multi_index(tuple(first.T), self.shape)
        if allowed is not None:
            places = places[allowed[places]]
        said = self.ask_first(cells_at(places, self.shape))
        labels[places[: len(said)]] = said
        if len(said) == len(places) and self._fill(labels, allowed) and allowed is not None:
            room = None if self.meter is None else self.meter.room
            if room is None or room >= np.count_nonzero(labels == OPEN):
                self._fill(labels, None)
        return labels.reshape(self.shape)

    def _fill(self, labels: Labels, allowed: NDArray[np.bool_] | None) -> bool:
        """Ask the cells that are open and allowed; return whether the limits let that be done."""
        for start, columns in self._blocks():
            part = labels[start : start + len(columns[0])]
            wanted = part == OPEN
            if allowed is not None:
                wanted &= allowed[start : start + len(part)]
            places = np.flatnonzero(wanted)
            if not len(places):
                continue
            if len(places) < len(part):
                columns = [column[places] for column in columns]
            if self.meter is None:
                said = self.classifier.decide(columns)
            else:
                said = self.meter.answers(self.classifier.decide, columns)
            part[places[: len(said)]] = said
            if len(said) < len(places):
                return False
        return True

    def _blocks(self) -> Iterator[tuple[int, list[Column]]]:
        """Yield the points of all cells as columns, a block at a time, each with its first cell.

        The later features go round many times in a block: their columns are written once.
        """
        count, period, later = self.cell_count, 1, len(self.features)
        while later and period * self.features[later - 1].size <= BLOCK:
            later -= 1
            period *= self.features[later].size
        length = min(count, BLOCK) + period
        rounds = cells_at(np.arange(length) % period, self.shape[later:])
        fixed = {
            place: feature.column(np.zeros(length, dtype=np.intp))
            for place, feature in enumerate(self.every)
        }
        for axis, place in enumerate(self.telling[later:]):
            fixed[place] = self.every[place].column(rounds[:, axis])
        early = self.shape[:later]
        for start in range(0, count, BLOCK):
            size, skipped = min(BLOCK, count - start), start % period
            columns = [fixed[place][skipped : skipped + size] for place in range(len(self.every))]
            last = (start + size - 1) // period
            slow = cells_at(np.arange(start // period, last + 1), early)
            for axis, place in enumerate(self.telling[:later]):
                column = self.every[place].column(slow[:, axis])
                columns[place] = np.repeat(column, period)[skipped : skipped + size]
            yield start, columns
