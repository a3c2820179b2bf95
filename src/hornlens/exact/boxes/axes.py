"""Axes: the levels of an attribute in a row, and which ranges of them are one condition.

Every cell of a complete space has one level of each attribute. An interval of ordered levels is a
range; of plain values each stands alone; a node of a taxonomy is the range of its leaves. What is
missing comes last, and no range but itself and the whole has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]
"""Levels from the first to the last, both in it."""
Box: TypeAlias = tuple[Range, ...]
"""A range for each axis: all of its levels where nothing is said of it."""


@dataclass(frozen=True)
class Axis:
    """So many levels, of which the first `known` are not missing.

    `is_ranged`: several of these levels in a row are one condition. `nodes`: further ranges that
    are one, those of a tree: of two of them one lies in the other, or they have nothing in common.

    >>> Axis(3, 3, True).ranges
    ((0, 2), (0, 0), (0, 1), (1, 1), (1, 2), (2, 2))
    >>> list(Axis(4, 4, False, ((0, 1),)).wider((1, 1)))
    [(0, 1)]
    """

    size: int
    known: int
    is_ranged: bool
    nodes: tuple[Range, ...] = ()

    @cached_property
    def whole(self) -> Range:
        """The range that says nothing."""
        return 0, self.size - 1

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        """All that can be said, beginning with nothing."""
        ranges = [self.whole, *self.nodes]
        for low in range(self.known):
            last = self.known if self.is_ranged else low + 1
            ranges += [(low, high) for high in range(low, last)]
        ranges += [(level, level) for level in range(self.known, self.size)]
        return tuple(dict.fromkeys(ranges))

    def wider(self, span: Range) -> Iterator[Range]:
        """Yield the ranges right above one: each says a little less."""
        low, high = span
        if span == self.whole:
            return
        if self.nodes:
            yield next(wide for wide in self.around[low] if _is_within(span, wide))
            return
        steps = []
        if self.is_ranged and high < self.known:
            steps = [(low - 1, high)] * (low > 0) + [(low, high + 1)] * (high + 1 < self.known)
        yield from steps or [self.whole]

    @cached_property
    def around(self) -> tuple[tuple[Range, ...], ...]:
        """For each level of a tree, the nodes around it and the whole, from small to large."""
        wide = {*self.nodes, self.whole}
        lines = ([each for each in wide if each[0] <= at <= each[1]] for at in range(self.size))
        return tuple(tuple(sorted(line, key=lambda each: each[1] - each[0])) for line in lines)


def _is_within(inner: Range, outer: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1] and inner != outer


def shape_of(axes: Sequence[Axis]) -> tuple[int, ...]:
    """Return how many levels each axis has."""
    return tuple(axis.size for axis in axes)
