"""Which boxes are rules: a cover that decides every cell, every rule, or every short one.

A rule is *as general as it can be*: no condition can be left out, and no interval made wider,
without a cell of another class getting in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.cells import OUTSIDE, GridCells, Levels, ListedCells, rows_in
from hornlens.classifiers.features import Box, Feature
from hornlens.errors import HornlensError

MOST_BOXES = 30_000_000
"""So many boxes at most are gone through one and all."""
Bits = NDArray[np.uint64]


class Found(NamedTuple):
    """A box and the place of the class that all of its cells have."""

    box: Box
    place: int


# --- a cover ---


def cover_of_grid(cells: GridCells, first: Levels) -> list[Found]:
    """Return rules that together decide every cell of a grid; none of them can be spared.

    Cells in `first` (rows of X, the commonest first) are seen to before the others.
    """
    labels = cells.labels
    flat, shape = labels.ravel(), labels.shape
    open_ = flat != OUTSIDE
    order = _by_influence(cells)
    found: list[Found] = []
    view = open_.reshape(shape)
    seeds = np.zeros(0, np.intp)
    if shape and len(first):
        seeds = np.ravel_multi_index(tuple(first.T), shape)
    for start in _still_open(seeds, open_):
        cell = [int(level) for level in np.unravel_index(start, shape)]
        box = cells.grown(cell, int(flat[start]), order)
        view[tuple(slice(low, high + 1) for low, high in box)] = False
        found.append(Found(box, int(flat[start])))
    small = len(found) < 1 << 16
    return _without_spare(found, np.zeros(shape, dtype=np.uint16 if small else np.uint32))


def _still_open(seeds: NDArray[np.intp], open_: NDArray[np.bool_]) -> Iterator[int]:
    """Yield the seeds, then all others, that are open when their turn comes."""
    for seed in seeds.tolist():
        if open_[seed]:
            yield seed
    at, chunk = 0, 1 << 14
    while at < len(open_):
        part = open_[at : at + chunk]
        where = int(part.argmax())
        if part[where]:
            yield at + where
            at += where + 1
        else:
            at += len(part)


def _by_influence(cells: GridCells) -> list[int]:
    """Return the features, those first whose neighbouring levels differ least in their classes."""
    labels = cells.labels
    changes = []
    for axis in range(labels.ndim):
        along = np.moveaxis(labels, axis, 0)
        # A part of a large grid tells enough of it.
        step = max(1, along[0].size // 200_000)
        few = along.reshape(len(along), -1)[:, ::step]
        changes.append(np.count_nonzero(few[1:] != few[:-1]) / max(1, few.size))
    return sorted(range(labels.ndim), key=lambda axis: (changes[axis], axis))


def _without_spare(found: list[Found], times: NDArray[np.unsignedinteger[Any]]) -> list[Found]:
    """Return the rules without those whose cells all lie in others."""
    slices = [tuple(slice(low, high + 1) for low, high in one.box) for one in found]
    for where in slices:
        times[where] += 1
    kept = []
    for one, where in sorted(
        zip(found, slices, strict=True), key=lambda pair: _volume(pair[0].box)
    ):
        if times[where].min() > 1:
            times[where] -= 1
        else:
            kept.append(one)
    return kept


def cover_of_list(cells: ListedCells, weights: NDArray[np.intp]) -> list[Found]:
    """Return rules that together decide every cell of a list; none of them can be spared."""
    open_ = np.ones(len(cells.cells), dtype=np.bool_)
    inside: list[NDArray[np.bool_]] = []
    found: list[Found] = []
    spread = [len(np.unique(cells.cells[:, axis])) for axis in range(len(cells.features))]
    order = sorted(range(len(cells.features)), key=lambda axis: (-spread[axis], axis))
    for seed in np.argsort(-weights, kind="stable").tolist():
        if not open_[seed]:
            continue
        place = int(cells.labels[seed])
        box = cells.grown(cells.cells[seed].tolist(), place, order)
        inside.append(cells.inside(box))
        open_ &= ~inside[-1]
        found.append(Found(box, place))
    times = np.sum(inside, axis=0) if inside else np.zeros(0)
    kept = []
    for one, where in sorted(zip(found, inside, strict=True), key=lambda pair: int(pair[1].sum())):
        if times[where].min() > 1:
            times[where] -= 1
        else:
            kept.append(one)
    return kept


# --- every rule ---


def bits_of(labels: NDArray[np.int8]) -> Bits:
    """Return each class as a bit; nothing for what does not occur."""
    bits = np.left_shift(np.uint64(1), np.maximum(labels, 0).astype(np.uint64))
    bits[labels == OUTSIDE] = 0
    return bits


def every_rule(bits: Bits, features: Sequence[Feature]) -> list[Found]:
    """Return every rule of a table of what may be said in each cell (its axes: the features)."""
    boxes = prod(len(feature.ranges) for feature in features)
    if boxes > MOST_BOXES:
        raise HornlensError(
            f"there are {boxes:,} boxes of cells, too many to list every rule: "
            "give max_conditions, or leave it at a cover"
        )
    for axis, feature in enumerate(features):
        along = np.moveaxis(bits, axis, 0)
        parts = [np.bitwise_or.reduce(along[low : high + 1]) for low, high in feature.ranges]
        bits = np.moveaxis(np.stack(parts), 0, axis)
    general = (bits != 0) & ((bits & (bits - np.uint64(1))) == 0)
    for axis, feature in enumerate(features):
        place_of = {said: place for place, said in enumerate(feature.ranges)}
        along, still = np.moveaxis(bits, axis, 0), np.moveaxis(general, axis, 0)
        for place, said in enumerate(feature.ranges):
            for wider in feature.wider(said):
                still[place] &= along[place_of[wider]] != along[place]
    found = []
    for where in np.argwhere(general).tolist():
        box = tuple(feature.ranges[at] for feature, at in zip(features, where, strict=True))
        found.append(Found(box, int(bits[tuple(where)]).bit_length() - 1))
    return found


def short_rules_of_table(
    features: Sequence[Feature], some: Sequence[int], bits: Bits
) -> list[Found]:
    """Return the rules that speak of just these features, of what may be said in their cells."""
    own = [features[place] for place in some]
    found = []
    for small, place in every_rule(bits, own):
        if all(said != feature.whole for said, feature in zip(small, own, strict=True)):
            box = [feature.whole for feature in features]
            for at, said in zip(some, small, strict=True):
                box[at] = said
            found.append(Found(tuple(box), place))
    return found


def short_rules_of_grid(cells: GridCells, most: int) -> list[Found]:
    """Return every rule with at most so many conditions."""
    bits, features = bits_of(cells.labels), cells.features
    found = []
    for some in subsets(features, most):
        others = tuple(axis for axis in range(bits.ndim) if axis not in some)
        table = np.bitwise_or.reduce(bits, axis=others) if others else bits
        found += short_rules_of_table(features, some, np.asarray(table))
    return found


def short_rules_of_list(
    cells: ListedCells, most: int, enough: int = 1
) -> Iterator[tuple[Found, int]]:
    """Yield every rule with at most so many conditions that `enough` cells speak for, with these.

    Rules that speak of fewer cells are passed over, as if a cell of another class were there.
    """
    features = cells.features
    for some in subsets(features, most):
        for one in short_rules_of_table(features, some, table_of_list(cells, some)):
            count = cells.count_in(one.box)
            if count >= enough:
                yield one, count


def table_of_list(cells: ListedCells, some: Sequence[int]) -> Bits:
    """Return the classes that occur in each cell of some features, as bits."""
    shape = tuple(cells.features[place].size for place in some)
    count = int(cells.labels.max(initial=0)) + 1
    where = np.zeros(len(cells.cells), dtype=np.intp)
    for place, size in zip(some, shape, strict=True):
        where = where * size + cells.cells[:, place]
    seen = np.bincount(where * count + cells.labels, minlength=prod(shape) * count) > 0
    bits = np.zeros(prod(shape), dtype=np.uint64)
    for place in range(count):
        bits |= seen[place::count].astype(np.uint64) << np.uint64(place)
    return bits.reshape(shape)


def subsets(features: Sequence[Feature], most: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of at most so many features that have several levels, small ones first."""
    telling = [place for place, feature in enumerate(features) if feature.size > 1]
    for size in range(min(most, len(telling)) + 1):
        yield from combinations(telling, size)


def _volume(box: Box) -> int:
    return prod(high - low + 1 for low, high in box)


def decided_by(found: Sequence[Found], cells: Levels, features: Sequence[Feature]) -> Levels:
    """Return the class that the rules give to each row of levels; OUTSIDE where they give none."""
    said = np.full(len(cells), OUTSIDE, dtype=np.intp)
    for box, place in found:
        said[rows_in(cells, box, features)] = place
    return said
