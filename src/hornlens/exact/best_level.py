"""The best level of so many rules, by MaxSAT: for curves that are small enough."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np

from hornlens.errors import HornlensError
from hornlens.exact.candidates import Candidates, candidates_of
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.sums import Sums
from hornlens.logic.levels import Levels, Step

MOST_CANDIDATES = 400
"""Measured on the built-in probe: beyond, the solver may take minutes."""
MOST_POINTS = 50_000


def best_level(labelled: LabelledSpace, levels: Levels, rules: int) -> Levels:
    """Return the best choice of at most so many candidates of a curve, as a curve of its own.

    Best: the most explained rejections, less the cost of each exception. A HornlensError if there
    are too many candidates to be sure.
    """
    candidates = candidates_of(labelled, levels.max_conditions, levels.min_confidence)
    rejected = labelled.inside() & ~labelled.positive
    unexplained, accepted = Sums(labelled.space, rejected), Sums(labelled.space, labelled.positive)
    candidates = _undominated(
        candidates.some(unexplained.rejected(candidates.at, candidates.join) > 0), unexplained
    )
    if len(candidates) > MOST_CANDIDATES or labelled.space.count > MOST_POINTS:
        raise HornlensError(
            f"{len(candidates):,} rules over {labelled.space.count:,} interpretations are too many "
            f"to find the best {rules} of them ({MOST_CANDIDATES} over {MOST_POINTS:,} at most): "
            "leave out --optimal, or lower --max-conditions"
        )
    pairs = list(zip(candidates.at.tolist(), candidates.join.tolist(), strict=True))
    chosen = _solve(
        [unexplained.those(*pair).tolist() for pair in pairs],
        [accepted.those(*pair).tolist() for pair in pairs],
        Fraction(repr(levels.exception_cost)).limit_denominator(1000),
        rules,
    )
    steps: list[Step] = []
    explained = 0
    while chosen:  # the one that adds the most first, as curves have it
        place = max(chosen, key=lambda i: (unexplained.rejects(*pairs[i]), -i))
        chosen.remove(place)
        explained += len(unexplained.take_away(*pairs[place]))
        exceptions = tuple(candidates.masks(accepted.take_away(*pairs[place])))
        steps.append(Step(candidates.rule(place), explained, exceptions, levels.rejections))
    return replace(levels, steps=tuple(steps), chosen=len(steps), optimal=True)


def _undominated(rules: Candidates, unexplained: Sums) -> Candidates:
    """Leave out exact rules that explain nothing but what a shorter exact rule explains."""
    order = np.lexsort((rules.head, rules.at, -unexplained.rejected(rules.at, rules.join)))
    seen: list[frozenset[int]] = []
    kept = []
    for place in order.tolist():
        region = frozenset(unexplained.those(int(rules.at[place]), int(rules.join[place])).tolist())
        if rules.broken[place] or not any(region <= other for other in seen):
            kept.append(place)
            if not rules.broken[place]:
                seen.append(region)
        if len(kept) > MOST_CANDIDATES:
            return rules
    return rules.some(np.array(sorted(kept), dtype=np.intp))


def _solve(
    explains: list[list[int]], breaks: list[list[int]], cost: Fraction, rules: int
) -> list[int]:
    """Return the places of at most so many sets with the best sum, by MaxSAT.

    Points in the same sets are one, with their number as weight.
    """
    from pysat.card import CardEnc, EncType
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    formula = WCNF()
    top = len(explains)
    for some, weight, is_gain in (
        (explains, cost.denominator, True),
        (breaks, cost.numerator, False),
    ):
        inside: dict[int, list[int]] = {}
        for rule, points in enumerate(some, start=1):
            for point in points:
                inside.setdefault(point, []).append(rule)
        for group, count in Counter(map(tuple, inside.values())).items():
            if not weight:
                continue
            top += 1
            if is_gain:  # explained: one of its rules is chosen
                formula.append([-top, *group])
                formula.append([top], weight=count * weight)
            else:  # an exception, as soon as one is
                for rule in group:
                    formula.append([-rule, top])
                formula.append([-top], weight=count * weight)
    if rules < len(explains):
        bound = CardEnc.atmost(
            lits=list(range(1, len(explains) + 1)),
            bound=rules,
            top_id=top,
            encoding=EncType.totalizer,
        )
        formula.extend(bound.clauses)
    with RC2(formula) as solver:
        model = solver.compute() or []
    return [lit - 1 for lit in model if 0 < lit <= len(explains)]
