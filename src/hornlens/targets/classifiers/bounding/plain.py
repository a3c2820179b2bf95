"""Plain bounds: by how much another class can lead in a box if each tree is at its best leaf.

No search is needed, so they are known at once for hundreds of boxes; but leaves that cannot be
reached together are added up, and the lead may in truth be far less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.rows import Floats, Places, Words
from hornlens.targets.classifiers.bounding.tables import Tables


class PlainBounds:
    """The leads of all other classes over one, in a box that is made narrower step by step."""

    def __init__(self, leads: Sequence[Tables], low: Levels, high: Levels):
        """Begin with a box.

        Args:
            leads: By how much each other class leads over the one.
            low: The first levels of the box.
            high: The last levels of the box.
        """
        self._leads = leads
        self._reached: list[Words] = [lead.reach(low[None], high[None]) for lead in leads]
        bounds = [
            lead.bounds(reached).max() for lead, reached in zip(leads, self._reached, strict=True)
        ]
        self.bound = float(max(bounds, default=-np.inf))
        """By how much a class can lead in the box."""

    def narrowed(self, axes: Places, lows: Levels, highs: Levels) -> Floats:
        """Return what the bound would be with fewer levels on an axis, of each of these."""
        bounds = np.full(len(axes), -np.inf)
        for lead, reached in zip(self._leads, self._reached, strict=True):
            here = lead.meeting(axes, lows, highs) & reached
            np.maximum(bounds, lead.bounds(here)[:, 0], out=bounds)
        return bounds

    def narrow(self, axis: int, low: int, high: int, bound: float) -> None:
        """Leave fewer levels on an axis; `bound` is what `narrowed` said of that."""
        place, first, last = (np.array([number]) for number in (axis, low, high))
        for lead, reached in zip(self._leads, self._reached, strict=True):
            reached &= lead.meeting(place, first, last)
        self.bound = bound
