"""Rates and flips: how often each value gets each label, and what changing one value changes.

Both are counted from recorded answers; an answer is what a target decided of a cell. What a value
is, and a flip, says `flips`, which counts them for gates as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from hornlens.formats.csvfiles import csv_text
from hornlens.formats.frames import data_frame
from hornlens.logic.batch import obeys
from hornlens.logic.decisions import YES
from hornlens.logic.maskmap import key_of
from hornlens.logic.space import Space
from hornlens.results.analysis.flips import (
    EXAMPLES,
    Along,
    Answers,
    FlippedCells,
    labels_of,
    pairs_in,
)

NO_ANSWER = "no answer"
"""What stands for the label where there is none."""
COUNTED = 1 << 20
"""Up to so many cells, those that obey the background are counted one by one."""


@dataclass(frozen=True)
class ValueRate:
    """The answers to cells with one value: how many of each label, and how many abstentions."""

    value: str
    counts: tuple[int, ...]
    """By label, in the order of `Rates.labels`."""
    abstained: int = 0

    @cached_property
    def answered(self) -> int:
        """How many answers there are, without the abstentions."""
        return sum(self.counts)

    @property
    def asked(self) -> int:
        """How many cells were asked, answered or not."""
        return self.answered + self.abstained

    @cached_property
    def shares(self) -> tuple[float, ...] | None:
        """Each label's share of what was answered; None if nothing was."""
        answered = self.answered
        return tuple(count / answered for count in self.counts) if answered else None


@dataclass(frozen=True)
class Spread:
    """The values with the highest and the lowest share of a label."""

    label: str
    highest: str
    lowest: str
    high: float
    low: float

    @property
    def difference(self) -> float:
        """The highest share minus the lowest."""
        return self.high - self.low

    @property
    def ratio(self) -> float | None:
        """The lowest share over the highest; None if the label is never given."""
        return self.low / self.high if self.high else None


@dataclass(frozen=True)
class AttributeRates:
    """What is counted for one attribute, over the values that were asked about."""

    attribute: str
    values: tuple[ValueRate, ...]
    spreads: tuple[Spread, ...]
    """For each label, where two values or more have answers; without labels, of the accepted."""
    flips: int
    """In how many pairs of cells that differ in this attribute only the labels differ."""
    pairs: int
    """Of how many such pairs both cells were asked."""
    undecided: int
    """How many of those have no answer on one side or both; they are not among `flips`."""
    possible: int | None
    """How many such pairs there are, asked or not; None where they are too many to count."""
    examples: tuple[FlippedCells, ...] = ()
    half_answered: int = 0
    """In how many pairs one side got an answer, and the other none: a difference too."""
    of_asked: tuple[Spread, ...] = ()
    """The spreads of shares of all that was asked, where not all of it was answered."""
    silence: Spread | None = None
    """The values with the most and the fewest cells without an answer, where there are any."""

    @property
    def unanswered(self) -> int:
        """In how many pairs neither side got an answer."""
        return self.undecided - self.half_answered

    @property
    def compared(self) -> int:
        """How many pairs have an answer on both sides."""
        return self.pairs - self.undecided

    @property
    def widest(self) -> Spread | None:
        """The spread with the largest difference; where answers are missing, of all cells asked."""
        return max(
            self.of_asked or self.spreads, key=lambda spread: spread.difference, default=None
        )


@dataclass(frozen=True)
class Rates:
    """Rates and flips of every attribute; with several ways of asking, of each one too.

    >>> from hornlens import extract
    >>> def black_box(prompt, words):
    ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
    >>> rates = extract(black_box, cache=False).rates
    >>> widest = rates["occupation"].widest
    >>> widest.label, widest.highest, widest.difference
    ('female', 'nurse', 1.0)
    """

    labels: tuple[str, ...]
    attributes: tuple[AttributeRates, ...]
    worlds: Mapping[str, Rates]
    """By name, where there are several; `attributes` are then over the answers of all of them."""

    def __getitem__(self, attribute: str) -> AttributeRates:
        """Return what is counted for an attribute, by its name."""
        found = {each.attribute: each for each in self.attributes}
        return found[attribute]

    @property
    def columns(self) -> list[str]:
        """What stands in each of `lines`."""
        columns = ["attribute", "value", "label", "count", "answered", "abstained", "share"]
        return ["variant", *columns] if self.worlds else columns

    def lines(self) -> Iterator[list[Any]]:
        """Yield a line for each value and label; with variants, over all first (variant "")."""
        for variant, one in {"": self, **self.worlds}.items():
            for each in one.attributes:
                for rate in each.values:
                    shares = rate.shares or [None] * len(one.labels)
                    for label, count, share in zip(one.labels, rate.counts, shares, strict=True):
                        line = [each.attribute, rate.value, label, count]
                        line += [rate.answered, rate.abstained, share]
                        yield [variant, *line] if self.worlds else line

    def csv(self) -> str:
        """Return rates.csv."""
        return csv_text(self.columns, self.lines())

    def to_frame(self) -> Any:
        """Return the rates as a pandas DataFrame, a line for each value and label."""
        return data_frame(self.columns, list(self.lines()))

    def __repr__(self) -> str:
        """Say what it is in a line."""
        return f"<Rates: {', '.join(each.attribute for each in self.attributes) or 'nothing'}>"


