"""The tally: which cells were asked, what was answered, and which candidates that leaves alive."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Cells, Flags, Ground
from hornlens.learning.sifting.candidates import Candidates, Statement
from hornlens.learning.sifting.surrogate import Surrogate
from hornlens.logic.batch import Words, pack, words_needed

GROWTH = 1.15
"""The surrogate is fitted anew when there are so many times more answers than last time."""
CHUNK = 16
"""So many cells at a time are put into the tally, for the sake of memory."""
Answers = NDArray[np.int8]
"""For each cell and label: 1 accepted, 0 not, -1 not known."""


class Tally:
    """What is known, for every candidate at once.

    `dead` says of each statement and candidate whether an answer breaks it. The arrays have one
    place more than there are candidates, for what lies in none.
    """

    def __init__(
        self,
        ground: Ground,
        candidates: Candidates,
        statements: Sequence[Statement],
        concluding: int,
    ):
        """Begin with nothing asked. Values are concluded from up to `concluding` conditions."""
        self.ground, self.candidates, self.statements = ground, candidates, tuple(statements)
        many, count = len(self.statements), candidates.count + 1
        self.dead = np.zeros((many, count), dtype=np.bool_)
        self.survival = np.zeros((many, count), dtype=np.float32)
        """The log of how likely it was to survive so far, for what is no rule."""
        self.inside = np.zeros(count, dtype=np.int32)
        """How many cells were asked in each candidate."""
        self.void = candidates.rooms == 0 if ground.counted else np.zeros(count, dtype=np.bool_)
        self.void[-1] = True
        self.surrogate = Surrogate(ground.sizes, many)
        self.order: list[int] = []
        """The cells as masks, in the order in which they were asked."""
        self.place: dict[bytes, int] = {}
        self.cells: Cells = np.zeros((0, len(ground.axes)), dtype=np.int64)
        self.broken: Flags = np.zeros((many, 0), dtype=np.bool_)
        self.unknown: Flags = np.zeros((many, 0), dtype=np.bool_)
        self.concluding = concluding
        short = sum(1 for block in candidates.blocks if len(block) <= concluding)
        ends = np.append(candidates.offsets, candidates.count)
        self.short = int(ends[short]) if concluding >= 0 else 0
        """So many candidates, the first ones, may have values for a conclusion."""
        width = words_needed(ground.space.width)
        self.meet: Words = np.full((many, self.short + 1, width), -1, dtype=np.int64)
        """For each of these what all the cells have that break it; all bits where none does."""
        self._fitted = 0

    def __len__(self) -> int:
        """Return how many cells were asked."""
        return len(self.order)

    def grow(self, cells: Cells, masks: Sequence[int], answers: Answers) -> None:
        """Take the answers to cells that are new."""
        broken, unknown = self._judged(answers)
        chances = self.surrogate.chances(cells)
        for first in range(0, len(cells), CHUNK):
            some = slice(first, first + CHUNK)
            index = self.candidates.containing(cells[some])
            np.add.at(self.inside, index.ravel(), 1)
            for r in range(len(self.statements)):
                hits, clean = broken[r, some], ~(broken[r, some] | unknown[r, some])
                self.dead[r][index[hits].ravel()] = True
                lost = np.log1p(-chances[r, some][clean]).astype(np.float32)
                np.add.at(
                    self.survival[r], index[clean].ravel(), np.repeat(lost, index.shape[1])
                )
                if self.short and hits.any():
                    self._meet(r, index[hits], [m for m, h in zip(masks[some], hits) if h])
        start = len(self.order)
        self.order += masks
        self.place |= {row.tobytes(): start + k for k, row in enumerate(cells)}
        self.cells = np.concatenate([self.cells, cells])
        self.broken = np.concatenate([self.broken, broken], axis=1)
        self.unknown = np.concatenate([self.unknown, unknown], axis=1)
        if len(self.order) > self._fitted * GROWTH + 16:
            self.surrogate.fit(self.cells, self.broken)
            self._fitted = len(self.order)

    def _judged(self, answers: Answers) -> tuple[Flags, Flags]:
        """Return which statements each cell breaks, and of which that is not known."""
        broken = [(answers[:, s.breaks] == 1).any(axis=1) for s in self.statements]
        maybe = [(answers[:, s.breaks] == -1).any(axis=1) for s in self.statements]
        hits = np.array(broken, dtype=np.bool_).reshape(len(broken), len(answers))
        return hits, np.array(maybe, dtype=np.bool_).reshape(hits.shape) & ~hits

    def _meet(self, r: int, index: NDArray[np.int64], masks: Sequence[int]) -> None:
        words = pack(masks, self.ground.space.width)
        for row, word in zip(index, words, strict=True):
            own = row[row < self.short]
            self.meet[r][own] &= word

    def is_new(self, cell: NDArray[np.int64]) -> bool:
        """Say whether a cell was not asked yet."""
        return cell.tobytes() not in self.place

    def alive(self, r: int) -> Flags:
        """Return which candidates are alive with a statement."""
        return ~self.dead[r] & ~self.void

    @property
    def live(self) -> int:
        """How many candidates are alive, over all statements."""
        return sum(int(self.alive(r).sum()) for r in range(len(self.statements)))

    @property
    def possible(self) -> int:
        """How many there are in all."""
        return int((~self.void).sum()) * len(self.statements)

    def is_whole(self, candidate: int) -> bool:
        """Say whether every cell of a candidate was asked."""
        room = self.candidates.rooms[candidate]
        return self.ground.counted and bool(self.inside[candidate] >= room)
