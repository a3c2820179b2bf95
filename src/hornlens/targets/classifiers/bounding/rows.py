"""Rows of tables: leaves as bits of words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
"""Bits for the leaves of every tree, in rows: one for each box, or for a row of a table."""
Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
ONE = np.uint64(1)


def packed_words(flags: Flags) -> Words:
    """Return flags (…, trees, bits) as words in rows."""
    packed = np.packbits(flags, axis=-1, bitorder="little")
    rows = np.ascontiguousarray(packed).reshape(len(flags), -1)
    return rows.view("<u8").astype(np.uint64, copy=False)


def lowest_bits(words: Words) -> Words:
    """Return the lowest bit of each word."""
    return np.asarray(words & (~words + ONE))


def place_of_bit(one: Words) -> Places:
    """Return the place of the only bit of words; 0 if there is none."""
    exponent = one.astype(np.float64).view(np.int64) >> 52
    return np.asarray(np.maximum(exponent - 1023, 0), dtype=np.intp)


def intervals_of(inside: Flags) -> tuple[Places, Places, bool]:
    """Return the first and the last level of each leaf, and whether they have all between."""
    size = inside.shape[2]
    some = inside.any(axis=2)
    first = np.where(some, inside.argmax(axis=2), size + 1)
    last = np.where(some, size - 1 - inside[:, :, ::-1].argmax(axis=2), -1)
    whole = np.where(some, last - first + 1, 0)
    return first, last, bool((inside.sum(axis=2) == whole).all())


def doubled_rows(rows: Words) -> list[Words]:
    """Return which leaves have one of the next 1, 2, 4, … levels."""
    blocks, step = [rows], 1
    while 2 * step <= len(rows):
        block = blocks[-1].copy()
        block[:-step] |= blocks[-1][step:]
        blocks.append(block)
        step *= 2
    return blocks


class PlainRows:
    """Rows of words as they are."""

    def __init__(self, block: Words):
        """Keep them."""
        self.block = block

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.block)

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        return self.block.nbytes

    def take(self, places: Places) -> Words:
        """Return some of the rows."""
        return self.block[places]


class ShortRows:
    """Rows of words of which each column seldom changes: its words, and which of them it has."""

    def __init__(self, block: Words):
        """Note where each column changes."""
        new = np.ones(block.shape, dtype=np.bool_)
        new[1:] = block[1:] != block[:-1]
        number = np.cumsum(new, axis=0) - 1
        many = number[-1] + 1
        self._begin = np.cumsum(many) - many
        self._words = block.T[new.T]
        self._number = number.astype(np.uint8 if int(many.max()) <= 256 else np.uint32)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self._number)

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        return self._number.nbytes + self._words.nbytes

    def take(self, places: Places) -> Words:
        """Return some of the rows."""
        return np.asarray(self._words[self._begin + self._number[places]])


Rows = PlainRows | ShortRows
