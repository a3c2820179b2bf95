"""Rates and flips: how often each value gets each label, and what changing one value changes.

Both are counted from recorded answers; an answer is what a target decided of a cell. A *flip* is
two cells that differ in one attribute only, both answered, and answered differently.

The values of an attribute are its plain values, the nodes of its taxonomy (what is said to be
Germany counts there and not at Europe), or its single levels: wider intervals are no values. Unset
is no value either: a cell that says nothing of an attribute stands for nobody in particular. But of
an attribute with a single value, which holds or does not, unset is the other value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.formats.csvfiles import csv_text
from hornlens.formats.frames import data_frame
from hornlens.logic.attributes import Attribute
from hornlens.logic.batch import obeys
from hornlens.logic.decisions import YES, Decision
from hornlens.logic.maskmap import key_of
from hornlens.logic.ordered import Ordered
from hornlens.logic.space import Space

EXAMPLES = 5
"""How many flips of an attribute a result shows."""
COUNTED = 1 << 20
"""Up to so many cells, those that obey the background are counted one by one."""
UNLABELLED = ("rejected", "accepted")
"""The labels of a space that has none, by what a target decides."""


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
class Flip:
    """Two cells that differ in one attribute only, and whose answers differ.

    `world` is the place of the way of asking; `labels` are those of `cells`.
    """

    world: int
    attribute: str
    values: tuple[str, str]
    cells: tuple[int, int]
    labels: tuple[str, str]


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
    """In how many of those the target abstained on one cell or both; they are no flips."""
    possible: int | None
    """How many such pairs there are, asked or not; None where they are too many to count."""
    examples: tuple[Flip, ...] = ()

    @property
    def widest(self) -> Spread | None:
        """The spread with the largest difference."""
        return max(self.spreads, key=lambda spread: spread.difference, default=None)


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


Counts = NDArray[np.intp]
Answers = Mapping[int, Decision]
"""What a target said, by cell."""


def rates_of(space: Space, worlds: Sequence[tuple[str, Answers]]) -> Rates:
    """Count rates and flips from the answers of each way of asking, by name."""
    counted = [
        [_Axis(space, axis, answers, world) for axis in range(len(space.attributes))]
        for world, (_, answers) in enumerate(worlds)
    ]
    apart = [Rates(labels_of(space), tuple(_together([a]) for a in axes), {}) for axes in counted]
    if len(apart) == 1:
        return apart[0]
    names = [name for name, _ in worlds]
    all_of = tuple(_together(axes) for axes in zip(*counted, strict=True))
    return Rates(labels_of(space), all_of, dict(zip(names, apart, strict=True)))


def flips_of(space: Space, worlds: Iterable[Answers], most: int) -> Iterator[Flip]:
    """Yield the flips: up to `most` for each attribute and way of asking."""
    for world, answers in enumerate(worlds):
        for axis in range(len(space.attributes)):
            yield from islice(_Axis(space, axis, answers, world).flips(), most)


def labels_of(space: Space) -> tuple[str, ...]:
    """Return the labels by the winner's place."""
    return UNLABELLED if space.label is None else space.label.variables


def values_of(attribute: Attribute, complete: bool = False) -> list[tuple[str, int]]:
    """Return an attribute's values, each with its choice of the attribute's own variables.

    In a complete space they are its leaves.
    """
    if isinstance(attribute, Ordered) or (complete and len(attribute.variables) > 1):
        return [(attribute.describe(leaf), leaf) for leaf in attribute.leaves]
    values = [(attribute.describe(choice), choice) for choice in attribute.choices[1:]]
    return [*values, (f"not {values[0][0]}", 0)] if len(values) == 1 else values


