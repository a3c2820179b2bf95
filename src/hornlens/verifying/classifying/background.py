"""Which cells the background allows: worked out again from its rules in variables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.attributes import Rule
from hornlens.verifying.classifying.cells import OUTSIDE
from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.classifying.plausible import PlausibleCells
from hornlens.verifying.grids import Space, Wrong
from hornlens.verifying.levels import Layout

Marks = NDArray[np.bool_]


class Assumed:
    """The background of a result, over cells as rows of levels."""

    def __init__(self, recorded: ClassifierFile):
        """Read its rules; those of the attributes themselves hold in every cell."""
        assert recorded.whole is not None
        self.recorded, content = recorded, recorded.whole
        space = Space.of(content)
        listed: list[Rule] = space.rules(content["background"])
        for rule in sorted(space.own - set(listed), key=str):
            raise Wrong(f"background: lacks {space.show_rule(rule)}")
        self.layout = Layout(space, listed)
        if self.layout.sizes != recorded.sizes:
            raise Wrong("space: its levels are not those of the columns")
        self.rules = [rule for rule in listed if rule not in space.own]
        if self.rules and not recorded.section["background"]:
            raise Wrong("background: more than the attributes demand, and none was given")
        texts = recorded.section["background"]
        if recorded.is_recent and len(set(texts)) < len(texts):
            raise Wrong("background: a rule stands there twice")
        self.plausible = PlausibleCells(recorded)

    @cached_property
    def _marks(self) -> list[tuple[list[Marks], list[Marks] | None]]:
        """For each rule, the levels of each column that have its left side, and both sides."""
        axes = range(len(self.recorded.sizes))

        def having(mask: int) -> list[Marks]:
            return [self.layout.having(axis, mask) for axis in axes]

        return [(having(a), None if both is None else having(both)) for a, both in self.rules]

    def allows(self, cells: NDArray[np.intp]) -> Marks:
        """Return which cells break no rule, and are plausible if only such cells are meant."""
        allowed: Marks = self.plausible.counts(cells) <= self.plausible.most
        for first, both in self._marks:
            broken = _inside(first, cells)
            allowed &= ~(broken & ~_inside(both, cells)) if both is not None else ~broken
        return allowed

    def check(self) -> tuple[list[str], list[str]]:
        """Hold the cells that do not occur against it; return what was checked, and was not."""
        cells, section = self.recorded.cells, self.recorded.section
        if cells.is_grid:
            every = self._grid(np.arange(len(cells.labels)))
            outside = np.array(cells.labels) == OUTSIDE
            if (outside != ~self.allows(every)).any():
                raise Wrong("cells: those that do not occur are not those that are ruled out")
        elif not self.allows(np.array(cells.listed, dtype=np.intp).reshape(cells.shape)).all():
            raise Wrong("cells: one was asked that is ruled out")
        boxes = section.get("forbidden") or ()
        if boxes and section.get("trees") is None:
            raise Wrong("forbidden: boxes of trees that are not there")
        checked, not_checked = self.plausible.check()
        if not self.rules and not boxes:
            return checked, not_checked
        if section.get("trees") is not None and list(boxes) != self._boxes():
            raise Wrong("forbidden: not what the background rules out")
        return (
            [*checked, "background: the cells that do not occur are those that its rules rule out"],
            [*not_checked, "that the background holds: whoever gave it answers for it"],
        )

    def _boxes(self) -> list[dict[str, str]]:
        """Return the boxes of cells that break a rule: sets of levels, where these are not all."""
        boxes: list[dict[str, str]] = []
        for first, both in self._marks:
            broken = [first] if both is None else []
            for axis, own in enumerate(both or ()):
                broken.append([*first[:axis], first[axis] & ~own, *first[axis + 1 :]])
            for box in broken:
                masks = {str(a): hex(_bits(own)) for a, own in enumerate(box) if not own.all()}
                if all(own.any() for own in box) and masks not in boxes:
                    boxes.append(masks)
        return boxes

    def _grid(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        sizes = self.recorded.sizes
        if not sizes:
            return np.zeros((len(places), 0), dtype=np.intp)
        return np.column_stack(np.unravel_index(places, sizes))


def _bits(marks: Marks) -> int:
    return sum(1 << level for level in np.flatnonzero(marks).tolist())


def _inside(marks: Sequence[Marks], cells: NDArray[np.intp]) -> Marks:
    inside = np.ones(len(cells), dtype=np.bool_)
    for axis, own in enumerate(marks):
        if not own.all():
            inside &= own[cells[:, axis]]
    return inside
