"""Cells that were drawn: is each of them the one that the seed gives?

The k-th draw (from 0) from a base in a family is number ⌊u · n⌋ of the base's n cells, where u is
the SHA-512 of "hornlens sift SEED FAMILY BASE K", as a fraction of 2⁵¹². It is passed over if it
was asked before, or if the background rules it out. In a base of at most 1,024 cells, n counts
those that were not asked before, so that nothing is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha512

import numpy as np

from hornlens.errors import InputError
from hornlens.verifying.grids import Wrong
from hornlens.verifying.levels import Box, Layout, Numbering

SMALL = 1024
"""The cells of a base that has no more are numbered anew for each draw."""
MOST_HASHES = 4_000_000
"""So many numbers are drawn again at most."""
Cell = tuple[int, ...]


@dataclass(frozen=True)
class DrawnCell:
    """A cell that is said to have been drawn: its place in the order of asking, and from where."""

    at: int
    family: int
    base: int


@dataclass
class Replay:
    """Draws again what a seed gives, in the order of asking."""

    layout: Layout
    seed: int
    order: Mapping[Cell, int]
    """For each cell that was asked its place in the order of asking."""
    _streams: dict[tuple[int, int], _Stream] = field(default_factory=dict)
    _hashes: int = 0

    def check(self, drawn: DrawnCell, cell: Cell, box: Box) -> None:
        """Check one draw; they have to come in the order of asking."""
        key = drawn.family, drawn.base
        if key not in self._streams:
            self._streams[key] = _Stream(self.layout.numbered(box))
        stream = self._streams[key]
        if stream.numbering.count <= SMALL:
            wanted = self._next_of_few(stream, drawn)
        else:
            wanted = self._next(stream, drawn)
        if wanted != cell:
            show, mask = self.layout.space.show, self.layout.mask
            given = "nothing" if wanted is None else show(mask(wanted))
            raise Wrong(
                f"sift: question {drawn.at} is {show(mask(cell))}, and the seed draws {given}"
            )

    def _number(self, drawn: DrawnCell, k: int, of: int) -> int:
        self._hashes += 1
        if self._hashes > MOST_HASHES:
            raise InputError(f"takes more than {MOST_HASHES:,} draws to follow: too many to check")
        text = f"hornlens sift {self.seed} {drawn.family} {drawn.base} {k}"
        return int.from_bytes(sha512(text.encode()).digest(), "big") * of >> 512

    def _is_new(self, cell: Cell, drawn: DrawnCell) -> bool:
        return self.order.get(cell, drawn.at) >= drawn.at

    def _next_of_few(self, stream: _Stream, drawn: DrawnCell) -> Cell | None:
        numbering = stream.numbering
        if stream.few is None:
            cells = [numbering.cell(number) for number in range(numbering.count)]
            allowed = self.layout.allowed(_rows(cells, numbering.width))
            stream.few = [cell for cell, fine in zip(cells, allowed, strict=True) if fine]
        stream.few = [cell for cell in stream.few if self._is_new(cell, drawn)]
        if not stream.few:
            return None
        place = self._number(drawn, stream.drawn, len(stream.few))
        stream.drawn += 1
        return stream.few[place]

    def _next(self, stream: _Stream, drawn: DrawnCell) -> Cell | None:
        counted, numbering = self.layout.counted, stream.numbering
        while True:
            number = self._number(drawn, stream.drawn, numbering.count)
            stream.drawn += 1
            cell = numbering.cell(number)
            if not self._is_new(cell, drawn):
                continue
            if counted or bool(self.layout.allowed(_rows([cell], numbering.width))[0]):
                return cell


@dataclass
class _Stream:
    """The draws from one base: how many numbers were used up, and what is left of a small one."""

    numbering: Numbering
    drawn: int = 0
    few: list[Cell] | None = None


def _rows(cells: Sequence[Cell], width: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array(cells, dtype=np.int64).reshape(len(cells), width)
