"""Does changing only one feature ever change the decision? How often, with pairs of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import Explained, NotKept
from hornlens.exact.boxes.cells import GridCells, Levels
from hornlens.limits import Stopped
from hornlens.results.documents.claims import FlipPair, Flips
from hornlens.targets.classifiers.columns import column_of
from hornlens.targets.classifiers.metering import LARGEST, Meter
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.voting import Vote

SHOWN = 5
"""How many pairs are shown."""


def flips_of(
    result: Explained, feature: str, by_proofs: bool = True, meter: Meter | None = None
) -> Flips:
    """Return what changing one feature does to a classifier's decisions.

    Where not all cells were asked, a proof by the trees may take long: it can be left out. If a
    limit of the `meter` is reached, nothing is proved, and what was asked by then is counted.
    """
    binned = result.binned
    place = column_of(binned.classifier.table, feature)
    count = len(result.rows)
    if place not in binned.telling:
        exact = result.exact_bins
        return Flips(feature, 0, count, None, None, exact, exact, (), _excluded(result))
    axis = binned.telling.index(place)
    if result.recorded is not None:
        return _recorded(result, feature, axis, by_proofs)
    changed, count, examples = _in_rows(result, axis, meter)
    pairs = of_pairs = None
    proved, every_input = False, result.exact_bins
    if isinstance(result.labelled, GridCells):
        pairs, of_pairs, found = _in_grid(result.labelled, axis)
        proved = not result.labelled.open
        if found is not None and not examples:
            examples = [_pair(binned, *found)]
    elif result.vote is not None and by_proofs:
        status, found = _by_trees(result.vote, axis, meter)
        proved = status != -1
        if found is not None and not examples:
            examples = [_pair(binned, *found)]
    shown = tuple(examples[:SHOWN])
    return Flips(
        *(feature, changed, count, pairs, of_pairs, proved, every_input, shown),
        _excluded(result),
    )


def _excluded(result: Explained) -> tuple[str, ...]:
    """Return the inputs that nothing is said of."""
    return result.certificate.scope.excluded if result.exact_bins else ()


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


def _by_trees(
    vote: Vote, axis: int, meter: Meter | None
) -> tuple[int, tuple[Levels, Levels] | None]:
    """Look for a flip by the trees; -1 if it is too hard, or a limit comes before."""
    if meter is not None:
        vote = vote.asked_by(replace(vote.binned, meter=meter))
    try:
        return vote.flip_along(axis)
    except Stopped:
        return -1, None


def _in_rows(result: Explained, axis: int, meter: Meter | None) -> tuple[int, int, list[FlipPair]]:
    """Ask the classifier of every row with every level of the feature; the rest as it is.

    Return how many rows change, of how many: fewer than there are, if a limit comes before.
    """
    size = result.binned.features[axis].size
    changed, done, length = 0, 0, len(result.rows)
    examples: list[FlipPair] = []
    while done < len(result.rows):
        if meter is not None and meter.limits is not None:
            room = meter.room
            length = 1 if not done else min(2 * done, LARGEST // size + 1)
            length = length if room is None else min(length, room // size)
            if length < 1 or meter.stops():
                break
        some = slice(done, min(done + length, len(result.rows)))
        other = _changed(result, axis, some, meter, examples)
        if other is None:
            break
        changed += int(np.count_nonzero(other))
        done = some.stop
    return changed, done, examples


def _changed(
    result: Explained, axis: int, some: slice, meter: Meter | None, examples: list[FlipPair]
) -> NDArray[np.bool_] | None:
    """Say of some rows whether a change of the feature changes the class; None past a limit."""
    binned, table = result.binned, result.binned.classifier.table
    rows, known = result.rows[some], result.said[some]
    feature, changed = binned.features[axis], np.zeros(len(rows), dtype=np.bool_)
    given = [column[some] for column in table.columns]
    place = binned.telling[axis]
    for level in range(feature.size):
        columns = list(given)
        levels = np.full(len(rows), level)
        columns[place] = feature.column(levels)
        there = rows[:, axis] != level
        decide = binned.classifier.decide
        said = decide(columns) if meter is None else meter.answers(decide, columns)
        if len(said) < len(rows):
            return None
        other = there & (said != known)
        for row in np.flatnonzero(other & ~changed)[: SHOWN - len(examples)].tolist():
            labels = binned.classifier.labels
            first = _row(table.names, [column[row] for column in given])
            second = _row(table.names, [column[row] for column in columns])
            pair = FlipPair(first, labels[known[row]], second, labels[said[row]])
            examples.append(pair)
        changed |= other
    return changed


def _in_grid(cells: GridCells, axis: int) -> tuple[int, int, tuple[Levels, Levels] | None]:
    """Count pairs of asked cells that differ only in a feature, and those of different classes."""
    along = np.moveaxis(cells.labels, axis, 0)
    lines = along.reshape(len(along), -1)
    there = np.count_nonzero(lines >= 0, axis=0).astype(np.int64)
    total, same = int((there * (there - 1) // 2).sum()), 0
    for place in np.unique(lines[lines >= 0]).tolist():
        many = np.count_nonzero(lines == place, axis=0).astype(np.int64)
        same += int((many * (many - 1) // 2).sum())
    if same == total:
        return 0, total, None
    for low in range(len(along)):
        for high in range(low + 1, len(along)):
            a, b = along[low], along[high]
            where = np.argwhere((a != b) & (a >= 0) & (b >= 0))
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
