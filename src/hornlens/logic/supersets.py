"""An index of interpretations, by which those are found that contain a set of variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hornlens.logic.batch import FEW, contains, pack, words_needed
from hornlens.logic.bits import bits


class Supersets:
    """Interpretations of `width` variables, indexed by the variables that they have.

    Few words a row are compared with numpy. Over thousands of variables, of which an interpretation
    has a few, those that have the rarest of the wanted ones are looked at, and no others.
    """

    def __init__(self, masks: Sequence[int], width: int):
        """Take the interpretations; what is found comes in their order."""
        self.masks, self.width = masks, width
        self._is_wide = words_needed(width) > FEW
        if self._is_wide:
            self._places: dict[int, list[int]] = {}
            for place, mask in enumerate(masks):
                for bit in bits(mask):
                    self._places.setdefault(bit, []).append(place)
        else:
            self._packed = np.asfortranarray(pack(masks, width))

    def places(self, wanted: int) -> list[int]:
        """Return the places of the interpretations that have all of `wanted`."""
        if not self._is_wide:
            above = contains(self._packed, pack([wanted], self.width)[0])
            return np.flatnonzero(above).tolist()
        if not wanted:
            return list(range(len(self.masks)))
        near = min((self._places.get(bit, []) for bit in bits(wanted)), key=len)
        return [place for place in near if wanted & ~self.masks[place] == 0]

    def having(self, wanted: int) -> list[int]:
        """Return the interpretations that have all of `wanted`."""
        return [self.masks[place] for place in self.places(wanted)]
