"""Boxes of cells as integers: the cells of some axes are the bits of one.

Python's integers are as long as they must be, so thousands of cells are compared at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from hornlens.exact.boxes.axes import Axis, Range


class BitBoxes:
    """The cells of some axes. The level of the first one changes from bit to bit."""

    def __init__(self, axes: Sequence[Axis]):
        """Lay the cells out."""
        self._sizes = [axis.size for axis in axes]
        self._steps = [prod(self._sizes[:place]) for place in range(len(axes))]
        self._axes = tuple(axes)
        self.count = prod(self._sizes)
        """How many cells there are."""

    def grown(self, cell: int, blocked: int) -> tuple[list[Range], int, int, int]:
        """Return a box around a cell: none of it is blocked, nor could it be wider.

        Axes are widened in their order. What blocks a small box blocks a larger one, so once
        around is enough. With it come its bits, and the first and the last of them.
        """
        # Until its turn comes, an axis has the level of the cell: so many bits are left of it.
        parts = []
        for step in reversed(self._steps):
            parts.append(blocked)
            level, cell = divmod(cell, step)
            blocked = blocked >> level * step & (1 << step) - 1
            parts.append(level)
        inside, first, last, box = 1, 0, 0, []
        for axis, step in zip(self._axes, self._steps, strict=True):
            level, near = parts.pop(), parts.pop()
            known = axis.known
            if level < known and axis.is_ranged:
                low = high = level
                while low and not near >> (low - 1) * step & inside:
                    low -= 1
                while high + 1 < known and not near >> (high + 1) * step & inside:
                    high += 1
                if high - low + 1 == known < axis.size and not near >> known * step & inside:
                    high = known
            elif axis.nodes:
                low = high = level
                for wide in axis.around[level]:
                    if any(near >> at * step & inside for at in range(wide[0], wide[1] + 1)):
                        break
                    low, high = wide
            elif any(near >> at * step & inside for at in range(axis.size)):
                low = high = level
            else:
                low, high = axis.whole
            box.append((low, high))
            first, last = first + low * step, last + high * step
            have, count = 1, high - low + 1
            while have < count:  # the same of every level
                more = have if 2 * have < count else count - have
                inside |= inside << more * step
                have += more
            inside <<= low * step
        return box, inside, first, last


def widest(axis: Axis, level: int, hit: Callable[[int], object]) -> Range:
    """Return the widest range around a level in which no level is hit."""
    known = axis.known
    if axis.nodes:
        widest_yet = level, level
        for wide in axis.around[level]:
            if any(map(hit, range(wide[0], wide[1] + 1))):
                break
            widest_yet = wide
        return widest_yet
    if level >= known or not axis.is_ranged:
        return (level, level) if any(map(hit, range(axis.size))) else axis.whole
    low = high = level
    while low and not hit(low - 1):
        low -= 1
    while high + 1 < known and not hit(high + 1):
        high += 1
    if high - low + 1 == known < axis.size and not hit(known):
        return axis.whole
    return low, high
