"""The concepts of a table: sets of rows, and what they have in common.

Kuznetsov's Close-by-One: a set of variables grows by one at a time and is closed; it is kept if it
gains nothing before the variable that was added, so that each closed set is found once. Sets grow
in the order in which they were found: those from few variables come first. What would be gained
where is remembered for the sets that grow from this one (Outrata and Vychodil, FCbO).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from hornlens.exact.columns import Columns


class Concept(NamedTuple):
    """Rows, and the variables that all of them have: each set is all that the other one allows."""

    rows: int
    variables: int


PAIRS = 100_000
"""So many pairs of rows are looked at first."""


def intersections(columns: Columns) -> Iterator[int]:
    """Yield every intersection of rows that is no row itself, each once: those of two rows first.

    That is quick where only some are wanted; all that were found are kept in memory.
    """
    rows = columns.rows
    seen = set(rows)
    for row, other in islice(_pairs(rows), PAIRS):
        if row & other not in seen:
            seen.add(row & other)
            yield row & other
    for concept in concepts(columns):
        if concept.variables not in seen:
            yield concept.variables


def _pairs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of rows that stand far from each other: in sorted rows those differ most."""
    far = len(rows) // 3 + 1
    for step in range(1, len(rows)):
        for i, row in enumerate(rows):
            yield row, rows[(i + step * far) % len(rows)]


def concepts(columns: Columns) -> Iterator[Concept]:
    """Yield every concept that has rows, each once.

    (The one without rows has every variable; whether it counts as one is a convention.)
    """
    if not columns.count:
        return
    having, by_row = columns.having, columns.rows
    # Rows, the variables so far, what may have to be added to them (it is in the first row), which
    # variable may be added next, and, for each, one that stands before it and would be gained, too.
    waiting = deque([(columns.all, 0, by_row[0], 0, [0] * columns.width)])
    while waiting:
        rows, variables, left, start, known = waiting.popleft()
        while left:
            bit = left & -left
            if rows & having[bit.bit_length() - 1] == rows:
                variables |= bit
            left ^= bit
        yield Concept(rows, variables)
        gained = known.copy()
        for added in range(start, columns.width):
            bit = 1 << added
            if variables & bit or gained[added] & ~variables:
                continue  # of fewer rows, all that more have in common is gained as well
            fewer = rows & having[added]
            if not fewer:
                continue
            left = by_row[(fewer & -fewer).bit_length() - 1] & ~variables
            before = left & bit - 1
            while before:
                low = before & -before
                if fewer & having[low.bit_length() - 1] == fewer:
                    gained[added] = low  # found from that variable already
                    break
                before ^= low
            else:
                after = left >> added + 1 << added + 1
                waiting.append((fewer, variables | bit, after, added + 1, gained))
