"""Rules with few conditions that hold but for some exceptions, of a labelled space.

A rule speaks of the cells in which it rejects something; a cell in which the target accepts
something of it is an exception. The confidence of a rule is the share of the others. A left side is
a point of the grid; a right side is ⊥ or one variable more, so that each has exceptions of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.grid import LabelledSpace
from hornlens.exact.sums import Counts, Flags, sums_above
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Rules, each with its left side `at` and both sides `join` (-1: ⊥), as places of the grid.

    `head` is the variable behind the arrow, -1 for ⊥; `of` counts the cells that a rule speaks of,
    `broken` those of them that are exceptions.
    """

    space: Space
    at: Places
    join: Places
    head: Places
    of: Counts
    broken: Counts
    conditions: Counts

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.at)

    def some(self, chosen: Flags | Places) -> Candidates:
        """Return some of them."""
        return Candidates(
            self.space,
            *(column[chosen] for column in (self.at, self.join, self.head)),
            *(column[chosen] for column in (self.of, self.broken, self.conditions)),
        )

    def rule(self, place: int) -> Rule:
        """Return one as a rule."""
        (x,) = self.masks(self.at[place : place + 1])
        head = int(self.head[place])
        return Rule(x, BOTTOM if head < 0 else x | 1 << head)

    def masks(self, at: Places) -> list[int]:
        """Return places of the grid as interpretations."""
        if not self.space.shape:
            return [0] * len(at)
        by_axis = np.unravel_index(at, self.space.shape)
        lists = [
            [axis[place] for place in places.tolist()]
            for axis, places in zip(self.space.axes, by_axis, strict=True)
        ]
        return [sum(parts) for parts in zip(*lists, strict=True)]


def candidates_of(
    labelled: LabelledSpace, max_conditions: int, min_confidence: float
) -> Candidates:
    """Return the rules with at most so many conditions and at least that confidence.

    Exact ones are among them: they have no exceptions. Rules that the background alone makes true,
    and such as say no more than ⊥, are not.
    """
    space = labelled.space
    accepted = labelled.positive.reshape(space.shape)
    if space.label is None:
        accepted = accepted[..., None]
    cells = _Cells(space, labelled.cells(), max_conditions, Fraction(repr(float(min_confidence))))
    blocks: list[_Block] = []
    if space.label is None:
        blocks += cells.look(accepted[..., 0], 0, 0)
    else:
        anything: Flags = np.logical_or.reduce(accepted, axis=-1)
        blocks += cells.look(anything, 0, 0)
        for place in range(1, space.shape[-1]):
            blocks += cells.look(accepted[..., place], place, 1)
            others: Flags = np.logical_or.reduce(np.delete(accepted, place, axis=-1), axis=-1)
            head = space.offsets[-1] + place - 1
            blocks += cells.look_at_label(others, place, head)
    columns = [np.concatenate(each) for each in zip(*blocks, strict=True)] if blocks else None
    if columns is None:
        nothing = np.zeros(0, dtype=np.intp)
        columns = [nothing] * 6
    return Candidates(space, *columns)


_Block = tuple[Places, Places, Places, Counts, Counts, Counts]


