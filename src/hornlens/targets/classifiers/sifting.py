"""Sifting a classifier: every rule of a class with few conditions, from a few thousand cells.

The strategy is that of `extract`; here its cells are put to a classifier as rows, and what it shows
comes back as boxes. Its rules say which class is always given: those are what `explain` lists,
predicts by and proves of trees. That a class is never given is no rule here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.boxes.cells import Levels, ListedCells
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.exact.boxes.spaces import box_of_mask, short_mask_of_box
from hornlens.learning.sifting.candidates import TooManyRules, class_statements
from hornlens.learning.sifting.run import SiftOptions
from hornlens.learning.sifting.sift import Sift
from hornlens.learning.strategies import Lines
from hornlens.logic.decisions import Policy
from hornlens.logic.rule import Rule
from hornlens.logic.sifting import Base, Sifted, SiftRecord
from hornlens.logic.space import Space
from hornlens.targets.classifiers.guard import Inputs, uniform_inputs
from hornlens.targets.classifiers.options import Options
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.ruletables import SiftedBoxes

USUAL = 2
"""How many conditions rules have where nothing is said of it; 1 where those are too many."""


COMPARED = 500
"""Before a sift, the cells of so many rows of X and of as many uniform inputs are asked."""
RARE = 1.0
"""A class is rare if it is said of ε of all cells at most.

