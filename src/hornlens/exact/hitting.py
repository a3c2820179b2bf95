"""Minimal hitting sets: the smallest choices of vertices that leave no edge of a hypergraph unmet.

The algorithm is MMCS (Murakami and Uno, 2014). A set S grows by one vertex at a time. Each vertex
of it must be *critical*: some edge meets S in it alone, or it could be left out again. What is not
critical stays so while S grows, so a branch ends there, and whatever meets all edges is minimal. To
grow, an unmet edge is taken and each of its vertices tried; a vertex that was tried is free again
only below those tried after it, so that no set is found twice.

Sets of edges are rows of bits, and many sets S of one size are grown at once, in numpy. What waits
is a stack of such batches: memory stays small, and sets come out while others are still growing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.batch import WORD, Words, pack

Bits: TypeAlias = NDArray[np.uint64]
"""Sets of edges, or of rows: 64 members a word, along the last axis."""
BATCH = 1 << 19
"""How many words are worked on together: about as many as stay in the processor's cache."""


@dataclass(frozen=True)
class _Sets:
    """Sets S of one size, and what has to be known of each of them to let it grow."""

    chosen: Words
    free: Words
    """The vertices that may still be added."""
    unmet: Bits
    critical: Bits
    """For each vertex of S, in a row of its own, the edges that meet S in it alone."""
    rows: Bits
    """The rows that contain S."""

    @property
    def size(self) -> int:
        return int(self.critical.shape[1])

    def only(self, which: NDArray[np.bool_] | slice) -> _Sets:
        return _Sets(
            self.chosen[which],
            self.free[which],
            self.unmet[which],
            self.critical[which],
            self.rows[which],
        )

    def parts(self) -> Iterator[_Sets]:
        """Yield them in parts that are small enough to grow at once."""
        words = (self.size + 2) * self.unmet.shape[1] + self.rows.shape[1]
        together = max(1, BATCH // (8 * words))  # of each come several
        for start in range(0, len(self.chosen), together):
            yield self.only(slice(start, start + together))


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
    hypergraph = _Hypergraph(edges, width, rows)
    waiting = [hypergraph.nothing()]
    while waiting:
        sets = waiting.pop()
        if support:
            sets = sets.only(count_members(sets.rows) >= support)
        unmet = np.asarray(sets.unmet.any(axis=1))
        if not unmet.all():
            yield sets.chosen[~unmet]
            sets = sets.only(unmet)
        if at_most is None or sets.size < at_most:
            waiting += map(hypergraph.grown, sets.parts())


class _Hypergraph:
    """Edges, and for each vertex which edges and which rows have it."""

    def __init__(self, edges: Sequence[int], width: int, rows: Sequence[int]):
        self.edges = pack(sorted(set(edges)), width)
        self.meets = sets_having(self.edges, width)
        self.rows = sets_having(pack(rows, width), width)
        self.single = pack([1 << v for v in range(width)], width)
        self.before = pack([(1 << v) - 1 for v in range(width)], width)
        self.width = width

    def nothing(self) -> _Sets:
        """Return the empty set, from which all others grow."""
        return _Sets(
            pack([0], self.width),
            pack([(1 << self.width) - 1], self.width),
            self.meets[-1:],
            np.zeros((1, 0, self.meets.shape[1]), dtype=np.uint64),
            self.rows[-1:],
        )

    def grown(self, sets: _Sets) -> _Sets:
        """Return the sets with one vertex more in which every vertex is critical."""
        wanted = self.edges[self._fewest_free(sets)] & sets.free
        parent, vertex = np.nonzero(spread(wanted, self.width))
        critical = sets.critical[parent] & ~self.meets[vertex, None]
        kept = np.all(critical.any(axis=2), axis=1)
        parent, vertex = parent[kept], vertex[kept]
        tried = np.zeros_like(wanted)  # what was not critical here is nowhere below
        np.bitwise_or.at(tried, parent, self.single[vertex])
        unmet, meets = sets.unmet[parent], self.meets[vertex]
        return _Sets(
            sets.chosen[parent] | self.single[vertex],
            sets.free[parent] & ~wanted[parent] | tried[parent] & self.before[vertex],
            unmet & ~meets,
            np.concatenate([critical[kept], (unmet & meets)[:, None]], axis=1),
            sets.rows[parent] & self.rows[vertex],
        )

    def _fewest_free(self, sets: _Sets) -> NDArray[np.intp]:
        """Return for each set an unmet edge with the fewest vertices to try: few branches."""
        free = np.zeros((len(sets.chosen), len(self.edges)), dtype=np.uint16)
        for edge, some in zip(self.edges.T, sets.free.T, strict=True):
            free += _ones(edge & some[:, None])
        unmet = np.unpackbits(sets.unmet.view(np.uint8), axis=1, bitorder="little")
        free[unmet[:, : len(self.edges)] == 0] = np.iinfo(np.uint16).max
        fewest: NDArray[np.intp] = free.argmin(axis=1)
        return fewest


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
