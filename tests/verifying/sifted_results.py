"""Sifted results of every kind, as they are saved: for what checks them."""

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise
from random import Random

from hornlens import Settings, extract
from hornlens.limits import Limits
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.results.documents.writing import extraction_as_json
from hornlens.targets.functions import FunctionTarget
from hornlens.targets.worlds import Worlds
from tests.learning.sifting.boxes import random_case, trap_case


def as_saved(findings):
    return json.loads(json.dumps(extraction_as_json(findings)))


def sifted(case, target=None, limits=None, **changes):
    chosen = replace(case.settings, **changes)
    target = case.box.target if target is None else target
    return extract(target, settings=chosen, policy=case.box.policy, limits=limits)


class Cut:
    """A target that ends the run after so many cells."""

    def __init__(self, inner, limits, asked, after):
        self.inner, self.limits, self.asked, self.after = inner, limits, asked, after
        self.space, self.name, self.policy = inner.space, inner.name, inner.policy

    def identity(self):
        return None

    def show(self, cell):
        return self.inner.show(cell)

    def decide(self, cells):
        self.asked.append(len(cells))
        if sum(self.asked) >= self.after:
            self.limits.interrupt()
        return self.inner.decide(cells)


def interrupted(seed):
    """A box of which asking is ended somewhere, perhaps when not all worlds were asked."""
    case, limits, asked = random_case(seed), Limits(), []
    after = Random(seed).randint(1, len(case.box.cells))
    target = case.box.target
    if isinstance(target, Worlds):
        each = {k: Cut(w, limits, asked, after) for k, w in target.targets.items()}
        cut = Worlds(target.name, each)
    else:
        cut = Cut(target, limits, asked, after)
    return sifted(case, cut, limits)


def space_of(many, values, labels=("p", "q"), complete=False, assumed=()):
    attributes = tuple(
        Nominal(f"a{i}", tuple(f"a{i}v{v}" for v in range(values))) for i in range(many)
    )
    label = Nominal("label", labels) if labels else None
    return Space(attributes, label, assumed, complete=complete)


def by_chance(names, salt, share=0.5):
    return Random(f"{salt} {' '.join(names)}").random() < share


def varying(seed):
    """Answers vary: hardly ever another one with a1v1, or with a0v0 and a1v2."""
    rng = Random(seed)

    def call(names):
        if "a2v1" in names or {"a0v0", "a1v2"} <= {*names}:
            return "q" if rng.random() < 0.005 else "p"
        return rng.choice("pq")

    target = FunctionTarget(call, space_of(5, 6, complete=seed % 2 == 0), varies=True)
    settings = Settings(
        equivalence="sift",
        max_conditions=3,
        epsilon=0.1,
        delta=0.1,
        seed=seed,
        max_questions=None if seed % 3 else 600,
    )
    return extract(target, settings=settings)


def wide_background(seed):
    """More combinations of what the background is about than anyone lists."""
    rng = Random(seed)
    bits = [[1 << 8 * i + v for v in range(8)] for i in range(7)]
    assumed = []
    for left, right in pairwise(bits):
        a, b = rng.choice(left), rng.choice(right)
        assumed.append(Rule(a | b, BOTTOM) if rng.random() < 0.7 else Rule(a, b))
    over = space_of(7, 8, complete=seed % 2 == 0, assumed=tuple(assumed))

    def call(names):
        if {"a0v0", "a1v1"} <= {*names}:
            return "p"
        return "q" if by_chance(names, seed) else "p"

    questions = None if seed % 3 else 300
    settings = Settings(equivalence="sift", max_conditions=3, seed=seed, max_questions=questions)
    return extract(FunctionTarget(call, over), settings=settings)


def rare(seed):
    """A label that is hardly ever given, but often with a0v0 and a1v1."""

    def call(names):
        share = 0.6 if {"a0v0", "a1v1"} <= {*names} else 0.01
        return "q" if by_chance(names, seed, share) else "p"

    target = FunctionTarget(call, space_of(6, 8, complete=seed % 2 == 0))
    return extract(target, settings=Settings(equivalence="sift", max_conditions=3, seed=seed))


def many_open(seed):
    """Far too few questions: thousands of rules are open, and a thousand of them are there."""
    labels = ("p", "q", "r")[: 2 + seed % 2]

    def call(names):
        return Random(f"{seed} {' '.join(names)}").choice(labels)

    target = FunctionTarget(call, space_of(9, 7, labels))
    settings = Settings(equivalence="sift", max_conditions=3, seed=seed, max_questions=60 + seed)
    return extract(target, settings=settings)


def ordered(seed):
    """Intervals, in a larger space; rules with a bound of their own within a budget."""
    attributes = tuple(Ordered(f"a{i}", tuple(f"v{v}" for v in range(5))) for i in range(5))
    over = Space(attributes, Nominal("label", ("p", "q")), complete=seed % 2 == 0)

    def call(names):
        if {"a0 ≥ v3", "a1 ≤ v2"} <= {*names} or "a2 ≥ v4" in names:
            return "p"
        return "q" if by_chance(names, seed) else "p"

    settings = Settings(
        equivalence="sift",
        max_conditions=3,
        seed=seed,
        epsilon=0.1,
        delta=0.1,
        max_questions=None if seed % 2 else 500,
    )
    return extract(FunctionTarget(call, over), settings=settings)


MAKE = {
    "box": lambda seed: sifted(random_case(seed)),
    "trap": lambda seed: sifted(trap_case(seed)),
    "interrupted": interrupted,
    "max_rules": lambda seed: sifted(random_case(seed), limits=Limits(max_rules=1 + seed % 3)),
    "varying": varying,
    "wide_background": wide_background,
    "rare": rare,
    "many_open": many_open,
    "ordered": ordered,
}


@cache
def made(kind, seed):
    """Return what is saved of a result, made once."""
    return as_saved(MAKE[kind](seed))
