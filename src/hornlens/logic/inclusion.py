"""Which of many sets lie inside which of many others, packed.

Comparing all with all is quadratic. Instead both are divided by one variable after the other:
inside an x that lacks it there are only sets that lack it, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.batch import WORD, Words

LEAF = 1 << 17
"""So many pairs, or fewer, are compared all with all."""
Indices: TypeAlias = NDArray[np.intp]


def pairs_inside(xs: Words, lefts: Words) -> Iterator[tuple[Indices, Indices]]:
    """Yield, some at a time, the places of an x and of a left side that lies inside it.

    All pairs of one x come together, one after the other, the left sides in their order.
    """
    if len(xs) * len(lefts) <= LEAF:
        if len(xs) and len(lefts):
            yield from _compared(xs, np.arange(len(xs)), lefts, np.arange(len(lefts)))
        return
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
            yield from _compared(xs, some, lefts, among)
            continue
        variable = order[depth]
        having = _has(xs[some], variable)
        waiting.append((some[having], among, depth + 1))
        waiting.append((some[~having], among[~_has(lefts[among], variable)], depth + 1))


def _compared(
    xs: Words, some: Indices, lefts: Words, among: Indices
) -> Iterator[tuple[Indices, Indices]]:
    """Compare each of some with each of the left sides."""
    own = lefts[among]
    together = max(1, LEAF // len(among))
    for start in range(0, len(some), together):
        part = some[start : start + together]
        missing = ~xs[part]
        inside = (own[:, 0] & missing[:, :1]) == 0
        for word in range(1, xs.shape[1]):
            inside &= (own[:, word] & missing[:, word, None]) == 0
        pairs = np.flatnonzero(inside)  # far quicker than in two dimensions
        if len(pairs):
            x = pairs // len(among)
            yield part[x], among[pairs - x * len(among)]


def _has(masks: Words, variable: int) -> NDArray[np.bool_]:
    having: NDArray[np.bool_] = (masks[:, variable // WORD] & (1 << variable % WORD)) != 0
    return having
