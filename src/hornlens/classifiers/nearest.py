"""The row of X that is most like an input: what it has to differ in, if the input occurs at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.columns import Column, Table, is_missing
from hornlens.targets.classifiers.points import Binned


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
