"""The points of a space as short rows, whose bitwise "and" is still their intersection.

A mask has a bit for each value, so the masks of a grid with n values take n² bits. But all that is
asked of a long axis of plain values is whether some points have the same one. So value i is written
as the number i beside its complement: an "and" of two such pairs is a pair of complements if and
only if both were the same; if not, the axis has nothing in common. That takes 2 log n bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hornlens.logic.attributes import Nominal
from hornlens.logic.batch import WORD, Words, pack, unpack, words_needed
from hornlens.logic.bits import BOTTOM
from hornlens.logic.space import Space

LONG = WORD
"""An axis of more plain values than this is written in pairs."""


class _Axis(NamedTuple):
    """Where an axis stands in a row, what each choice is written as, and the length of a half."""

    at: int
    codes: Sequence[int]
    half: int
    """0 where the choices stand for themselves."""


class Rows:
    """Writes the points of a space as rows, and reads them back. A row of BOTTOM is BOTTOM."""

    def __init__(self, space: Space):
        """Lay out the axes; the pair of a long one does not cross from a word to the next."""
        self.space = space
        self.axes: list[_Axis] = []
        at = 0
        for attribute in space.all_attributes:
            half, codes, size = 0, attribute.choices, len(attribute.variables)
            if isinstance(attribute, Nominal) and size > LONG:
                half = size.bit_length()
                full, size = (1 << half) - 1, 2 * half
                codes = (0, *(i | (i ^ full) << half for i in range(1, attribute.count)))
                if at % WORD + size > WORD:
                    at += WORD - at % WORD
            self.axes.append(_Axis(at, codes, half))
            at += size
        self.width = at
        self._is_plain = not any(axis.half for axis in self.axes)

    def grid(self) -> Words:
        """Return all points in the order of the grid."""
        if self._is_plain:
            return self.space.masks()
        shape = self.space.shape
        rows = np.zeros((*shape, words_needed(self.width)), dtype=np.int64)
        for i, axis in enumerate(self.axes):
            choices = pack([code << axis.at for code in axis.codes], self.width)
            around = [1] * len(shape)
            around[i] = len(axis.codes)
            rows |= choices.reshape(*around, choices.shape[1])
        return rows.reshape(self.space.count, -1)

    def settle(self, rows: Words) -> None:
        """Write "nothing in common" where an "and" has left half of something, in place."""
        for at, _, half in self.axes:
            if half:
                word, full = rows[:, at // WORD], (1 << half) - 1
                part = word >> at % WORD
                mixed = ((part ^ part >> half) & full != full) & (word != BOTTOM)
                word[mixed] &= ~((1 << 2 * half) - 1 << at % WORD)

    def masks(self, rows: Words) -> list[int]:
        """Return settled rows as masks of the space."""
        masks = unpack(rows)
        if self._is_plain:
            return masks
        parts = [
            (axis.at, (1 << (2 * axis.half or len(attribute.variables))) - 1, table)
            for axis, attribute, table in zip(
                self.axes, self.space.all_attributes, self._tables(), strict=True
            )
        ]
        return [
            x if x == BOTTOM else sum(table[x >> at & full] for at, full, table in parts)
            for x in masks
        ]

    def words(self, rows: Words) -> Words:
        """Return settled rows as packed masks of the space."""
        return rows if self._is_plain else pack(self.masks(rows), self.space.width)

    def _tables(self) -> list[dict[int, int]]:
        return [
            dict(zip(axis.codes, masks, strict=True))
            for axis, masks in zip(self.axes, self.space.axes, strict=True)
        ]
