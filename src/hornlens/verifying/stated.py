"""What a sift can say: rules read as boxes of cells with the labels that break them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.attributes import Rule
from hornlens.verifying.grids import Wrong
from hornlens.verifying.levels import Box, Layout, Marks


@dataclass(frozen=True)
class Saying:
    """What is said of the labels: `never` one, or `always` one, by its place.

    `breaks` are the labels that break it. `value`: the label with which values are concluded.
    """

    breaks: tuple[int, ...]
    never: bool = True
    value: int | None = None


def sayings_of(labels: int, may_be_unset: bool, classes: bool = False) -> list[Saying]:
    """Return what can be said: that a label is always given, only where one always is.

    With `classes`, that is all that is said.
    """
    never = [Saying((place,), value=place) for place in range(max(1, labels))]
    if may_be_unset or (labels < 2 and not classes):
        return never
    rest = [tuple(other for other in range(labels) if other != place) for place in range(labels)]
    if labels == 2:
        return [Saying(others, False, others[0]) for others in rest]
    always = [Saying(others, False) for others in rest]
    return always if classes else [*never, *always]


@dataclass(frozen=True, eq=False)
class AskedCells:
    """The cells that were asked, in order, by their levels, and what is known of each label.

    `accepted` has a row for each cell and a column for each label: 1 if it is accepted in some
    world, 0 if in none, -1 if that is not known.
    """

    layout: Layout
    cells: NDArray[np.int64]
    accepted: NDArray[np.int8]

    def breaking(self, breaks: Sequence[int]) -> Marks:
        """Return which cells break what these labels break."""
        some: Marks = (self.accepted[:, list(breaks)] == 1).any(axis=1)
        return some

    def unsure(self, breaks: Sequence[int]) -> Marks:
        """Return of which cells it is not known whether they do."""
        some: Marks = (self.accepted[:, list(breaks)] == -1).any(axis=1)
        return some & ~self.breaking(breaks)


@dataclass(frozen=True, eq=False)
class StatedRule:
    """A rule: the cells that can break it, as a box, and what it says of the labels there.

    `conditions` are its variables of attributes. A rule that concludes a value has the `attribute`
    of it, and its variables as `value`; another has -1 and 0.
    """

    rule: Rule
    saying: Saying
    conditions: int
    box: Box
    attribute: int = -1
    value: int = 0


def read_stated(layout: Layout, rule: Rule, sayings: Sequence[Saying]) -> StatedRule:
    """Return a rule as one that a sift can look for; whatever else it says is wrong."""
    space, (left, both) = layout.space, rule
    labels = sum(space.label_masks)
    given = [place for place, mask in enumerate(space.label_masks) if left & mask]
    conditions, box = left & ~labels, layout.box(left & ~labels)
    new = 0 if both is None else both & ~left
    breaks = tuple(given) if space.labels else (0,)
    if len(given) == bool(space.labels):
        if both is None and Saying(breaks, value=breaks[0]) in sayings:
            return StatedRule(rule, Saying(breaks, value=breaks[0]), conditions, box)
        owners = [i for i, group in enumerate(layout.groups) if new & group]
        fitting = [saying for saying in sayings if saying.value == breaks[0]]
        if len(owners) == 1 and fitting and not new & labels and space.ends is None:
            i = owners[0]
            if not left & layout.groups[i]:
                lacking = tuple(
                    ~layout.having(i, new) if k == i else part for k, part in enumerate(box)
                )
                return StatedRule(rule, fitting[0], conditions, lacking, i, new)
    always = [place for place, mask in enumerate(space.label_masks) if new == mask]
    for saying in sayings:
        others = {*range(len(space.labels))} - {*saying.breaks}
        if not given and always and not saying.never and others == {*always}:
            return StatedRule(rule, saying, conditions, box)
    raise Wrong(f"{space.show_rule(rule)} is no rule that is sifted for")
