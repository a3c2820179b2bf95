"""Which boxes are rules: every one, or every short one. (For a cover, see `covers`.)

A rule is *as general as it can be*: no condition can be left out, and no interval made wider,
without a cell of another label getting in. A cell is given by the labels that it may have, as bits:
none where it does not occur, one where it is decided, all where it was not asked. So a rule holds
whatever the open cells are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.exact.boxes.axes import Axis, Box, Range
from hornlens.exact.boxes.cells import OPEN, OUTSIDE, GridCells, Levels, ListedCells, rows_in

MOST_BOXES = 30_000_000
"""So many boxes at most are gone through one and all."""
Bits = NDArray[np.uint64]
ANY = np.uint64((1 << 64) - 1)
"""Every label, as bits."""


Stops = Callable[[], bool]
"""Says whether to stop, and to return what was found by then."""


def never() -> bool:
    """Go on to the end."""
    return False


class BoxRule(NamedTuple):
    """A box and the place of the label that all of its cells have."""

    box: Box
    place: int


# --- every rule ---


def bits_of(labels: NDArray[np.int8]) -> Bits:
    """Return each label as a bit; none for what does not occur, all for what is open."""
    places = np.maximum(labels, 0).astype(np.uint64)
    bits = np.asarray(np.left_shift(np.uint64(1), places))  # of a grid without axes, too
    bits[labels == OUTSIDE] = 0
    bits[labels == OPEN] = ANY
    return bits


def every_rule(bits: Bits, axes: Sequence[Axis]) -> list[BoxRule]:
    """Return every rule of a table of what may be said in each cell."""
    merged = [_merged(axis, np.moveaxis(bits, place, 0)) for place, axis in enumerate(axes)]
    for place, levels in enumerate(merged):
        bits = np.take(bits, levels.first, axis=place)
    axes = [levels.axis for levels in merged]
    boxes = prod(len(axis.ranges) for axis in axes)
    if boxes > MOST_BOXES:
        raise HornlensError(
            f"there are {boxes:,} boxes of cells, too many to list every rule: "
            "give max_conditions, or leave it at a cover"
        )
    for place, axis in enumerate(axes):
        along = np.moveaxis(bits, place, 0)
        parts = [np.bitwise_or.reduce(along[low : high + 1]) for low, high in axis.ranges]
        bits = np.moveaxis(np.stack(parts), 0, place)
    general = (bits != 0) & ((bits & (bits - np.uint64(1))) == 0)
    for place, axis in enumerate(axes):
        at = {span: number for number, span in enumerate(axis.ranges)}
        along, still = np.moveaxis(bits, place, 0), np.moveaxis(general, place, 0)
        for number, span in enumerate(axis.ranges):
            for wider in axis.wider(span):
                still[number] &= along[at[wider]] != along[number]
    rules = []
    for where in np.argwhere(general).tolist():
        box = tuple(levels.range_of(number) for levels, number in zip(merged, where, strict=True))
        rules.append(BoxRule(box, int(bits[tuple(where)]).bit_length() - 1))
    return rules


class _Merged(NamedTuple):
    """An axis on which levels side by side, in which the same may be said, are one."""

    axis: Axis
    first: Levels
    last: Levels

    def range_of(self, number: int) -> Range:
        """Return a range of the axis in levels as they were."""
        low, high = self.axis.ranges[number]
        return int(self.first[low]), int(self.last[high])


def _merged(axis: Axis, along: Bits) -> _Merged:
    """Merge levels: no rule begins or ends between two of them that are alike."""
    every = np.arange(axis.size)
    if not axis.is_ranged or axis.nodes:
        return _Merged(axis, every, every)
    rows = along.reshape(len(along), -1)
    new = np.ones(axis.size, dtype=np.bool_)
    new[1 : axis.known] = (rows[1 : axis.known] != rows[: axis.known - 1]).any(axis=1)
    first = np.flatnonzero(new)
    last = np.append(first[1:], axis.size) - 1
    known = int(np.count_nonzero(new[: axis.known]))
    return _Merged(Axis(len(first), known, True), first, last)


def short_rules_of_table(axes: Sequence[Axis], some: Sequence[int], bits: Bits) -> list[BoxRule]:
    """Return the rules that speak of just these axes, of what may be said in their cells."""
    own = [axes[place] for place in some]
    rules = []
    for small, label in every_rule(bits, own):
        if all(span != axis.whole for span, axis in zip(small, own, strict=True)):
            box = [axis.whole for axis in axes]
            for at, span in zip(some, small, strict=True):
                box[at] = span
            rules.append(BoxRule(tuple(box), label))
    return rules


def short_rules(bits: Bits, axes: Sequence[Axis], most: int, stops: Stops = never) -> list[BoxRule]:
    """Return every rule with at most so many conditions; those found by then, if it is stopped."""
    rules = []
    for some in subsets(axes, most):
        if stops():
            break
        others = tuple(place for place in range(bits.ndim) if place not in some)
        table = np.bitwise_or.reduce(bits, axis=others) if others else bits
        rules += short_rules_of_table(axes, some, np.asarray(table))
    return rules


def short_rules_of_grid(cells: GridCells, most: int, stops: Stops = never) -> list[BoxRule]:
    """Return every rule of a grid with at most so many conditions."""
    return short_rules(bits_of(cells.labels), cells.axes, most, stops)


def short_rules_of_list(
    cells: ListedCells, most: int, enough: int = 1, stops: Stops = never
) -> Iterator[tuple[BoxRule, int]]:
    """Yield every rule with at most so many conditions that `enough` cells speak for, with these.

    Rules that speak of fewer cells are passed over, as if a cell of another label were there.
    """
    for some in subsets(cells.axes, most):
        if stops():
            return
        for one in short_rules_of_table(cells.axes, some, table_of_list(cells, some)):
            count = cells.count_in(one.box)
            if count >= enough:
                yield one, count


def table_of_list(cells: ListedCells, some: Sequence[int]) -> Bits:
    """Return the labels that may occur in each cell of some axes, as bits."""
    shape = tuple(cells.axes[place].size for place in some)
    count = int(cells.labels.max(initial=0)) + 1
    where = np.zeros(len(cells.cells), dtype=np.intp)
    for place, size in zip(some, shape, strict=True):
        where = where * size + cells.cells[:, place]
    labels, open_ = cells.labels, cells.labels == OPEN
    inside = where * count + labels
    if open_.any():
        inside = inside[~open_]
    seen = np.bincount(inside, minlength=prod(shape) * count) > 0
    bits = np.zeros(prod(shape), dtype=np.uint64)
    for place in range(count):
        bits |= seen[place::count].astype(np.uint64) << np.uint64(place)
    bits[where[open_]] = ANY
    return bits.reshape(shape)


def subsets(axes: Sequence[Axis], most: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of at most so many axes that have several levels, small ones first."""
    telling = [place for place, axis in enumerate(axes) if axis.size > 1]
    for size in range(min(most, len(telling)) + 1):
        yield from combinations(telling, size)


def decided_by(rules: Sequence[BoxRule], cells: Levels, axes: Sequence[Axis]) -> Levels:
    """Return the label that the rules give to each row of levels; OUTSIDE where they give none."""
    labels = np.full(len(cells), OUTSIDE, dtype=np.intp)
    for box, place in rules:
        labels[rows_in(cells, box, axes)] = place
    return labels
