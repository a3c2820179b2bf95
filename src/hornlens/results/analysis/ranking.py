"""Which rules come first: by support, by margin, or by surprise.

- *support*: the rule that the most prompts speak for; of equal ones the widest mean margin.
- *margin*: the rule that holds by the most, on average; of equal ones the larger support.
- *surprise*: the rule that says the most that no other rule says: how many interpretations it
  rejects that all others together leave open. Of equal ones the shorter, then the larger support.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.supersets import Supersets
from hornlens.results.analysis.left import columns_of

if TYPE_CHECKING:
    from hornlens.results.analysis.evidence import Evidence
    from hornlens.results.documents.settings import Rank

EXPLAINED: dict[Rank, str] = {
    "support": "those that the most {unit}s speak for first",
    "margin": "those with the widest mean margin first",
    "surprise": "those that say the most that no other rule says first",
}
"""Each order in words."""


def order_of(
    evidence: Sequence[Evidence], rank: Rank, space: Space, cells: Sequence[int]
) -> tuple[int, ...]:
    """Return the places of rules, the strongest first; `cells` are those that were asked about."""
    own = surprise_of([each.rule for each in evidence], space, cells) if rank == "surprise" else ()

    def strength(place: int) -> tuple[object, ...]:
        each = evidence[place]
        support, margin = -each.support, -(each.mean_margin or 0.0)
        if rank == "margin":
            return margin, support, each.rule.key
        if rank == "surprise":
            return -own[place], len(space.conditions(each.rule.antecedent)), support, each.rule.key
        return support, margin, each.rule.key

    return tuple(sorted(range(len(evidence)), key=strength))


def surprise_of(rules: Sequence[Rule], space: Space, cells: Sequence[int]) -> list[int]:
    """Return for each rule how many interpretations it rejects that the others leave open."""
    known = Supersets(cells, space.width)
    times = np.zeros((len(cells), len(columns_of(space))), dtype=np.int64)
    rejected = [_rejected(rule, space, known) for rule in rules]
    for rows, which in rejected:
        times[rows] += which
    return [int(np.count_nonzero(which & (times[rows] == 1))) for rows, which in rejected]


def _rejected(
    rule: Rule, space: Space, cells: Supersets
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the cells in which a rule rejects something, and with which labels."""
    rows = np.array(cells.places(rule.antecedent & ~space.label_mask), dtype=np.intp)
    labels = columns_of(space)
    which = np.zeros((len(rows), len(labels)), dtype=np.bool_)
    asked = space.label_of(rule.antecedent)
    which[:, slice(None) if asked is None else asked + 1] = True
    if not rule.is_negative:
        rest, given = rule.consequent & ~space.label_mask, space.label_of(rule.consequent)
        obedient = [i for i, row in enumerate(rows.tolist()) if rest & ~cells.masks[row] == 0]
        which[obedient, slice(None) if given is None else given + 1] = False
    return rows, which
