"""Flips: cells that differ in some attributes only, and are answered otherwise.

This is the one place that counts them, for rates, gates and `result.flips`; what a flip is says
`documents.flips`. Recorded answers are counted; a classifier, whose cells may be too many to be
recorded one by one, counts by arrays or proves, by the same definition.

The values of an attribute are its plain values, the nodes of its taxonomy (what is said to be
Germany counts there and not at Europe), or its single levels: wider intervals are no values. Unset
is no value either: a cell that says nothing of an attribute stands for nobody in particular. But of
an attribute with a single value, which holds or does not, unset is the other value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.logic.attributes import Attribute
from hornlens.logic.decisions import Decision
from hornlens.logic.maskmap import key_of
from hornlens.logic.ordered import Ordered
from hornlens.logic.space import Space
from hornlens.results.documents.flips import FlipPair, Flips

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

EXAMPLES = 5
"""How many flips of an attribute a result shows."""
UNLABELLED = ("rejected", "accepted")
"""The labels of a space that has none, by what a target decides."""
Counts = NDArray[np.intp]
Answers = Mapping[int, Decision]
"""What a target said, by cell."""


@dataclass(frozen=True)
class FlippedCells:
    """Two cells that differ in some attributes only, and whose answers differ.

    `world` is the place of the way of asking; `labels` are those of `cells`. `values` are what the
    cells say of the attribute, where it is one.
    """

    world: int
    attribute: str
    values: tuple[str, str]
    cells: tuple[int, int]
    labels: tuple[str, str]


class PairCounts(NamedTuple):
    """Pairs of cells that were asked: all, those that flip, and those with an answer to one."""

    asked: int
    flips: int
    half_answered: int
    unanswered: int
    """Those in which neither cell got an answer."""

    @property
    def undecided(self) -> int:
        """Pairs without an answer to both."""
        return self.half_answered + self.unanswered


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


class Along:
    """The answers of one way of asking, seen along some attributes, which are changed together."""

    def __init__(self, space: Space, axes: Sequence[int], answers: Answers, world: int = 0):
        """Sort the cells that have a value of each of these attributes by what else they say."""
        self.space, self.axes, self.world = space, tuple(dict.fromkeys(axes)), world
        self.values = [values_of(space.attributes[axis], space.complete) for axis in self.axes]
        cells = sorted(answers)
        values = zip(*(self._values_in(cells, at) for at in range(len(self.axes))), strict=True)
        known = [(c, v) for c, v in zip(cells, values, strict=True) if None not in v]
        self.cells = [cell for cell, _ in known]
        free = sum(space.groups[axis] for axis in self.axes)
        # What is said beside the attributes: cells of one context differ in these only.
        contexts: dict[int | bytes, int] = {}
        self.contexts = np.array(
            [contexts.setdefault(key_of(cell & ~free), len(contexts)) for cell in self.cells],
            np.intp,
        )
        self.context_count = len(contexts)
        self.places = np.array([v for _, v in known], np.intp).reshape(-1, len(self.axes))
        self.winners = np.array([max(answers[cell].place, -1) for cell in self.cells], np.intp)

    def _values_in(self, cells: Sequence[int], at: int) -> list[int | None]:
        """Return the place of the value that each cell has of one of the attributes, if it has."""
        axis, space = self.axes[at], self.space
        place, group, offset = space.attributes[axis].place, space.groups[axis], space.offsets[axis]
        value_at = {place(choice): i for i, (_, choice) in enumerate(self.values[at])}
        return [value_at.get(place((cell & group) >> offset)) for cell in cells]

    def table(self, of: Counts, rows: int) -> Counts:
        """Count the answers by what `of` says and by label; abstentions stand in the first column.

        Returns as many rows as there are different things that `of` can say.
        """
        columns = len(labels_of(self.space)) + 1
        flat = np.bincount(of * columns + self.winners + 1, minlength=rows * columns)
        return flat.reshape(rows, columns)

    @cached_property
    def by_value(self) -> Counts:
        """For each value of the first attribute, the abstentions and the answers by label."""
        return self.table(self.places[:, 0], len(self.values[0]))

    @cached_property
    def by_context(self) -> Counts:
        """The same for each context."""
        return self.table(self.contexts, self.context_count)

    @cached_property
    def pairs(self) -> PairCounts:
        """Count the pairs of cells of one context."""
        silent, answers = self.by_context[:, 0], self.by_context[:, 1:]
        answered = answers.sum(axis=1)
        return PairCounts(
            pairs_in(answered + silent),
            pairs_in(answered) - pairs_in(answers),
            int((silent * answered).sum()),
            pairs_in(silent),
        )

    def flips(self) -> Iterator[FlippedCells]:
        """Yield the pairs of cells whose labels differ."""
        labels = labels_of(self.space)
        differ = np.count_nonzero(self.by_context[:, 1:], axis=1) > 1
        name = ", ".join(self.space.attributes[axis].name for axis in self.axes)
        for i, j in self._differing(differ[self.contexts] & (self.winners >= 0)):
            yield FlippedCells(
                self.world,
                name,
                (self._say(i), self._say(j)),
                (self.cells[i], self.cells[j]),
                (labels[self.winners[i]], labels[self.winners[j]]),
            )

    def half_answered(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of cells of which one got an answer and the other none."""
        both = (self.by_context[:, 0] > 0) & (self.by_context[:, 1:].sum(axis=1) > 0)
        for i, j in self._differing(both[self.contexts]):
            if min(self.winners[i], self.winners[j]) < 0:
                yield self.cells[i], self.cells[j]

    def _say(self, row: int) -> str:
        places = zip(self.values, self.places[row].tolist(), strict=True)
        return ", ".join(values[place][0] for values, place in places)

    def _differing(self, chosen: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield pairs of chosen rows, of one context, with other winners."""
        inside: dict[int, list[int]] = {}
        for i in np.flatnonzero(chosen).tolist():
            inside.setdefault(int(self.contexts[i]), []).append(i)
        for members in inside.values():
            for i, j in combinations(members, 2):
                if self.winners[i] != self.winners[j]:
                    yield i, j


def pairs_in(sizes: Counts) -> int:
    """Return how many pairs can be made inside groups of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def attributes_named(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return the attributes that are changed together, each once."""
    named = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    if not named:
        raise InputError("flips needs the name of an attribute")
    return named


def flips_of_answers(result: Findings, axes: Sequence[int]) -> Flips:
    """Count the flips among the recorded answers of a result, in every way of asking."""
    space = result.space
    along = [Along(space, axes, each.decisions, i) for i, each in enumerate(result.each)]
    counts = [each.pairs for each in along]
    certificate = result.envelope.certificate
    flipped = ((a.world, f.cells) for a in along for f in islice(a.flips(), EXAMPLES))
    halves = ((a.world, cells) for a in along for cells in islice(a.half_answered(), EXAMPLES))
    examples = islice((*flipped, *halves), EXAMPLES)
    return Flips(
        ", ".join(space.attributes[axis].name for axis in along[0].axes),
        rows=0,
        of_rows=0,
        pairs=sum(each.flips for each in counts),
        of_pairs=sum(each.asked for each in counts),
        proved=certificate.settled and result.asked_all and any(each.asked for each in counts),
        every_input=False,
        examples=tuple(_pair(result.each[world], cells) for world, cells in examples),
        half_answered=sum(each.half_answered for each in counts),
        unanswered=sum(each.unanswered for each in counts),
        chosen=not result.has_rates,
    )


def _pair(world: Findings, cells: tuple[int, int]) -> FlipPair:
    first, second = cells
    pair = FlipPair(
        _in_values(world.space, first),
        world.reply_to(first),
        _in_values(world.space, second),
        world.reply_to(second),
    )
    return replace(pair, shown=(world.show(first), world.show(second)), variant=world.world)


def _in_values(space: Space, cell: int) -> dict[str, str]:
    """Return what a cell says of each attribute that it sets."""
    return {
        attribute.name: attribute.describe(choice)
        for attribute, group, at in zip(space.attributes, space.groups, space.offsets, strict=False)
        if (choice := (cell & group) >> at)
    }
