"""Almost-rules of a labelled space: a basis beside the exact rules, with all exceptions.

Luxenburger's basis gives the confidence of what is left out as a product of confidences, and only
for rules between sets that occur. Here what is left out *follows*, as logic has it, from the exact
rules and the almost-rules that are kept. Whatever breaks a rule that follows breaks one of those it
follows from: so its exceptions are those of the listed ones that break it, and can be read off.
"""

from __future__ import annotations

import numpy as np

from hornlens.exact.candidates import Candidates, candidates_of
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.sums import Flags, Sums
from hornlens.logic.almost import AlmostRule, AlmostRules
from hornlens.logic.theory import Theory


def almost_rules_of_grid(
    labelled: LabelledSpace,
    exact: Theory,
    max_conditions: int,
    min_confidence: float,
    min_support: int = 0,
) -> AlmostRules:
    """Return the almost-rules of a labelled space beside its exact rules.

    `exact` are rules that hold. Rules are taken in the order of `_order`: each that does not follow
    yet. At last those go that the others make superfluous, the last first. With `min_support`, only
    rules that speak of so many cells are looked at.
    """
    candidates = candidates_of(labelled, max_conditions, min_confidence)
    candidates = candidates.some((candidates.broken > 0) & (candidates.of >= min_support))
    left = labelled.allowed() & labelled.left_by(exact)
    kept = _without_superfluous(labelled, left, candidates, _chosen(labelled, left, candidates))
    positive = Sums(labelled.space, labelled.positive)
    return AlmostRules(
        min_confidence,
        max_conditions,
        min_support or None,
        tuple(_with_exceptions(positive, candidates, place) for place in kept),
    )


def _order(rules: Candidates) -> list[int]:
    """Short ones first; of one length ⊥ first, which says the most; then the fewest exceptions."""
    share = rules.broken / np.maximum(rules.of, 1)
    order = np.lexsort((rules.head, rules.at, -rules.of, share, rules.head >= 0, rules.conditions))
    return [int(place) for place in order]


def _chosen(labelled: LabelledSpace, left: Flags, candidates: Candidates) -> list[int]:
    """Return the places of the candidates that do not follow from the ones before them."""
    rest = Sums(labelled.space, left)
    at, join = candidates.at.tolist(), candidates.join.tolist()
    chosen = []
    for place in _order(candidates):
        if rest.rejects(at[place], join[place]):
            rest.take_away(at[place], join[place])
            chosen.append(place)
    return chosen


def _without_superfluous(
    labelled: LabelledSpace, left: Flags, candidates: Candidates, chosen: list[int]
) -> list[int]:
    """Return the chosen ones without those that follow from the others, the last looked at first.

    A rule follows if whatever it rejects is rejected by another one.
    """
    rest = Sums(labelled.space, left)
    rejected = [
        rest.those(int(candidates.at[place]), int(candidates.join[place])) for place in chosen
    ]
    times = np.zeros(len(left), dtype=np.int64)
    for points in rejected:
        times[points] += 1
    kept = []
    for place, points in zip(reversed(chosen), reversed(rejected), strict=True):
        if (times[points] > 1).all():
            times[points] -= 1
        else:
            kept.append(place)
    return kept[::-1]


def _with_exceptions(positive: Sums, candidates: Candidates, place: int) -> AlmostRule:
    exceptions = positive.those(int(candidates.at[place]), int(candidates.join[place]))
    return AlmostRule(
        candidates.rule(place),
        int(candidates.of[place]),
        int(candidates.broken[place]),
        tuple(candidates.masks(exceptions)),
    )