class _Cells:
    """The cells of a space, and the left sides that are looked at."""

    def __init__(self, space: Space, inside: Flags, most: int, confidence: Fraction):
        self.space, self.most, self.confidence = space, most, confidence
        self.attributes = space.attributes
        self.shape = space.shape[: len(space.attributes)]
        self.labels = 1 if space.label is None else space.shape[-1]
        self.total = sums_above(inside, self.attributes).reshape(-1)
        conditions = np.zeros(self.shape, dtype=np.int32)
        for axis, length in enumerate(self.shape):
            around = [1] * len(self.shape)
            around[axis] = length
            conditions += (np.arange(length) > 0).reshape(around)
        self.conditions = conditions.reshape(-1)
        self.strides = [int(np.prod(self.shape[axis + 1 :])) for axis in range(len(self.shape))]

    def look(self, bad: Flags, label: int, labelled: int) -> list[_Block]:
        """Look at rules whose left side has this label (0: none), and ⊥ or a value as the right.

        `bad` says of each cell whether the target accepts what ⊥ would reject.
        """
        if bad.all() or self.most < labelled:
            return []
        exceptions = sums_above(bad, self.attributes).reshape(-1)
        possible = (self.conditions <= self.most - labelled) & (self.total > 0)
        lefts = np.flatnonzero(possible)
        none = np.full(len(lefts), -1, dtype=np.intp)
        blocks = [self._keep(lefts, none, -1, exceptions, label, labelled)]
        for axis, attribute in enumerate(self.attributes):
            places = lefts // self.strides[axis] % self.shape[axis]
            for variable, at, to in _right_sides(attribute, lefts, places):
                both = at + to * self.strides[axis]
                real = self.total[both] > 0  # or else it says no more than ⊥
                head = self.space.offsets[axis] + variable
                blocks.append(self._keep(at[real], both[real], head, exceptions, label, labelled))
        return blocks

    def look_at_label(self, others: Flags, label: int, head: int) -> list[_Block]:
        """Look at rules without a label on the left, and this one on the right.

        `others` says of each cell whether the target accepts it with another label, or none.
        """
        if others.all():
            return []
        exceptions = sums_above(others, self.attributes).reshape(-1)
        at = np.flatnonzero((self.conditions <= self.most) & (self.total > 0))
        of, broken = self.total[at], exceptions[at]
        kept = self._enough(of, broken)
        at = at[kept]
        heads = np.full(len(at), head, dtype=np.intp)
        both = at * self.labels + label
        return [(at * self.labels, both, heads, of[kept], broken[kept], self.conditions[at])]

    def _keep(
        self, at: Places, both: Places, head: int, exceptions: Counts, label: int, labelled: int
    ) -> _Block:
        of, broken = self.total[at], exceptions[at]
        if head >= 0:
            of, broken = of - self.total[both], broken - exceptions[both]
        kept = self._enough(of, broken)
        at, both = at[kept], both[kept]
        heads = np.full(len(at), head, dtype=np.intp)
        joined = np.where(both >= 0, both * self.labels + label, -1)
        conditions = self.conditions[at] + labelled
        return at * self.labels + label, joined, heads, of[kept], broken[kept], conditions

    def _enough(self, of: Counts, broken: Counts) -> Flags:
        """Say which have the confidence: in whole numbers, so that 57 of 60 is 0.95."""
        top, bottom = self.confidence.numerator, self.confidence.denominator
        exact = bottom < 1 << 31
        if not exact:  # more places than anyone writes: as close as floats come
            return (of > 0) & (of - broken >= float(self.confidence) * of)
        kept: Flags = (of > 0) & (
            (of - broken).astype(np.int64) * bottom >= top * of.astype(np.int64)
        )
        return kept


def _right_sides(
    attribute: Attribute, lefts: Places, places: Places
) -> Iterator[tuple[int, Places, Places]]:
    """Yield for each variable the left sides that can have it behind the arrow, and how much
    further on, along the attribute's axis, the least choice stands that has both.
    """
    if isinstance(attribute, Nominal):
        free = lefts[places == 0]
        for variable in range(len(attribute.variables)):
            yield variable, free, np.full(len(free), variable + 1, dtype=np.intp)
        return
    own = Theory(len(attribute.variables), attribute.rules, attribute.exclusive)
    for variable in range(own.width):
        joined = np.full(attribute.count, -1, dtype=np.intp)
        for place, choice in enumerate(attribute.choices):
            both = own.closure(choice | 1 << variable)
            if both != BOTTOM:
                joined[place] = attribute.place(both)
        to = joined[places]
        new = (to >= 0) & (to != places)
        yield variable, lefts[new], to[new] - places[new]
