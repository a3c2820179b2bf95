"""What comparing targets must say, worked out by the definitions, and small ones that they ask."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hornlens.logic.attributes import Nominal
from hornlens.logic.decisions import Decision, Policy
from hornlens.logic.ordered import Ordered
from hornlens.logic.space import Space
from hornlens.targets.differences import DifferencesTarget
from hornlens.targets.flipping import FlippingTarget
from tests.learning.sifting.boxes import (
    Case,
    SmallBox,
    cells_of,
    choices_of,
    leaves_of,
    random_case,
)

SAME, OTHER = 0, 1


@dataclass(frozen=True)
class Answering:
    """A target with a recorded answer to each cell; None is no answer."""

    space: Space
    answers: dict[int, int | None]
    name: str
    policy: Policy

    def identity(self):
        return None

    def decide(self, cells):
        winners = [self.answers[cell] for cell in cells]
        return [Decision(w, abstained="" if w is not None else "refusal") for w in winners]

    def show(self, cell):
        return (bin(cell),)


def judged(winners, silence):
    """The label of a cell whose forms were answered so: 0, 1, or None for nothing to compare."""
    heard = {winner for winner in winners if winner is not None or silence == "answer"}
    if len(heard) > 1:
        return OTHER
    return None if None in winners and silence == "apart" else SAME


def differing_case(seed, delta=0.2):
    """Two answers to each cell of a random box, and the box of whether they are the same."""
    rng = np.random.default_rng(seed)
    case = random_case(seed, delta)
    space, first = case.box.space, case.box.answers[0]
    labels = max(2, case.box.labels)
    changed = rng.random(len(first)) < rng.choice([0.02, 0.1, 0.5])
    if rng.random() < 0.5:  # the differences lie in a region
        at = int(rng.integers(len(first)))
        region = list(first)[at] & int(rng.integers(1 << case.box.first_label))
        changed &= False
        changed |= np.array([region & ~cell == 0 for cell in first])
    second = {
        cell: int(rng.integers(labels)) if change else winner
        for (cell, winner), change in zip(first.items(), changed, strict=True)
    }
    silence = str(rng.choice(["apart", "answer"]))
    truth = {cell: judged((first[cell], second[cell]), silence) for cell in first}
    other, order = space, list(range(labels))
    if case.box.labels and rng.random() < 0.5:  # the other has its labels in another order
        rng.shuffle(order)
        names = [space.label.variables[order.index(i)] for i in range(labels)]
        other = replace(space, label=Nominal("said", tuple(names)))
    written = {cell: None if winner is None else order[winner] for cell, winner in second.items()}
    policy = replace(case.box.policy, label_unset="reject")
    target = DifferencesTarget(
        Answering(space, first, "old", case.box.policy),
        Answering(other, written, "new", case.box.policy),
        silence=silence,
    )
    box = SmallBox(target.space, policy, (truth,))
    return replace(case, box=box), target


def values_by_definition(attribute, complete):
    """The values of an attribute that a flip changes, as masks of its variables."""
    if complete or isinstance(attribute, Ordered):
        return leaves_of(attribute)
    if len(attribute.variables) == 1:
        return [0, 1]
    return [choice for choice in choices_of(attribute) if choice]


def flipping_case(seed, delta=0.2):
    """A random box, an attribute of it, and the box of whether that changes the answer.

    Beside them the cells in which it can be changed: there may be others, if rules cannot say so.
    """
    rng = np.random.default_rng(seed)
    case = random_case(seed, delta)
    while len(case.box.space.attributes) < 2:
        seed += 100_000
        case = random_case(seed, delta)
    space, answers = case.box.space, case.box.answers[0]
    place = int(rng.integers(len(space.attributes)))
    while len(values_by_definition(space.attributes[place], space.complete)) < 2:
        place = (place + 1) % len(space.attributes)
    at = sum(len(a.variables) for a in space.attributes[:place])
    width = len(space.attributes[place].variables)
    group = ((1 << width) - 1) << at
    values = {v << at for v in values_by_definition(space.attributes[place], space.complete)}
    silence = str(rng.choice(["apart", "answer"]))
    if rng.random() < 0.5:  # it hardly ever matters
        calm = {}
        for cell in answers:
            calm.setdefault(cell & ~group, answers[cell])
        answers = {
            cell: winner if rng.random() < 0.03 else calm[cell & ~group]
            for cell, winner in answers.items()
        }
    forms = {}
    for cell, winner in answers.items():
        if cell & group in values:
            low, high = cell & ((1 << at) - 1), cell >> at + width << at
            forms.setdefault(low | high, []).append(winner)
    truth = {cell: judged(said, silence) for cell, said in forms.items() if len(said) > 1}
    base = Answering(space, answers, "base", case.box.policy)
    target = FlippingTarget(base, space.attributes[place].name, silence=silence)
    possible = set(truth)
    truth = {cell: truth.get(cell, SAME) for cell in cells_of(target.space)}
    policy = replace(case.box.policy, label_unset="reject")
    box = SmallBox(target.space, policy, (truth,))
    return replace(case, box=box), target, possible


def sized(case: Case, least=12):
    """Whether a box is large enough to be sifted at all."""
    return len(case.box.cells) >= least
