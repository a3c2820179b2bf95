"""Inputs that break a rule of a classifier: rows, cells and random inputs that are tried."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hornlens.classifiers.nearest import moved_to_rows, rows_moved_into
from hornlens.classifiers.proofs import (
    MeantInputs,
    Proof,
    not_finished,
    plain_value,
)
from hornlens.exact.boxes.cells import Levels, cells_at
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.limits import Stopped
from hornlens.targets.classifiers.moving import flags_of
from hornlens.targets.classifiers.points import Binned

TRIED = 20_000
"""How many random inputs are tried."""


class Region(NamedTuple):
    """Cells of some levels (bits) of each feature that are of one of some classes (bits)."""

    levels: tuple[int, ...]
    classes: int


def refuted(rule: str, binned: Binned, cell: Levels) -> Proof:
    """Return that a cell refutes a rule: by its point, or by a row of X that was moved into it."""
    columns, decide = binned.columns(cell[None, :]), binned.classifier.decide
    place = int(decide(columns)[0])
    near = moved_to_rows(binned, cell)
    with suppress(Stopped):  # then it stays the point of the cell
        if int(decide(near)[0]) == place:
            columns = near
    return _broken_by(rule, binned, [column[0] for column in columns], place)


def _broken_by(rule: str, binned: Binned, values: Sequence[Any], place: int) -> Proof:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    row = dict(zip(binned.classifier.table.names, plain, strict=True))
    said = binned.classifier.labels[place]
    shown = ", ".join(f"{name} = {plain_value(value)}" for name, value in row.items())
    return Proof(rule, "refuted", f"Refuted: the model says {said} of {shown}.", row, said)


@dataclass(frozen=True, eq=False)
class CounterexampleSearch:
    """Rows of X, cells and random inputs that are tried, where no trees can be looked into."""

    rule: str
    binned: Binned
    limit: int
    seed: int
    exact: bool
    forbidden: Forbidden
    of: MeantInputs

    def first_row(self, exceptions: Sequence[Region]) -> Proof | None:
        """Return a row of X that breaks the rule, or one that does so when it is changed a little.

        Only rows that occur are returned; a row is changed in the columns that the rule asks about.
        """
        tries = _Tries(self.rule, self.binned)
        for look in (self._row_in, self._moved_into):
            for levels, classes in exceptions:
                tries.wanted(classes)
                if (proof := look(levels, tries)) is not None:
                    return proof
        return None

    def _moved_into(self, levels: Sequence[int], tries: _Tries) -> Proof | None:
        rng = np.random.default_rng(self.seed)
        cells, columns = rows_moved_into(self.binned, levels, rng)
        occur = self.forbidden.allows(cells)
        return tries.first_other([column[occur] for column in columns]) if occur.any() else None

    def _row_in(self, levels: Sequence[int], tries: _Tries) -> Proof | None:
        binned, table = self.binned, self.binned.classifier.table
        rows = binned.places(table)
        inside = self.forbidden.allows(rows)
        for axis, bits in enumerate(levels):
            inside &= flags_of(bits, binned.features[axis].size)[rows[:, axis]]
        if not inside.any():
            return None
        return tries.first_other([column[inside] for column in table.columns], counted=False)

    def decided(self, is_met: Sequence[Region], exceptions: Sequence[Region]) -> Proof:
        """Return what becomes of the rule: the first case that is refuted refutes it."""
        tries = _Tries(self.rule, self.binned)
        if not any(self._occurs(levels) for levels, _ in is_met):
            return Proof(self.rule, "vacuous", self.of.none)
        asked = 0
        for levels, classes in exceptions:
            tries.wanted(classes)
            proof, count = self._in_box(levels, tries)
            if proof is not None:
                return proof
            asked = -1 if count is None or asked < 0 else asked + count
        if asked >= 0:
            words = f"each of {asked:,} cells that it speaks of was asked"
            meant = f" for {self.of.words}" if self.of.assumed.plausible is not None else ""
            return Proof(self.rule, "proved", f"Proved{meant}: {words}.")
        none = f"none of {tries.count:,} inputs that were tried breaks it"
        if tries.cut:
            return not_finished(self.rule, self.binned.meter, f"and {none}")
        return Proof(self.rule, "not refuted", f"Not proved: {none}.")

    def _occurs(self, levels: Sequence[int]) -> bool:
        return not self.forbidden.boxes or len(self._cells(levels)) > 0

    def _cells(self, levels: Sequence[int]) -> Levels:
        """Return all cells of a box that occur, or as many random ones as the limit is."""
        own = [
            np.flatnonzero([bits >> at & 1 for at in range(bits.bit_length())]) for bits in levels
        ]
        shape, rng = tuple(map(len, own)), np.random.default_rng(self.seed)
        if prod(shape) <= self.limit:
            places = cells_at(np.arange(prod(shape)), shape)
        else:
            places = np.column_stack([rng.integers(0, size, self.limit) for size in shape])
        if not own:
            return places
        cells = np.column_stack([own[axis][places[:, axis]] for axis in range(len(own))])
        return cells[self.forbidden.allows(cells)]

    def _in_box(self, levels: Sequence[int], tries: _Tries) -> tuple[Proof | None, int | None]:
        """Return an input of a box that breaks the rule, and how many cells were all to ask."""
        binned = self.binned
        rng = np.random.default_rng(self.seed)
        if (row := self._row_in(levels, tries)) is not None:
            return row, None
        is_plausible = self.of.assumed.plausible is not None
        if is_plausible and (row := self._moved_into(levels, tries)) is not None:
            return row, None
        cells = self._cells(levels)
        if not len(cells):
            return None, 0
        if (proof := tries.first_other(binned.columns(cells))) is not None:
            return proof, None
        if self.exact and prod(bits.bit_count() for bits in levels) <= self.limit and not tries.cut:
            return None, len(cells)
        some = cells[rng.integers(0, len(cells), TRIED)]
        columns = binned.columns(some)
        for axis, place in enumerate(binned.telling):
            columns[place] = binned.every[place].draw(some[:, axis], rng)
        return tries.first_other(columns), None


class _Tries:
    """Inputs that are tried for one that breaks a rule, as many as the limits allow."""

    def __init__(self, rule: str, binned: Binned):
        self.rule, self.binned = rule, binned
        self.count, self.cut = 0, False
        self.wanted(0)

    def wanted(self, classes: int) -> None:
        """Look for inputs of these classes (bits)."""
        self.breaking = flags_of(classes, len(self.binned.classifier.classes))

    def first_other(self, columns: Sequence[Any], counted: bool = True) -> Proof | None:
        """Return an input that breaks the rule, if there is one among those that are asked."""
        if self.cut:
            return None
        meter, decide = self.binned.meter, self.binned.classifier.decide
        if meter is None:
            said = decide(columns)
        elif counted:
            said = meter.answers(decide, columns)
        else:
            said = meter.measured(decide, columns, grace=False)
        self.count += len(said)
        self.cut = len(said) < len(columns[0])
        wrong = np.flatnonzero(self.breaking[said])
        if not len(wrong):
            return None
        row = int(wrong[0])
        values = [column[row] for column in columns]
        return _broken_by(self.rule, self.binned, values, int(said[row]))
