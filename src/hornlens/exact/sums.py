"""How many points of a set lie above each point of a grid: kept up to date as the set shrinks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.attributes import Attribute, Nominal, Places
from hornlens.logic.space import Space

Counts = NDArray[np.integer[Any]]
Flags = NDArray[np.bool_]


def sums_above(points: NDArray[np.generic], attributes: Sequence[Attribute]) -> Counts:
    """Return for each point how many (or how much) of `points` lie above it, itself included."""
    sums = points.astype(np.int32)
    for axis, attribute in enumerate(attributes):
        along = np.moveaxis(sums, axis, 0)
        if isinstance(attribute, Nominal):
            along[0] = along.sum(axis=0)
        else:
            before = along.copy()
            for place in range(attribute.count):
                along[place] = before[attribute.above(place)].sum(axis=0)
    return sums


class Sums:
    """A set of points of a space; tells how many of it lie above a point, and forgets some."""

    def __init__(self, space: Space, points: Flags):
        """Take the set, in the order of the grid."""
        # A space of which nothing can be said has one point, and an axis here like any other.
        self.attributes = space.all_attributes or (Nominal("", ()),)
        self.points = points.reshape(space.shape or (1,)).copy()
        self.above = sums_above(self.points, self.attributes)
        self._flat = self.above.reshape(-1)

    def rejected(self, at: NDArray[np.intp], join: NDArray[np.intp]) -> Counts:
        """Return for each rule how many it rejects: above `at`, and not above `join` (-1: ⊥)."""
        return self._flat[at] - np.where(join >= 0, self._flat[join], 0)

    def rejects(self, at: int, join: int) -> int:
        """Return the same for one rule."""
        return int(self._flat[at]) - (int(self._flat[join]) if join >= 0 else 0)

    def those(self, at: int, join: int) -> NDArray[np.intp]:
        """Return the points of the set that a rule rejects, by their places in the grid."""
        return self._region(at, join)[2]

    def take_away(self, at: int, join: int) -> NDArray[np.intp]:
        """Forget what a rule rejects; return these points, by their places in the grid."""
        ranges, inside, gone = self._region(at, join)
        if len(gone):
            self.points.reshape(-1)[gone] = False
            places = [int(place) for place in np.unravel_index(at, self.points.shape)]
            self._lower(inside, ranges, places)
        return gone

    def _region(self, at: int, join: int) -> tuple[list[NDArray[np.intp]], Flags, NDArray[np.intp]]:
        """Return the part of the grid above a point, what of it a rule rejects, and where."""
        shape, attributes = self.points.shape, self.attributes
        places = np.unravel_index(at, shape)
        boxes = [a.above(int(place)) for a, place in zip(attributes, places, strict=True)]
        ranges = [np.arange(length)[box] for length, box in zip(shape, boxes, strict=True)]
        inside: Flags = self.points[np.ix_(*ranges)]
        if join >= 0:
            # Both sides differ along one axis: what is above the second choice there is spared.
            for axis, place in enumerate(np.unravel_index(join, shape)):
                if place != places[axis]:
                    spared = np.zeros(shape[axis], dtype=np.bool_)
                    spared[attributes[axis].above(int(place))] = True
                    around = [1] * len(shape)
                    around[axis] = -1
                    inside = inside & ~spared[ranges[axis]].reshape(around)
        by_axis = np.nonzero(inside)
        indices = tuple(r[b] for r, b in zip(ranges, by_axis, strict=True))
        return ranges, inside, np.ravel_multi_index(indices, shape)

    def _lower(
        self, inside: Flags, ranges: Sequence[NDArray[np.intp]], places: Sequence[int]
    ) -> None:
        """Take points that are gone out of the sums of all that lie below them."""
        change = inside.astype(np.int32)
        rows: list[Places] = []
        for axis, attribute in enumerate(self.attributes):
            along = np.moveaxis(change, axis, 0)
            if isinstance(attribute, Nominal):
                place = places[axis]
                if place:  # one value: it lies above itself, and above unset
                    new = np.concatenate([along, along])
                    rows.append(slice(0, place + 1, place))
                else:
                    new = along.copy()
                    new[0] = along.sum(axis=0)
                    rows.append(slice(None))
            else:
                below, lies = _below(attribute, ranges[axis])
                new = np.tensordot(lies, along, axes=(1, 0))
                rows.append(below)
            change = np.moveaxis(new, 0, axis)
        if not all(isinstance(row, slice) for row in rows):
            lengths = self.above.shape
            lists = [np.arange(n)[row] for n, row in zip(lengths, rows, strict=True)]
            self.above[np.ix_(*lists)] -= change
        else:
            self.above[tuple(rows)] -= change


def _below(
    attribute: Attribute, some: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the choices below some choices of an attribute, and which lies below which."""
    lies = np.zeros((attribute.count, len(some)), dtype=np.int32)
    column = np.full(attribute.count, -1, dtype=np.intp)
    column[some] = np.arange(len(some))
    for place in range(attribute.count):
        above: Places = attribute.above(place)
        columns = column[above]
        lies[place, columns[columns >= 0]] = 1
    below = np.flatnonzero(lies.any(axis=1))
    return below, lies[below]
