"""How many questions rules with few conditions will take, estimated before anything is asked.

Every candidate rule that does not hold has to be refuted by an exception; every rule that is listed
has to be confirmed by random cases inside it. Both are estimated from the sizes of the attributes,
the share of the rarest label and a number of rules. The estimate was fitted to measured runs, and
is no promise; the lower bounds are facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, exp, log, log1p, prod, sqrt
from random import Random
from typing import Any, NamedTuple

from hornlens.errors import HornlensError
from hornlens.logic.decisions import YES
from hornlens.logic.space import Space

ASSUMED_RULES = 10
"""So many rules are assumed to be listed, unless somebody knows better."""

# Fitted to runs over boxes with planted rules: see docs/large-spaces.md, "What will it cost".

FIRST_CELLS = (2, 8)
"""A run begins with random cells: so many times the largest attribute, and so many more."""
AIM = 0.5
"""How often a cell that is aimed at a candidate gets the answer that breaks it."""
LABELS_POWER = 1.4
"""Even labels take (labels / 2) to this power as many questions as two labels do."""


class Rarity(NamedTuple):
    """What changes where the rarest label has this share of what it would have among even ones."""

    share: float
    refuting: float
    """So many times the questions that refute candidates, with some eleven answers to a value."""
    confirming: float
    """So many times the fewest draws that confirm a rule: others die on the way."""
    low: float
    high: float
    """Four of five runs took between so many times the estimate, and so many times."""


RARITIES = (
    Rarity(1.0, 1.0, 1.45, 0.8, 1.25),
    Rarity(0.4, 1.5, 1.75, 0.75, 1.7),
    Rarity(0.2, 2.4, 2.7, 0.6, 1.9),
    Rarity(0.1, 3.5, 3.5, 0.6, 2.1),
)
"""With two labels: even, 20, 10 and 5 %. Between them, lines on a double logarithmic scale."""
EXPERIENCE = (2.45, 0.57)
"""The more answers there are to each value, the better guesses are, and the less rarity costs: it
counts with the first power less the second times the logarithm of answers to a value."""
LEAST_POWER = 0.2
"""It counts with this power at least."""
MOST_TIMES = 2.0
"""A rare label takes at most so many times what drawing at random would take for its share."""
GRID = 1.02
"""Products of sizes are rounded to powers of this."""
STEP = 0.04
"""Elimination is followed in steps of this share of the largest product."""
TRIED_BOXES, TRIED_CELLS = 400, 30
"""With background: of so many boxes it is tried out, by so many cells each, whether they occur."""


@dataclass(frozen=True)
class Expectation:
    """What rules with at most so many conditions on attributes take."""

    conditions: int
    candidates: int
    """How many rules there could be."""
    least: int
    """Nobody needs fewer questions, if no rule holds."""
    questions: int
    """How many to expect."""
    low: int
    high: int
    """What is usual, with that many rules: four of five measured runs."""
    refuting: int
    """The part of the questions after which nearly all that does not hold is refuted."""
    a_rule: float
    """What one more listed rule takes."""

    def as_json(self) -> dict[str, Any]:
        """Return it as files have it."""
        return {
            "conditions": self.conditions,
            "candidates": self.candidates,
            "at_least": self.least,
            "questions": self.questions,
            "usually": [self.low, self.high],
            "refuting": self.refuting,
            "each_rule": round(self.a_rule, 1),
        }


# --- what there is to refute ---


def smallest_conditions(space: Space) -> list[int]:
    """Return for each attribute how many conditions no other one is a special case of.

    These are its single values, and the leaves of a taxonomy: each interval and each inner node is
    refuted by an exception inside them. That nothing is said of an attribute is no condition.
    """
    return [sum(1 for leaf in a.leaves if leaf) for a in space.attributes]


def count_candidates(space: Space, conditions: int) -> int:
    """Return the number of rules "P → never this label" with at most so many conditions."""
    counts = [1] + [0] * conditions
    for attribute in space.attributes:
        for many in range(conditions, 0, -1):
            counts[many] += counts[many - 1] * (attribute.count - 1)
    return sum(counts) * breaking_answers(space)


def boxes_of(space: Space, conditions: int) -> int:
    """Return how many smallest boxes the so many largest attributes have together.

    A cell lies in one of them, and its answer breaks one candidate there. Background may exclude
    some: then their share is tried out, and the number is an estimate.
    """
    sizes = smallest_conditions(space)
    known = [i for i, size in enumerate(sizes) if size]
    largest = sorted(known, key=lambda i: -sizes[i])[:conditions]
    boxes = prod(sizes[i] for i in largest)
    return boxes if is_exact(space) else max(1, round(boxes * _occurring(space, largest)))


def is_exact(space: Space) -> bool:
    """Return whether every box occurs: nothing is assumed beyond what attributes say themselves."""
    own = Space(space.attributes, space.label, complete=space.complete)
    return set(space.assumed) <= set(own.assumed)


def _occurring(space: Space, attributes: Sequence[int]) -> float:
    """Return the share of the smallest boxes of some attributes that have cells."""
    rng, occurring = Random(0), 0
    conditions = {i: [leaf for leaf in space.leaves[i] if leaf] for i in attributes}
    others = [i for i in range(len(space.attributes)) if i not in conditions]

    def drawn(i: int) -> int:
        if space.complete:
            return rng.choice(space.leaves[i])
        attribute = space.attributes[i]
        return attribute.choice(rng.randrange(attribute.count)) << space.offsets[i]

    for _ in range(TRIED_BOXES):
        box = sum(rng.choice(each) for each in conditions.values())
        tries = (box + sum(map(drawn, others)) for _ in range(TRIED_CELLS))
        occurring += any(map(space.background.satisfied_by, tries))
    return occurring / TRIED_BOXES


def breaking_answers(space: Space) -> int:
    """Return how many answers break something: each label; without labels, acceptance."""
    return 1 if space.label is None else len(space.label.variables)


def _products(sizes: Sequence[int], conditions: int) -> Counter[int]:
    """Return how many sets of so many attributes have which product, as a power of GRID."""
    counts: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(conditions))]
    for size in sizes:
        power = round(log(size) / log(GRID))
        for many in range(conditions, 0, -1):
            for product, count in counts[many - 1].items():
                counts[many][product + power] += count
    return counts[conditions]


@cache
def answers_needed(sizes: tuple[int, ...], conditions: int) -> float:
    """Return how many answers of one label it takes to break all candidates of that label.

    Each set of attributes has a candidate for each of its boxes. A cell lies in one box of every
    set. It can be aimed at a live candidate in as many sets as share no attribute, and breaks each
    with the chance `AIM`; in the others it meets a live one by chance. The share x that is
    live of a set with P boxes so falls by (x + aim) / P with each answer.
    """
    known = [size for size in sizes if size]
    conditions = min(conditions, len(known))
    if not conditions:
        return 1.0
    powers = _products(known, conditions)
    boxes = [(GRID**power, count) for power, count in sorted(powers.items())]
    live, answers = [1.0] * len(boxes), 0.0
    step, aims = max(STEP * boxes[-1][0], STEP), len(known) / conditions
    while (total := sum(n * p * x for (p, n), x in zip(boxes, live, strict=True))) >= 1:
        for i, (p, _) in enumerate(boxes):
            aim = AIM * min(1.0, aims * p * live[i] / total)
            live[i] = max(0.0, (live[i] + aim) * exp(-step / p) - aim)
        answers += step
    return answers


# --- what to expect ---


def fewest_draws(epsilon: float, delta: float) -> int:
    """Return how many random cases, all clean, let one rule be listed at all."""
    return ceil(log(1 / delta) / -log1p(-epsilon))


def rarity_at(share: float) -> Rarity:
    """Return what is known for a share, by lines between the measured ones; else the nearest."""
    if share >= 1:
        return RARITIES[0]
    if share <= RARITIES[-1].share:
        return RARITIES[-1]._replace(share=share)
    above = next(i for i, known in enumerate(RARITIES) if known.share <= share)
    one, two = RARITIES[above - 1], RARITIES[above]
    part = log(share / one.share) / log(two.share / one.share)
    mixed = (a ** (1 - part) * b**part for a, b in zip(one[1:], two[1:], strict=True))
    return Rarity(share, *mixed)


def _power(answers: float) -> float:
    """Return with which power rarity counts, where there are so many answers to each value."""
    most, less = EXPERIENCE
    return max(LEAST_POWER, most - less * log(max(answers, 0.1)))


def label_rates(counts: Sequence[int], asked: int) -> tuple[float, ...]:
    """Return the shares of labels by how often each was answered; none of them is 0."""
    return tuple((count + 0.5) / (asked + 0.5 * len(counts)) for count in counts)


def expected(
    space: Space,
    conditions: int,
    *,
    rates: Sequence[float] | None = None,
    rules: float = ASSUMED_RULES,
    epsilon: float = 0.05,
    delta: float = 0.05,
    pilot: int = 0,
    worlds: int = 1,
) -> Expectation:
    """Return how many questions all rules with at most so many conditions on attributes take.

    Args:
        space: What is asked about.
        conditions: How many conditions on attributes a rule may have.
        rates: The share of each label (without labels: of no, of yes). None: all the same.
        rules: How many rules are going to be listed.
        epsilon: At most this share of a listed rule's cases may break it.
        delta: The chance that this is wrong of any of them.
        pilot: From how many cells the rates are known; 0: exactly.
        worlds: In how many worlds each cell is asked: it may get as many answers.
    """
    sizes, cells = smallest_conditions(space), space.cell_count
    outcomes = max(2, breaking_answers(space))
    rate = rarest_of(space, rates)
    known = rarity_at(rate * outcomes)
    times, more = FIRST_CELLS
    first = times * max(sizes, default=0) + more
    answers = 2 * answers_needed(tuple(sizes), conditions)
    power = _power((first + answers) / max(1, sum(sizes)))
    more_labels: float = (outcomes / 2) ** LABELS_POWER
    draws = log(1 / delta) / -log1p(-epsilon)

    def refuting(at: Rarity) -> float:
        beyond = max(1.0, RARITIES[-1].share / at.share)
        factor: float = min(at.refuting**power * beyond, MOST_TIMES / at.share)
        return first + answers * more_labels * factor

    def total(at: Rarity) -> float:
        return refuting(at) + rules * draws * at.confirming

    off = sqrt(rate * (1 - rate) / pilot) if pilot else 0.0
    seldom, often = (rarity_at(max(r, rate / 3) * outcomes) for r in (rate - off, rate + off))
    low, high = min(total(often), total(known) * known.low), total(known) * known.high
    labels = breaking_answers(space)
    least = min(cells, ceil(labels * boxes_of(space, conditions) / min(worlds, labels)))
    return Expectation(
        conditions,
        count_candidates(space, conditions),
        least,
        questions=min(cells, max(least, round(total(known)))),
        low=min(cells, max(least, round(low))),
        high=min(cells, max(least, round(max(high, total(seldom))))),
        refuting=min(cells, max(least, round(refuting(known)))),
        a_rule=draws * known.confirming,
    )


def rarest_of(space: Space, rates: Sequence[float] | None) -> float:
    """Return the share of the rarest answer that breaks rules."""
    outcomes = 2 if space.label is None else len(space.label.variables)
    if rates is None:
        return 1 / max(2, outcomes)
    if len(rates) != outcomes or not all(0 < rate <= 1 for rate in rates):
        raise HornlensError(f"a rate above 0 is needed for each of {outcomes} answers: {rates!r}")
    return min(rates) if space.label is not None else rates[YES]
