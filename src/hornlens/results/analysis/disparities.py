"""How far the rates of values are apart, and how sure that is: differences, ratios, intersections.

Where every cell was asked and answers do not vary, rates are *exact*: they are counted, and there
is nothing to estimate. Where answers vary, each is a draw, and where not all cells were asked they
are taken for a sample of them: then rates have intervals. Values are compared by matched cells,
which differ in nothing else, where there are such; else as two samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.formats.csvfiles import csv_text
from hornlens.logic.decisions import YES
from hornlens.logic.shares import share_interval
from hornlens.results.analysis.flips import Along, labels_of
from hornlens.results.analysis.intervals import (
    Interval,
    Pairs,
    difference_interval,
    paired_difference_interval,
    paired_ratio_interval,
    ratio_interval,
    shared_level,
)

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

Basis = Literal["counted", "varying", "several", "sample"]
LEVEL = 0.95
FOUR_FIFTHS = 0.8
MOST_VALUES = 25
"""Of more values than this, only those farthest apart are compared."""
MOST_MATCHED = 10_000_000
"""Matched cells are looked for in up to so many combinations of values and contexts."""


@dataclass(frozen=True)
class GroupRate:
    """How often a value, or a combination of values, gets a label; `interval` if it is no count."""

    value: str
    label: str
    count: int
    answered: int
    interval: Interval | None

    @property
    def share(self) -> float | None:
        """The share of the answers; None without any."""
        return self.count / self.answered if self.answered else None


@dataclass(frozen=True)
class RateDifference:
    """Two values and their shares of a label, the higher first.

    `high` and `low` are shares of the matched cells where values are compared by pairs. The
    intervals of an attribute hold all together.
    """

    label: str
    highest: str
    lowest: str
    high: float
    low: float
    cases: tuple[int, int]
    """How many answers each share is of."""
    paired: bool
    interval: Interval | None
    ratio_interval: Interval | None

    @property
    def difference(self) -> float:
        """The higher share minus the lower."""
        return self.high - self.low

    @property
    def ratio(self) -> float | None:
        """The lower share by the higher; None if neither value ever gets the label."""
        return self.low / self.high if self.high else None

    @property
    def four_fifths(self) -> Literal["kept", "broken", "unsure"]:
        """Whether the lower share is at least four fifths of the higher, as far as is known."""
        if self.ratio is None:
            return "kept"
        if self.ratio_interval is None:
            return "kept" if self.ratio >= FOUR_FIFTHS else "broken"
        if self.ratio_interval.high < FOUR_FIFTHS:
            return "broken"
        return "kept" if self.ratio_interval.low >= FOUR_FIFTHS else "unsure"


@dataclass(frozen=True)
class Disparities:
    """The rates of an attribute, or of all combinations of several, and how far they are apart."""

    attributes: tuple[str, ...]
    basis: Basis
    level: float
    rates: tuple[GroupRate, ...]
    differences: tuple[RateDifference, ...]

    def widest(self, label: str) -> RateDifference | None:
        """Return the values that are farthest apart in a label."""
        own = [each for each in self.differences if each.label == label]
        return max(own, key=lambda each: each.difference, default=None)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that have rates."""
        return tuple(dict.fromkeys(rate.label for rate in self.rates))

    @property
    def is_estimated(self) -> bool:
        """Whether rates have intervals, and are not just counted."""
        return self.basis != "counted"

    @property
    def name(self) -> str:
        """What people call it: race, or race and gender."""
        return " and ".join(self.attributes)


def rate_basis(result: Findings) -> Basis:
    """Return what rates rest on: all answers, answers that vary, several models, or some cells."""
    if result.envelope.certificate.noise is not None or any(map(_varies, result.each)):
        return "varying"
    if not result.envelope.certificate.single:
        return "several"
    return "counted" if result.asked_all else "sample"


def _varies(world: Findings) -> bool:
    """Return whether a prompt asked again may be answered otherwise, as far as that is known."""
    if any(decision.repeats for decision in world.decisions.values()):
        return True
    manners = {reply.how for details in world.details.values() for reply in details.replies}
    return bool(manners - {"", "temperature 0"})


