"""Minimal hitting sets: the smallest choices of vertices that leave no edge of a hypergraph unmet.

The algorithm is MMCS (Murakami and Uno, 2014). A set S grows by one vertex at a time. Each vertex
of it must be *critical*: some edge meets S in it alone, or it could be left out again. What is not
critical stays so while S grows, so a branch ends there, and whatever meets all edges is minimal. To
grow, an unmet edge is taken and each of its vertices tried; a vertex that was tried is free again
only below those tried after it, so that no set is found twice.

A vertex may ask for more than one edge that it alone meets: for one that no *weaker* vertex meets,
either. Then a set is left out where weaker vertices do in the place of one of its own.

An edge with few free vertices makes few branches. It is found by going through the free vertices
and keeping, as long as there are any, only the unmet edges that lack the next one: what is left are
edges that lack many. That takes a step for each vertex instead of one for each edge.

Sets of edges and of rows are integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.columns import Columns
from hornlens.logic.batch import WORD, Words, pack
from hornlens.logic.bits import BOTTOM

Bits: TypeAlias = NDArray[np.uint64]
"""Sets of rows: 64 members a word, along the last axis."""
TOGETHER = 2_000
"""After so many sets that were looked at, what has been found is handed over."""


class Vertex(NamedTuple):
    """A vertex: its bit, the edges that it does not meet, and the rows that have it.

    `alone` are the edges that no weaker vertex meets: one of them must be met by this one only,
    except in a set of one vertex. BOTTOM, all of them, where none is weaker.
    """

    bit: int
    leaves: int
    rows: int
    alone: int = BOTTOM


def minimal_hitting_sets(
    edges: Sequence[int],
    width: int,
    at_most: int | None = None,
    rows: Sequence[int] = (),
    support: int = 0,
) -> Iterator[Words]:
    """Yield, some at a time and packed, each minimal set that meets every edge, once.

    `edges` are masks over `width` vertices; one that contains another costs time, and changes
    nothing. With `at_most`, sets of that size or less; with `support`, those that at least so many
    of the `rows` contain. Both end a branch as soon as nothing in it can be wanted.
    """
    meets, having = Columns(sorted(set(edges)), width), Columns(rows, width)
    vertices = [
        Vertex(1 << v, meets.all & ~meets.having[v], having.having[v]) for v in range(width)
    ]
    for sets in grow(vertices, meets.all, having.all, support, at_most):
        yield pack(sets, width)


def grow(
    vertices: Sequence[Vertex], edges: int, rows: int, support: int, at_most: int | None = None
) -> Iterator[list[int]]:
    """Yield, some at a time, each minimal set of vertices that meets all `edges`, once.

    Now and then there are none in what is yielded: whoever asks may stop there.
    """
    in_order = sorted(vertices, key=lambda vertex: -vertex.leaves.bit_count())
    # Plain tuples: the loop over them is where the time goes, and fields with names take longer.
    first = [(vertex.leaves, vertex.rows, vertex.bit, vertex.alone) for vertex in in_order]
    sets: list[int] = [0] if not edges and rows.bit_count() >= support else []
    limit = len(first) if at_most is None else at_most
    counted = support > 1
    waiting: list[tuple[int, list[tuple[int, int, int, int]], int, int, list[int]]] = []
    if edges and limit:
        waiting.append((0, first, edges, rows, []))
    looked = 0
    while waiting:
        chosen, free, unmet, rows, critical = waiting.pop()
        looked += 1
        if looked % TOGETHER == 0:
            yield sets
            sets = []
        among, to_try, later = unmet, [], []
        for vertex in free:
            if fewer := among & vertex[0]:
                among = fewer
                later.append(vertex)
            else:
                to_try.append(vertex)
        may_grow = len(critical) + 1 < limit
        for vertex in to_try:
            leaves, having, bit, alone = vertex
            left_rows = rows & having
            # Only now: most of the vertices that no row has are never tried.
            if support and (not left_rows or (counted and left_rows.bit_count() < support)):
                continue
            still = [left for edge in critical if (left := edge & leaves)]
            if len(still) < len(critical):
                continue  # one is no longer critical, and so in all that is larger
            left = unmet & leaves
            own = (unmet ^ left) & alone
            if not own and (chosen or left):
                continue  # weaker ones do in its place, and so in all that is larger
            if not left:
                sets.append(chosen | bit)
            else:
                if may_grow:
                    still.append(own)
                    waiting.append((chosen | bit, later, left, left_rows, still))
                later = [*later, vertex]
    yield sets


def spread(masks: Words, width: int) -> NDArray[np.bool_]:
    """Return masks as rows with a column for each variable."""
    place = np.arange(width)
    columns: NDArray[np.bool_] = (masks[:, place // WORD] >> place % WORD & 1).astype(np.bool_)
    return columns


def sets_having(masks: Words, width: int) -> Bits:
    """Return for each variable the set of the masks that have it; in a last row, all of them."""
    columns = np.zeros((width + 1, max(1, -(-len(masks) // 64)) * 64), dtype=np.bool_)
    columns[:width, : len(masks)] = spread(masks, width).T
    columns[width, : len(masks)] = True
    return np.packbits(columns, axis=1, bitorder="little").view(np.uint64)


def count_members(sets: Bits) -> NDArray[np.int64]:
    """Return how many members each set has."""
    counts: NDArray[np.int64] = _ones(sets).sum(axis=-1, dtype=np.int64)
    return counts


_OF_BYTE = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def _ones(words: NDArray[Any]) -> NDArray[np.uint8]:
    """Return how many bits of each word are set."""
    counts: NDArray[np.uint8]
    if hasattr(np, "bitwise_count"):  # from numpy 2 on
        counts = np.bitwise_count(words)
    else:
        as_bytes = np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, 8)
        counts = _OF_BYTE[as_bytes].sum(axis=-1, dtype=np.uint8)
    return counts
