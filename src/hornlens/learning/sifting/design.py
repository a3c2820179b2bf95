"""Design: cells in which many doubtful candidates meet, and whose likely answer breaks them.

Each cell is found by going through its attributes, one after the other, and taking the level that
promises most. What a cell promises is summed over all candidates that it lies in: the chance that
its answer breaks the statement, by the weight of the doubt. So the weights are first summed up by
combinations of levels, where a level meets several conditions.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Cells, Flags
from hornlens.learning.sifting.candidates import CandidateRules
from hornlens.learning.sifting.surrogate import chance
from hornlens.learning.sifting.tally import Tally

SWEEPS = 2
"""How often a cell's attributes are gone through."""
Weights = NDArray[np.float32]


class LevelTables:
    """Where the combinations of levels stand in the tables: as `CandidateRules`, but of levels."""

    def __init__(self, candidates: CandidateRules):
        """Lay out the tables."""
        self.candidates, axes = candidates, candidates.ground.axes
        self.blocks = candidates.blocks
        self.shapes = [tuple(axes[i].size for i in block) for block in self.blocks]
        lengths = [prod(shape) for shape in self.shapes]
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)[:-1]
        self.size = sum(lengths)
        self.strides = np.zeros((len(self.blocks), len(axes)), dtype=np.int64)
        for place, (block, shape) in enumerate(zip(self.blocks, self.shapes, strict=True)):
            for k, i in enumerate(block):
                self.strides[place, i] = prod(shape[k + 1 :])
        self.having = [np.flatnonzero(self.strides[:, i]) for i in range(len(axes))]
        self.plain = all(axes[i].is_plain for block in self.blocks for i in block)
        """Whether levels are conditions: then the weights are the tables."""
        self._meets = [axis.meets.astype(np.float32) for axis in axes]

    def index(self, cells: Cells) -> NDArray[np.int64]:
        """Return where the combinations of each cell stand, one in each block."""
        places: NDArray[np.int64] = cells @ self.strides.T + self.offsets
        return places

    def summed(self, weights: Weights) -> Weights:
        """Return for each statement the weight of all candidates that levels lie in."""
        if self.plain:
            return weights[:, :-1].copy()
        tables = np.empty((len(weights), self.size), dtype=np.float32)
        candidates = self.candidates
        for place, (block, shape) in enumerate(zip(self.blocks, self.shapes, strict=True)):
            start, length = int(candidates.offsets[place]), prod(candidates.shapes[place])
            part = weights[:, start : start + length]
            if not part.any():
                first = int(self.offsets[place])
                tables[:, first : first + prod(shape)] = 0
                continue
            part = part.reshape(len(weights), *candidates.shapes[place])
            for k, i in enumerate(block):
                part = np.moveaxis(np.tensordot(part, self._meets[i], (k + 1, 1)), -1, k + 1)
            first = int(self.offsets[place])
            tables[:, first : first + prod(shape)] = part.reshape(len(weights), -1)
        return tables


class Design:
    """Finds the next cells for a tally."""

    def __init__(self, tally: Tally, rng: np.random.Generator):
        """Lay out the tables; nothing is chosen yet."""
        self.tally, self.rng = tally, rng
        self.levels = LevelTables(tally.candidates)

    def cells(self, count: int, group: int, weights: Weights) -> tuple[Cells, NDArray[np.float64]]:
        """Return cells that are worth asking together, and what each promises to break.

        What is met counts for less in the next cells, of the same levels at least.
        """
        rows: list[Cells] = []
        promised: list[float] = []
        tables = self.levels.summed(weights)
        pools = [np.flatnonzero(w > 0.5 * w.max()) if w.max() > 0 else None for w in weights]
        while len(promised) < count:
            cells = self._started(min(group, count - len(promised)), pools)
            chances = self._ascend(cells, tables)
            index = self.levels.index(cells)
            for k in range(len(cells)):
                own = tables[:, index[k]].sum(axis=1)
                promised.append(float((chances[:, k] * own).sum()))
                tables[:, index[k]] *= (1 - chances[:, k, None]).astype(np.float32)
            rows.append(cells)
        return np.concatenate(rows), np.array(promised)

    def _started(self, count: int, pools: list[NDArray[np.intp] | None]) -> Cells:
        """Return random cells, each inside a candidate that is in much doubt."""
        ground, candidates = self.tally.ground, self.tally.candidates
        cells = self.random(count)
        for k in range(count):
            pool = pools[self.rng.integers(len(pools))]
            if pool is None:
                continue
            chosen = int(pool[self.rng.integers(len(pool))])
            changed = cells[k : k + 1].copy()
            for i, condition in candidates.conditions(chosen).items():
                fitting = np.flatnonzero(ground.axes[i].meets[:, condition])
                changed[0, i] = fitting[self.rng.integers(len(fitting))]
            if ground.allows(changed)[0]:
                cells[k] = changed[0]
        return cells

    def random(self, count: int) -> Cells:
        """Return cells that the background allows, drawn uniformly where it can be counted."""
        ground = self.tally.ground
        cells = self.rng.integers(0, ground.sizes, (count, len(ground.axes)))
        if not ground.bound:
            return cells
        if ground.counted:
            chosen = self.rng.integers(0, len(ground.combined), count)
            cells[:, ground.bound] = ground.combined[chosen]
            return cells
        for _ in range(1000):
            wrong = np.flatnonzero(~ground.allows(cells))
            if not len(wrong):
                break
            cells[wrong] = self.rng.integers(0, ground.sizes, (len(wrong), len(ground.axes)))
        return cells[ground.allows(cells)]

    def _ascend(self, cells: Cells, tables: Weights) -> NDArray[np.float64]:
        """Take the best level of one attribute after the other; return what breaks how likely."""
        levels, surrogate = self.levels, self.tally.surrogate
        many = np.arange(len(cells))
        index = levels.index(cells)
        scores = surrogate.scores(cells)
        gains = tables[:, index].sum(axis=2)
        for _ in range(SWEEPS):
            for i in self.rng.permutation(len(levels.having)):
                blocks = levels.having[i]
                if not len(blocks):
                    continue
                stride = levels.strides[blocks, i]
                base = index[:, blocks] - cells[:, i : i + 1] * stride
                size = int(self.tally.ground.sizes[i])
                steps = stride[None, :, None] * np.arange(size)
                own = tables[:, base[:, :, None] + steps].sum(axis=2)
                gain = (gains - own[:, many, cells[:, i]])[:, :, None] + own
                score = surrogate.varied(cells, i, scores)
                worth = (chance(score) * gain).sum(axis=0)
                worth *= 1 + 1e-6 * self.rng.random(worth.shape)
                if self.tally.ground.bound:
                    worth[~self._allowed(cells, i, size)] = -1.0
                best = worth.argmax(axis=1)
                cells[:, i] = best
                gains, scores = gain[:, many, best], score[:, many, best]
                index[:, blocks] = base + best[:, None] * stride
        return chance(scores)

    def _allowed(self, cells: Cells, i: int, size: int) -> Flags:
        """Say which levels of one attribute the background allows, the others being fixed."""
        rows = np.repeat(cells, size, axis=0)
        rows[:, i] = np.tile(np.arange(size), len(cells))
        return self.tally.ground.allows(rows).reshape(len(cells), size)
