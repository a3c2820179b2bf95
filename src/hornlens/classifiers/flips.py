"""Does changing only some columns ever change the decision? How often, with pairs of rows.

The definition is that of `results.documents.flips`; cells are counted by arrays here, and trees
may prove that there is no flip at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import Explained, RecordedFlips
from hornlens.errors import HornlensError
from hornlens.exact.boxes.cells import OUTSIDE, GridCells, Levels, ListedCells
from hornlens.limits import Stopped
from hornlens.logic.cuts import quantile_cuts
from hornlens.results.analysis.flips import EXAMPLES, attributes_named
from hornlens.results.documents.flips import FlipPair, Flips
from hornlens.targets.classifiers.answering import NotKept
from hornlens.targets.classifiers.columns import Column, column_of
from hornlens.targets.classifiers.features import number_feature
from hornlens.targets.classifiers.metering import LARGEST, Meter
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.voting import Vote

AnyExplained = TypeVar("AnyExplained", bound=Explained)
MOST_ROWS = 50_000_000
"""The classifier is asked about so many rows at most, where several columns are changed at once."""
BINS = 4
"""Into so many bins a column of one bin is cut, to try other values of it."""
MOST_CHANGED = 20_000_000
"""To save a result, the classifier is asked about so many changed rows at most, in all columns."""
MOST_KEPT = 4_000_000
"""So many answers about changed rows are kept in a file."""


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
    if not axes and not exact and len(places) == 1 and result.recorded is None:
        other = _with_bins(result, places[0])
        if places[0] in other.binned.telling:
            return flips_of(other, feature, by_proofs, meter)
    if not axes:
        nothing = Flips(name, 0, count if exact else 0, None, None, exact, exact, ())
        return replace(nothing, excluded=_excluded(result), kept=result.certificate.scope.kept)
    if result.recorded is not None and len(names) == 1:
        return _recorded(result, name, axes[0], by_proofs)
    flips, _ = _asked_flips(result, name, axes, by_proofs, meter)
    flips = replace(flips, proved=flips.proved and (exact or not silent))
    if flips.proved or not by_proofs:
        return flips
    return _with_bound(flips, result, axes, meter)


def _with_bins(result: AnyExplained, place: int) -> AnyExplained:
    """Return a result whose column of one bin is cut by quantiles: other values can be tried."""
    feature, table = result.binned.every[place], result.binned.classifier.table
    if feature.cuts is None:
        return result
    column = table.columns[place]
    own = number_feature(feature.name, feature.kind, column, quantile_cuts(column, BINS))
    every = (*result.binned.every[:place], own, *result.binned.every[place + 1 :])
    binned = replace(result.binned, every=every)
    none = np.zeros((0, len(binned.axes)), dtype=np.intp)
    cells = ListedCells(binned.axes, none, np.zeros(0, dtype=np.intp))
    again: Any = {"envelope": None}
    return replace(
        result, binned=binned, rows=binned.places(table), labelled=cells, vote=None, **again
    )


def recorded_flips(result: Explained, meter: Meter | None = None) -> RecordedFlips:
    """Return what changing each feature does to the rows of X, with what the model said of them.

    Proofs by trees may take long: they are left to those who ask for the flips of a column. Where
    there are too many changed rows, the first rows of X are changed only.
    """
    flips, answers = [], []
    levels = sum(feature.size for feature in result.binned.features)
    most = max(1, MOST_CHANGED // max(1, levels))
    for axis, feature in enumerate(result.binned.features):
        own, replies = _asked_flips(result, feature.name, [axis], False, meter, most)
        flips.append(own)
        answers.append(replies)
    if sum(replies.size for replies in answers) > MOST_KEPT:
        answers = []
    return RecordedFlips(tuple(flips), tuple(answers))


def _asked_flips(
    result: Explained,
    name: str,
    axes: Sequence[int],
    by_proofs: bool,
    meter: Meter | None,
    most: int | None = None,
) -> tuple[Flips, NDArray[np.int8]]:
    """Ask for the flips of some features; return what the model said of the changed rows, too.

    With `most`, so many rows are changed at most.
    """
    try:
        answers = _answers(result, axes, meter, most)
    except (NotKept, Stopped):
        answers = np.zeros((0, 1), dtype=np.int8)
    changes = answers != result.said[: len(answers), None]
    changes &= answers != OUTSIDE
    examples = _examples(result, axes, answers, changes)
    pairs = of_pairs = None
    proved = False
    if isinstance(result.labelled, GridCells):
        pairs, of_pairs, ends = _in_grid(result.labelled, axes)
        proved = not result.labelled.open
        if ends is not None and not examples:
            examples = [_pair(result.binned, *ends, result.labelled.at(np.stack(ends)))]
    if not proved and result.vote is not None and by_proofs:
        status, ends = _by_trees(result.vote, axes, meter)
        proved = status != -1
        if ends is not None and not examples:
            with suppress(Stopped):
                examples = [_pair(result.binned, *ends)]
    changed = int(np.count_nonzero(changes.any(axis=1)))
    flips = Flips(
        *(name, changed, len(answers), pairs, of_pairs, proved, result.exact_bins),
        tuple(examples),
        excluded=_excluded(result),
        kept=result.certificate.scope.kept,
    )
    return flips, answers


def _with_bound(flips: Flips, result: Explained, axes: Sequence[int], meter: Meter | None) -> Flips:
    """Return what random inputs show as well, where nothing is proved and the model is there."""
    from hornlens.classifiers.drawn_flips import drawn_flips

    try:
        drawn = drawn_flips(result, axes, meter)
    except (NotKept, Stopped):
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
    assert result.recorded is not None
    before = next(one for one in result.recorded.flips if one.feature == feature)
    if before.proved or before.ever or result.vote is None or not by_proofs:
        return before
    try:
        status, pair = result.vote.flip_along(axis)
        examples = () if pair is None else (_pair(result.binned, *pair),)
    except (NotKept, Stopped):
        return before
    return replace(before, proved=status != -1, examples=examples)


def _answers(
    result: Explained, axes: Sequence[int], meter: Meter | None, most: int | None = None
) -> NDArray[np.int8]:
    """Ask the classifier of every row with every level of some features; the rest as it is.

    Return a row for each row of X that was asked, of which there are fewer if a limit comes before,
    and a column for each choice of levels: the class, or OUTSIDE where nothing is changed, or where
    the background rules the row out, before or after the change.
    """
    features = [result.binned.features[axis] for axis in axes]
    size, count = prod(feature.size for feature in features), len(result.rows)
    count = count if most is None else min(most, count)
    if len(axes) > 1 and size * count > MOST_ROWS:
        raise HornlensError(
            f"changing {', '.join(feature.name for feature in features)} at once gives "
            f"{size * count:,} rows, {MOST_ROWS:,} at most: name fewer columns"
        )
    done, length, blocks = 0, count, [np.zeros((0, size), dtype=np.int8)]
    while done < count:
        if meter is not None and meter.limits is not None:
            length = 1 if not done else min(2 * done, LARGEST // size + 1)
            for room in (meter.room, meter.limits.calls_room()):
                length = length if room is None else min(length, room // size)
            if length < 1 or meter.stops():
                break
        some = slice(done, min(done + length, count))
        block = _block(result, axes, some, meter)
        if block is None:
            break
        blocks.append(block)
        done = some.stop
    return np.concatenate(blocks)


def _block(
    result: Explained, axes: Sequence[int], some: slice, meter: Meter | None
) -> NDArray[np.int8] | None:
    """Return the classes of some rows with every choice of levels; None past a limit."""
    binned, rows = result.binned, result.rows[some]
    decide = binned.classifier.decide
    forbidden = result.forbidden
    occurs = forbidden.allows(rows)
    every = _choices(result, axes)
    answers = np.full((len(rows), len(every)), OUTSIDE, dtype=np.int8)
    for choice, levels in enumerate(every):
        cells = rows.copy()
        cells[:, list(axes)] = levels
        columns = _with_levels(result, axes, levels, some)
        classes = decide(columns) if meter is None else meter.answers(decide, columns)
        if len(classes) < len(rows):
            return None
        counts = occurs & forbidden.allows(cells) & (cells != rows).any(axis=1)
        answers[counts, choice] = classes[counts]
    return answers


def _choices(result: Explained, axes: Sequence[int]) -> list[tuple[int, ...]]:
    return list(product(*(range(result.binned.features[axis].size) for axis in axes)))


def _with_levels(
    result: Explained, axes: Sequence[int], levels: Sequence[int], some: slice
) -> list[Column]:
    """Return the columns of some rows with other levels of some features."""
    binned = result.binned
    columns, rows = [column[some] for column in binned.classifier.table.columns], result.rows[some]
    for axis, level in zip(axes, levels, strict=True):
        place = binned.telling[axis]
        made = binned.features[axis].column(np.full(len(rows), level))
        # A level that a row has already stays the value that the row has.
        other = rows[:, axis] != level
        columns[place] = np.where(other, made, columns[place]) if len(axes) > 1 else made
    return columns


def _examples(
    result: Explained,
    axes: Sequence[int],
    answers: NDArray[np.int8],
    changes: NDArray[np.bool_],
) -> list[FlipPair]:
    """Return the first rows that get another class, each with the first level that does so."""
    table, labels = result.binned.classifier.table, result.binned.classifier.labels
    every = _choices(result, axes)
    examples: list[FlipPair] = []
    for row in np.flatnonzero(changes.any(axis=1))[:EXAMPLES].tolist():
        choice, some = int(np.argmax(changes[row])), slice(row, row + 1)
        first = _row(table.names, [column[row] for column in table.columns])
        columns = _with_levels(result, axes, every[choice], some)
        second = _row(table.names, [column[0] for column in columns])
        own = labels[result.said[row]], labels[answers[row, choice]]
        examples.append(FlipPair(first, own[0], second, own[1]))
    return examples


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


def _pair(binned: Binned, first: Levels, second: Levels, classes: Levels | None = None) -> FlipPair:
    """Return two cells as rows with their classes; the model is asked for what is not known."""
    both = np.stack([first, second])
    columns, classes = binned.columns(both), binned.ask(both) if classes is None else classes
    names, labels = binned.classifier.table.names, binned.classifier.labels
    rows = [_row(names, [column[row] for column in columns]) for row in (0, 1)]
    return FlipPair(rows[0], labels[classes[0]], rows[1], labels[classes[1]])


def _row(names: tuple[str, ...], values: list[Any]) -> dict[str, Any]:
    plain = (value.item() if isinstance(value, np.generic) else value for value in values)
    return dict(zip(names, plain, strict=True))
