"""Closures of many sets at once: under rules, and as intersections of positives.

Both are one question: which of many left sides lie inside x, and what do they add up to? Comparing
all with all is quadratic. Instead both are divided by one variable after the other: inside an x
that lacks it there are only left sides that lack it, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.batch import WORD, Words

LEAF = 1 << 17
"""So many pairs, or fewer, are compared all with all."""


def union_inside(xs: Words, lefts: Words, rights: Words) -> Words:
    """Return for each x the union of the rights whose left side lies inside it."""
    found = np.zeros_like(xs)
    width = WORD * xs.shape[1]
    counts = [int(np.count_nonzero(_has(lefts, v))) for v in range(width)]
    # What divides the left sides best goes first; what hardly any of them has does not divide.
    order = sorted((v for v in range(width) if counts[v]), key=lambda v: -counts[v])
    waiting = [(np.arange(len(xs)), np.arange(len(lefts)), 0)]
    while waiting:
        some, among, depth = waiting.pop()
        if not len(some) or not len(among):
            continue
        if len(some) * len(among) <= LEAF or depth == len(order) or len(some) < 4:
            _compare(found, xs, some, lefts[among], rights[among])
            continue
        variable = order[depth]
        having = _has(xs[some], variable)
        waiting.append((some[having], among, depth + 1))
        waiting.append((some[~having], among[~_has(lefts[among], variable)], depth + 1))
    return found


def _compare(found: Words, xs: Words, some: NDArray[np.intp], lefts: Words, rights: Words) -> None:
    """Compare each of some with each left side."""
    together = max(1, LEAF // len(lefts))
    for start in range(0, len(some), together):
        part = some[start : start + together]
        missing = ~xs[part]
        inside = (lefts[:, 0] & missing[:, :1]) == 0
        for word in range(1, xs.shape[1]):
            inside &= (lefts[:, word] & missing[:, word, None]) == 0
        x, left = np.nonzero(inside)
        if len(x):
            first = np.flatnonzero(np.diff(x, prepend=-1))
            found[part[x[first]]] |= np.bitwise_or.reduceat(rights[left], first, axis=0)


def _has(masks: Words, variable: int) -> NDArray[np.bool_]:
    having: NDArray[np.bool_] = (masks[:, variable // WORD] & (1 << variable % WORD)) != 0
    return having


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