def rates_of(space: Space, worlds: Sequence[tuple[str, Answers]]) -> Rates:
    """Count rates and flips from the answers of each way of asking, by name."""
    counted = [
        [Along(space, [axis], answers, world) for axis in range(len(space.attributes))]
        for world, (_, answers) in enumerate(worlds)
    ]
    apart = [Rates(labels_of(space), tuple(_together([a]) for a in axes), {}) for axes in counted]
    if len(apart) == 1:
        return apart[0]
    names = [name for name, _ in worlds]
    all_of = tuple(_together(axes) for axes in zip(*counted, strict=True))
    return Rates(labels_of(space), all_of, dict(zip(names, apart, strict=True)))


def flipped_cells(space: Space, worlds: Iterable[Answers], most: int) -> Iterator[FlippedCells]:
    """Yield the flips: up to `most` for each attribute and way of asking."""
    for world, answers in enumerate(worlds):
        for axis in range(len(space.attributes)):
            yield from islice(Along(space, [axis], answers, world).flips(), most)


def _possible(along: Along) -> int | None:
    """Return how many pairs there are in the space, asked or not."""
    space, (axis,), k = along.space, along.axes, len(along.values[0])
    if not space.assumed:
        shape = space.shape[: len(space.attributes)]
        if space.complete:
            shape = tuple(map(len, space.leaves))
        return prod(shape[:axis]) * prod(shape[axis + 1 :]) * k * (k - 1) // 2
    if space.cell_count > COUNTED:
        return None
    if space.complete:
        group = space.groups[axis]
        sizes = Counter(key_of(cell & ~group) for cell in space.cells())
        return pairs_in(np.array(list(sizes.values())))
    inside = obeys(space.masks(), space.background).reshape(space.shape)
    if space.label is not None:
        inside = inside[..., 0]  # a cell has no label
    choices = space.attributes[axis].choices
    wanted = [choices.index(choice) for _, choice in along.values[0]]
    return pairs_in(np.moveaxis(inside, axis, 0)[wanted].sum(axis=0))


def _together(axes: Sequence[Along]) -> AttributeRates:
    """Return what is counted along one attribute, over some ways of asking."""
    first = axes[0]
    counts = sum((axis.by_value for axis in axes[1:]), start=first.by_value).tolist()
    values = tuple(
        ValueRate(name, tuple(line[1:]), line[0])
        for (name, _), line in zip(first.values[0], counts, strict=True)
        if any(line)
    )
    pairs, possible = [axis.pairs for axis in axes], _possible(first)
    examples = (flip for axis in axes for flip in islice(axis.flips(), EXAMPLES))
    return AttributeRates(
        first.space.attributes[first.axes[0]].name,
        values,
        tuple(_spreads(first.space, values)),
        sum(each.flips for each in pairs),
        sum(each.asked for each in pairs),
        sum(each.undecided for each in pairs),
        None if possible is None else possible * len(axes),
        tuple(islice(examples, EXAMPLES)),
        sum(each.half_answered for each in pairs),
        *_with_silence(first.space, values),
    )


def _with_silence(
    space: Space, values: Sequence[ValueRate]
) -> tuple[tuple[Spread, ...], Spread | None]:
    """Return the spreads of shares of all that was asked, and of what got no answer."""
    if len(values) < 2 or not any(rate.abstained for rate in values):
        return (), None
    shared = [(rate.value, tuple(n / rate.asked for n in rate.counts)) for rate in values]
    silent = [(rate.value, rate.abstained / rate.asked) for rate in values]
    most, least = max(silent, key=itemgetter(1)), min(silent, key=itemgetter(1))
    silence = Spread(NO_ANSWER, most[0], least[0], most[1], least[1])
    return tuple(_spreads_of(space, shared)), silence


def _spreads(space: Space, values: Sequence[ValueRate]) -> Iterator[Spread]:
    shared = [(rate.value, rate.shares) for rate in values if rate.shares is not None]
    return _spreads_of(space, shared)


def _spreads_of(space: Space, shared: Sequence[tuple[str, tuple[float, ...]]]) -> Iterator[Spread]:
    if len(shared) < 2:
        return
    for place, label in enumerate(labels_of(space)):
        if space.label is None and place != YES:
            continue
        highest = max(shared, key=lambda line: line[1][place])
        lowest = min(shared, key=lambda line: line[1][place])
        yield Spread(label, highest[0], lowest[0], highest[1][place], lowest[1][place])
