"""What rules leave of the cells that were asked about: a table, cells by labels."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.supersets import Supersets


def columns_of(space: Space) -> list[int]:
    """Return the labels that a cell can have, by place: none (-1) first; 1, yes, without labels."""
    return [1] if space.label is None else [-1, *range(len(space.label.variables))]


def left_by(rules: Iterable[Rule], space: Space, cells: Supersets) -> NDArray[np.bool_]:
    """Say of each cell (row) with each label (column, as in `columns_of`) whether it obeys all.

    A rule costs what it rejects, not the whole table.
    """
    left = np.ones((len(cells.masks), len(columns_of(space))), dtype=np.bool_)
    for rule in rules:
        asked = space.label_of(rule.antecedent)
        columns: slice | int = slice(None) if asked is None else asked + 1
        places = cells.places(rule.antecedent & ~space.label_mask)
        if not rule.is_negative:
            rest, given = rule.consequent & ~space.label_mask, space.label_of(rule.consequent)
            obedient = [place for place in places if rest & ~cells.masks[place] == 0]
            spared = slice(None) if given is None else given + 1
            kept = left[obedient, spared].copy()
        left[places, columns] = False
        if not rule.is_negative:
            left[obedient, spared] = kept
    return left


def masks_of(space: Space, cells: Supersets, table: NDArray[np.bool_]) -> list[int]:
    """Return what stands in such a table as interpretations, row by row."""
    labels = columns_of(space)
    return [
        cells.masks[row]
        if labels[column] < 0 or space.label is None
        else space.with_label(cells.masks[row], labels[column])
        for row, column in zip(*(part.tolist() for part in np.nonzero(table)), strict=True)
    ]
