"""Does changing only some columns ever change the decision? How often, with pairs of rows.

The definition is that of `results.documents.flips`; cells are counted by arrays here, and trees
may prove that there is no flip at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import Explained, NotKept
from hornlens.errors import HornlensError
from hornlens.exact.boxes.cells import GridCells, Levels
from hornlens.limits import Stopped
from hornlens.results.analysis.flips import EXAMPLES, attributes_named
from hornlens.results.documents.flips import FlipPair, Flips
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.columns import column_of
from hornlens.targets.classifiers.metering import LARGEST, Meter
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.voting import Vote

MOST_ROWS = 50_000_000
"""The classifier is asked about so many rows at most, where several columns are changed at once."""


def flips_of(
    result: Explained,
    feature: str | Sequence[str],
    by_proofs: bool = True,
    meter: Meter | None = None,
) -> Flips:
    """Return what changing one column, or several at once, does to a classifier's decisions.

    Where not all cells were asked, a proof by the trees may take long, and so may random inputs:
    both can be left out. If a limit of the `meter` is reached, nothing is proved, and what was
    asked by then is counted.
    """
    binned, names = result.binned, attributes_named(feature)
    places = [column_of(binned.classifier.table, name) for name in names]
    axes = [binned.telling.index(place) for place in places if place in binned.telling]
    # Of a column with one level, only what was read of the model can say that it never matters.
    silent = len(axes) < len(places)
    name, count, exact = ", ".join(names), len(result.rows), result.exact_bins
    if not axes:
        nothing = Flips(name, 0, count, None, None, exact, exact, ())
        return replace(nothing, excluded=_excluded(result))
    if result.recorded is not None and len(names) == 1:
        return _recorded(result, name, axes[0], by_proofs)
    try:
        changed, count, examples = _in_rows(result, axes, meter)
    except NotKept:
        changed, count, examples = 0, 0, []
    pairs = of_pairs = None
    proved = False
    if isinstance(result.labelled, GridCells):
        pairs, of_pairs, ends = _in_grid(result.labelled, axes)
        proved = not result.labelled.open
        if ends is not None and not examples:
            examples = [_pair(binned, *ends)]
    if not proved and result.vote is not None and by_proofs:
        status, ends = _by_trees(result.vote, axes, meter)
        proved = status != -1
        if ends is not None and not examples:
            examples = [_pair(binned, *ends)]
    proved = proved and (exact or not silent)
    flips = Flips(
        *(name, changed, count, pairs, of_pairs, proved, exact, tuple(examples[:EXAMPLES])),
        excluded=_excluded(result),
    )
    return flips if proved or not by_proofs else _with_bound(flips, result, axes, meter)


def _with_bound(flips: Flips, result: Explained, axes: Sequence[int], meter: Meter | None) -> Flips:
    """Return what random inputs show as well, where nothing is proved and the model is there."""
    from hornlens.classifiers.drawn_flips import drawn_flips

    try:
        drawn = drawn_flips(result, axes, meter)
    except NotKept:
        return flips
    if drawn.bound is None:
        return flips
    examples = (*flips.examples, *drawn.examples)[:EXAMPLES]
    return replace(
        flips,
        drawn=drawn.drawn,
        drawn_changed=drawn.changed,
        bound=drawn.bound,
        delta=result.settings.delta,
        examples=examples,
    )


def _excluded(result: Explained) -> tuple[str, ...]:
    """Return the inputs that nothing is said of."""
    return result.certificate.scope.excluded if result.exact_bins else ()


def _recorded(result: Explained, feature: str, axis: int, by_proofs: bool) -> Flips:
    """Return what was found before; the leaves that were kept may prove what was not proved."""
    before = next(one for one in result.recorded or () if one.feature == feature)
    if before.proved or before.ever or result.vote is None or not by_proofs:
        return before
    try:
        status, pair = result.vote.flip_along(axis)
        examples = () if pair is None else (_pair(result.binned, *pair),)
    except NotKept:
        return before
    return replace(before, proved=status != -1, examples=examples)


def _in_rows(
    result: Explained, axes: Sequence[int], meter: Meter | None
) -> tuple[int, int, list[FlipPair]]:
    """Ask the classifier of every row with every level of some features; the rest as it is.

    Return how many rows change, of how many: fewer than there are, if a limit comes before.
    """
    features = [result.binned.features[axis] for axis in axes]
    size, count = prod(feature.size for feature in features), len(result.rows)
    if len(axes) > 1 and size * count > MOST_ROWS:
        raise HornlensError(
            f"changing {', '.join(feature.name for feature in features)} at once gives "
            f"{size * count:,} rows, {MOST_ROWS:,} at most: name fewer columns"
        )
    changed, done, length, examples = 0, 0, count, list[FlipPair]()
    while done < count:
        if meter is not None and meter.limits is not None:
            room = meter.room
            length = 1 if not done else min(2 * done, LARGEST // size + 1)
            length = length if room is None else min(length, room // size)
            if length < 1 or meter.stops():
                break
        some = slice(done, min(done + length, count))
        flipped = _changed(result, axes, some, meter, examples)
        if flipped is None:
            break
        changed += int(np.count_nonzero(flipped))
        done = some.stop
    return changed, done, examples


def _changed(
    result: Explained,
    axes: Sequence[int],
    some: slice,
    meter: Meter | None,
    examples: list[FlipPair],
) -> NDArray[np.bool_] | None:
    """Say of some rows whether a change of the features changes the class; None past a limit.

    Rows that the background rules out, before or after the change, do not count.
    """
    binned, table = result.binned, result.binned.classifier.table
    rows, known = result.rows[some], result.said[some]
    features = [binned.features[axis] for axis in axes]
    given = [column[some] for column in table.columns]
    labels, decide = binned.classifier.labels, binned.classifier.decide
    forbidden = Background(result.background, table.names).over(binned.every)
    occurs = forbidden.allows(rows)
    changed = np.zeros(len(rows), dtype=np.bool_)
    for levels in product(*(range(feature.size) for feature in features)):
        columns, cells = list(given), rows.copy()
        cells[:, list(axes)] = levels
        there = np.zeros(len(rows), dtype=np.bool_)
        for axis, feature, level in zip(axes, features, levels, strict=True):
            other = rows[:, axis] != level
            made = feature.column(np.full(len(rows), level))
            place = binned.telling[axis]
            # A level that a row has already stays the value that the row has.
            columns[place] = np.where(other, made, columns[place]) if len(axes) > 1 else made
            there |= other
        classes = decide(columns) if meter is None else meter.answers(decide, columns)
        if len(classes) < len(rows):
            return None
        flipped = there & (classes != known) & occurs & forbidden.allows(cells)
        for row in np.flatnonzero(flipped & ~changed)[: EXAMPLES - len(examples)].tolist():
            first = _row(table.names, [column[row] for column in given])
            second = _row(table.names, [column[row] for column in columns])
            examples.append(FlipPair(first, labels[known[row]], second, labels[classes[row]]))
        changed |= flipped
    return changed


def _in_grid(
    cells: GridCells, axes: Sequence[int]
) -> tuple[int, int, tuple[Levels, Levels] | None]:
    """Count pairs of cells that differ only in some features, and those of different classes."""
    along = np.moveaxis(cells.labels, axes, range(len(axes)))
    sizes = along.shape[: len(axes)]
    lines = along.reshape(prod(sizes), -1)
    known = np.count_nonzero(lines >= 0, axis=0).astype(np.int64)
    total, same = int((known * (known - 1) // 2).sum()), 0
    for place in np.unique(lines[lines >= 0]).tolist():
        many = np.count_nonzero(lines == place, axis=0).astype(np.int64)
        same += int((many * (many - 1) // 2).sum())
    if same == total:
        return 0, total, None
    first = np.argmax(lines >= 0, axis=0)
    others = (lines >= 0) & (lines != lines[first, np.arange(lines.shape[1])])
    line = int(np.argmax(others.any(axis=0)))
    low, high = int(first[line]), int(np.argmax(others[:, line]))
    rest = np.unravel_index(line, along.shape[len(axes) :])
    ends = []
    for level in (low, high):
        cell = np.zeros(cells.labels.ndim, dtype=np.intp)
        cell[list(axes)] = np.unravel_index(level, sizes)
        cell[[axis for axis in range(cells.labels.ndim) if axis not in axes]] = rest
        ends.append(cell)
    return total - same, total, (ends[0], ends[1])


def _by_trees(
    vote: Vote, axes: Sequence[int], meter: Meter | None
) -> tuple[int, tuple[Levels, Levels] | None]:
    """Look for a flip by the trees: 1 and the cells, 0 if there is none (proved), or -1.

    If no single column ever changes the decision, several do not either: they can be changed one
    after the other. But where cells do not occur, those between may be missing.
    """
    if meter is not None:
        vote = vote.asked_by(replace(vote.binned, meter=meter))
    statuses = []
    for axis in axes:
        try:
            status, ends = vote.flip_along(axis)
        except Stopped:
            return -1, None
        if ends is not None:
            return status, ends
        statuses.append(status)
    blocked = len(axes) > 1 and bool(vote.forbidden)
    return (-1 if blocked or -1 in statuses else 0), None


def _pair(binned: Binned, first: Levels, second: Levels) -> FlipPair:
    both = np.stack([first, second])
    columns, classes = binned.columns(both), binned.ask(both)
    names, labels = binned.classifier.table.names, binned.classifier.labels
    rows = [_row(names, [column[row] for column in columns]) for row in (0, 1)]
    return FlipPair(rows[0], labels[classes[0]], rows[1], labels[classes[1]])


def _row(names: tuple[str, ...], values: list[Any]) -> dict[str, Any]:
    plain = (value.item() if isinstance(value, np.generic) else value for value in values)
    return dict(zip(names, plain, strict=True))
