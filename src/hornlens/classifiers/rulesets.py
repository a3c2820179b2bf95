"""Which boxes are rules: every one, or every short one. (For a cover, see `covers`.)

A rule is *as general as it can be*: no condition can be left out, and no interval made wider,
without a cell of another class getting in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple

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


def decided_by(found: Sequence[Found], cells: Levels, features: Sequence[Feature]) -> Levels:
    """Return the class that the rules give to each row of levels; OUTSIDE where they give none."""
    said = np.full(len(cells), OUTSIDE, dtype=np.intp)
    for box, place in found:
        said[rows_in(cells, box, features)] = place
    return said
