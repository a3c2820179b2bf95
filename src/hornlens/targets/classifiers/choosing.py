"""Choosing bins for a model that nobody can look into: cuts where its answer changes.

Inputs are taken in pairs that differ in one column. Where the two get different classes, the change
between them is found by bisection. The cuts of a column are those changes that are nearest to all
others. What comes of it is compared with quantiles, on rows and on uniform inputs: whichever agrees
more often with the model is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels, distinct_cells
from hornlens.logic.cuts import Cuts, shortest_between
from hornlens.targets.classifiers.answering import Classifier
from hornlens.targets.classifiers.columns import Column, is_missing
from hornlens.targets.classifiers.features import Feature, number_feature
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.points import Binned

PAIRS = 1_500
"""About so many pairs of inputs are compared, for all columns together."""
FEWEST, MOST = 8, 150
"""So many pairs at least, and at most, are compared for a column; with more columns, none."""
BISECTED = 250
"""So many pairs with different classes are bisected, for all columns together."""
STEPS = 8
"""How often a pair is bisected."""
COMPARED = 300
"""By so many rows, and by so many uniform inputs, two ways of cutting are compared."""
MARGIN = 0.01
"""By so much the shares of both together must be larger, so that chance does not choose."""
SHARE = 4
"""Where calls are limited, bins take one of so many at most."""


def most_calls(columns: int) -> int:
    """Return how many rows the model is given at most, to choose the cuts of so many columns."""
    pairs = min(PAIRS // columns, MOST)
    return pairs * (columns + 1) + BISECTED * STEPS + 3 * 2 * COMPARED


@dataclass(frozen=True, eq=False)
class Chooser:
    """A model over quantile bins, to be cut where it changes."""

    binned: Binned
    count: int
    """How many bins a column gets at most."""
    meter: Meter | None
    rng: np.random.Generator

    @classmethod
    def of(
        cls,
        classifier: Classifier,
        features: Sequence[Feature],
        count: int,
        meter: Meter | None,
        seed: int,
    ) -> Chooser:
        """Return the chooser for columns that were cut by quantiles."""
        rng = np.random.default_rng(seed)
        return cls(Binned(classifier, tuple(features)), count, meter, rng)

    @property
    def classifier(self) -> Classifier:
        """The model."""
        return self.binned.classifier

    def features(self, places: Sequence[int]) -> tuple[Feature, ...]:
        """Return the features with other cuts in some columns, or as they were if that is better.

        They stay as they were, too, where limits leave no room, or there are hundreds of columns.
        """
        too_many = len(places) * FEWEST > PAIRS
        if not places or too_many or self.count < 2 or not self._has_room(len(places)):
            return self.binned.every
        changes = self._changes(places)
        if changes is None:
            return self.binned.every
        return self._better(self._cut_at(changes))

    def _has_room(self, columns: int) -> bool:
        limits = None if self.meter is None else self.meter.limits
        room = None if limits is None else limits.calls_room()
        return room is None or room >= SHARE * most_calls(columns)

    def _ask(self, columns: Sequence[Column]) -> Levels | None:
        """Return the classes of inputs; None if a limit came before."""
        decide = self.classifier.decide
        if self.meter is None:
            return decide(columns)
        answers = self.meter.measured(decide, columns, grace=False)
        return answers if len(answers) == len(columns[0]) else None

    # --- where it changes ---

    def _inputs(self, count: int) -> list[Column]:
        """Return rows of X and uniform inputs, half of each, as columns."""
        table, half = self.classifier.table, count // 2
        rows = self.rng.integers(0, len(table), count - half)
        drawn = (feature.draw_uniform(half, self.rng) for feature in self.binned.every)
        pairs = zip(table.columns, drawn, strict=True)
        return [np.concatenate([own[rows], more]) for own, more in pairs]

    def _changes(self, places: Sequence[int]) -> dict[int, list[tuple[float, float]]] | None:
        """Return for each column between which numbers the class of some input changes."""
        count = min(PAIRS // len(places), MOST)
        bases, others = self._inputs(count), self._inputs(count)
        order = self.rng.permutation(count)  # rows meet uniform inputs, and the other way round
        own = np.tile(np.arange(count), len(places))
        columns = [column[own] for column in bases]
        for number, place in enumerate(places):
            part = slice(number * count, (number + 1) * count)
            columns[place] = columns[place].copy()
            columns[place][part] = others[place][order]
        answers, changed = self._ask(bases), self._ask(columns)
        if answers is None or changed is None:
            return None
        of = np.repeat(np.array(places), count)
        low = np.concatenate([bases[place] for place in places]).astype(np.float64)
        high = np.concatenate([others[place][order] for place in places]).astype(np.float64)
        differ = (changed != answers[own]) & np.isfinite(low) & np.isfinite(high)
        pairs = np.flatnonzero(differ)
        if len(pairs) > BISECTED:
            pairs = np.sort(self.rng.choice(pairs, BISECTED, replace=False))
        near, far = self._bisected(
            [column[own[pairs]] for column in bases],
            *(of[pairs], low[pairs], high[pairs], answers[own[pairs]]),
        )
        if near is None:
            return None
        ends = np.sort(np.stack([near, far]), axis=0)
        return {
            place: [(a, b) for a, b in ends[:, of[pairs] == place].T.tolist() if a < b]
            for place in places
        }

    def _bisected(
        self,
        bases: list[Column],
        of: NDArray[np.intp],
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        answers: Levels,
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
        """Bring two numbers of a column together that an input gets different classes with."""
        whole = np.array([feature.kind == "whole" for feature in self.binned.every])[of]
        for _ in range(STEPS if len(of) else 0):
            middle = near / 2 + far / 2
            middle = np.where(whole, np.floor(middle), middle)
            columns = []
            for place, column in enumerate(bases):
                own = of == place
                if own.any():
                    column = column.copy()
                    column[own] = middle[own]
                columns.append(column)
            classes = self._ask(columns)
            if classes is None:
                return None, far
            same = classes == answers
            near, far = np.where(same, middle, near), np.where(same, far, middle)
        return near, far

    # --- which changes become cuts ---

    def _cut_at(self, changes: Mapping[int, list[tuple[float, float]]]) -> tuple[Feature, ...]:
        """Return the features, cut at some of the changes."""
        every = list(self.binned.every)
        for place, own in changes.items():
            cuts = self._cuts(place, own)
            column = self.classifier.table.columns[place]
            every[place] = number_feature(every[place].name, every[place].kind, column, cuts)
        return tuple(every)

    def _cuts(self, place: int, changes: list[tuple[float, float]]) -> Cuts:
        """Return the cuts of a column: the changes that are nearest to all of them.

        Two are near if few rows lie between them, and few of the numbers that can be drawn.
        """
        if not changes:
            return Cuts.at([])
        ends = sorted(changes, key=sum)
        column = self.classifier.table.columns[place]
        known = np.sort(column[~is_missing(column)].astype(np.float64))
        middles = np.array([low / 2 + high / 2 for low, high in ends])
        spread = known[-1] - known[0] or 1.0
        shares = np.searchsorted(known, middles) / len(known) + (middles - known[0]) / spread
        kept = [ends[at] for at in medians(shares, self.count - 1)]
        whole = self.binned.every[place].kind == "whole"
        return Cuts.at(_between(low, high, whole) for low, high in kept)

    def _better(self, chosen: tuple[Feature, ...]) -> tuple[Feature, ...]:
        """Return these features, or those by quantiles if they agree about as often."""
        table = self.classifier.table
        rows = self.rng.permutation(len(table))[:COMPARED]
        drawn = [feature.draw_uniform(COMPARED, self.rng) for feature in self.binned.every]
        columns = [np.concatenate([a[rows], b]) for a, b in zip(table.columns, drawn, strict=True)]
        answers = self._ask(columns)
        shares = []
        for features in (chosen, self.binned.every):
            binned = replace(self.binned, every=features)
            cells = binned.places(replace(table, columns=tuple(columns)))
            distinct, where, _ = distinct_cells(cells, binned.shape)
            points = None if answers is None else self._ask(binned.columns(distinct))
            if points is None:  # a limit came before
                return self.binned.every
            same = points[where] == answers
            shares.append(same[: len(rows)].mean() + same[len(rows) :].mean())
        return chosen if shares[0] > shares[1] + MARGIN else self.binned.every


def _between(low: float, high: float, whole: bool) -> float:
    """Return a number in few digits above the lower one: from it on, the class is the other one."""
    return shortest_between(floor(low), floor(high)) if whole else shortest_between(low, high)


def medians(numbers: NDArray[np.float64], count: int) -> list[int]:
    """Return the places of so many numbers that are nearest to all: each counts to its nearest.

    The numbers go up. Equal ones are one place.

    >>> medians(np.array([0.0, 1.0, 1.0, 1.1, 5.0, 5.2]), 2)
    [1, 4]
    """
    size = len(numbers)
    sums = np.concatenate([[0.0], np.cumsum(numbers)])
    first, last = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    middle = (first + last) // 2
    below = numbers[middle] * (middle - first + 1) - (sums[middle + 1] - sums[first])
    above = sums[last + 1] - sums[middle + 1] - numbers[middle] * (last - middle)
    cost = np.where(first <= last, below + above, np.inf)
    best, cuts = cost[0], []
    for _ in range(min(count, size) - 1):
        with_one_more = np.concatenate([[np.inf], best[:-1]])[:, None] + cost
        cuts.append(with_one_more.argmin(axis=0))
        best = with_one_more.min(axis=0)
    ends, end = [], size - 1
    for starts in reversed(cuts):
        start = int(starts[end])
        ends.append((start + end) // 2)
        end = start - 1
        if end < 0:
            break
    else:
        ends.append(end // 2)
    places: dict[float, int] = {}
    for place in sorted(ends):
        places.setdefault(float(numbers[place]), place)
    return list(places.values())