def disparities_of(
    result: Findings, axes: Sequence[int], level: float = LEVEL, as_sample: bool = False
) -> Disparities:
    """Compare the rates of the values of some attributes; of several, of their combinations.

    With `as_sample`, answers that are exact are taken for a sample of more such questions.
    """
    if not 0 < level < 1:
        raise HornlensError(f"level must lie between 0 and 1, not {level!r}")
    space, basis = result.space, rate_basis(result)
    if as_sample and basis == "counted":
        basis = "sample"
    along = [Along(space, axes, each.decisions, i) for i, each in enumerate(result.each)]
    names, counts, answers = _counted(along, len(labels_of(space)))
    labels = [
        (place, label)
        for place, label in enumerate(labels_of(space))
        if space.label is not None or place == YES
    ]
    rates = tuple(
        _rate(name, label, line, place, basis, level)
        for name, line in zip(names, counts, strict=True)
        for place, label in labels
    )
    comparing = _Comparing(names, counts, answers, basis, level, len(labels))
    differences = tuple(
        each for place, label in labels for each in comparing.differences(place, label)
    )
    attributes = tuple(space.attributes[axis].name for axis in along[0].axes)
    return Disparities(attributes, basis, level, rates, differences)


def _counted(
    along: Sequence[Along], labels: int
) -> tuple[list[str], NDArray[np.intp], NDArray[np.intp] | None]:
    """Return the values that were asked about, their answers by label, and all answers.

    The answers have a line for each context: a label's place, -1 for none, and -2 where nothing was
    asked; None where these are too many to be laid out.
    """
    places = np.concatenate([each.places for each in along])
    offsets = np.cumsum([0, *(each.context_count for each in along)])
    contexts = np.concatenate(
        [each.contexts + start for each, start in zip(along, offsets, strict=False)]
    )
    winners = np.concatenate([each.winners for each in along])
    values = along[0].values
    lengths = [len(each) for each in values]
    columns = np.zeros(len(places), np.intp)
    for axis, length in enumerate(lengths):
        columns = columns * length + places[:, axis]
    seen = sorted(set(columns.tolist()))
    columns = np.searchsorted(seen, columns)
    answered = winners >= 0
    flat = np.bincount(columns[answered] * labels + winners[answered], minlength=len(seen) * labels)
    answers = None
    if int(offsets[-1]) * len(seen) <= MOST_MATCHED:
        answers = np.full((int(offsets[-1]), len(seen)), -2, np.intp)
        answers[contexts, columns] = winners
    return [_named(column, values) for column in seen], flat.reshape(-1, labels), answers


def _named(column: int, values: Sequence[Sequence[tuple[str, int]]]) -> str:
    """Return the values of a combination, by its number."""
    parts = []
    for own in reversed(values):
        column, place = divmod(column, len(own))
        parts.append(own[place][0])
    return ", ".join(reversed(parts))


def _rate(
    value: str, label: str, counts: NDArray[np.intp], place: int, basis: Basis, level: float
) -> GroupRate:
    count, answered = int(counts[place]), int(counts.sum())
    interval = None if basis == "counted" else Interval(*share_interval(count, answered, level))
    return GroupRate(value, label, count, answered, interval)


