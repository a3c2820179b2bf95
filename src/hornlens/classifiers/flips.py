"""Does changing only one feature ever change the decision? How often, with pairs of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hornlens.classifiers.explanation import Explained, NotKept
from hornlens.exact.boxes.cells import OUTSIDE, GridCells, Levels
from hornlens.results.documents.flips import FlipPair, Flips
from hornlens.targets.classifiers.columns import column_of
from hornlens.targets.classifiers.points import Binned

SHOWN = 5
"""How many pairs are shown."""


def flips_of(result: Explained, feature: str, by_proofs: bool = True) -> Flips:
    """Return what changing one feature does to a classifier's decisions.

    Where not all cells were asked, a proof by the trees may take long: it can be left out.
    """
    binned = result.binned
    place = column_of(binned.classifier.table, feature)
    count = len(result.rows)
    if place not in binned.telling:
        exact = result.exact_bins
        return Flips(feature, 0, count, None, None, exact, exact, ())
    axis = binned.telling.index(place)
    if result.recorded is not None:
        return _recorded(result, feature, axis, by_proofs)
    changed, examples = _in_rows(result, axis)
    pairs = of_pairs = None
    proved, every_input = False, result.exact_bins
    if isinstance(result.labelled, GridCells):
        pairs, of_pairs, found = _in_grid(result.labelled, axis)
        proved = True
        if found is not None and not examples:
            examples = [_pair(binned, *found)]
    elif result.vote is not None and by_proofs:
        status, found = result.vote.flip_along(axis)
        proved = status != -1
        if found is not None and not examples:
            examples = [_pair(binned, *found)]
    return Flips(
        feature, changed, count, pairs, of_pairs, proved, every_input, tuple(examples[:SHOWN])
    )


def _recorded(result: Explained, feature: str, axis: int, by_proofs: bool) -> Flips:
    """Return what was found before; the leaves that were kept may prove what was not proved."""
    found = next(one for one in result.recorded or () if one.feature == feature)
    if found.proved or found.ever or result.vote is None or not by_proofs:
        return found
    try:
        status, pair = result.vote.flip_along(axis)
        examples = () if pair is None else (_pair(result.binned, *pair),)
    except NotKept:
        return found
    return replace(found, proved=status != -1, examples=examples)


def _in_rows(result: Explained, axis: int) -> tuple[int, list[FlipPair]]:
    """Ask the classifier of every row with every level of the feature; the rest as it is."""
    binned, table = result.binned, result.binned.classifier.table
    feature, changed = binned.features[axis], np.zeros(len(result.rows), dtype=np.bool_)
    examples: list[FlipPair] = []
    place = binned.telling[axis]
    for level in range(feature.size):
        columns = list(table.columns)
        levels = np.full(len(result.rows), level)
        columns[place] = feature.column(levels)
        there = result.rows[:, axis] != level
        said = binned.classifier.decide(columns)
        other = there & (said != result.said)
        for row in np.flatnonzero(other & ~changed)[: SHOWN - len(examples)].tolist():
            labels = binned.classifier.labels
            first = _row(table.names, [column[row] for column in table.columns])
            second = _row(table.names, [column[row] for column in columns])
            pair = FlipPair(first, labels[result.said[row]], second, labels[said[row]])
            examples.append(pair)
        changed |= other
    return int(np.count_nonzero(changed)), examples


def _in_grid(cells: GridCells, axis: int) -> tuple[int, int, tuple[Levels, Levels] | None]:
    """Count pairs of cells that differ only in a feature, and those of different classes."""
    along = np.moveaxis(cells.labels, axis, 0)
    lines = along.reshape(len(along), -1)
    there = np.count_nonzero(lines != OUTSIDE, axis=0).astype(np.int64)
    total, same = int((there * (there - 1) // 2).sum()), 0
    for place in np.unique(lines[lines != OUTSIDE]).tolist():
        many = np.count_nonzero(lines == place, axis=0).astype(np.int64)
        same += int((many * (many - 1) // 2).sum())
    if same == total:
        return 0, total, None
    for low in range(len(along)):
        for high in range(low + 1, len(along)):
            a, b = along[low], along[high]
            where = np.argwhere((a != b) & (a != OUTSIDE) & (b != OUTSIDE))
            if len(where):
                rest = where[0].tolist()
                ends = (np.array([*rest[:axis], level, *rest[axis:]]) for level in (low, high))
                first, second = ends
                return total - same, total, (first, second)
    raise AssertionError("counted pairs that are not there")


def _pair(binned: Binned, first: Levels, second: Levels) -> FlipPair:
    both = np.stack([first, second])
    columns, said = binned.columns(both), binned.ask(both)
    names, labels = binned.classifier.table.names, binned.classifier.labels
    rows = [_row(names, [column[row] for column in columns]) for row in (0, 1)]
    return FlipPair(rows[0], labels[said[0]], rows[1], labels[said[1]])


def _row(names: tuple[str, ...], values: list[Any]) -> dict[str, Any]:
    plain = (value.item() if isinstance(value, np.generic) else value for value in values)
    return dict(zip(names, plain, strict=True))
