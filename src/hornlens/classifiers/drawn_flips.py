"""Flips among random inputs: how often a change of some columns changes the class, with a bound.

An input is drawn with every column uniform over its levels, and uniform in its bin; those that the
background rules out are drawn again. It is put to the classifier with every level of the columns
that are changed. The bound is Clopper and Pearson's, with δ parted among all columns: what is said
of several columns, each changed by itself, holds of all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import Explained
from hornlens.exact.boxes.cells import Levels
from hornlens.logic.shares import most_share
from hornlens.results.analysis.flips import EXAMPLES
from hornlens.results.documents.flips import FlipPair
from hornlens.targets.classifiers.columns import Column
from hornlens.targets.classifiers.metering import Meter

MOST_DRAWN = 10_000
"""How many inputs are drawn at most."""
MOST_ASKED = 200_000
"""How many times the classifier is asked for them at most, about."""
FEWEST = 1_000
"""How many inputs are drawn at least, however many levels the columns have."""
BLOCK = 1_000
"""How many inputs are drawn at a time."""
TRIES = 50
"""How often a block is drawn again, where the background rules most of it out."""


class DrawnFlips(NamedTuple):
    """Of `drawn` random inputs, `changed` get another class; at most `bound` of all do."""

    drawn: int
    changed: int
    bound: float | None
    examples: tuple[FlipPair, ...] = ()


def drawn_flips(result: Explained, axes: Sequence[int], meter: Meter | None = None) -> DrawnFlips:
    """Draw inputs, change some features of each, and count those whose class changes.

    If a limit comes first, what was asked by then counts.
    """
    work = _Drawing(result, tuple(axes), meter)
    wanted = max(FEWEST, min(MOST_DRAWN, MOST_ASKED // len(work.choices)))
    drawn = changed = 0
    examples: list[FlipPair] = []
    for _ in range(TRIES * wanted // BLOCK):
        if drawn >= wanted:
            break
        flipped = work.block(min(BLOCK, wanted - drawn), examples)
        if flipped is None:
            break
        drawn += len(flipped)
        changed += int(np.count_nonzero(flipped))
    delta = result.settings.delta / max(1, len(result.binned.features))
    bound = most_share(changed, drawn, delta) if drawn else None
    return DrawnFlips(drawn, changed, bound, tuple(examples))


class _Drawing:
    """What is drawn from, and how the classifier is asked."""

    def __init__(self, result: Explained, axes: tuple[int, ...], meter: Meter | None):
        self.binned, self.axes, self.meter = result.binned, axes, meter
        self.rng = np.random.default_rng(result.settings.seed)
        features = self.binned.features
        self.choices = list(product(*(range(features[axis].size) for axis in axes)))
        self.forbidden = result.forbidden

    def block(self, count: int, examples: list[FlipPair]) -> NDArray[np.bool_] | None:
        """Draw some inputs; say which of them change, or nothing if a limit comes first.

        Inputs of which fewer than two forms can occur are no inputs.
        """
        binned = self.binned
        sizes = [feature.size for feature in binned.features]
        cells: Levels = self.rng.integers(0, sizes, (count, len(sizes))).astype(np.intp)
        columns = [feature.draw_uniform(count, self.rng) for feature in binned.every]
        for axis, place in enumerate(binned.telling):
            columns[place] = binned.every[place].draw(cells[:, axis], self.rng)
        answers = np.full((len(self.choices), count), -1, dtype=np.intp)
        for k, levels in enumerate(self.choices):
            self._set(columns, cells, levels)
            decided = self._ask(columns)
            if decided is None:
                return None
            answers[k] = np.where(self.forbidden.allows(cells), decided, -1)
        occurs = np.count_nonzero(answers >= 0, axis=0) > 1
        first = answers[np.argmax(answers >= 0, axis=0), np.arange(count)]
        others = (answers >= 0) & (answers != first)
        flipped = others.any(axis=0) & occurs
        for row in np.flatnonzero(flipped)[: EXAMPLES - len(examples)].tolist():
            low, high = int(np.argmax(answers[:, row] >= 0)), int(np.argmax(others[:, row]))
            examples.append(self._pair(columns, cells, answers, row, (low, high)))
        kept: NDArray[np.bool_] = flipped[occurs]
        return kept

    def _set(self, columns: list[Column], cells: Levels, levels: Sequence[int]) -> None:
        """Set the columns that are changed to levels, in all rows."""
        for axis, level in zip(self.axes, levels, strict=True):
            cells[:, axis] = level
            place = self.binned.telling[axis]
            columns[place] = self.binned.every[place].column(cells[:, axis])

    def _ask(self, columns: list[Column]) -> Levels | None:
        decide = self.binned.classifier.decide
        if self.meter is None:
            return decide(columns)
        decided = self.meter.answers(decide, columns)
        return decided if len(decided) == len(columns[0]) else None

    def _pair(
        self,
        columns: list[Column],
        cells: Levels,
        answers: Levels,
        row: int,
        places: tuple[int, int],
    ) -> FlipPair:
        names, labels = self.binned.classifier.table.names, self.binned.classifier.labels
        shown = []
        for place in places:
            self._set(columns, cells, self.choices[place])
            values = (column[row] for column in columns)
            plain = [v.item() if isinstance(v, np.generic) else v for v in values]
            shown.append((dict(zip(names, plain, strict=True)), labels[answers[place, row]]))
        return FlipPair(*shown[0], *shown[1])
