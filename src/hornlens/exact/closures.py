"""Closures of many sets at once: under rules, and as intersections of positives.

Both are one question: which of many left sides lie inside x, and what do they add up to?
"""

from __future__ import annotations

import numpy as np

from hornlens.logic.batch import Words
from hornlens.logic.inclusion import pairs_inside


def union_inside(xs: Words, lefts: Words, rights: Words) -> Words:
    """Return for each x the union of the rights whose left side lies inside it."""
    unions = np.zeros_like(xs)
    for x, left in pairs_inside(xs, lefts):
        first = np.flatnonzero(np.diff(x, prepend=-1))
        unions[x[first]] = np.bitwise_or.reduceat(rights[left], first, axis=0)
    return unions


def closed_under(xs: Words, lefts: Words, rights: Words) -> Words:
    """Return for each x the smallest set around it that obeys all rules left → right, or BOTTOM."""
    closed = xs.copy()
    growing = np.arange(len(xs))
    while len(growing):
        now = closed[growing]
        more = now | union_inside(now, lefts, rights)
        changed = (more != now).any(axis=1)
        closed[growing] = more
        # A row of BOTTOM has every variable and stays as it is.
        growing = growing[changed & (more[:, 0] >= 0)]
    return closed


def common_above(xs: Words, positives: Words) -> Words:
    """Return for each x the intersection of the positives around it; BOTTOM if there are none."""
    return ~union_inside(~xs, ~positives, ~positives)
