"""The concepts of a table: sets of rows, and what they have in common.

Kuznetsov's Close-by-One: a set of variables grows by one at a time and is closed; it is kept if it
gains nothing before the variable that was added, so that each closed set is found once. Sets grow
in the order in which they were found: those from few variables come first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from hornlens.exact.columns import Columns


class Concept(NamedTuple):
    """Rows, and the variables that all of them have: each set is all that the other one allows."""

    rows: int
    variables: int


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