class _Comparing:
    """Compares values, all pairs of them with intervals that hold together."""

    def __init__(
        self,
        names: Sequence[str],
        counts: NDArray[np.intp],
        answers: NDArray[np.intp] | None,
        basis: Basis,
        level: float,
        labels: int,
    ):
        self.names, self.counts, self.answers, self.basis = names, counts, answers, basis
        self.answered = counts.sum(axis=1)
        pairs = len(names) * (len(names) - 1) // 2
        # Of two labels, the difference of one is that of the other; ratios are not.
        self.level = shared_level(level, pairs * (labels if labels > 2 else 1))
        self.ratio_level = shared_level(level, pairs * labels)

    def differences(self, place: int, label: str) -> Iterator[RateDifference]:
        """Yield the differences of one label."""
        columns = np.flatnonzero(self.answered).tolist()
        if len(columns) > MOST_VALUES:
            shares = [self.counts[c, place] / self.answered[c] for c in columns]
            ends = columns[int(np.argmax(shares))], columns[int(np.argmin(shares))]
            columns = sorted(set(ends))
        for one, other in combinations(columns, 2):
            yield self._difference(one, other, place, label)

    def _difference(self, one: int, other: int, place: int, label: str) -> RateDifference:
        pairs = self._pairs(one, other, place)
        paired = bool(2 * pairs.total >= self.answered[[one, other]].max())
        if paired:
            own = (pairs.both + pairs.first, pairs.total), (pairs.both + pairs.second, pairs.total)
        else:
            own = self._count(one, place), self._count(other, place)
        if own[0][0] * own[1][1] < own[1][0] * own[0][1]:
            one, other, own = other, one, own[::-1]
            pairs = Pairs(pairs.both, pairs.second, pairs.first, pairs.neither)
        interval = ratio = None
        if self.basis != "counted" and paired:
            turned = Pairs(pairs.both, pairs.second, pairs.first, pairs.neither)
            interval = paired_difference_interval(pairs, self.level)
            ratio = paired_ratio_interval(turned, self.ratio_level)
        elif self.basis != "counted":
            interval = difference_interval(own[0], own[1], self.level)
            ratio = ratio_interval(own[1], own[0], self.ratio_level)
        return RateDifference(
            label,
            self.names[one],
            self.names[other],
            own[0][0] / own[0][1],
            own[1][0] / own[1][1],
            (own[0][1], own[1][1]),
            paired,
            interval,
            ratio,
        )

    def _count(self, column: int, place: int) -> tuple[int, int]:
        return int(self.counts[column, place]), int(self.answered[column])

    def _pairs(self, one: int, other: int, place: int) -> Pairs:
        """Count the matched cells with an answer to both."""
        if self.answers is None:
            return Pairs(0, 0, 0, 0)
        first, second = self.answers[:, one], self.answers[:, other]
        matched = (first >= 0) & (second >= 0)
        a, b = first[matched] == place, second[matched] == place
        return Pairs(*(int(x.sum()) for x in (a & b, a & ~b, b & ~a, ~a & ~b)))


COLUMNS = (
    *("attributes", "what", "value", "other", "label", "count", "answered", "share"),
    *("low", "high", "difference", "ratio", "ratio_low", "ratio_high", "paired", "basis"),
)


def disparities_as_json(all_of: Sequence[Disparities]) -> dict[str, Any]:
    """Return the section `disparities` of envelope.json.

    Of exact rates, which are in `rates`, it has the intersections only.
    """
    kept = [each for each in all_of if each.is_estimated or len(each.attributes) > 1]
    return {
        "basis": all_of[0].basis if all_of else "counted",
        "level": all_of[0].level if all_of else LEVEL,
        "attributes": [
            {
                "attributes": list(each.attributes),
                "rates": [
                    {
                        "value": rate.value,
                        "label": rate.label,
                        "count": rate.count,
                        "answered": rate.answered,
                        "share": rate.share,
                        "interval": _ends(rate.interval),
                    }
                    for rate in each.rates
                ],
                "widest": [
                    _widest(widest)
                    for label in each.labels
                    if (widest := each.widest(label)) is not None
                ],
            }
            for each in kept
        ],
    }


def _widest(each: RateDifference) -> dict[str, Any]:
    return {
        **{name: getattr(each, name) for name in ("label", "highest", "lowest", "high", "low")},
        "cases": list(each.cases),
        "paired": each.paired,
        "difference": each.difference,
        "interval": _ends(each.interval),
        "ratio": each.ratio,
        "ratio_interval": _ends(each.ratio_interval),
    }


def _ends(interval: Interval | None) -> list[float | None] | None:
    """Return an interval as JSON has it: what is infinite is null."""
    return None if interval is None else [end if isfinite(end) else None for end in interval]


def disparities_csv(all_of: Sequence[Disparities]) -> str:
    """Return disparities.csv: every rate with its interval, and every difference with its own."""
    return csv_text(COLUMNS, (line for each in all_of for line in _lines(each)))


def _lines(disparities: Disparities) -> Iterator[list[Any]]:
    name, basis = disparities.name, disparities.basis
    for rate in disparities.rates:
        line = [name, "rate", rate.value, "", rate.label, rate.count, rate.answered, rate.share]
        yield [*line, *(rate.interval or ("", "")), *[""] * 5, basis]
    for each in disparities.differences:
        line = [name, "difference", each.highest, each.lowest, each.label, "", each.cases[0], ""]
        ends = [*(each.interval or ("", "")), each.difference, each.ratio]
        paired = "yes" if each.paired else "no"
        yield [*line, *ends, *(each.ratio_interval or ("", "")), paired, basis]
