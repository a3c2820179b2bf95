"""What a run may say of a small box, judged against every one of its cells, by brute force.

A rule is a pair of masks (antecedent, consequent), None for ⊥. A candidate is a rule that a run
promises to know all of: P ∧ label → ⊥ and, where every interpretation has a label, P → label, with
P at most so many conditions; where cells may leave attributes unset, also P ∧ label → value of
another attribute, with one condition less. Without labels: P → ⊥ and P → value, with as many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, product
from math import comb

import numpy as np

from tests.learning.sifting.boxes import choices_of, pair


@dataclass(frozen=True)
class Claims:
    """What a run said: listed rules with bounds (0: proved), open ones, and what it asked."""

    listed: list[tuple[int, int | None, float]]
    open: list[tuple[int, int | None]]
    asked: list[set[int]]
    """The cells that each world was asked about."""
    almost: list[tuple[int, int | None, float, set[int]]] = field(default_factory=list)
    """Rules with exceptions: with bounds, and the cells on record that break them."""
    rates: list[tuple[int, int, float]] = field(default_factory=list)
    """Conditions, a label, and the share of the cells with them that have it at least."""

    @property
    def stated(self):
        return [*((a, c) for a, c, _ in self.listed), *self.open]


def claims_of(result):
    """What a result of `extract` says."""
    rules, warrants = result.envelope.readable.rules, result.envelope.warrants
    record = result.envelope.sifted
    return Claims(
        [
            (*pair(rule), 0.0 if warrant.proved else warrant.bound)
            for rule, warrant in zip(rules, warrants, strict=True)
        ],
        [pair(rule) for rule in result.envelope.open],
        [set(world.decisions) for world in result.each],
        [(*pair(almost.rule), almost.bound, set(almost.exceptions)) for almost in record.almost],
        [
            (rate.conditions, rate.label, rate.at_least)
            for rate in result.envelope.sifted.more_often
        ],
    )


@dataclass(frozen=True)
class Judged:
    """What is wrong with a run's claims; all empty, nothing is."""

    unsound: list = field(default_factory=list)
    """Listed rules that more of their cells break than their bound allows, and rates too high."""
    refuted: list = field(default_factory=list)
    """Listed or open rules that a recorded answer breaks, and proved rules that are not true."""
    missing: list = field(default_factory=list)
    """Candidates that hold without exception, follow from nothing that is listed or open, and are
    no special case of a rule with exceptions."""
    unrecorded: list = field(default_factory=list)
    """The same of candidates that need not hold, and have no exception on record."""


def judge(box, claims, conditions):
    """Hold what a run said against all cells."""
    truth, known = box.accepted(), box.accepted(claims.asked)
    unsound, refuted = [], []
    for antecedent, consequent, bound in claims.listed:
        room, broken = _broken(box, antecedent, consequent, truth)
        if bound == 0 and broken:
            refuted.append((antecedent, consequent))
        elif broken > bound * room + 1e-9:
            unsound.append((antecedent, consequent, broken, room, bound))
    for antecedent, consequent in claims.stated:
        if _broken(box, antecedent, consequent, known)[1]:
            refuted.append((antecedent, consequent))
    for antecedent, consequent, bound, exceptions in claims.almost:
        room, broken = _broken(box, antecedent, consequent, truth)
        if broken > bound * room + 1e-9:
            unsound.append((antecedent, consequent, broken, room, bound))
        breaks = (breaking_of(box, antecedent, consequent) & known).any(axis=1)
        if exceptions != {box.cells[i] for i in np.flatnonzero(breaks)}:
            refuted.append((antecedent, consequent))
    for conditions_of, label, share in claims.rates:
        room, given = _broken(box, conditions_of | label, None, truth)
        if given < share * room - 1e-9:
            unsound.append((conditions_of | label, None, given, room, share))
    stated = np.zeros(truth.shape, dtype=np.bool_)
    for antecedent, consequent in claims.stated:
        stated |= breaking_of(box, antecedent, consequent)
    broad = [breaking_of(box, left, right) for left, right, *_ in claims.almost]
    missing, unrecorded = [], []
    for rule, exceptions in _candidates(box, conditions, truth, known, ~stated):
        own = breaking_of(box, *rule)
        if not any((own & ~other).sum() == 0 for other in broad):
            unrecorded.append(rule)
            if not exceptions:
                missing.append(rule)
    return Judged(unsound, refuted, missing, unrecorded)


