"""The exact envelope of a labelled space: every interpretation is known, so nothing is searched.

Two sweeps over the grid. The first folds each axis from its top down and so gives *every*
interpretation its closure, the intersection of the positives above it. The second goes up by size:
an interpretation that is not closed and obeys all rules found below it is the antecedent of the
next rule of the DG basis, relative to the space's background.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.engine import Step, run
from hornlens.logic.attributes import Places
from hornlens.logic.batch import Words, obeys, pack, unpack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.compact import LONG, Rows
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory

Labels = NDArray[np.bool_]
TOGETHER = 1_000
"""How many rules are found in a step, at most."""
MOST_POINTS = 2_000_000
"""What can be said of a complete space is laid out up to so many points: cells may be far fewer."""


@dataclass(frozen=True, eq=False, repr=False)  # arrays are not compared, nor shown
class LabelledSpace:
    """A space and, in the order of its grid, whether the target accepts each point.

    What breaks the background does not occur, so it must not be accepted.
    """

    space: Space
    positive: Labels

    @classmethod
    def of(cls, space: Space, accepts: Callable[[int], bool]) -> LabelledSpace:
        """Label a space by asking `accepts` of every interpretation."""
        asked = (x in space and accepts(x) for x in unpack(space.masks()))
        return cls(space, np.fromiter(asked, np.bool_, space.count))

    def inside(self) -> Labels:
        """Say of every point of the grid whether it occurs: in a complete space with all set."""
        space, allowed = self.space, self.allowed()
        if not space.complete:
            return allowed
        whole = np.zeros(space.shape, dtype=np.bool_)
        whole[cell_index(space)] = True
        return allowed & whole.reshape(-1)

    def allowed(self) -> Labels:
        """Say of every point of the grid whether it obeys what is taken for granted."""
        space = self.space
        if not space.assumed:
            return np.ones(space.count, dtype=np.bool_)
        return obeys(space.masks(), Theory(space.width, space.assumed))

    def cells(self) -> Labels:
        """Say of every combination of the attributes' choices whether it is a cell that occurs."""
        inside = self.inside().reshape(self.space.shape)
        if self.space.label is None:
            return inside
        # The label is the last axis, unset first: in a complete space no cell has it unset.
        return np.asarray(inside[..., int(self.space.complete)])

    @cached_property
    def rows(self) -> Rows:
        """How points are written here: shorter than masks, where an axis is long."""
        return Rows(self.space)

    @cached_property
    def points(self) -> Words:
        """Every interpretation, as a row."""
        return self.rows.grid()

    @cached_property
    def closures(self) -> Words:
        """For every interpretation, the intersection of the positives above it, as a row."""
        closures = self.points.copy()
        closures[~self.positive] = BOTTOM
        grid = closures.reshape(*self.space.shape, closures.shape[1])
        for axis, attribute in enumerate(self.space.all_attributes):
            along = np.moveaxis(grid, axis, 0)
            for place, above in attribute.covers():
                along[place] &= np.bitwise_and.reduce(along[above], axis=0)
        self.rows.settle(closures)
        return closures

    def closed(self) -> Labels:
        """Say of every interpretation whether the envelope accepts it."""
        same: Labels = (self.closures == self.points).all(axis=1)
        return same

    def non_horn(self) -> list[int]:
        """Return the non-Horn negatives: rejected, yet intersections of accepted ones.

        In a complete space there are none, for each cell is its own rule; but where an attribute
        has one value, a cell without it may lie between cells that have it.
        """
        left = self.closed() & ~self.positive
        return self.rows.masks(self.points[left & self.inside() if self.space.complete else left])

    def left_by(self, theory: Theory) -> Labels:
        """Say of every point of the grid whether it obeys the rules of a basis of the space.

        A rule costs what it rejects, not the whole grid: its sides must be points of it.
        """
        left = np.ones(self.space.shape, dtype=np.bool_)
        above = self._above()
        for rule in theory.rules:
            _leave_out(left, rule, above)
        return left.ravel()

    def _above(self) -> Callable[[int], tuple[Places, ...]]:
        """Return a function that indexes the part of the grid which contains a point."""
        space = self.space
        parts_above = [
            [attribute.above(place) for place in range(attribute.count)]
            for attribute in space.all_attributes
        ]
        plain = all(isinstance(part, slice) for parts in parts_above for part in parts)
        # Looking a choice up is quickest; on long axes, though, its mask is longer than its place.
        by_choice = None
        if max(space.shape, default=0) <= LONG:
            axes = zip(space.axes, parts_above, space.groups, strict=True)
            by_choice = [(dict(zip(axis, parts, strict=True)), g) for axis, parts, g in axes]

        def above(x: int) -> tuple[Places, ...]:
            if by_choice is not None:
                parts = [of[x & group] for of, group in by_choice]
            else:
                parts = [of[at] for of, at in zip(parts_above, space.places(x), strict=True)]
            if plain:
                return tuple(parts)
            lists = (np.arange(n)[part] for part, n in zip(parts, space.shape, strict=True))
            return np.ix_(*lists)

        return above

    def dg_basis(self) -> Theory:
        """Return the envelope: the DG basis of the positives, relative to the background."""
        return run(GridEngine(self)).basis

    def find_rules(self) -> Iterator[Step]:
        """Find the rules of the DG basis, those with small antecedents first, some at a time."""
        space = self.space
        points, closures = self.points, self.closures
        candidates = (closures != points).any(axis=1)
        if space.assumed:
            candidates &= self.allowed()
        candidates = candidates.reshape(space.shape)
        above = self._above()
        # As small as they can be: a million of them are compared for every size.
        dtype = np.min_scalar_type(space.width)
        sizes = np.zeros(space.shape, dtype=dtype)
        for i, axis in enumerate(space.axes):
            around = [1] * len(space.shape)
            around[i] = len(axis)
            sizes += np.array([mask.bit_count() for mask in axis], dtype=dtype).reshape(around)
        # np.unique would do, but it imports numpy.ma: 15 ms of every exact run
        open_still = np.bincount(sizes[candidates])
        places, total = np.flatnonzero(open_still).tolist(), int(open_still.sum())
        yield Step(settled=0.0 if total else 1.0)
        for size in places:
            lefts = np.flatnonzero((candidates & (sizes == size)).ravel())
            for start in range(0, len(lefts), TOGETHER):
                some = lefts[start : start + TOGETHER]
                sides = self.rows.masks(points[some]), self.rows.masks(closures[some])
                new = list(map(Rule, *sides))
                for rule in new:  # whatever breaks the rule is no candidate any more
                    _leave_out(candidates, rule, above)
                yield Step(new, 1 - np.count_nonzero(candidates) / total)