class _Axis:
    """The answers of one way of asking, seen along one attribute."""

    def __init__(self, space: Space, axis: int, answers: Answers, world: int):
        self.space, self.axis, self.world = space, axis, world
        attribute, at, group = space.attributes[axis], space.offsets[axis], space.groups[axis]
        self.values = values_of(attribute, space.complete)
        value_at = {attribute.place(choice): i for i, (_, choice) in enumerate(self.values)}
        found = [(cell, value_at.get(attribute.place((cell & group) >> at))) for cell in answers]
        known = sorted((cell, value) for cell, value in found if value is not None)
        self.cells = [cell for cell, _ in known]
        # What is said beside the attribute: cells of one context differ in it only.
        contexts: dict[int | bytes, int] = {}
        self.contexts = np.array(
            [contexts.setdefault(key_of(cell & ~group), len(contexts)) for cell in self.cells],
            np.intp,
        )
        self.context_count = len(contexts)
        self.places = np.array([value for _, value in known], np.intp)
        self.winners = np.array([max(answers[cell].place, -1) for cell in self.cells], np.intp)

    def table(self, of: Counts, rows: int) -> Counts:
        """Count the answers by what `of` says and by label; abstentions stand in the first column.

        Returns as many rows as there are different things that `of` can say.
        """
        columns = len(labels_of(self.space)) + 1
        flat = np.bincount(of * columns + self.winners + 1, minlength=rows * columns)
        return flat.reshape(rows, columns)

    @cached_property
    def by_value(self) -> Counts:
        """For each value, the abstentions and the answers by label."""
        return self.table(self.places, len(self.values))

    @cached_property
    def by_context(self) -> Counts:
        """The same for each context."""
        return self.table(self.contexts, self.context_count)

    def pair_counts(self) -> tuple[int, int, int]:
        """Return how many pairs were asked, how many of them are undecided, and how many flip."""
        asked = _pairs(self.by_context.sum(axis=1))
        answered = _pairs(self.by_context[:, 1:].sum(axis=1))
        alike = _pairs(self.by_context[:, 1:])
        return asked, asked - answered, answered - alike

    def possible(self) -> int | None:
        """Return how many pairs there are in the space, asked or not."""
        space, k = self.space, len(self.values)
        if not space.assumed:
            shape = space.shape[: len(space.attributes)]
            if space.complete:
                shape = tuple(map(len, space.leaves))
            return prod(shape[: self.axis]) * prod(shape[self.axis + 1 :]) * k * (k - 1) // 2
        if space.cell_count > COUNTED:
            return None
        if space.complete:
            group = space.groups[self.axis]
            sizes = Counter(key_of(cell & ~group) for cell in space.cells())
            return _pairs(np.array(list(sizes.values())))
        inside = obeys(space.masks(), space.background).reshape(space.shape)
        if space.label is not None:
            inside = inside[..., 0]  # a cell has no label
        choices = space.attributes[self.axis].choices
        wanted = [choices.index(choice) for _, choice in self.values]
        return _pairs(np.moveaxis(inside, self.axis, 0)[wanted].sum(axis=0))

    def flips(self) -> Iterator[Flip]:
        """Yield the pairs of cells whose labels differ."""
        labels, name = labels_of(self.space), self.space.attributes[self.axis].name
        differ = np.count_nonzero(self.by_context[:, 1:], axis=1) > 1
        inside: dict[int, list[int]] = {}
        for i in np.flatnonzero(differ[self.contexts] & (self.winners >= 0)).tolist():
            inside.setdefault(int(self.contexts[i]), []).append(i)
        for members in inside.values():
            for i, j in combinations(members, 2):
                if self.winners[i] != self.winners[j]:
                    yield Flip(
                        self.world,
                        name,
                        (self.values[self.places[i]][0], self.values[self.places[j]][0]),
                        (self.cells[i], self.cells[j]),
                        (labels[self.winners[i]], labels[self.winners[j]]),
                    )


def _pairs(sizes: Counts) -> int:
    """Return how many pairs can be made inside groups of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def _together(axes: Sequence[_Axis]) -> AttributeRates:
    """Return what is counted along one attribute, over some ways of asking."""
    first = axes[0]
    counts = sum((axis.by_value for axis in axes[1:]), start=first.by_value).tolist()
    values = tuple(
        ValueRate(name, tuple(line[1:]), line[0])
        for (name, _), line in zip(first.values, counts, strict=True)
        if any(line)
    )
    asked, undecided, flips = map(sum, zip(*(a.pair_counts() for a in axes), strict=True))
    possible = first.possible()
    examples = (flip for axis in axes for flip in islice(axis.flips(), EXAMPLES))
    return AttributeRates(
        first.space.attributes[first.axis].name,
        values,
        tuple(_spreads(first.space, values)),
        flips,
        asked,
        undecided,
        None if possible is None else possible * len(axes),
        tuple(islice(examples, EXAMPLES)),
    )


def _spreads(space: Space, values: Sequence[ValueRate]) -> Iterator[Spread]:
    shared = [(rate.value, rate.shares) for rate in values if rate.shares is not None]
    if len(shared) < 2:
        return
    for place, label in enumerate(labels_of(space)):
        if space.label is None and place != YES:
            continue
        highest = max(shared, key=lambda line: line[1][place])
        lowest = min(shared, key=lambda line: line[1][place])
        yield Spread(label, highest[0], lowest[0], highest[1][place], lowest[1][place])