def breaking_of(box, antecedent, consequent):
    """The interpretations, a row for a cell and a column for a label, that break a rule."""
    first, width = box.first_label, (1 << box.first_label) - 1
    left, right = antecedent & width, 0 if consequent is None else consequent & width
    inside = box.masks & left == left
    columns = np.ones(box.labels + 1, dtype=np.bool_)
    if antecedent >> first:
        columns = np.arange(box.labels + 1) == (antecedent >> first).bit_length() - 1
    if consequent is None:
        return inside[:, None] & columns
    lacks = np.repeat((box.masks & right != right)[:, None], box.labels + 1, axis=1)
    if demanded := (consequent & ~antecedent) >> first:
        lacks |= np.arange(box.labels + 1) != demanded.bit_length() - 1
    return inside[:, None] & columns & lacks


def _broken(box, antecedent, consequent, accepted):
    """How many cells can break a rule, and how many of them do."""
    breaking = breaking_of(box, antecedent, consequent)
    return int(breaking.any(axis=1).sum()), int((breaking & accepted).any(axis=1).sum())


def antecedents(box, conditions):
    """All conjunctions of at most so many conditions, an attribute having one at most."""
    offsets = np.cumsum([0, *(len(a.variables) for a in box.space.attributes)])
    choices = [
        [mask << int(at) for mask in choices_of(attribute) if mask]
        for attribute, at in zip(box.space.attributes, offsets, strict=False)
    ]
    return [
        sum(said)
        for count in range(min(conditions, len(choices)) + 1)
        for chosen in combinations(choices, count)
        for said in product(*chosen)
    ]


def _candidates(box, conditions, truth, known, free):
    """Yield each candidate without an exception on record that does not follow, and its exceptions.

    It does not follow if some interpretation breaks it that is `free`: it breaks nothing stated.
    """
    # An interpretation without a label is one where cells are partial, whoever accepts it or not.
    unset = slice(box.labels, box.labels + 1 - box.space.complete) if box.labels else slice(0, 0)
    planes = np.stack([truth, known, free]).astype(np.float32)  # (3, cells, labels and none)
    left = antecedents(box, conditions)
    inside = _inside(box, left)
    for label in range(max(1, box.labels)):
        counts = planes[:, :, label] @ inside.T
        for i in np.flatnonzero((counts[1] == 0) & (counts[2] > 0)):
            bit = 1 << box.first_label + label if box.labels else 0
            yield (left[i] | bit, None), counts[0, i]
    if box.labels and not box.label_may_be_unset:
        for label in range(box.labels):
            others = [other for other in range(box.labels) if other != label]
            wrong = planes[:, :, others].sum(axis=2)
            wrong[2] += planes[2, :, unset].sum(axis=1)
            counts = wrong @ inside.T
            for i in np.flatnonzero((counts[1] == 0) & (counts[2] > 0)):
                rule = (left[i], 1 << box.first_label + label)
                yield rule, counts[0, i]
    few = conditions - (box.labels > 0)
    if box.space.complete or few < 0:
        return
    left = antecedents(box, few)
    inside, own = _inside(box, left), [own_bits(box, each) for each in left]
    for bit in range(box.first_label):
        lacks = (box.masks >> bit & 1 == 0).astype(np.float32)
        for label in range(max(1, box.labels)):
            counts = (planes[:, :, label] * lacks) @ inside.T
            for i in np.flatnonzero((counts[1] == 0) & (counts[2] > 0)):
                if own[i] >> bit & 1:
                    continue
                with_label = left[i] | (1 << box.first_label + label if box.labels else 0)
                yield (with_label, 1 << bit), counts[0, i]


def own_bits(box, left):
    """All variables of the attributes that conditions speak of."""
    mask, at = 0, 0
    for attribute in box.space.attributes:
        group = ((1 << len(attribute.variables)) - 1) << at
        mask |= group if left & group else 0
        at += len(attribute.variables)
    return mask


def _inside(box, left):
    masks = np.array(left, dtype=np.int64)[:, None]
    return (box.masks & masks == masks).astype(np.float32)


def too_many(failures, runs, delta, doubt=1e-3):
    """Whether so many failures are hardly possible if each run fails with chance δ at most."""
    below = sum(comb(runs, k) * delta**k * (1 - delta) ** (runs - k) for k in range(failures))
    return 1 - below < doubt
