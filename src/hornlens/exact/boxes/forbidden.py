"""Which complete cells a background rules out: rules of a space as boxes of levels.

Some rules may be broken, but not many of them at once: their boxes are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space

LevelSets: TypeAlias = tuple[int, ...]
"""A box as a set of levels for each attribute, each as bits."""


@dataclass(frozen=True)
class Forbidden:
    """The cells of a complete space that break one of its granted rules.

    `counted` are boxes of which a cell may lie in `most_broken`, and not in more.

    >>> from hornlens.logic.attributes import Nominal
    >>> sex, pregnant = Nominal("sex", ("f", "m")), Nominal("pregnant", ("yes", "no"))
    >>> rule = Rule(0b0100, 0b0001)  # who is pregnant is f
    >>> forbidden = Forbidden(Space((sex, pregnant), assumed=(rule,), complete=True))
    >>> forbidden.boxes
    ((2, 1),)
    >>> forbidden.allows(np.array([[0, 0], [1, 0], [1, 1]])).tolist()
    [True, False, True]
    >>> several = Forbidden(Space((sex, pregnant), complete=True), ((1, 3), (3, 1)), 1)
    >>> several.allows(np.array([[0, 0], [1, 0], [1, 1]])).tolist()
    [False, True, True]
    """

    space: Space
    counted: tuple[LevelSets, ...] = ()
    most_broken: int = 0

    @cached_property
    def boxes(self) -> tuple[LevelSets, ...]:
        """The boxes of cells that do not occur; a cell may lie in several."""
        boxes = [box for rule in self.space.assumed for box in self._of(rule)]
        return tuple(dict.fromkeys(box for box in boxes if all(box)))

    def _of(self, rule: Rule) -> list[LevelSets]:
        """Return what has a rule's left side and, on one axis, not what the right side says."""
        met = self._levels(rule.antecedent)
        if rule.is_negative:
            return [met]
        right = self._levels(rule.consequent)
        return [
            (*met[:axis], met[axis] & ~right[axis], *met[axis + 1 :]) for axis in range(len(met))
        ]

    def _levels(self, mask: int) -> LevelSets:
        """Return for each attribute the levels that say what a mask says of it."""
        parts = zip(self.space.leaves, self.space.groups, strict=False)
        return tuple(
            sum(1 << level for level, leaf in enumerate(leaves) if not mask & group & ~leaf)
            for leaves, group in parts
        )

    @property
    def weighted(self) -> tuple[LevelSets, ...]:
        """All boxes, of which a cell that occurs lies in `most_broken` at most.

        Those that no cell may lie in stand there often enough to rule it out by themselves.
        """
        return (*(box for box in self.boxes for _ in range(self.most_broken + 1)), *self.counted)

    def allows(self, cells: Levels) -> NDArray[np.bool_]:
        """Say of each cell, a row of levels, whether it occurs."""
        allowed = np.ones(len(cells), dtype=np.bool_)
        for box in self.boxes:
            allowed &= ~self._inside(box, cells)
        return allowed & (self.broken(cells) <= self.most_broken)

    def broken(self, cells: Levels) -> NDArray[np.intp]:
        """Return in how many of the counted boxes each cell lies."""
        counts = np.zeros(len(cells), dtype=np.intp)
        for box in self.counted:
            counts += self._inside(box, cells)
        return counts

    def _inside(self, box: LevelSets, cells: Levels) -> NDArray[np.bool_]:
        inside = np.ones(len(cells), dtype=np.bool_)
        for axis, (levels, leaves) in enumerate(zip(box, self.space.leaves, strict=True)):
            if levels != (1 << len(leaves)) - 1:
                here = np.array([levels >> level & 1 for level in range(len(leaves))], np.bool_)
                inside &= here[cells[:, axis]]
        return inside
