"""The classes of all cells that differ from one on a few features: see `bounding.profiles`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from hornlens.exact.boxes.cells import Levels
from hornlens.exact.boxes.rulesets import Bits
from hornlens.targets.classifiers.bounding.profiles import Profile
from hornlens.targets.classifiers.voting import Vote


class Around:
    """A cell of an ensemble, of which at most so many levels are changed."""

    def __init__(self, vote: Vote, cell: Levels, most: int):
        """Note which leaves, and which forbidden boxes, such a change may lead to."""
        self.vote, self.cell, self.most = vote, cell, most
        self._sizes = [feature.size for feature in vote.features]

    def classes(self, some: Sequence[int]) -> Bits:
        """Return the class of each cell, by its levels of some features, as a bit.

        None where the cell does not occur, or where rounding would decide.
        """
        scores = self._scores.over(some, self._sizes)
        place = scores.argmax(axis=-1)
        clear = np.ones(place.shape, dtype=np.bool_)
        if scores.shape[-1] == 2:  # much the quickest
            clear = np.abs(scores[..., 1] - scores[..., 0]) > self.vote.tolerance
        elif scores.shape[-1] > 2:
            best = np.partition(scores, -2, axis=-1)
            clear = best[..., -1] - best[..., -2] > self.vote.tolerance
        if self.vote.forbidden:
            broken = self._broken.over(some, self._sizes)[..., 0]
            clear &= broken < self.vote.occurring.most + 0.5
        bits = np.left_shift(np.uint64(1), place.astype(np.uint64))
        return np.where(clear, bits, np.uint64(0))

    @cached_property
    def _scores(self) -> Profile:
        met = self.vote.met_by(self.cell)
        return Profile(met, self.vote.leaves[1], self.vote.levels_of, self.most)

    @cached_property
    def _broken(self) -> Profile:
        occurring = self.vote.occurring
        met = occurring.met_by(self.cell)
        return Profile(met, np.ones((len(met), 1)), occurring.levels_of, self.most)