class GridEngine:
    """Finds the rules of a labelled space."""

    def __init__(self, labelled: LabelledSpace):
        """Begin with nothing found."""
        self.labelled, self.width = labelled, labelled.space.width
        self._rules: list[Rule] = []

    def steps(self) -> Iterator[Step]:
        """Find all rules, small antecedents first."""
        for step in self.labelled.find_rules():
            self._rules += step.proved
            yield step

    def proved(self) -> list[Rule]:
        """Return the rules so far: each is one of the DG basis."""
        return self._rules


def _leave_out(points: Labels, rule: Rule, above: Callable[[int], tuple[Places, ...]]) -> None:
    """Take away the points that break a rule."""
    obedient = None if rule.is_negative else above(rule.consequent)
    spared = None if obedient is None else points[obedient].copy()
    points[above(rule.antecedent)] = False
    if obedient is not None:
        points[obedient] = spared


def cell_index(space: Space) -> tuple[NDArray[np.intp], ...]:
    """Return where a complete space's cells with their labels lie in the grid of all choices."""
    lists = [list(places) for places in space.leaf_places]
    if space.label is not None:
        lists.append(list(range(1, space.shape[-1])))
    return np.ix_(*lists) if lists else ()


def labels_of_positives(space: Space, positives: list[int]) -> Labels:
    """Return the labels under which exactly `positives` are positive."""
    width = len(space.vocabulary)
    order = space.masks()
    wanted = pack(sorted(set(positives)), width)
    joined: Labels = np.isin(_as_keys(order), _as_keys(wanted))
    return joined


def _as_keys(words: Words) -> NDArray[np.void] | Words:
    """Return rows as single comparable values."""
    if words.shape[1] == 1:
        return words[:, 0]
    rows = np.ascontiguousarray(words)
    return rows.view([("", rows.dtype)] * rows.shape[1]).ravel()
