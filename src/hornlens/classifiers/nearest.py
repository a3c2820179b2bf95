"""The row of X that is most like an input, and inputs that are like rows of X."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.columns import Column, Table, is_missing
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.moving import flags_of
from hornlens.targets.classifiers.points import Binned

MOST_MOVED = 20_000
"""So many rows of X are moved at most."""


@dataclass(frozen=True)
class Nearest:
    """A row of X that differs from an input in as few columns as any, and in these by little."""

    row: Mapping[str, Any]
    place: int
    """Which row of X it is, from 0."""
    differs: tuple[str, ...]
    """The columns in which it differs."""
    distance: float
    """The sum of the differences: of numbers as shares of their range in X, others count 1."""

    @property
    def sentence(self) -> str:
        """How the row differs."""
        if not self.differs:
            return f"It is row {self.place} of X."
        names = ", ".join(self.differs[:5])
        more = f" and {len(self.differs) - 5} more" if len(self.differs) > 5 else ""
        return f"The nearest row of X, row {self.place}, differs in {names}{more}."


def nearest_row(table: Table, values: Sequence[Any]) -> Nearest:
    """Return the row of a table that differs from values in the fewest columns, and the least."""
    apart = [_apart(column, value) for column, value in zip(table.columns, values, strict=True)]
    counts = np.sum([gaps > 0 for gaps in apart], axis=0)
    total = np.sum(apart, axis=0)
    place = int(np.lexsort((total, counts))[0])
    names = table.names
    row = {name: _plain(column[place]) for name, column in zip(names, table.columns, strict=True)}
    differs = tuple(name for name, gaps in zip(names, apart, strict=True) if gaps[place] > 0)
    return Nearest(row, place, differs, float(total[place]))


def moved_to_rows(binned: Binned, cell: Levels) -> list[Column]:
    """Return an input of a cell that has the values of a row of X wherever it has its levels."""
    table, columns = binned.classifier.table, binned.columns(cell[None, :])
    rows = binned.places(table)
    counts = np.count_nonzero(rows != cell, axis=1)
    nearest = np.flatnonzero(counts == counts.min())
    pairs = zip(table.columns, columns, strict=True)
    gaps = [_apart(column[nearest], own[0]) for column, own in pairs]
    place = int(nearest[int(np.argmin(np.sum(gaps, axis=0)))])
    same = dict(zip(binned.telling, (rows[place] == cell).tolist(), strict=True))
    return [
        table.columns[at][place : place + 1] if same.get(at, True) else column
        for at, column in enumerate(columns)
    ]


def rows_moved_into(
    binned: Binned, box: Sequence[int], rng: np.random.Generator
) -> tuple[Levels, list[Column]]:
    """Return rows of X as little changed as it takes to lie in a box of sets of levels.

    Returns:
        Their cells and their values, those first that differ from a row in the fewest columns, and
        in these by least.
    """
    table, rows = binned.classifier.table, binned.places(binned.classifier.table)
    some = np.arange(len(rows))
    if len(rows) > MOST_MOVED:
        some = np.sort(rng.choice(len(rows), MOST_MOVED, replace=False))
    rows = rows[some]
    cells = rows.copy()
    for axis, (bits, feature) in enumerate(zip(box, binned.features, strict=True)):
        cells[:, axis] = _nearest_levels(bits, feature, rows[:, axis])[rows[:, axis]]
    moved, gaps = cells != rows, np.zeros(len(rows))
    columns = [column[some] for column in table.columns]
    points = binned.columns(cells)
    for axis, place in enumerate(binned.telling):
        if not moved[:, axis].any():
            continue
        own, column = columns[place], points[place]
        column[~moved[:, axis]] = own[~moved[:, axis]]
        gaps += _changes(own, column, moved[:, axis])
        columns[place] = column
    order = np.lexsort((gaps, np.count_nonzero(moved, axis=1)))
    return cells[order], [column[order] for column in columns]


def _nearest_levels(bits: int, feature: Feature, levels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each level of a feature itself, if it is one of some, or the nearest of these.

    Where levels have no order, that is the one that most rows have.
    """
    every, allowed = np.arange(feature.size), np.flatnonzero(flags_of(bits, feature.size))
    known = allowed[allowed < feature.known]
    if feature.is_ranged and len(known):
        nearest: NDArray[np.intp] = known[np.abs(every[:, None] - known).argmin(axis=1)]
    else:
        counts = np.bincount(levels, minlength=feature.size)
        nearest = np.full(feature.size, allowed[counts[allowed].argmax()])
    nearest[allowed] = allowed
    return nearest


def _changes(own: Column, other: Column, moved: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return by how much values were changed: numbers as shares of their range, others by 1."""
    gaps = moved.astype(np.float64)
    if own.dtype.kind not in "iuf":
        return gaps
    before, after = own.astype(np.float64), np.asarray(other, dtype=np.float64)
    both = moved & ~np.isnan(before) & ~np.isnan(after)
    known = before[~np.isnan(before)]
    span = float(known.max() - known.min()) or 1.0 if len(known) else 1.0
    gaps[both] = np.abs(after[both] - before[both]) / span
    return gaps


def _apart(column: Column, value: Any) -> NDArray[np.float64]:
    """Return how far the values of a column are from one; 0 only where they are the same."""
    absent = is_missing(column)
    if is_missing(np.array([value], dtype=object))[0]:
        return np.where(absent, 0.0, 1.0)
    if column.dtype.kind not in "iuf":
        return np.array([float(one is not value and one != value) for one in column.tolist()])
    gaps: NDArray[np.float64] = np.abs(column.astype(np.float64) - float(value))
    known = column[~absent].astype(np.float64)
    span = float(known.max() - known.min()) if len(known) else 0.0
    gaps = np.where(gaps > 0, np.maximum(gaps / (span or 1.0), 1e-300), 0.0)
    return np.where(absent, 1.0, gaps)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
