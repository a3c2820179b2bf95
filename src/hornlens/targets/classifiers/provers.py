"""Proofs about what a classifier says in boxes of cells, and cells that show the contrary.

A model that can be looked into bounds by how much one class leads over another in a box. So the
search in `bounding` proves what is said there, or finds a cell; where rounding decides, the model
itself is asked. How the bounds come about differs: `Vote` has trees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations, product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.occurring import Occurrence
from hornlens.targets.classifiers.bounding.pairs import AxisChange, PairOccurrence
from hornlens.targets.classifiers.bounding.rows import Flags, Floats
from hornlens.targets.classifiers.bounding.search import Verdicts
from hornlens.targets.classifiers.bounding.stacks import Intervals
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.points import Binned

PATIENCE = 20_000
"""After so many boxes, one question is given up."""


class Outcomes(NamedTuple):
    """What became of boxes and the classes that their cells are said to have.

    `status` is 1 where a cell is of another class, 0 where none is (proved), -1 where that is open;
    `cells` has the cell. `leads` is by how much another class can lead over the one of the box, as
    far as that is known: infinity, where one does.
    """

    status: NDArray[np.int8]
    cells: Levels
    leads: Floats


@dataclass(frozen=True, eq=False)
class Prover(ABC):
    """A model over the levels of features that is looked into, and which of its cells occur."""

    binned: Binned
    forbidden: tuple[tuple[int, ...], ...] = ()
    """Intervals of cells that do not occur, as sets of levels."""
    most_broken: int = 0
    """A cell occurs if it lies in at most so many of the forbidden boxes."""

    # --- what a kind of model has ---

    @property
    @abstractmethod
    def classes(self) -> int:
        """How many classes there are."""

    @abstractmethod
    def in_words(self, lead: float, place: int) -> str:
        """Say by how much other classes can lead over one at most; nothing if that is not known."""

    @abstractmethod
    def _leading(
        self, boxes: Intervals, count: int, place: int, other: int, patience: int
    ) -> Verdicts:
        """Look in boxes for a cell where a class leads over another one, or rounding decides so."""

    @abstractmethod
    def _winning(self, boxes: Intervals, place: int, patience: int) -> Verdicts:
        """Look in boxes of one query for a cell that gets a class."""

    @abstractmethod
    def _pairs(self, change: AxisChange, place: int, other: int, patience: int) -> Verdicts:
        """Look for a cell of one class, and one of another that differs only in a feature."""

    def asked_by(self, binned: Binned) -> Self:
        """Return the same model, whose cells another one asks."""
        return replace(self, binned=binned)

    # --- boxes and cells ---

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that have several levels."""
        return self.binned.features

    def mask(self, box: Box) -> list[int]:
        """Return a box as sets of levels."""
        return [((1 << high - low + 1) - 1) << low for low, high in box]

    def intervals(self, boxes: Sequence[Sequence[int]]) -> Intervals:
        """Return boxes, as sets of levels, in boxes of intervals, with the number of each."""
        known: dict[int, list[tuple[int, int]]] = {}
        rows: list[tuple[tuple[int, int], ...]] = []
        of: list[int] = []
        for number, box in enumerate(boxes):
            for mask in box:
                if mask not in known:
                    known[mask] = _runs(mask)
            for part in product(*(known[mask] for mask in box)):
                rows.append(part)
                of.append(number)
        ends = np.array(rows, dtype=np.intp).reshape(len(rows), len(self.features), 2)
        return Intervals(ends[:, :, 0], ends[:, :, 1], np.array(of, dtype=np.intp))

    @cached_property
    def occurring(self) -> Occurrence:
        """Which cells occur."""
        sizes = [feature.size for feature in self.features]
        return Occurrence(self.forbidden, sizes, self.most_broken)

    def occur(self, cells: Levels) -> Flags:
        """Say of each cell whether it occurs."""
        return self.occurring.occur(cells)

    def cell_in(self, box: Sequence[int]) -> Levels | None:
        """Return a cell of a box that occurs, if there is one; raise TooHard if that is open."""
        return self._occurring_in(self.intervals([box]))

    def _occurring_in(self, boxes: Intervals) -> Levels | None:
        for low, high in zip(boxes.lows, boxes.highs, strict=True):
            cell = self.occurring.cell_in(low, high, self.binned.check)
            if cell is not None:
                return cell
        return None

    def _pair_in(
        self, pairs: PairOccurrence, box: tuple[Levels, Levels], classes: list[int]
    ) -> tuple[Levels | None, bool]:
        """Return a pair of a box that counts, if there is one; and whether it has these classes."""
        pair = pairs.cell_in(*box, self.binned.check)
        if pair is None:
            return None, False
        answers = self.binned.ask(np.concatenate(pairs.change.ends(pair[None]))).tolist()
        return pair, answers == classes

    # --- questions ---

    def others_among(
        self, boxes: Sequence[Sequence[int]], places: Sequence[int], patience: int = PATIENCE
    ) -> tuple[Levels, NDArray[np.int8]]:
        """Look in each box for a cell that occurs and is not of the box's class; see `outcomes`."""
        status, cells, _ = self.outcomes(boxes, places, patience)
        return cells, status

    def outcomes(
        self, boxes: Sequence[Sequence[int]], places: Sequence[int], patience: int = PATIENCE
    ) -> Outcomes:
        """Look in each box for a cell that occurs and is not of the box's class.

        If a limit is reached, all that is not settled by then is open.

        Args:
            boxes: Boxes, as sets of levels.
            places: The class that the cells of each box are said to have.
            patience: After so many boxes, one of these is given up for each class.
        """
        return self.outcomes_in(self.intervals(boxes), np.array(places, dtype=np.intp), patience)

    def outcomes_in(
        self, boxes: Intervals, places: NDArray[np.intp], patience: int = PATIENCE
    ) -> Outcomes:
        """Do the same for boxes of intervals: `boxes.of` is the place of each in `places`."""
        count = len(places)
        status = np.zeros(count, dtype=np.int8)
        cells = np.zeros((count, len(self.features)), dtype=np.intp)
        leads = np.full(count, -np.inf)
        for place in np.unique(places).tolist():
            for other in range(self.classes):
                wanted = (places == place) & (status != 1)
                if other == place or not wanted.any():
                    continue
                some = boxes.some(wanted[boxes.of])
                verdicts = self._leading(some, count, place, other, patience)
                better = wanted & (verdicts.status == 1)
                cells[better] = verdicts.cells[better]
                worse = wanted & (verdicts.status != 0)
                status[worse] = verdicts.status[worse]
                leads[wanted] = np.maximum(leads[wanted], verdicts.bounds[wanted])
        return Outcomes(status, cells, leads)

    def any_of(
        self, box: Sequence[int], classes: int, patience: int = 50 * PATIENCE
    ) -> tuple[Levels | None, bool]:
        """Look in a box for a cell of one of some classes (bits); was the whole box looked at?

        If a limit is reached, it raises Stopped.
        """
        settled = True
        boxes = self.intervals([box])
        for place in range(self.classes):
            if not classes >> place & 1:
                continue
            verdicts = self._winning(boxes, place, patience)
            if verdicts.status[0] == 1:
                return verdicts.cells[0], True
            if verdicts.stopped is not None:
                raise verdicts.stopped
            settled &= verdicts.status[0] == 0
        return None, settled

    def flip_along(
        self, axis: int, patience: int = PATIENCE
    ) -> tuple[int, tuple[Levels, Levels] | None]:
        """Look for two cells that differ only in a feature, and in their classes.

        Return 1 and the cells, or 0 if there are none (proved), or -1 if that was too hard. If a
        limit is reached, it raises Stopped.
        """
        # Which of the two cells is the first does not matter: each two classes are looked at once.
        classes = combinations(range(self.classes), 2)
        return self._first_move(self._change(axis, None, not self.forbidden), classes, patience)

    def moved(
        self, axis: int, before: int, after: int, up: bool | None, patience: int = PATIENCE
    ) -> tuple[int, tuple[Levels, Levels] | None]:
        """Look for two cells that differ only in a feature, where a move changes the class.

        Both levels are known ones, the second is higher (`up`) or lower; or they are any two. A
        limit raises Stopped.

        Args:
            axis: The feature that changes.
            before: The classes of the first cell, as bits.
            after: The classes of the second cell, as bits.
            up: Whether the feature gets a higher level, or a lower one; None: any other.
            patience: After so many boxes, each two classes are given up.

        Returns:
            1 and the cells, or 0 if there are none (proved), or -1 if that was too hard.
        """
        every = (1 << self.classes) - 1
        classes = [
            (place, other)
            for place, other in permutations(range(self.classes), 2)
            if before >> place & 1 and after >> other & 1
        ]
        # Where it moves at all, it does so from one level to the next, if no class is left out.
        steps = not self.forbidden and before & after == 0 and before | after == every
        return self._first_move(self._change(axis, up, steps), classes, patience)

    def _change(self, axis: int, up: bool | None, steps: bool) -> AxisChange:
        feature = self.features[axis]
        known = feature.size - feature.missing
        return AxisChange(axis, len(self.features), feature.size, known, up, steps)

    def _first_move(
        self, change: AxisChange, classes: Iterable[tuple[int, int]], patience: int
    ) -> tuple[int, tuple[Levels, Levels] | None]:
        """Look for a change from one class to another, of each two in turn."""
        settled = 0
        for place, other in classes:
            verdicts = self._pairs(change, place, other, patience)
            if verdicts.status[0] == 1:
                first, second = change.ends(verdicts.cells)
                return 1, (first[0], second[0])
            if verdicts.stopped is not None:
                raise verdicts.stopped
            settled = min(settled, int(verdicts.status[0]))
        return settled, None


def _runs(mask: int) -> list[tuple[int, int]]:
    """Return the levels of a set as intervals."""
    runs, at = [], 0
    while mask:
        skipped = (mask & -mask).bit_length() - 1
        mask >>= skipped
        length = (~mask & (mask + 1)).bit_length() - 1
        runs.append((at + skipped, at + skipped + length - 1))
        mask >>= length
        at += skipped + length
    return runs
