"""What a few trees make of a cell when some of its levels change: classes of many cells at once.

If only some axes change, most trees stay in their leaf. A leaf counts if the cell misses it on
these axes at most; so the scores over all levels of these axes are a product of small matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.bounding.rows import Flags, Floats

Inside = Callable[[NDArray[np.intp], int], Flags]
"""Given some boxes and an axis: says of each which levels of the axis it has."""


class Profile:
    """A cell among boxes: which of them it gets into if a few of its levels change."""

    def __init__(self, met: Flags, weights: Floats, inside: Inside, most: int):
        """Note the boxes that at most so many changed levels may lead to.

        Args:
            met: On which axes the cell meets each box.
            weights: What each box adds: a row for each.
            inside: Says which levels of an axis boxes have.
            most: How many levels change at most.
        """
        many = np.count_nonzero(~met, axis=1)
        self._boxes = np.flatnonzero(many <= most)
        self._many = many[self._boxes].astype(np.int8)
        self._missed = np.ascontiguousarray(~met[self._boxes].T).astype(np.int8)
        self.weights = weights[self._boxes]
        self._levels_of = inside
        self._levels: dict[int, tuple[Floats, Flags]] = {}

    def over(self, some: Sequence[int], sizes: Sequence[int]) -> Floats:
        """Return what the boxes add over all levels of some axes; last comes what is added."""
        own = list(some)
        among = self._many == self._missed[own].sum(axis=0)
        depends = np.zeros(len(self._boxes), dtype=np.bool_)
        for axis in own:
            depends |= self._inside(axis)[1]
        base = self.weights[among & ~depends].sum(axis=0)
        rows = np.flatnonzero(among & depends)
        shape = tuple(sizes[axis] for axis in own)
        total = np.empty((*shape, self.weights.shape[1]))
        total[...] = base
        if not len(rows):
            return total
        first = self._inside(own[0])[0][rows]
        rest = np.ones((len(rows), 1))
        for axis in own[1:]:
            more = self._inside(axis)[0][rows]
            rest = (rest[:, :, None] * more[:, None, :]).reshape(len(rows), -1)
        for part in range(self.weights.shape[1]):
            weighted = first * self.weights[rows, part, None]
            total[..., part] += (weighted.T @ rest).reshape(shape)
        return total

    def _inside(self, axis: int) -> tuple[Floats, Flags]:
        """Return which levels of an axis the boxes have, and which boxes have not all."""
        if axis not in self._levels:
            levels = self._levels_of(self._boxes, axis)
            self._levels[axis] = levels.astype(np.float64), np.asarray(~levels.all(axis=1))
        return self._levels[axis]
