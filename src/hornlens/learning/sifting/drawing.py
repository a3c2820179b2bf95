"""Drawing: cells of a box by chance, each draw a function of the seed that anyone can repeat.

The k-th draw (from 0) of a base in a family is number ⌊u · n⌋ of the base's n cells, where u is the
SHA-512 of "hornlens sift SEED FAMILY BASE K" as a fraction of 2⁵¹². One that was asked already, or
that the background forbids, is passed over. In a base of at most `SMALL` cells, n counts those that
were not asked yet, so that none is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha512

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Box, Cells, Ground, Numbered
from hornlens.learning.sifting.tally import Tally

SMALL = 1024
"""The cells of a base that has no more are gone through for those that were not asked."""
TRIES = 20_000
"""So many draws in a row may be passed over before a base is given up."""
Cell = NDArray[np.int64]


def fraction(seed: int, family: int, base: int, k: int, of: int) -> int:
    """Return a whole number from 0 to `of` - 1, as if by chance."""
    text = f"hornlens sift {seed} {family} {base} {k}"
    return int.from_bytes(sha512(text.encode()).digest(), "big") * of >> 512


def first_cells(ground: Ground, count: int, seed: int) -> Cells:
    """Draw so many distinct cells by chance; more of the same seed begin with the same ones."""
    rng, whole = np.random.default_rng([seed, 1]), ground.numbered((None,) * len(ground.axes))
    cells: dict[bytes, Cell] = {}
    most = min(count, whole.room)
    for _ in range(TRIES):
        if len(cells) == most:
            break
        cell = whole.any(rng)
        if ground.counted or bool(ground.allows(cell[None])[0]):
            cells.setdefault(cell.tobytes(), cell)
    return np.array(list(cells.values()), dtype=np.int64).reshape(len(cells), len(ground.axes))


@dataclass
class Stream:
    """The draws of one base in one family."""

    seed: int
    family: int
    base: int
    numbered: Numbered
    ground: Ground
    k: int = 0
    _small: list[Cell] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, seed: int, family: int, base: int, box: Box, ground: Ground) -> Stream:
        """Return the draws from a box."""
        return cls(seed, family, base, ground.numbered(box), ground)

    def draw(self, tally: Tally, taken: set[bytes]) -> Cell | None:
        """Return the next cell that was neither asked nor taken; None if there seems to be none."""
        if self.numbered.room <= SMALL:
            return self._draw_small(tally, taken)
        for _ in range(TRIES):
            number = fraction(self.seed, self.family, self.base, self.k, self.numbered.room)
            self.k += 1
            cell = self.numbered.cell(number)
            if self._fits(cell, tally, taken):
                return cell
        return None

    def _draw_small(self, tally: Tally, taken: set[bytes]) -> Cell | None:
        if self._small is None:
            self._small = [self.numbered.cell(number) for number in range(self.numbered.room)]
        self._small = [cell for cell in self._small if self._fits(cell, tally, taken)]
        if not self._small:
            return None
        at = fraction(self.seed, self.family, self.base, self.k, len(self._small))
        self.k += 1
        return self._small[at]

    def _fits(self, cell: Cell, tally: Tally, taken: set[bytes]) -> bool:
        if not tally.is_new(cell) or cell.tobytes() in taken:
            return False
        return self.ground.counted or bool(self.ground.allows(cell[None])[0])
