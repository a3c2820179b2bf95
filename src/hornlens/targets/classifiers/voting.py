"""Proofs about ensembles of trees, without asking every cell: bounds on the votes over boxes.

That every cell of a box gets a class means that no other class leads over it anywhere in the box.
The lead is a sum of what trees add, so the search in `bounding` proves it or finds a cell. Where
the sum is so close to zero that rounding decides, the classifier itself is asked. So the answers
are its own, for every input.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.climbing import extremes
from hornlens.targets.classifiers.bounding.occurring import Occurrences, TooHard
from hornlens.targets.classifiers.bounding.pairs import AxisChange, PairOccurrence
from hornlens.targets.classifiers.bounding.rows import Flags
from hornlens.targets.classifiers.bounding.search import Confirm, Verdicts
from hornlens.targets.classifiers.bounding.stacks import Intervals
from hornlens.targets.classifiers.bounding.tables import Sum, Tables
from hornlens.targets.classifiers.bounding.trees import TreeSearch
from hornlens.targets.classifiers.ensembles.trees import CLOSE
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.leaves import read_leaves
from hornlens.targets.classifiers.pipelines import TreeModel
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.provers import Prover

KEPT = 1 << 28
"""Tables are kept as long as they have fewer bytes than that in all, about."""

READ_ONCE = {"words", "occurring", "tolerance"}
"""What follows from the leaves and from what occurs, whoever asks."""

Masks = NDArray[np.uint64]
"""Sets of levels as bits: a row a box, and for each feature as many words as the largest needs."""
Leaves: TypeAlias = tuple[Masks, NDArray[np.float64], NDArray[np.intp]]
"""All leaves: their sets of levels, their scores, and where each tree's begin."""


