"""Features: a column of a classifier as levels, one point for each, and what can be said of it.

A level is a bin of numbers, a category, or that the value is missing. A condition is a range of
levels: an interval of bins is one; of categories it has one value; "missing" stands alone.

The point that stands for a level is the middle one (the lower median) of the rows of X in it; where
there is none, the middle of the bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Axis, Range
from hornlens.logic.cuts import Cuts
from hornlens.logic.numbers import LARGEST_EXACT, exact_number
from hornlens.logic.ranges import say_range
from hornlens.targets.classifiers.columns import Column, Kind, is_missing

WIDEST = -(1 << 63), (1 << 64) - 1
"""The least and the largest whole number of any column."""


@dataclass(frozen=True)
class Feature:
    """A column in levels. `cuts` for numbers, `values` for the others; `missing`: the last level.

    `points` has the value that stands for each level; `spans` for numbers the least and largest
    value that are drawn from each bin.
    """

    name: str
    kind: Kind
    points: tuple[Any, ...]
    cuts: Cuts | None = None
    values: tuple[Any, ...] = ()
    missing: bool = False
    spans: tuple[tuple[float, float], ...] = ()
    limits: tuple[int, int] = WIDEST
    """The least and the largest number that a column of whole numbers can have."""

    @cached_property
    def axis(self) -> Axis:
        """The levels, and which ranges of them are one condition."""
        return Axis(self.size, self.known, self.is_ranged)

    @cached_property
    def size(self) -> int:
        """How many levels there are."""
        return len(self.points)

    @cached_property
    def known(self) -> int:
        """How many levels there are beside "missing"."""
        return self.size - self.missing

    @cached_property
    def whole(self) -> Range:
        """The range that says nothing."""
        return self.axis.whole

    @cached_property
    def is_ranged(self) -> bool:
        """Whether several levels make one condition."""
        return self.kind in ("number", "whole", "ordered")

    def say(self, said: Range) -> str:
        """Return a range as a condition."""
        values = tuple(map(str, self.values))
        return say_range(self.name, self.kind, self.cuts, values, self.missing, *said)

    def places(self, column: Column) -> NDArray[np.intp]:
        """Return the level of each value; one that has no level is an InputError."""
        absent = is_missing(column)
        if absent.any() and not self.missing:
            raise InputError(f"column {self.name!r} has missing values, and had none before")
        if self.cuts is not None:
            try:
                numbers = column
                if column.dtype.kind not in "iu":
                    numbers = np.where(absent, 0.0, column).astype(np.float64)
                found = self.cuts.places(numbers)
            except (TypeError, ValueError) as error:
                text = f"column {self.name!r} has values that are no numbers: {error}"
                raise InputError(text) from None
        else:
            level = {value: place for place, value in enumerate(self.values)}
            found = np.zeros(len(column), dtype=np.intp)
            for row in np.flatnonzero(~absent).tolist():
                place = level.get(column[row])
                if place is None:
                    raise InputError(f"column {self.name!r} has an unknown value {column[row]!r}")
                found[row] = place
        found[absent] = self.known
        return found

    def knows(self, column: Column) -> NDArray[np.bool_]:
        """Return whether each value has a level: it may be missing, or no value that is known."""
        absent = is_missing(column)
        known = ~absent
        if self.kind == "whole" and column.dtype.kind not in "iu":
            numbers = np.where(absent, 0.0, column).astype(np.float64)
            known &= numbers == np.floor(numbers)
        elif self.cuts is None:
            level = set(self.values)
            known &= np.fromiter((value in level for value in column), np.bool_, len(column))
        return np.where(absent, self.missing, known)

    def column(self, places: NDArray[np.integer[Any]]) -> Column:
        """Return the points of levels, as a column."""
        return np.asarray(self._points[places])

    @cached_property
    def is_large(self) -> bool:
        """Whether it has whole numbers that no float holds: then these are never made floats."""
        return any(isinstance(point, int) for point in self.points) and self.cuts is not None

    @cached_property
    def _points(self) -> Column:
        if self.is_large:
            largest = max(map(int, self.points))
            return np.array(list(map(int, self.points)), np.uint64 if largest >> 63 else np.int64)
        if self.cuts is not None:
            return np.array(self.points, dtype=np.float64)
        if self.kind == "boolean" and not self.missing:
            return np.array(self.points, dtype=np.bool_)
        made = np.empty(self.size, dtype=object)
        made[:] = self.points
        return made

    def draw(self, places: NDArray[np.integer[Any]], rng: np.random.Generator) -> Column:
        """Return a random value of each level: uniform in its bin."""
        if self.cuts is None:
            return self.column(places)
        if self.is_large:
            kind, (lows, highs) = self._points.dtype.type, zip(*self._whole_spans, strict=True)
            own = (np.array(ends, dtype=kind)[places] for ends in (lows, highs))
            return np.asarray(rng.integers(*own, dtype=kind, endpoint=True))
        spans = np.array([*self.spans, (np.nan, np.nan)])[places]
        drawn = spans[:, 0] + rng.random(len(places)) * (spans[:, 1] - spans[:, 0])
        drawn = np.floor(drawn) if self.kind == "whole" else drawn
        back = self.cuts.places(np.where(np.isnan(drawn), 0, drawn)) == places
        return np.where(back, drawn, self.column(places))  # rounding may leave the bin

    @property
    def _whole_spans(self) -> list[tuple[int, int]]:
        """The least and the largest whole number that are drawn from each bin."""
        cuts = self.cuts.values if self.cuts is not None else ()
        below = [ceil(cut) - 1 for cut in cuts]
        pairs = zip(self.spans, [*below, None], strict=True)
        return [
            (ceil(low), int(high) if last is None else min(int(high), last))
            for (low, high), last in pairs
        ]

    def draw_uniform(self, count: int, rng: np.random.Generator) -> Column:
        """Return random values: numbers uniform between the least and the largest of X."""
        if self.cuts is None:
            return self.column(rng.integers(0, self.size, count))
        low, high = self.spans[0][0], self.spans[-1][1]
        if self.is_large:
            kind = self._points.dtype.type
            return np.asarray(rng.integers(int(low), int(high), count, kind, endpoint=True))
        drawn = low + rng.random(count) * (high - low)
        drawn = np.floor(drawn) if self.kind == "whole" else drawn
        if self.missing:
            drawn[rng.integers(0, self.size, count) == self.known] = np.nan
        return drawn


def number_feature(name: str, kind: Kind, column: Column, cuts: Cuts) -> Feature:
    """Return a column of numbers cut into bins."""
    absent = is_missing(column)
    known = np.sort(column[~absent])
    if known.dtype.kind not in "iu" or not _is_large(known, cuts):
        known = known.astype(np.float64)
    places = cuts.places(known)
    low, high = (exact_number(known[0]), exact_number(known[-1])) if len(known) else (0.0, 0.0)
    step = (high - low) / cuts.bins or 1.0
    points: list[float] = []
    spans: list[tuple[float, float]] = []
    for place in range(cuts.bins):
        first = cuts.values[place - 1] if place else None
        last = cuts.values[place] if place < len(cuts.values) else None
        inside = known[places == place]
        points.append(
            exact_number(inside[(len(inside) - 1) // 2])
            if len(inside)
            else _middle(first, last, step, kind == "whole")
        )
        least = points[-1] if first is None else first
        largest = points[-1] if last is None else last
        if len(inside):
            least = exact_number(inside[0]) if first is None else first
            largest = exact_number(inside[-1]) if last is None else last
        spans.append((least, largest))
    has_missing = bool(absent.any())
    every = (*points, np.nan) if has_missing else tuple(points)
    return Feature(name, kind, every, cuts, (), has_missing, tuple(spans), limits_of(column))


def limits_of(column: Column) -> tuple[int, int]:
    """Return the least and the largest whole number that a column can have, by its type."""
    if column.dtype.kind not in "iu":
        return WIDEST
    return int(np.iinfo(column.dtype).min), int(np.iinfo(column.dtype).max)


def _is_large(known: Column, cuts: Cuts) -> bool:
    """Say whether a column of whole numbers, or its cuts, has some that no float holds."""
    ends = [*map(int, (known[0], known[-1]))] if len(known) else []
    return any(abs(value) > LARGEST_EXACT for value in (*ends, *cuts.values))


def _middle(first: float | None, last: float | None, step: float, whole: bool) -> float:
    """Return a number of a bin in which there is no row."""
    if whole and any(abs(end) > LARGEST_EXACT for end in (first or 0, last or 0)):
        return _middle_of_whole(first, last)
    if first is None and last is None:
        return 0.0
    if first is None:
        assert last is not None
        found = float(np.ceil(last) - 1) if whole else last - step
        return found if found < last else float(np.nextafter(last, -np.inf))
    if last is None:
        return float(np.ceil(first)) if whole else first + step / 2
    middle = first / 2 + last / 2
    if whole:
        middle = float(np.floor(middle))
        middle = middle if middle >= first else float(np.ceil(first))
    return middle if first <= middle < last else first


def _middle_of_whole(first: float | None, last: float | None) -> float:
    """Return a whole number of a bin whose ends no float holds."""
    if first is None:
        assert last is not None
        return exact_number(ceil(last) - 1)
    if last is None:
        return exact_number(ceil(first))
    return exact_number((ceil(first) + ceil(last) - 1) // 2)


def value_feature(
    name: str, kind: Kind, column: Column, known: tuple[Any, ...], more: tuple[Any, ...] = ()
) -> Feature:
    """Return a column of categories: those known beforehand, or those in it and more, in order."""
    absent = is_missing(column)
    if not known:
        unique = {_plain(value) for value in (*column[~absent], *more)}
        try:
            known = tuple(sorted(unique))
        except TypeError:
            known = tuple(sorted(unique, key=lambda value: (type(value).__name__, str(value))))
    has_missing = bool(absent.any())
    points = (*known, column[absent][0]) if has_missing else known
    if not points:
        raise InputError(f"column {name!r} has no values")
    return Feature(name, kind, points, None, known, has_missing)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