Rules of the others are what is wanted here, even where they say no more than that it is not said;
while there are more exceptions than a rule may have, these are listed one by one.
"""
SHARE = 8
"""Within a budget, each of the two takes a share of one in so many of it at most."""


@dataclass(frozen=True, eq=False)
class ToSift:
    """A classifier that is to be sifted: how it is asked, over which cells, and what is wanted.

    `exact`: all inputs of a cell get one class, as far as the model was read.
    """

    asking: Binned
    space: Space
    forbidden: Forbidden
    exact: bool
    options: Options

    @cached_property
    def budget(self) -> int | None:
        """How many cells may be asked; None: as many as it takes."""
        meter = self.asking.meter
        given = (None if meter is None else meter.room, self.options.budget)
        return min((n for n in given if n is not None), default=None)

    def compared(self, rows: Levels) -> tuple[Levels, Inputs | None]:
        """Return the cells by which the agreement is measured, and the uniform inputs in them.

        Where all inputs of a cell get one class, inputs are drawn inside all cells later.
        """
        most = COMPARED if self.budget is None else min(COMPARED, self.budget // SHARE)
        if self.exact:
            return rows[:most], None
        rng = np.random.default_rng(self.options.seed)
        inputs = uniform_inputs(self.asking, most, rng)
        inputs = inputs.some(self.forbidden.allows(inputs.cells))
        every = np.concatenate([rows[:most], inputs.cells])
        _, places = np.unique(every, axis=0, return_index=True)
        return every[np.sort(places)], inputs


class SiftedCells(NamedTuple):
    """What a sift comes to, the cells that were asked, and the inputs to measure by."""

    sifted: SiftedBoxes
    labelled: ListedCells
    inputs: Inputs | None


def sift_classifier(given: ToSift, rows: Levels, most: int | None) -> SiftedCells:
    """Return all rules with at most so many conditions; `rows` are the cells of X.

    Some of these, and the cells of some uniform inputs, are asked first: the agreement is measured
    by them, and what is known of them is held against every rule.
    """
    asking, options = given.asking, given.options
    wanted = SiftOptions(
        epsilon=options.epsilon,
        delta=options.delta,
        seed=options.seed,
        budget=given.budget,
        rare=RARE,
    )
    sift = sift_of(given.space, most, wanted)
    if not sift.run.ground.room((None,) * len(asking.axes)):
        raise InputError("the background allows no cell: nothing is left to explain")
    first, inputs = given.compared(rows)
    labels = asking.ask_first(first)
    classes = len(asking.classifier.classes)
    sift.hear(first[: len(labels)].astype(np.int64), one_hot(labels, classes))
    if len(labels) == len(first):
        ask_all(sift, asking)
    sifted = Boxes(given.space).of(sift.sifted())
    meter = asking.meter
    if not sifted.done and meter is not None and meter.ended is None:
        meter.out_of()
    return SiftedCells(sifted, cells_of(sift, asking), inputs)


def sift_of(space: Space, most: int | None, options: SiftOptions) -> Sift:
    """Return the strategy for rules with at most so many conditions; None: as many as usual.

    Too many rules to be sifted are an error only if somebody wanted so many conditions.
    """
    policies = [Policy(label_unset="reject")]
    if most is not None:
        wanted = replace(options, conditions=most)
        return Sift(space, policies, wanted, class_statements(space))
    try:
        return sift_of(space, USUAL, options)
    except TooManyRules:
        return sift_of(space, USUAL - 1, options)


def one_hot(labels: Levels, classes: int) -> NDArray[np.int8]:
    """Return which class each cell has, as a strategy takes it: a column for each class."""
    return np.eye(classes, dtype=np.int8)[labels]


def ask_all(sift: Sift, asking: Binned) -> None:
    """Ask what the strategy wants to know until it is done, or a limit of the meter is reached."""
    meter, classes = asking.meter, len(asking.classifier.classes)
    steps = sift.steps()
    reply: NDArray[np.int8] | None = None
    try:
        while True:
            step = steps.send(reply)
            reply = None
            if not isinstance(step, Lines):
                if meter is not None and meter.passes(step):
                    return
                continue
            cells = sift.run.ground.levels(step.cells)
            labels = asking.ask_first(cells.astype(np.intp))
            reply = one_hot(labels, classes)
            if len(labels) < len(cells):
                sift.hear_rest(dict(zip(step.cells, reply, strict=False)))
                return
    except StopIteration:
        return
    finally:
        steps.close()


def cells_of(sift: Sift, binned: Binned) -> ListedCells:
    """Return the cells that were asked, in their order, each with its class.

    The class of a cell is the one of which it does not break that it is always given.
    """
    tally = sift.run.tally
    return ListedCells(
        binned.axes, tally.cells.astype(np.intp), np.argmin(tally.broken, axis=0).astype(np.intp)
    )


class Boxes:
    """The rules of a sift as boxes, and its record in the form in which rules are shown."""

    def __init__(self, space: Space):
        """Take the space that was sifted."""
        self.space = space

    def of(self, sifted: Sifted) -> SiftedBoxes:
        """Return what a sift has shown."""
        return SiftedBoxes(
            {self.box(rule): warrant for rule, warrant in sifted.listed},
            tuple(map(self.box, sifted.open)),
            sifted.open_count,
            self.record(sifted.record),
            sifted.done,
        )

    def box(self, rule: Rule) -> BoxRule:
        """Return a rule as a box and the place of its class."""
        place = self.space.label_of(rule.consequent)
        assert place is not None
        return BoxRule(box_of_mask(self.space, rule.antecedent), place)

    def record(self, record: SiftRecord) -> SiftRecord:
        """Return a record whose rules say no more than the bounds of their boxes, as shown."""
        return replace(
            record,
            classes=True,
            families=tuple(
                replace(
                    family,
                    rules=tuple(map(self._short, family.rules)),
                    bases=tuple(map(self._base, family.bases)),
                )
                for family in record.families
            ),
            almost=tuple(replace(one, rule=self._short(one.rule)) for one in record.almost),
            more_often=tuple(
                replace(one, conditions=self._bounds(one.conditions)) for one in record.more_often
            ),
        )

    def _base(self, base: Base) -> Base:
        return base if base.member >= 0 else Base(conditions=self._bounds(base.conditions))

    def _short(self, rule: Rule) -> Rule:
        left = self._bounds(rule.antecedent)
        return Rule(left, left | rule.consequent & self.space.label_mask)

    def _bounds(self, mask: int) -> int:
        if mask not in self._known:
            self._known[mask] = short_mask_of_box(self.space, box_of_mask(self.space, mask))
        return self._known[mask]

    @cached_property
    def _known(self) -> dict[int, int]:
        return {}
