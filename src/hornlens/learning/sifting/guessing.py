"""Guessing where answers differ, from the answers themselves.

Where the label of a cell says whether the answers to several *forms* of it are the same (two
models, or several values of an attribute), the label alone tells little as long as hardly any
differ. What was answered to each form tells more: answers differ where they are close to turning.
So a surrogate is fitted to the answers, with the form as one more attribute, and the chance that
they differ is worked out from its scores: with noise that all forms share, it is the distance
between the least and the largest chance of an answer; with noise of their own, the chance that not
all draws are the same; the mean of both is the guess. As all of a surrogate, it only chooses
questions: no claim rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornlens.learning.sifting.axes import Cells, Flags, Ground
from hornlens.learning.sifting.candidates import Statement
from hornlens.learning.sifting.surrogate import SWEEPS, Numbers, Surrogate, logistic

MOST_FORMS = 12
"""So many forms at most are looked at: the first ones."""
LEAST = 1e-4
"""No guess is further from 0 and 1 than this allows."""
STIFF = np.diag([0.1, 4.0])
"""How firmly the level is kept where it is, and the slope of the guess at 0."""
STEEPEST = 2.0
"""By how much a level or a slope changes at most in one step."""


@dataclass(frozen=True)
class Forms:
    """What is known of the forms: `count` of each cell, answered by one of so many `labels`.

    `answers` returns for cells, as masks, what was answered to each form: a label's place, or -1.
    """

    count: int
    labels: int
    answers: Callable[[Sequence[int]], NDArray[np.int64]]


class FormGuess:
    """Guesses the log-odds that the answers to the forms of a cell differ."""

    def __init__(self, ground: Ground, forms: Forms):
        """Begin with nothing heard."""
        self.ground, self.forms = ground, forms
        self.count = min(forms.count, MOST_FORMS)
        self._axes = len(ground.sizes)
        statements = 1 if forms.labels == 2 else forms.labels
        sizes = np.append(ground.sizes, self.count)
        self.surrogate = Surrogate(sizes, statements, pairs=self._axes)
        for i, size in enumerate(ground.sizes.tolist()):
            self.surrogate.pairs[i, self._axes] = np.zeros((statements, size, self.count))
        self._rows: Cells = np.zeros((0, self._axes + 1), dtype=np.int64)
        self._labels: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._heard = 0

    def fit(self, cells: Cells) -> None:
        """Take what was answered to cells, of which the first were there before."""
        new = cells[self._heard :]
        self._heard = len(cells)
        answers = self.forms.answers(self.ground.masks(new))[:, : self.count].reshape(-1)
        known = answers >= 0
        self._rows = np.concatenate([self._rows, self._in_forms(new)[known]])
        self._labels = np.concatenate([self._labels, answers[known]])
        if len(self._labels):
            labels = np.arange(self.surrogate.statements)
            self.surrogate.fit(self._rows, self._labels == labels[:, None])

    def _in_forms(self, cells: Cells) -> Cells:
        """Return a row for each form of each cell."""
        places = np.tile(np.arange(self.count), len(cells))
        return np.concatenate([np.repeat(cells, self.count, axis=0), places[:, None]], axis=1)

    def odds(self, cells: Cells) -> Numbers:
        """Return the guess for each cell."""
        scores = self.surrogate.scores(self._in_forms(cells))
        return _differing(scores.reshape(-1, len(cells), self.count))

    def along(self, cells: Cells, i: int) -> Numbers:
        """Return the guess for each level of one attribute, the others being fixed."""
        rows = self._in_forms(cells)
        scores = self.surrogate.varied(rows, i, self.surrogate.scores(rows))
        size = scores.shape[2]
        parted = scores.reshape(-1, len(cells), self.count, size)
        return _differing(parted.transpose(0, 1, 3, 2))


def _differing(scores: Numbers) -> Numbers:
    """Return the log-odds that answers differ, by the scores of each label and (last) each form."""
    chances = logistic(scores)
    shared = chances.max(axis=-1) - chances.min(axis=-1)
    alone = 1 - chances.prod(axis=-1) - (1 - chances).prod(axis=-1)
    guess = np.clip(((shared + alone) / 2).max(axis=0), LEAST, 1 - LEAST)
    odds: Numbers = np.log(guess) - np.log1p(-guess)
    return odds


class GuidedSurrogate(Surrogate):
    """A surrogate that is told a guess as well, and learns how much it is worth."""

    def __init__(self, ground: Ground, statements: Sequence[Statement], forms: Forms):
        """Begin with a guess that is worth nothing."""
        super().__init__(ground.sizes, len(statements))
        self.guess = FormGuess(ground, forms)
        self.slope = np.zeros(len(statements))
        self.middle = 0.0
        """The guess on average, from which it is counted."""

    def scores(self, cells: Cells) -> Numbers:
        """Return the log-odds of each statement to be broken in each cell, by the guess, too."""
        scores: Numbers = super().scores(cells) + np.outer(self.slope, self._guessed(cells))
        return scores

    def varied(self, cells: Cells, i: int, scores: Numbers) -> Numbers:
        """Return the scores with each level of one attribute, the others being fixed."""
        own = super().varied(cells, i, super().scores(cells))
        further = self.guess.along(cells, i) - self.middle
        guessed: Numbers = own + self.slope[:, None, None] * further
        return guessed

    def _guessed(self, cells: Cells) -> Numbers:
        return self.guess.odds(cells) - self.middle

    def fit(self, cells: Cells, broken: Flags) -> None:
        """Fit the guess, how much it is worth, and the rest to what it does not explain."""
        self.guess.fit(cells)
        odds, truth = self.guess.odds(cells), broken.astype(np.float64)
        self.middle = float(odds.mean())
        guess = odds - self.middle
        self._set_bias(truth)
        scores = self.scores(cells)
        for _ in range(SWEEPS):
            scores = self._mend_slope(truth, scores, guess)
            scores = self._mend(truth, scores, cells)
        self._look_for_pairs(truth, scores, cells)

    def _mend_slope(self, truth: Numbers, scores: Numbers, guess: Numbers) -> Numbers:
        """Take a step of level and slope."""
        inputs = np.stack([np.ones_like(guess), guess])
        guessed = logistic(scores)
        steps = np.empty((len(truth), 2))
        for r, doubt in enumerate(guessed * (1 - guessed)):
            curve = (inputs * doubt) @ inputs.T + STIFF
            pull = STIFF @ (0.0, self.slope[r])
            steps[r] = np.linalg.solve(curve, inputs @ (truth[r] - guessed[r]) - pull)
        steps = np.clip(steps, -STEEPEST, STEEPEST)
        self.bias = self.bias + steps[:, 0]
        self.slope = self.slope + steps[:, 1]
        mended: Numbers = scores + steps @ inputs
        return mended
