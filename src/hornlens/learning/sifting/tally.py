"""The tally: which cells were asked, what was answered, and which candidates that leaves alive."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Cells, Flags, Ground
from hornlens.learning.sifting.candidates import CandidateRules, Statement
from hornlens.learning.sifting.surrogate import Surrogate
from hornlens.logic.batch import Words, pack, words_needed

GROWTH = 1.15
"""The surrogate is fitted anew when there are so many times more answers than last time."""
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
        candidates: CandidateRules,
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
        self.hidden = np.zeros((many, count), dtype=np.bool_)
        """Which candidates are special cases of a rule with exceptions that stands for them."""
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
        self._short_blocks = short
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
        lost = np.where(broken | unknown, 0, np.log1p(-chances)).astype(np.float32)
        if self.candidates.is_single:
            self._count_each(cells, broken, lost)
        else:
            self._count_blocks(cells, broken, lost)
        if self.short:
            index = self.candidates.containing(cells, self._short_blocks)
            words = pack(masks, self.ground.space.width)
            for r in range(len(self.statements)):
                for k in np.flatnonzero(broken[r]):
                    self.meet[r][np.minimum(index[k], self.short)] &= words[k]
        start = len(self.order)
        self.order += masks
        self.place |= {row.tobytes(): start + k for k, row in enumerate(cells)}
        self.cells = np.concatenate([self.cells, cells])
        self.broken = np.concatenate([self.broken, broken], axis=1)
        self.unknown = np.concatenate([self.unknown, unknown], axis=1)
        if len(self.order) > self._fitted * GROWTH + 16:
            self.surrogate.fit(self.cells, self.broken)
            self._fitted = len(self.order)

    def _count_each(self, cells: Cells, broken: Flags, lost: NDArray[np.float32]) -> None:
        """Count the cells in the few candidates that each of them lies in."""
        index = self.candidates.containing(cells)
        np.add.at(self.inside, index.ravel(), 1)
        for r in range(len(self.statements)):
            self.dead[r][index[broken[r]].ravel()] = True
            np.add.at(self.survival[r], index.ravel(), np.repeat(lost[r], index.shape[1]))

    def _count_blocks(self, cells: Cells, broken: Flags, lost: NDArray[np.float32]) -> None:
        """The same, block by block, where a cell lies in many candidates; dead blocks are left."""
        many, candidates = len(self.statements), self.candidates
        values = np.concatenate([np.ones((1, len(cells))), broken, lost]).T.astype(np.float32)
        ends = np.append(candidates.offsets, candidates.count)
        for place in range(len(candidates.blocks)):
            own = slice(int(ends[place]), int(ends[place + 1]))
            if self.dead[:, own].all():
                continue
            sums = candidates.sums(place, cells, values)
            self.inside[own] += np.rint(sums[:, 0]).astype(np.int32)
            self.dead[:, own] |= sums[:, 1 : 1 + many].T > 0.5
            self.survival[:, own] += sums[:, 1 + many :].T

    def _judged(self, answers: Answers) -> tuple[Flags, Flags]:
        """Return which statements each cell breaks, and of which that is not known."""
        broken = [(answers[:, s.breaks] == 1).any(axis=1) for s in self.statements]
        maybe = [(answers[:, s.breaks] == -1).any(axis=1) for s in self.statements]
        hits = np.array(broken, dtype=np.bool_).reshape(len(broken), len(answers))
        return hits, np.array(maybe, dtype=np.bool_).reshape(hits.shape) & ~hits

    def is_new(self, cell: NDArray[np.int64]) -> bool:
        """Say whether a cell was not asked yet."""
        return cell.tobytes() not in self.place

    def alive(self, r: int) -> Flags:
        """Return which candidates are alive with a statement, and hidden by no other rule."""
        alive: Flags = ~(self.dead[r] | self.void | self.hidden[r])
        return alive

    def hide(self, r: int, candidate: int) -> None:
        """Hide a candidate with all that is more special."""
        hidden = self.hidden[r]
        hidden[candidate] = True
        for rank in self.candidates.ranks[1:]:
            hidden[rank] |= hidden[self.candidates.parents[rank]].any(axis=1)

    @property
    def live(self) -> int:
        """How many candidates no answer breaks, over all statements."""
        return int((~(self.dead | self.void)).sum())

    @property
    def possible(self) -> int:
        """How many there are in all."""
        return int((~self.void).sum()) * len(self.statements)

    def is_whole(self, candidate: int) -> bool:
        """Say whether every cell of a candidate was asked."""
        room = self.candidates.rooms[candidate]
        return self.ground.counted and bool(self.inside[candidate] >= room)
