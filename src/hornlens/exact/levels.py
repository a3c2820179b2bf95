"""The curve of levels: which few rules explain the most of what a target rejects.

Taking the best rule again and again is quick, as the gain of every candidate is a difference of two
sums over the grid, and a rule taken changes the sums below what it rejects and no others.
"""

from __future__ import annotations

import numpy as np

from hornlens.exact.candidates import Candidates, candidates_of
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.sums import Sums
from hornlens.logic.levels import Levels, Step
from hornlens.logic.theory import Theory

CONFIDENCE = 0.9
"""Which candidates are looked at, if nobody says: lower, and broad rules swallow exceptions."""
CONDITIONS = 3
MOST_STEPS = 1_000
"""So many rules are no summary any more."""


def levels_of_grid(
    labelled: LabelledSpace,
    exact: Theory,
    max_conditions: int = CONDITIONS,
    min_confidence: float = CONFIDENCE,
    exception_cost: float = 1.0,
    most: int = MOST_STEPS,
) -> Levels:
    """Return the curve of a labelled space; `exact` is the basis of its rules.

    It ends where no candidate explains more than its new exceptions cost.
    """
    rejected = labelled.inside() & ~labelled.positive
    left = labelled.left_by(exact)
    candidates = candidates_of(labelled, max_conditions, min_confidence)
    unexplained, accepted = Sums(labelled.space, rejected), Sums(labelled.space, labelled.positive)
    candidates = candidates.some(unexplained.rejected(candidates.at, candidates.join) > 0)
    total = len(candidates)
    steps: list[Step] = []
    rejections = int(rejected.sum())
    explained, bounds = 0, np.full(most, rejections, dtype=np.int64)
    while len(candidates) and len(steps) < most:
        gains = unexplained.rejected(candidates.at, candidates.join)
        _tighten(bounds, explained, gains)
        net = gains - exception_cost * accepted.rejected(candidates.at, candidates.join)
        best = _best(candidates, gains, net)
        if net[best] <= 0 or not gains[best]:
            break
        at, join = int(candidates.at[best]), int(candidates.join[best])
        explained += len(unexplained.take_away(at, join))
        exceptions = tuple(candidates.masks(accepted.take_away(at, join)))
        steps.append(Step(candidates.rule(best), explained, exceptions, 0))
        if len(steps) % 16 == 0:  # what explains nothing new will never do so again
            candidates = candidates.some(unexplained.rejected(candidates.at, candidates.join) > 0)
    bounded = tuple(
        Step(step.rule, step.explained, step.exceptions, int(bounds[i]))
        for i, step in enumerate(steps)
    )
    return Levels(
        min_confidence,
        max_conditions,
        exception_cost,
        total,
        rejections,
        len(exact.rules),
        int((rejected & ~left).sum()),
        bounded,
    )


def _best(rules: Candidates, gains: np.ndarray, net: np.ndarray) -> int:
    """Return the place of the best: of equal ones the shortest, then the first."""
    top = np.flatnonzero(net == net.max())
    order = np.lexsort((rules.head[top], rules.at[top], -gains[top], rules.conditions[top]))
    return int(top[order[0]])


def _tighten(bounds: np.ndarray, explained: int, gains: np.ndarray) -> None:
    """Lower what n candidates can explain at most: what is explained, and the n largest gains."""
    most = min(len(bounds), len(gains))
    largest = np.sort(np.partition(gains, len(gains) - most)[len(gains) - most :])[::-1]
    sums = explained + np.cumsum(largest)
    np.minimum(bounds[:most], sums, out=bounds[:most])
    np.minimum(bounds[most:], sums[-1], out=bounds[most:])
