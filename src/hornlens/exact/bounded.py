"""Bounded envelopes: all rules with at most so many conditions, exactly, where there are too many.

A condition is what the left side of a rule says of one attribute, or of the label: a value, an
interval, a node of a taxonomy. What follows from each such left side is found first; the basis is
the DG basis of that, and its readable rules have left sides of that length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hornlens.exact.envelopes import GRID_LIMIT, NO_QUERIES, check_rows, with_support
from hornlens.exact.grid import LabelledSpace, Labels, labels_of_positives
from hornlens.exact.saturation import saturate
from hornlens.logic.batch import Words
from hornlens.logic.certificates import Bounded
from hornlens.logic.cnf import Cnf, clauses_of
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory

LONGER = NonHorn(None)
"""Not known: what longer rules reject was not told from what no rule can reject."""


def bounded_envelope_of_grid(
    labelled: LabelledSpace,
    max_conditions: int | None,
    statistics: Mapping[str, Any] | None = None,
    enough: Labels | None = None,
) -> Envelope:
    """Return the rules with at most `max_conditions` conditions of a labelled space.

    Every such rule that holds follows from them and the background. The non-Horn negatives are
    the target's, whatever the bound; how many others only longer rules reject is counted as well.
    Left sides that `enough` does not allow, by their places in the grid, are not looked at.
    """
    space = labelled.space
    saturated = saturate(*_short_points(labelled, max_conditions, enough), space.background)
    non_horn = labelled.non_horn()
    left = ~labelled.positive & labelled.inside() & labelled.left_by(saturated.basis)
    longer = int(np.count_nonzero(left)) - len(non_horn)
    return Envelope.of(
        space,
        saturated.basis,
        saturated.generators,
        certificate=Bounded(max_conditions, len(saturated.basis)),
        non_horn=NonHorn.of(non_horn),
        statistics={**(statistics or NO_QUERIES), "rejected_by_longer_rules": longer},
    )


def _short_points(
    labelled: LabelledSpace, most: int | None, enough: Labels | None
) -> tuple[Words, Words]:
    """Return the points with at most so many conditions that are not closed, and their closures.

    Small ones first; those from which no more follows than with a condition less are left out.
    """
    space, closures = labelled.space, labelled.closures
    conditions = np.zeros(space.shape, dtype=np.int64)
    told = np.zeros(space.shape, dtype=np.bool_)
    grid = closures.reshape(*space.shape, -1)
    for axis, length in enumerate(space.shape):
        around = [1] * len(space.shape)
        around[axis] = length
        said = (np.arange(length) > 0).reshape(around)
        conditions += said
        same = (grid == grid.take([0], axis=axis)).all(axis=-1)
        told |= said & same
    short = np.flatnonzero(
        ((conditions <= (len(space.shape) if most is None else most)) & ~told).ravel()
    )
    if enough is not None:
        short = short[enough[short]]
    short = short[np.argsort(conditions.ravel()[short], kind="stable")]
    short = short[(labelled.points[short] != closures[short]).any(axis=1)]
    return labelled.rows.words(labelled.points[short]), labelled.rows.words(closures[short])


def bounded_envelope_of_formula(
    formula: Cnf, max_conditions: int, background: Theory | None = None
) -> Envelope:
    """Return the rules with at most `max_conditions` conditions of a formula and a background."""
    from hornlens.exact.maximal import LargePositives
    from hornlens.exact.short import what_follows

    granted = background or Theory(formula.width)
    clauses = formula.clauses + clauses_of(granted)
    space = Space.of_variables(formula.vocabulary, tuple(granted))
    if space.count <= GRID_LIMIT:
        accepted = Cnf(formula.vocabulary, clauses).accepts(space.masks())
        return bounded_envelope_of_grid(LabelledSpace(space, accepted), max_conditions)
    target = LargePositives(clauses, formula.width)
    short = what_follows(target, max_conditions)
    saturated = saturate(short.xs, short.closures, space.background)
    return Envelope.of(
        space,
        saturated.basis,
        saturated.generators,
        certificate=Bounded(max_conditions, len(saturated.basis)),
        non_horn=LONGER,
        statistics={**NO_QUERIES, "sat_calls": target.calls},
    )


def bounded_envelope_of_table(
    table: Table, max_conditions: int, background: Theory | None = None, min_support: int = 0
) -> Envelope:
    """Return the rules with at most `max_conditions` conditions of a table of positive examples.

    With `min_support`, of those whose conditions at least so many rows have; how many sets of
    conditions were left out because of it is among the statistics.
    """
    from hornlens.exact.short import Rows, what_follows

    granted = check_rows(table, background)
    space = Space.of_variables(table.vocabulary, tuple(granted))
    if space.count <= GRID_LIMIT and not min_support:
        labels = labels_of_positives(space, list(table.rows))
        found = bounded_envelope_of_grid(LabelledSpace(space, labels), max_conditions)
        return with_support(found, table)
    rows = Rows(table.rows, space.width)
    short = what_follows(rows, max_conditions, rows.with_support(min_support))
    saturated = saturate(short.xs, short.closures, space.background)
    found = Envelope.of(
        space,
        saturated.basis,
        saturated.generators,
        certificate=Bounded(max_conditions, len(saturated.basis), min_support or None),
        non_horn=LONGER,
        statistics={**NO_QUERIES, "rare_conditions_left_out": short.rare},
    )
    return with_support(found, table)
