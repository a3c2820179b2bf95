"""The concepts of a table: sets of rows, and what they have in common.

Kuznetsov's Close-by-One: a set of variables grows by one at a time and is closed; it is kept if it
gains nothing before the variable that was added, so that each closed set is found once. Sets grow
in the order in which they were found: those from few variables come first.
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
    for concept in _all_at_once(columns):
        if concept.variables not in seen:
            yield concept.variables


def _pairs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of rows that stand far from each other: in sorted rows those differ most."""
    far = len(rows) // 3 + 1
    for step in range(1, len(rows)):
        for i, row in enumerate(rows):
            yield row, rows[(i + step * far) % len(rows)]


def _all_at_once(columns: Columns) -> Iterator[Concept]:
    """Yield every concept that has rows, each once.

    All that were found are kept in memory; in turn nothing is looked at twice.
    """
    if not columns.count:
        return
    seen = {columns.all}
    waiting = deque([columns.all])
    while waiting:
        rows = waiting.popleft()
        variables = columns.common(rows)
        yield Concept(rows, variables)
        for v, having in enumerate(columns.having):
            fewer = rows & having
            if fewer and fewer not in seen and not variables >> v & 1:
                seen.add(fewer)
                waiting.append(fewer)


def concepts(columns: Columns) -> Iterator[Concept]:
    """Yield every concept that has rows, each once.

    (The one without rows has every variable; whether it counts as one is a convention.)
    """
    if not columns.count:
        return
    having = columns.having
    waiting = deque([(Concept(columns.all, columns.common(columns.all)), 0)])
    while waiting:
        concept, start = waiting.popleft()
        yield concept
        rows, variables = concept
        others = [i for i in range(columns.width) if not variables >> i & 1]
        for place, added in enumerate(others):
            fewer = rows & having[added]
            if added < start or not fewer:
                continue
            for i in others[:place]:
                if fewer & having[i] == fewer:
                    break  # found from that variable already
            else:
                found = variables | 1 << added
                for i in others[place + 1 :]:
                    if fewer & having[i] == fewer:
                        found |= 1 << i
                waiting.append((Concept(fewer, found), added + 1))
