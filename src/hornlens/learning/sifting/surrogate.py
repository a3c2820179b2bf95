"""A surrogate: guesses how likely an answer breaks each statement, from the answers so far.

For each statement a logistic model: a number for each level of each attribute, and for a few pairs
of attributes that explain most of what is left. It only chooses questions: no claim rests on it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Cells, Flags

Numbers = NDArray[np.float64]
LEAST = 0.004
"""Nothing is guessed to be less likely than this, nor more than its opposite."""
SWEEPS = 4
"""How often all numbers are mended in one fitting."""
FEW = 150
"""With fewer answers than this, no pair of attributes is looked at."""
PAIRS = 8
"""How many pairs of attributes there are at most."""
CLEAR = 3.0
"""By how many standard deviations a pair has to explain more than chance would."""
PAIRED = 150
"""The pairs of so many attributes are looked at, at most: of those that tell most by themselves."""
LARGEST_PAIR = 4_000
"""A pair with more combinations of levels than this is not looked at."""


class Surrogate:
    """Guesses the chance that a cell's answer breaks each statement."""

    def __init__(self, sizes: NDArray[np.int64], statements: int, pairs: int = 0):
        """Take the number of levels of each attribute, and of statements.

        So many `pairs` of attributes come beside those that are found.
        """
        self.sizes, self.statements, self.most_pairs = sizes, statements, PAIRS + pairs
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        width = int(self.starts[-1])
        self.bias = np.zeros(statements)
        self.main = np.zeros((statements, width))
        self.pairs: dict[tuple[int, int], Numbers] = {}
        """For each pair that is looked at, a table for each statement."""

    def scores(self, cells: Cells) -> Numbers:
        """Return the log-odds of each statement to be broken in each cell: (statements, cells)."""
        own = self.main[:, cells + self.starts[:-1]].sum(axis=2)
        scores: Numbers = self.bias[:, None] + own
        for (i, j), table in self.pairs.items():
            scores = scores + table[:, cells[:, i], cells[:, j]]
        return scores

    def along(self, cells: Cells, i: int) -> Numbers:
        """Return what each level of one attribute adds to the scores, the others being fixed."""
        size = int(self.sizes[i])
        own = self.main[:, self.starts[i] : self.starts[i] + size]
        added = np.broadcast_to(own[:, None, :], (self.statements, len(cells), size))
        for (a, b), table in self.pairs.items():
            if a == i:
                added = added + table[:, :, cells[:, b]].transpose(0, 2, 1)
            elif b == i:
                added = added + table[:, cells[:, a], :]
        return added

    def varied(self, cells: Cells, i: int, scores: Numbers) -> Numbers:
        """Return the scores with each level of one attribute: (statements, cells, levels).

        `scores` are those of the cells as they are.
        """
        added, many = self.along(cells, i), np.arange(len(cells))
        rest = scores - added[:, many, cells[:, i]]
        varied: Numbers = rest[:, :, None] + added
        return varied

    def chances(self, cells: Cells) -> Numbers:
        """Return how likely each statement is broken in each cell."""
        return chance(self.scores(cells))

    def fit(self, cells: Cells, broken: Flags) -> None:
        """Fit to cells and which statements each of them breaks: (statements, cells)."""
        truth = broken.astype(np.float64)
        self._set_bias(truth)
        scores = self.scores(cells)
        for _ in range(SWEEPS):
            scores = self._mend(truth, scores, cells)
        self._look_for_pairs(truth, scores, cells)

    def _set_bias(self, truth: Numbers) -> None:
        share = (truth.mean(axis=1) * truth.shape[1] + 0.5) / (truth.shape[1] + 1)
        self.bias = np.log(share) - np.log1p(-share)

    def _mend(self, truth: Numbers, scores: Numbers, cells: Cells) -> Numbers:
        """Mend all numbers once; return the scores with them."""
        for i, size in enumerate(self.sizes.tolist()):
            step, scores = _mended(truth, scores, cells[:, i], size, 1.0)
            self.main[:, self.starts[i] : self.starts[i] + size] += step
        for i, j in self.pairs:
            scores = self._mend_pair(truth, scores, cells, i, j)
        return scores

    def _look_for_pairs(self, truth: Numbers, scores: Numbers, cells: Cells) -> None:
        if truth.shape[1] >= FEW and len(self.pairs) < self.most_pairs:
            self._add_pairs(truth, scores, cells)

    def _mend_pair(self, truth: Numbers, scores: Numbers, cells: Cells, i: int, j: int) -> Numbers:
        rows, columns = int(self.sizes[i]), int(self.sizes[j])
        key = cells[:, i] * columns + cells[:, j]
        step, scores = _mended(truth, scores, key, rows * columns, 3.0)
        self.pairs[i, j] = self.pairs[i, j] + step.reshape(-1, rows, columns)
        return scores

    def _telling(self) -> list[int]:
        """Return the attributes that tell most by themselves, in order: all, if they are few."""
        count = len(self.sizes)
        if count <= PAIRED:
            return list(range(count))
        spread = np.abs(self.main).max(axis=0)
        most = np.maximum.reduceat(spread, self.starts[:-1])
        return sorted(map(int, np.argsort(-most, kind="stable")[:PAIRED]))

    def _add_pairs(self, truth: Numbers, scores: Numbers, cells: Cells) -> None:
        """Look at the two pairs that explain most of the rest, if they clearly do."""
        guessed = logistic(scores)
        # One statement's rest tells enough: of two labels, the other's is the same.
        which = int(np.argmax((guessed * (1 - guessed)).sum(axis=1)))
        rest, doubt = truth[which] - guessed[which], guessed[which] * (1 - guessed[which])
        gains = []
        for i, j in combinations(self._telling(), 2):
            size = int(self.sizes[i] * self.sizes[j])
            if (i, j) in self.pairs or size > LARGEST_PAIR:
                continue
            key = cells[:, i] * self.sizes[j] + cells[:, j]
            moved, weight = np.bincount(key, rest, size), np.bincount(key, doubt, size)
            gain = (moved * moved / (weight + 0.5)).sum() - (weight / (weight + 0.5)).sum()
            gains.append((gain / np.sqrt(2 * size), i, j))
        for gain, i, j in sorted(gains, reverse=True)[:2]:
            if gain > CLEAR:
                shape = (self.statements, int(self.sizes[i]), int(self.sizes[j]))
                self.pairs[i, j] = np.zeros(shape)
                scores = self._mend_pair(truth, scores, cells, i, j)


def chance(scores: Numbers) -> Numbers:
    """Return log-odds as chances, none of which is nearly certain."""
    return LEAST + (1 - 2 * LEAST) * logistic(scores)


def logistic(scores: Numbers) -> Numbers:
    """Return log-odds as chances."""
    guessed: Numbers = 1 / (1 + np.exp(-np.clip(scores, -40, 40)))
    return guessed


def _mended(
    truth: Numbers, scores: Numbers, key: NDArray[np.int64], size: int, prior: float
) -> tuple[Numbers, Numbers]:
    """Return a step for each value of a key, and the scores with it."""
    guessed = logistic(scores)
    doubt = guessed * (1 - guessed)
    step = np.stack(
        [
            np.bincount(key, truth[r] - guessed[r], size)
            / (np.bincount(key, doubt[r], size) + prior)
            for r in range(len(truth))
        ]
    )
    return step, scores + step[:, key]
