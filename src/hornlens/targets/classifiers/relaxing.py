"""Boxes around a proved one, each wider than the one before it: where a few questions reach far.

Of all ends of the box that could be moved outwards, the one is moved that lets in most rows for
what it adds to the plain bound on the lead of other classes. So the first boxes are likely to be
proved, too, and a few questions tell how many are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hornlens.exact.boxes.axes import Axis, Box, Range
from hornlens.exact.boxes.cells import Levels
from hornlens.targets.classifiers.bounding.rows import Floats
from hornlens.targets.classifiers.bounding.tables import Tables
from hornlens.targets.classifiers.growing import Others
from hornlens.targets.classifiers.narrowing import Weighed

STEPS = 12
"""So many ends are moved at most."""
PARTS = (0.25, 0.5, 1.0)
"""An end is moved as far as such a share of the rows that this lets in."""
LITTLE = 0.02
"""So much is added to what an end adds to the bound: else all that add nothing were alike."""


class _Move(NamedTuple):
    """A wider range of an axis, and how much the rows count that it lets in."""

    axis: int
    span: Range
    gain: float


def relaxed(
    axes: Sequence[Axis], box: Box, rows: Weighed, others: Levels, leads: Sequence[Tables]
) -> list[Box]:
    """Return boxes, each around the next one; the last is the given one.

    Args:
        axes: The axes of the box.
        box: Where to begin.
        rows: Cells of the class, and how much it counts to have them in the box.
        others: Cells of other classes, none of which is let in.
        leads: Tables of by how much each other class leads.
    """
    boxes, known = [box], Others(others, box)
    for _ in range(STEPS):
        box = boxes[-1]
        low, high = np.array(box, dtype=np.intp).T
        outside = (rows.cells < low) | (rows.cells > high)
        misses = outside.sum(axis=1)
        moves: list[_Move] = []
        for place, axis in enumerate(axes):
            only = outside[:, place] & (misses == 1)
            if only.any():
                span = known.widest(place, axis, box[place][0])
                levels = rows.cells[only, place]
                moves += _moves(place, axis, box[place], span, levels, rows.weights[only])
        if not moves:
            break
        place, span, _ = _best(moves, low, high, float(rows.weights[misses == 0].sum()), leads)
        known.move(place, span)
        boxes.append((*box[:place], span, *box[place + 1 :]))
    return boxes[::-1]


def _moves(
    place: int, axis: Axis, span: Range, widest: Range, levels: Levels, weights: Floats
) -> list[_Move]:
    """Return wider ranges of an axis, up to the widest one, that let in some of the levels."""
    spans = {widest}
    if axis.is_ranged and span[0] < axis.known:
        inside = levels[(widest[0] <= levels) & (levels <= min(widest[1], axis.known - 1))]
        below, above = inside[inside < span[0]], inside[inside > span[1]]
        for part in PARTS:
            if len(below):
                spans.add((int(np.quantile(below, 1 - part, method="lower")), span[1]))
            if len(above):
                spans.add((span[0], int(np.quantile(above, part, method="higher"))))
    gains = [
        float(weights[(low <= levels) & (levels <= high)].sum()) for low, high in sorted(spans)
    ]
    moves = [_Move(place, *move) for move in zip(sorted(spans), gains, strict=True)]
    return [move for move in moves if move.gain > 0]


def _best(
    moves: Sequence[_Move], low: Levels, high: Levels, inside: float, leads: Sequence[Tables]
) -> _Move:
    """Return the move that lets in most rows for what it adds to the bound."""
    lows, highs = (np.repeat(ends[None], len(moves) + 1, axis=0) for ends in (low, high))
    for number, (place, span, _) in enumerate(moves):
        lows[number, place], highs[number, place] = span
    bounds = np.full(len(lows), -np.inf)
    for lead in leads:
        np.maximum(bounds, lead.bounds(lead.reach(lows, highs))[:, 0], out=bounds)
    added = np.maximum(bounds[:-1] - bounds[-1], 0)
    gains = np.log1p(np.array([move.gain for move in moves]) / inside)
    return moves[int((gains / (added + LITTLE)).argmax())]
