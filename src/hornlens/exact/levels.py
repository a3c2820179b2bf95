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
    found = candidates_of(labelled, max_conditions, min_confidence)
    unexplained, accepted = Sums(labelled.space, rejected), Sums(labelled.space, labelled.positive)
    found = found.some(unexplained.rejected(found.at, found.join) > 0)
    candidates = len(found)
    steps: list[Step] = []
    rejections = int(rejected.sum())
    explained, bounds = 0, np.full(most, rejections, dtype=np.int64)
    while len(found) and len(steps) < most:
        gains = unexplained.rejected(found.at, found.join)
        _tighten(bounds, explained, gains)
        net = gains - exception_cost * accepted.rejected(found.at, found.join)
        best = _best(found, gains, net)
        if net[best] <= 0 or not gains[best]:
            break
        at, join = int(found.at[best]), int(found.join[best])
        explained += len(unexplained.take_away(at, join))
        exceptions = tuple(found.masks(accepted.take_away(at, join)))
        steps.append(Step(found.rule(best), explained, exceptions, 0))
        if len(steps) % 16 == 0:  # what explains nothing new will never do so again
            found = found.some(unexplained.rejected(found.at, found.join) > 0)
    bounded = tuple(
        Step(step.rule, step.explained, step.exceptions, int(bounds[i]))
        for i, step in enumerate(steps)
    )
    return Levels(
        min_confidence,
        max_conditions,
        exception_cost,
        candidates,
        rejections,
        len(exact.rules),
        int((rejected & ~left).sum()),
        bounded,
    )


def _best(found: Candidates, gains: np.ndarray, net: np.ndarray) -> int:
    """Return the place of the best: of equal ones the shortest, then the first."""
    top = np.flatnonzero(net == net.max())
    order = np.lexsort((found.head[top], found.at[top], -gains[top], found.conditions[top]))
    return int(top[order[0]])


def _tighten(bounds: np.ndarray, explained: int, gains: np.ndarray) -> None:
    """Lower what n candidates can explain at most: what is explained, and the n largest gains."""
    most = min(len(bounds), len(gains))
    largest = np.sort(np.partition(gains, len(gains) - most)[len(gains) - most :])[::-1]
    sums = explained + np.cumsum(largest)
    np.minimum(bounds[:most], sums, out=bounds[:most])
    np.minimum(bounds[most:], sums[-1], out=bounds[most:])
