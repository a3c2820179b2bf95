"""Rules that speak of enough: of cells or prompts, of rows; and how many others there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hornlens.exact.bounded import ShortPoints, ShortRules, bounded_envelope_of_grid
from hornlens.exact.envelopes import NO_QUERIES, UNKNOWN
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.sums import Sums, sums_above
from hornlens.limits import Limits
from hornlens.logic.certificates import bounded
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.theory import Theory


def supported_envelope_of_grid(
    labelled: LabelledSpace,
    min_support: int,
    max_conditions: int | None = None,
    statistics: Mapping[str, Any] | None = None,
    unit: str = "cells",
    asked: int = 1,
    limits: Limits | None = None,
) -> Envelope:
    """Return the rules of a labelled space that speak of at least so many cells.

    A rule speaks of the cells that have what its left side says of them; each was asked about so
    many times (`asked`), in what people call a `unit`. Every such rule follows from these; of the
    rules that there are without the bound, those that do not follow are counted. If a limit ends
    it, some of them are there, and nothing is counted.
    """
    space = labelled.space
    covered = asked * sums_above(labelled.cells(), space.attributes)
    enough = covered >= min_support
    if space.label is not None:
        enough = np.broadcast_to(enough[..., None], space.shape)
    most = len(space.shape) if max_conditions is None else max_conditions
    engine = ShortRules(ShortPoints(labelled, most, enough.reshape(-1)), space.background)
    claim = engine.run(bounded(max_conditions, 0, min_support, unit), limits)
    counted: dict[str, Any] = dict(statistics or NO_QUERIES)
    if claim.ended is not None:
        return engine.envelope(space, claim, UNKNOWN, counted)
    basis = engine.result.basis
    if max_conditions is None:
        whole = labelled.dg_basis()
    else:
        whole = bounded_envelope_of_grid(labelled, max_conditions).basis
    non_horn = labelled.non_horn()
    left = ~labelled.positive & labelled.inside() & labelled.left_by(basis)
    counted["rejected_by_longer_rules"] = int(np.count_nonzero(left)) - len(non_horn)
    counted["rules_left_out"] = _not_following(labelled, basis, whole)
    return engine.envelope(space, claim, NonHorn.of(non_horn), counted)


def _not_following(labelled: LabelledSpace, known: Theory, rules: Theory) -> int:
    """Count the rules that do not follow from those known; sides of all are points of the grid."""
    space = labelled.space
    left = Sums(space, labelled.allowed() & labelled.left_by(known)).above

    def above(x: int) -> int:
        return int(left[tuple(space.places(x)) or 0])

    return sum(
        above(rule.antecedent) > (0 if rule.is_negative else above(rule.consequent))
        for rule in rules.rules
    )
