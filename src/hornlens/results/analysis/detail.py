"""What is said beside an exact envelope: almost-rules, and levels of detail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError, InputError
from hornlens.logic.batch import Words
from hornlens.logic.envelope import Envelope
from hornlens.logic.levels import Levels, parse_detail
from hornlens.results.documents.settings import Settings

if TYPE_CHECKING:
    from hornlens.exact.grid import LabelledSpace
    from hornlens.logic.cnf import Cnf
    from hornlens.logic.table import Table

ALMOST = 2
"""How many conditions almost-rules have, if nobody says: longer ones speak of few cases each, and
one exception more or less makes them."""
UNASKED = 1 << 16
"""Up to so many interpretations have their levels worked out though nobody asked: a moment."""
MOST = 1 << 22
"""More interpretations than that are not gone through again and again."""


def with_detail(envelope: Envelope, labelled: LabelledSpace, settings: Settings) -> Envelope:
    """Return an envelope with the almost-rules and levels that the settings ask for.

    Levels of a small space are always there: they cost little, and the page shows them. What is
    not complete, as its run was ended early, has neither.
    """
    asked = settings.min_confidence is not None or settings.detail is not None
    count = labelled.space.count
    if not envelope.certificate.settled or (count > UNASKED and not asked):
        return envelope
    if count > MOST:
        raise HornlensError(
            f"almost-rules and levels of {count:,} interpretations are too many to work out "
            f"({MOST:,} at most)"
        )
    almost = None
    if settings.min_confidence is not None:
        from hornlens.exact.almost import almost_rules_of_grid

        almost = almost_rules_of_grid(
            labelled,
            envelope.basis,
            _conditions(settings, ALMOST),
            settings.min_confidence,
            settings.min_support or 0,
        )
    return replace(envelope, almost=almost, levels=_levels(envelope, labelled, settings))


def _conditions(settings: Settings, otherwise: int) -> int:
    """Return how many conditions a rule may have that is not exact."""
    return otherwise if settings.max_conditions is None else settings.max_conditions


def _levels(envelope: Envelope, labelled: LabelledSpace, settings: Settings) -> Levels:
    from hornlens.exact.levels import CONDITIONS, CONFIDENCE, levels_of_grid

    levels = levels_of_grid(
        labelled,
        envelope.basis,
        _conditions(settings, CONDITIONS),
        settings.min_confidence or CONFIDENCE,
        settings.exception_cost,
    )
    if settings.detail is None:
        return levels
    wanted = parse_detail(settings.detail)
    if wanted.best is None:
        return levels.at(wanted)
    from hornlens.exact.best_level import best_level

    return best_level(labelled, levels, wanted.best)


def with_detail_of_formula(envelope: Envelope, formula: Cnf, settings: Settings) -> Envelope:
    """Return the envelope of a formula with what the settings ask for.

    Everything is counted, so there must be few enough interpretations.
    """
    if settings.min_confidence is None and settings.detail is None:
        return envelope
    labelled = _labelled(envelope, "formula", formula.accepts)
    return _without_unasked(with_detail(envelope, labelled, settings), settings)


def with_detail_of_table(envelope: Envelope, table: Table, settings: Settings) -> Envelope:
    """Return the envelope of a table with what the settings ask for.

    Almost-rules are counted in rows; levels in interpretations, so there must be few enough.
    """
    if not envelope.certificate.settled:
        return envelope
    if settings.min_confidence is not None:
        from hornlens.exact.almost_rows import almost_rules_of_table

        found = almost_rules_of_table(
            table,
            envelope.basis + envelope.background,
            _conditions(settings, ALMOST),
            settings.min_confidence,
            settings.min_support or 0,
        )
        envelope = replace(envelope, almost=found)
    if settings.detail is not None:
        from hornlens.exact.grid import labels_of_positives

        rows = list(table.rows)
        labelled = _labelled(envelope, "table", lambda _: labels_of_positives(envelope.space, rows))
        envelope = replace(envelope, levels=_levels(envelope, labelled, settings))
    return envelope


def _labelled(
    envelope: Envelope, what: str, accepts: Callable[[Words], NDArray[np.bool_]]
) -> LabelledSpace:
    from hornlens.exact.envelopes import GRID_LIMIT
    from hornlens.exact.grid import LabelledSpace

    space = envelope.space
    if space.count > GRID_LIMIT:
        raise InputError(
            f"has {space.width} variables: what a {what} rejects is counted up to "
            f"{GRID_LIMIT.bit_length() - 1} of them, for --min-confidence and --detail"
        )
    empty = LabelledSpace(space, np.zeros(space.count, dtype=np.bool_))
    return LabelledSpace(space, accepts(space.masks()) & empty.inside())


def _without_unasked(envelope: Envelope, settings: Settings) -> Envelope:
    return replace(envelope, levels=None) if settings.detail is None else envelope
