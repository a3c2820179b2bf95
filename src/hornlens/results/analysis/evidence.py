"""The evidence behind a rule: the cells it speaks of, their scores, and the closest call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import NO, YES, Decision, Policy, accepts, lead
from hornlens.logic.knowledge import count_above
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.supersets import Supersets


class Exhibit(NamedTuple):
    """One cell that a rule speaks of: what the target says, and by how much the rule holds.

    `supports`: asked, the target preferred another label to those that the rule rejects; `breaks`:
    it accepts something that the rule rejects. `margin` is the winner's score minus that of the
    best label that the rule rejects; None where that does not exist.
    """

    cell: int
    decision: Decision
    supports: bool
    breaks: bool
    margin: float | None
    world: int = 0
    """The place of the way of asking, where there are several."""


@dataclass(frozen=True)
class Evidence:
    """All known cells that have what the rule's antecedent asks of them."""

    rule: Rule
    exhibits: tuple[Exhibit, ...]

    @property
    def prompts(self) -> int:
        """How many known cells the rule speaks of."""
        return len(self.exhibits)

    @cached_property
    def support(self) -> int:
        """How many cells speak for the rule."""
        return sum(exhibit.supports for exhibit in self.exhibits)

    @property
    def broken(self) -> int:
        """How many answers break the rule: none, if it is exact."""
        return sum(exhibit.breaks for exhibit in self.exhibits)

    @cached_property
    def margins(self) -> list[float]:
        """The margins by which it holds, where there are scores."""
        return [e.margin for e in self.exhibits if e.margin is not None]

    @cached_property
    def mean_margin(self) -> float | None:
        """The mean margin."""
        margins = self.margins
        return sum(margins) / len(margins) if margins else None

    @property
    def closest(self) -> Exhibit | None:
        """The cell in which the rule held by the least."""
        speaking = [e for e in self.exhibits if e.margin is not None]
        return min(speaking, key=lambda e: (e.margin, e.cell, e.world), default=None)


class AnswerCounts(NamedTuple):
    """How many answers speak for a rule, of how many it speaks of, in how many different cells."""

    support: int
    prompts: int
    cells: int


def counts_for(
    rules: Sequence[Rule], space: Space, worlds: Sequence[tuple[Policy, Mapping[int, Decision]]]
) -> list[AnswerCounts]:
    """Count the evidence for rules that no answer breaks, which may be many, and keep none."""
    indices = [Supersets(sorted(decisions), space.width) for _, decisions in worlds]
    answered = [
        np.array([decisions[cell].winner is not None for cell in index.masks], dtype=np.bool_)
        for index, (_, decisions) in zip(indices, worlds, strict=True)
    ]
    return [_count(rule, space, indices, answered) for rule in rules]


def _count(
    rule: Rule, space: Space, indices: Sequence[Supersets], answered: Sequence[NDArray[np.bool_]]
) -> AnswerCounts:
    support = prompts = 0
    cells: set[int] = set()
    for index, known in zip(indices, answered, strict=True):
        places = index.places(rule.antecedent & ~space.label_mask)
        prompts += len(places)
        speaking = places
        if not (rule.is_negative or rule.new & space.label_mask):
            speaking = [place for place in places if rejects_in(rule, space, index.masks[place])]
        support += int(known[speaking].sum())
        if len(indices) > 1:
            cells.update(index.masks[place] for place in places)
    return AnswerCounts(support, prompts, len(cells) if len(indices) > 1 else prompts)


def room_of(rule: Rule, space: Space) -> int | None:
    """Return how many cells could break a rule; None if that takes going through them."""
    left = rule.antecedent & ~space.label_mask
    whole = count_above(space, left)
    if whole is None or rule.is_negative or rule.new & space.label_mask:
        return whole
    both = left | (rule.consequent & ~space.label_mask)
    if space.background.closure(both) == BOTTOM:
        return whole
    return whole - (count_above(space, both) or 0)


def rejects_in(rule: Rule, space: Space, cell: int) -> bool:
    """Say whether a rule rejects something in a cell that has its left side."""
    if rule.is_negative or rule.new & space.label_mask:
        return True
    return bool(rule.consequent & ~(cell | rule.antecedent))


def evidence_for(
    rules: Sequence[Rule], space: Space, worlds: Sequence[tuple[Policy, Mapping[int, Decision]]]
) -> tuple[Evidence, ...]:
    """Collect the evidence for each rule among the cells that were asked about, in every world."""
    found = [
        _evidence_in(place, rules, space, policy, decisions)
        for place, (policy, decisions) in enumerate(worlds)
    ]
    return tuple(
        Evidence(rule, tuple(sorted(chain(*each), key=lambda e: (e.cell, e.world))))
        for rule, each in zip(rules, zip(*found, strict=True), strict=True)
    )


def _evidence_in(
    world: int,
    rules: Sequence[Rule],
    space: Space,
    policy: Policy,
    decisions: Mapping[int, Decision],
) -> list[list[Exhibit]]:
    places = [YES] if space.label is None else [-1, *range(len(space.label.variables))]
    accepted = {
        winner: dict(zip(places, accepts(policy, winner, places).tolist(), strict=True))
        for winner in sorted({-1, *(decision.place for decision in decisions.values())})
    }
    cells = Supersets(sorted(decisions), space.width)
    return [
        [
            _exhibit(rule, space, cell, decisions[cell], accepted, world)
            for cell in cells.having(rule.antecedent & ~space.label_mask)
        ]
        for rule in rules
    ]


def _exhibit(
    rule: Rule,
    space: Space,
    cell: int,
    decision: Decision,
    accepted: Mapping[int, Mapping[int, bool]],
    world: int,
) -> Exhibit:
    """Look at one cell: which labels does the rule reject in it, and what does the target say?"""
    asked = space.label_of(rule.antecedent)  # of other labels, such a rule says nothing
    labelled = {
        i: cell if i < 0 or space.label is None else space.with_label(cell, i)
        for i in (accepted[-1] if asked is None else [asked])
    }
    rejected = [i for i, x in labelled.items() if not rule.satisfied_by(x)]
    breaks = any(accepted[decision.place][i] for i in rejected)
    against = [i for i in rejected if i >= 0]
    supports = bool(against) and decision.winner is not None and not breaks
    margin = None
    if supports and decision.scores:
        winner = NO if decision.winner is None else decision.winner
        margin = lead(decision.scores[winner], max(decision.scores[i] for i in against))
    return Exhibit(cell, decision, supports, breaks, margin, world)
