"""The cells of a classifier as every result has them: decisions by mask, and a row for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hornlens.exact.boxes.cells import (
    OPEN,
    OUTSIDE,
    GridCells,
    Levels,
    ListedCells,
    cell_keys,
    cells_at,
)
from hornlens.exact.boxes.spaces import cells_of_levels, levels_of_cells
from hornlens.logic.decisions import Decision
from hornlens.logic.space import Space
from hornlens.targets.classifiers.points import Binned


@dataclass(frozen=True, eq=False)
class CellDecisions(Mapping[int, Decision]):
    """The recorded classes by cell, each cell as a mask of the space, made when it is asked for."""

    space: Space
    labelled: GridCells | ListedCells

    def __getitem__(self, cell: int) -> Decision:
        """Return what the classifier says of a cell; a KeyError if it was not asked."""
        place = int(self.labelled.at(levels_of_cells(self.space, [cell]))[0])
        if place in (OUTSIDE, OPEN):
            raise KeyError(cell)
        return Decision(place)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the cells that were asked."""
        labelled = self.labelled
        if isinstance(labelled, ListedCells):
            yield from dict.fromkeys(cells_of_levels(self.space, labelled.asked))
            return
        asked = np.flatnonzero(~np.isin(labelled.labels.ravel(), (OUTSIDE, OPEN)))
        for start in range(0, len(asked), 4096):
            some = cells_at(asked[start : start + 4096], labelled.labels.shape)
            yield from cells_of_levels(self.space, some)

    def __len__(self) -> int:
        """Return how many cells were asked."""
        return self._count

    @cached_property
    def _count(self) -> int:
        if isinstance(self.labelled, ListedCells):
            shape = tuple(map(len, self.space.leaves))
            return len(np.unique(cell_keys(self.labelled.asked, shape)))
        return int((~np.isin(self.labelled.labels, (OUTSIDE, OPEN))).sum())


@dataclass(frozen=True, eq=False)
class ShownPoints:
    """How cells are shown: the row that stands for each."""

    space: Space
    binned: Binned

    def __call__(self, cell: int) -> tuple[str, ...]:
        """Return the row of a cell in words."""
        row = point_of(self.binned, levels_of_cells(self.space, [cell])[0])
        return (", ".join(f"{name} = {value}" for name, value in row.items()),)


def point_of(binned: Binned, cell: Sequence[int] | Levels) -> dict[str, Any]:
    """Return the point of a cell: a value for each column."""
    columns = binned.columns(np.asarray(cell, dtype=np.intp)[None, :])
    names = binned.classifier.table.names
    return {
        name: column[0].item() if isinstance(column[0], np.generic) else column[0]
        for name, column in zip(names, columns, strict=True)
    }
