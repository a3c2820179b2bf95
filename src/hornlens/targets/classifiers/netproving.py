"""Proofs about networks and linear models, without asking every cell: bounds of their sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hornlens.exact.boxes.cells import Levels
from hornlens.exact.networks.network import Floats, Network
from hornlens.targets.classifiers.bounding.networks import NetworkSearch, NetworkTables
from hornlens.targets.classifiers.bounding.occurring import TooHard
from hornlens.targets.classifiers.bounding.pairs import AxisChange, PairOccurrence
from hornlens.targets.classifiers.bounding.search import Verdicts
from hornlens.targets.classifiers.bounding.stacks import Intervals
from hornlens.targets.classifiers.networks import NetworkModel
from hornlens.targets.classifiers.provers import Prover


@dataclass(frozen=True, eq=False)
class NetworkProver(Prover):
    """A network over the levels of features. A level of numbers stands for all between its ends.

    What is proved is so of all of them. Where a box has one level on each axis and nothing is
    proved, its point is asked; other numbers of it may still say something else.
    """

    model: NetworkModel | None = None

    @property
    def classes(self) -> int:
        """How many classes there are."""
        assert self.model is not None
        return self.model.classes

    @cached_property
    def network(self) -> Network:
        """The network over the levels."""
        assert self.model is not None
        return self.model.over(self.binned)

    @cached_property
    def has_points(self) -> bool:
        """Whether each level of each feature stands for one value."""
        return all(each.has_points for each in self.network.inputs)

    def in_words(self, lead: float, place: int) -> str:
        """Say by how much other classes can lead over one at most; nothing if that is not known."""
        if not np.isfinite(lead):
            return ""
        own = self.binned.classifier.labels[place]
        return f"No class leads over {own} by more than {lead + 1e-9:.3g} in the sums of the model."

    def _leading(
        self, boxes: Intervals, count: int, place: int, other: int, patience: int
    ) -> Verdicts:
        """Look in boxes for a cell where a class leads over another one, or rounding decides so."""
        parts = self._lead(other, place)[:, None]
        confirm = self._confirming(lambda classes: classes[0] != place)
        return self._searched(self.network.combined(parts), confirm, patience, boxes, count)

    def _winning(self, boxes: Intervals, place: int, patience: int) -> Verdicts:
        """Look in boxes of one query for a cell that gets a class."""
        confirm = self._confirming(lambda classes: classes[0] == place)
        wins = self.network.combined(self._wins(place))
        return self._searched(wins, confirm, patience, boxes, 1)

    def _pairs(self, change: AxisChange, place: int, other: int, patience: int) -> Verdicts:
        """Look for a cell of one class, and one of another that differs only in a feature."""
        axes, sizes = change.axes, [feature.size for feature in self.features]
        ends = np.array([0] * (axes + 1)), np.array([*sizes, change.size]) - 1
        whole = Intervals(ends[0][None], ends[1][None], np.zeros(1, dtype=np.intp))
        if not self.network.inputs[change.axis].has_points:  # it may change within a level, too
            status, cells = np.full(1, -1, dtype=np.int8), np.zeros((1, axes + 1), dtype=np.intp)
            return Verdicts(status, cells, np.full(1, np.inf))
        own = [axes if axis == change.axis else axis for axis in range(axes)]
        both = self.network.beside(self.network, own, axes)
        first, second = self._wins(place), self._wins(other)
        parts = np.zeros((2 * len(first), first.shape[1] + second.shape[1]))
        parts[: len(first), : first.shape[1]] = first
        parts[len(first) :, first.shape[1] :] = second
        pairs = PairOccurrence(change, self.occurring)

        def confirm(low: Levels, high: Levels) -> Levels | None:
            pair, is_wanted = self._pair_in(pairs, (low, high), [place, other])
            return None if pair is None else self._shown(pair, is_wanted)

        tables = NetworkTables(both.combined(parts), self._unit)
        tolerance, check = tables.tolerance, self.binned.check
        return NetworkSearch(tables, pairs, tolerance, confirm, check, patience).run(whole, 1)

    # --- sums ---

    @property
    def _unit(self) -> float:
        assert self.model is not None
        return self.model.unit

    def _lead(self, first: int, second: int) -> Floats:
        """Return what the sums weigh in how much one class leads over another one."""
        if self.network.sums == 1:  # it speaks for the second class
            return np.array([float(first - second)])
        parts = np.zeros(self.network.sums)
        parts[first], parts[second] = 1.0, -1.0
        return parts

    def _wins(self, place: int) -> Floats:
        """Return what the sums weigh in how much a class leads over each other one."""
        others = [other for other in range(self.classes) if other != place]
        return np.column_stack([self._lead(place, other) for other in others])

    def _confirming(
        self, is_wanted: Callable[[list[int]], bool]
    ) -> Callable[[Levels, Levels], Levels | None]:
        def confirm(low: Levels, high: Levels) -> Levels | None:
            cell = self.occurring.cell_in(low, high, self.binned.check)
            if cell is None:
                return None
            return self._shown(cell, is_wanted(self.binned.ask(cell[None]).tolist()))

        return confirm

    def _shown(self, cell: Levels, is_wanted: bool) -> Levels | None:
        """Return a cell if it is as wanted; if not, there is none only if levels are points."""
        if not is_wanted and not self.has_points:
            raise TooHard
        return cell if is_wanted else None

    def _searched(
        self,
        network: Network,
        confirm: Callable[[Levels, Levels], Levels | None],
        patience: int,
        boxes: Intervals,
        count: int,
    ) -> Verdicts:
        tables = NetworkTables(network, self._unit)
        check, tolerance = self.binned.check, tables.tolerance
        search = NetworkSearch(tables, self.occurring, tolerance, confirm, check, patience)
        return search.run(boxes, count)