@dataclass(frozen=True, eq=False)
class Vote(Prover):
    """An ensemble over the levels of features: its leaves as sets of levels, and their scores."""

    model: TreeModel | None = None
    """Where the trees are read from, if their leaves are not given."""
    given: Leaves | None = None
    given_rounding: float | None = None
    """How close sums may be for a tie, for each unit of what they add up, if leaves are given."""

    def asked_by(self, binned: Binned) -> Self:
        """Return the same ensemble, whose cells another one asks; what was read stays read."""
        vote = replace(self, binned=binned, given=self.__dict__.get("leaves", self.given))
        vote.__dict__["_kept"] = self._kept
        for name in READ_ONCE & self.__dict__.keys():
            vote.__dict__[name] = self.__dict__[name]
        return vote

    @property
    def rounding(self) -> float:
        """How close sums may be for a tie, for each unit of what they add up."""
        if self.model is not None:
            return self.model.trees.rounding
        return CLOSE if self.given_rounding is None else self.given_rounding

    @cached_property
    def words(self) -> int:
        """How many words a set of levels takes."""
        return max((feature.size + 63) // 64 for feature in self.features) if self.features else 1

    @cached_property
    def leaves(self) -> Leaves:
        """All leaves: their sets of levels, their scores, and where each tree's begin."""
        if self.given is not None:
            return self.given
        assert self.model is not None
        masks, scores, starts = read_leaves(self.binned, self.model)
        return self.packed(masks), np.array(scores), np.array(starts)

    # --- boxes and cells ---

    def packed(self, boxes: Sequence[Sequence[int]]) -> Masks:
        """Return boxes, as sets of levels, in rows."""
        masks = dict.fromkeys(mask for box in boxes for mask in box)
        place = {mask: number for number, mask in enumerate(masks)}
        words = np.array([_split(mask, self.words) for mask in masks], dtype=np.uint64)
        rows = np.fromiter((place[mask] for box in boxes for mask in box), dtype=np.intp)
        width = len(self.features) * self.words
        return words.reshape(len(masks), self.words)[rows].reshape(len(boxes), width)

    def in_words(self, lead: float, place: int) -> str:
        """Say by how much other classes can lead over one at most; nothing if that is not known.

        Where each tree adds shares of the classes, as in a forest, the share of another class is
        given; else the lead itself.
        """
        if not np.isfinite(lead):
            return ""
        lead += self.tolerance
        own = self.binned.classifier.labels[place]
        _, scores, starts = self.leaves
        if self.classes == 2 and (scores >= 0).all() and np.allclose(scores.sum(axis=1), 1):
            other = self.binned.classifier.labels[1 - place]
            share = min(1.0, (1 + lead / len(starts)) / 2)
            return f"No input that it speaks of gets {other} with more than {_above(share)}."
        return f"No class leads over {own} by more than {_above(lead)} in the sum of the trees."

    def _leading(
        self,
        boxes: Intervals,
        count: int,
        place: int,
        other: int,
        patience: int,
        whole: bool = False,
    ) -> Verdicts:
        """Look in boxes for a cell where a class leads over another one, or rounding decides so."""
        tables = self._lead_tables(place, other, whole)
        drops = self.classes > 2 and not whole

        def confirm(low: Levels, high: Levels) -> Levels | None:
            box = Intervals(low[None], high[None], np.zeros(1, dtype=np.intp))
            if drops:  # trees that are left out may matter to rounding
                inner = self._leading(box, 1, place, other, patience, whole=True)
                if inner.stopped is not None:
                    raise inner.stopped
                if inner.status[0] == -1:
                    raise TooHard
                return inner.cells[0] if inner.status[0] == 1 else None
            cell = self.occurring.cell_in(low, high, self.binned.check)
            return cell if cell is not None and self._is_other(cell, place) else None

        return self._search(tables, self.occurring, confirm, patience).run(boxes, count, not whole)

    def _winning(self, boxes: Intervals, place: int, patience: int) -> Verdicts:
        """Look in boxes of one query for a cell that gets a class."""

        def confirm(low: Levels, high: Levels) -> Levels | None:
            cell = self.occurring.cell_in(low, high, self.binned.check)
            return cell if cell is not None and not self._is_other(cell, place) else None

        tables = self._tables((place,), self.features, lambda: self._wins(place))
        return self._search(tables, self.occurring, confirm, patience).run(boxes, 1)

    def _pairs(self, change: AxisChange, place: int, other: int, patience: int) -> Verdicts:
        """Look for a cell of one class, and one of another that differs only in a feature."""
        pairs = PairOccurrence(change, self.occurring)

        def confirm(low: Levels, high: Levels) -> Levels | None:
            pair, is_wanted = self._pair_in(pairs, (low, high), [place, other])
            return pair if is_wanted else None

        def sums() -> list[Sum]:
            lead = self._lead(place, other)
            return [
                *(change.of_first(one) for one in self._wins(place)),
                *(change.of_second(one) for one in self._wins(other)),
                change.lowered(lead, self.leaves[1], self.tolerance),
            ]

        every = (*self.features, self.features[change.axis])
        tables = self._tables((place, other, change), every, sums)
        ends = np.array([[0, feature.size - 1] for feature in every], dtype=np.intp)
        whole = Intervals(ends[None, :, 0], ends[None, :, 1], np.zeros(1, dtype=np.intp))
        return self._search(tables, pairs, confirm, patience).run(whole, 1)

    def clear_class(self, cell: Levels) -> int | None:
        """Return the class that the leaves give to a cell; None if that is too close to call."""
        _, scores, starts = self.leaves
        reached = np.flatnonzero(self.met_by(cell).all(axis=1))
        if len(reached) != len(starts):
            return None
        total = scores[reached].sum(axis=0)
        if len(total) == 1:
            return 0
        first, second = np.sort(total)[-2:][::-1]
        return int(total.argmax()) if first - second > self.tolerance else None

    def met_by(self, cell: Levels) -> Flags:
        """Say for each leaf on which features it has the level of a cell."""
        masks = self.leaves[0]
        word = np.arange(len(cell)) * self.words + cell // 64
        bits = masks[:, word] >> (cell % 64).astype(np.uint64)
        return np.asarray((bits & np.uint64(1)) != 0)

    def levels_of(self, leaves: NDArray[np.intp], axis: int) -> Flags:
        """Say for some leaves which levels of a feature lead there."""
        words = self.leaves[0][leaves, axis * self.words : (axis + 1) * self.words]
        text = np.ascontiguousarray(words).astype("<u8").view(np.uint8)
        bits = np.unpackbits(text, axis=1, bitorder="little", count=self.features[axis].size)
        return bits.astype(np.bool_)

    def extreme_cells(self, place: int, cells: Levels, count: int, seed: int = 0) -> Levels:
        """Return cells of a class that lead most: some of those given, and some uphill of them."""
        tables = self._tables((place,), self.features, lambda: self._wins(place))
        search = self._search(tables, self.occurring, lambda low, high: None, 0)
        return extremes(search, cells, count, np.random.default_rng(seed))

    def _is_other(self, cell: Levels, place: int) -> bool:
        return int(self.binned.ask(cell[None, :])[0]) != place

    # --- sums ---

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.leaves[1].shape[1])

    @cached_property
    def tolerance(self) -> float:
        """How far from a tie two sums are at most where rounding may decide."""
        _, scores, starts = self.leaves
        largest = np.maximum.reduceat(np.abs(scores).max(axis=1), starts)
        return self.rounding * max(1.0, float(largest.sum()))

    def _lead(self, first: int, second: int, whole: bool = False) -> Sum:
        """Return by how much a class leads over another one, as a sum of trees.

        Of a `whole` sum, trees that add the same in each leaf are a part, too. So are those that
        add something else to both classes, whose lead stays the same: rounding may differ.
        """
        _, scores, starts = self.leaves
        both = scores[:, [first, second]]
        most, least = (pick.reduceat(both, starts, axis=0) for pick in (np.maximum, np.minimum))
        lead = both[:, 0] - both[:, 1]
        return Sum(lead, starts, self._levels, whole, kept=np.asarray((most > least).any(axis=1)))

    def _levels(self, axis: int) -> Flags | None:
        """Say of each leaf which levels of a feature lead there; None if all do."""
        leaves, size = self.leaves[0], self.features[axis].size
        words = leaves[:, axis * self.words : (axis + 1) * self.words]
        full = np.array(_split((1 << size) - 1, self.words), dtype=np.uint64)
        return None if (words == full).all() else self.levels_of(np.arange(len(leaves)), axis)

    def leads_over(self, place: int) -> list[Tables]:
        """Return tables of by how much each other class leads over one."""
        others = (other for other in range(self.classes) if other != place)
        return [self._lead_tables(place, other) for other in others]

    def _lead_tables(self, place: int, other: int, whole: bool = False) -> Tables:
        return self._tables(
            (place, other, whole), self.features, lambda: [self._lead(other, place, whole)]
        )

    def _wins(self, place: int) -> list[Sum]:
        """Return by how much a class leads over each other one."""
        return [self._lead(place, other) for other in range(self.classes) if other != place]

    def _tables(
        self, key: Hashable, axes: Sequence[Feature], sums: Callable[[], Sequence[Sum]]
    ) -> Tables:
        """Return the tables of some sums, made once as long as there is room."""
        if key not in self._kept:
            sizes, missing = [axis.size for axis in axes], [axis.missing for axis in axes]
            self._kept[key] = Tables(sizes, missing, sums())
            while len(self._kept) > 1 and sum(t.bytes for t in self._kept.values()) > KEPT:
                del self._kept[next(iter(self._kept))]
        return self._kept[key]

    def _search(
        self,
        tables: Tables,
        occurring: Occurrences,
        confirm: Confirm,
        patience: int,
    ) -> TreeSearch:
        check = self.binned.check
        return TreeSearch(tables, occurring, self.tolerance, confirm, check, patience)

    @cached_property
    def _kept(self) -> dict[Hashable, Tables]:
        return {}


def _above(number: float) -> str:
    """Return a number in three digits that is not less."""
    digits = 2 - int(np.floor(np.log10(abs(number)))) if number else 0
    up = np.ceil(number * 10.0**digits) / 10.0**digits
    return f"{up:g}"


def _split(mask: int, words: int) -> list[int]:
    return [mask >> 64 * word & (1 << 64) - 1 for word in range(words)]
