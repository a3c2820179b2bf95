"""Small random boxes of every kind, each with the answer of every cell.

What a box accepts is worked out here from the definitions, and from nothing in the package: its
cells, what each of them says, and which labels it has in which world.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from hornlens import Settings
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import Decision, Policy
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
from hornlens.targets.worlds import Worlds

MOST_CELLS = 700
FEWEST_CELLS = 24


def choices_of(attribute):
    """All that can be said of an attribute, as masks of its variables, unset first."""
    if isinstance(attribute, Nominal):
        return [0, *(1 << i for i in range(len(attribute.variables)))]
    if isinstance(attribute, Ordered):
        top = len(attribute.levels) - 1
        known = 1 << 2 * top if attribute.missing else 0
        ranges = [(a, b) for a in range(top + 1) for b in range(a, top + 1)]
        said = {_interval(a, b, top) | known for a, b in ranges}
        return sorted({0, *said, *([2 << 2 * top] if attribute.missing else [])})
    return [0, *(_upwards(attribute.parents, node) for node in range(len(attribute.parents)))]


def leaves_of(attribute):
    """What a cell of a complete space says of an attribute."""
    if isinstance(attribute, Ordered):
        top = len(attribute.levels) - 1
        known = 1 << 2 * top if attribute.missing else 0
        said = [_interval(a, a, top) | known for a in range(top + 1)]
        return [*said, *([2 << 2 * top] if attribute.missing else [])]
    if len(attribute.variables) == 1:
        return [0, 1]
    if isinstance(attribute, Nominal):
        return choices_of(attribute)[1:]
    inner = set(attribute.parents)
    nodes = range(len(attribute.parents))
    return [_upwards(attribute.parents, node) for node in nodes if node not in inner]


def _interval(low, high, top):
    """Cut i lies between level i and the next: bit i says above it, bit top + i below it."""
    above = sum(1 << i for i in range(top) if low > i)
    return above | sum(1 << top + i for i in range(top) if high <= i)


def _upwards(parents, node):
    mask = 0
    while node is not None:
        mask |= 1 << node
        node = parents[node]
    return mask


def pair(rule):
    """A rule as (antecedent, consequent), None for ⊥."""
    return rule.antecedent, None if rule.consequent == BOTTOM else rule.consequent


def obeys(rule, x):
    """Whether an interpretation obeys a rule (antecedent, consequent), None for ⊥."""
    antecedent, consequent = rule
    return antecedent & ~x != 0 or (consequent is not None and consequent & ~x == 0)


@dataclass(frozen=True)
class World:
    """A box as it answers in one world: a target. A winner of None is no answer."""

    space: Space
    answers: dict[int, int | None]
    policy: Policy
    name: str = "small box"

    def identity(self):
        return None

    def decide(self, cells):
        winners = [self.answers[cell] for cell in cells]  # a KeyError: there is no such cell
        return [Decision(w, abstained="" if w is not None else "refusal") for w in winners]

    def show(self, cell):
        return (bin(cell),)


@dataclass(frozen=True)
class SmallBox:
    """A space, and the answers of all of its cells in each world."""

    space: Space
    policy: Policy
    answers: tuple[dict[int, int | None], ...]

    @property
    def target(self):
        worlds = [World(self.space, answers, self.policy) for answers in self.answers]
        if len(worlds) == 1:
            return worlds[0]
        return Worlds("small box", {f"world {i}": world for i, world in enumerate(worlds)})

    @property
    def labels(self):
        return 0 if self.space.label is None else len(self.space.label.variables)

    @property
    def first_label(self):
        """The bit of the first label."""
        return sum(len(attribute.variables) for attribute in self.space.attributes)

    @property
    def label_may_be_unset(self):
        """Whether an interpretation without a label is accepted."""
        return self.labels > 0 and not self.space.complete and self.policy.label_unset == "accept"

    @cached_property
    def cells(self):
        return cells_of(self.space)

    @cached_property
    def masks(self):
        return np.array(self.cells, dtype=np.int64)

    def accepted(self, asked=None):
        """For each cell a row: which labels it is accepted with, and at last with none.

        Without a label there is one column: whether it is accepted. `asked`, if given, has the
        cells that each world was asked about: nothing else is known to be accepted.
        """
        rows = np.zeros((len(self.cells), self.labels + 1), dtype=np.bool_)
        for world, answers in enumerate(self.answers):
            for place, cell in enumerate(self.cells):
                if asked is not None and cell not in asked[world]:
                    continue
                winner = answers[cell]
                if winner is None:
                    rows[place, : max(self.labels, 1)] |= self.policy.abstain == "accept"
                elif self.labels:
                    rows[place, winner] = True
                else:
                    rows[place, 0] |= winner == 1
        if self.labels:
            rows[:, -1] = self.label_may_be_unset
        return rows


def cells_of(space):
    """The cells of a space, by the definitions."""
    axes, at = [], 0
    for attribute in space.attributes:
        said = leaves_of(attribute) if space.complete else choices_of(attribute)
        axes.append([mask << at for mask in said])
        at += len(attribute.variables)
    assumed = [
        (r.antecedent, None if r.consequent == BOTTOM else r.consequent) for r in space.assumed
    ]
    cells = (sum(said) for said in product(*axes))
    return [cell for cell in cells if all(obeys(rule, cell) for rule in assumed)]


# --- random ones ---


def random_attribute(name, rng):
    kind = rng.integers(0, 4)
    if kind < 2:
        count = int(rng.integers(1, 6))
        return Nominal(name, tuple(f"{name}v{i}" for i in range(count)))
    if kind == 2:
        levels = tuple(f"v{i}" for i in range(int(rng.integers(2, 6))))
        return Ordered(name, levels, missing=bool(rng.random() < 0.2))
    count = int(rng.integers(2, 7))
    parents = [
        None if i == 0 or rng.random() < 0.4 else int(rng.integers(0, i)) for i in range(count)
    ]
    return Taxonomy(name, tuple(f"{name}n{i}" for i in range(count)), tuple(parents))


def random_space(rng, labels, complete):
    """Attributes until there are enough cells, and in a quarter of the spaces a background."""
    wanted = int(rng.integers(60, MOST_CELLS))
    attributes = []
    while True:
        attribute = random_attribute(f"a{len(attributes)}", rng)
        sizes = [len(leaves_of(a) if complete else choices_of(a)) for a in [*attributes, attribute]]
        if prod(sizes) > wanted:
            break
        attributes.append(attribute)
    label = None if not labels else Nominal("label", tuple(f"l{i}" for i in range(labels)))
    space = Space(tuple(attributes), label, complete=complete)
    if rng.random() < 0.25 and len(attributes) > 1:
        rules = tuple(_background_rule(attributes, rng) for _ in range(int(rng.integers(1, 3))))
        space = replace(space, assumed=rules)
    return space


def _background_rule(attributes, rng):
    """Rules out a pair of variables of two attributes, or demands one where the other is."""
    one, other = rng.choice(len(attributes), 2, replace=False)
    offsets = np.cumsum([0, *(len(a.variables) for a in attributes)])
    a = 1 << int(offsets[one] + rng.integers(len(attributes[one].variables)))
    b = 1 << int(offsets[other] + rng.integers(len(attributes[other].variables)))
    return Rule(a | b, BOTTOM) if rng.random() < 0.5 else Rule(a, b)


@dataclass(frozen=True)
class Case:
    """A box, and how it is sifted."""

    box: SmallBox
    conditions: int
    epsilon: float
    delta: float
    seed: int
    questions: int | None = None
    """At most so many are asked; None: as many as it takes."""

    @property
    def max_conditions(self):
        return self.conditions + (self.box.labels > 0)

    @property
    def settings(self):
        return Settings(
            equivalence="sift",
            max_conditions=self.max_conditions,
            max_questions=self.questions,
            epsilon=self.epsilon,
            delta=self.delta,
            seed=self.seed,
        )


def random_case(seed, delta=0.2):
    """A random box of any kind. Many of its rules are broken by a little more than ε allows."""
    rng = np.random.default_rng(seed)
    complete, labels = bool(rng.random() < 0.5), int(rng.choice([0, 2, 2, 2, 3, 4]))
    space = random_space(rng, labels, complete)
    while len(space.attributes) < 1 or len(cells_of(space)) < FEWEST_CELLS:
        space = random_space(rng, labels, complete)
    policy = Policy(
        label_unset=str(rng.choice(["accept", "accept", "reject"])),
        abstain=str(rng.choice(["accept", "reject"])),
    )
    epsilon = float(rng.choice([0.05, 0.1, 0.2, 0.3]))
    conditions = int(rng.choice([1, 2, 2]))
    first = random_answers(space, rng, epsilon, conditions)
    if rng.random() < 0.2:  # some get no answer
        silent = rng.random(len(first)) < rng.uniform(0.01, 0.1)
        first = {c: None if s else w for (c, w), s in zip(first.items(), silent, strict=True)}
    answers = [first]
    for _ in range(int(rng.choice([0, 0, 0, 0, 1, 2]))):
        differs = rng.random(len(first)) < rng.uniform(0, 0.1)
        other = list(first.values())
        rng.shuffle(other)
        pairs = zip(first.items(), differs, other, strict=True)
        answers.append({c: o if d else w for (c, w), d, o in pairs})
    box = SmallBox(space, policy, tuple(answers))
    questions = int(rng.integers(5, len(first))) if rng.random() < 0.25 else None
    return Case(box, conditions, epsilon, delta, seed, questions)


def trap_case(seed, delta=0.2):
    """A larger box where a label is common, but under some values hardly more than ε have it.

    That it is never given there is likely to be listed, if it can be: the more so, the fewer such
    values there are, and the smaller ε is. Then an exception is rarely met before a rule is fixed
    for its test.
    """
    rng = np.random.default_rng(seed)
    is_complete = bool(rng.random() < 0.7)
    first = Nominal("a0", tuple(f"a0v{v}" for v in range(int(rng.integers(2, 8)))))
    count, most = [(1, 500), (2, 24), (3, 8)][int(rng.integers(0, 3))]
    others = []
    for i in range(1, count + 1):
        size = int(rng.integers(most // 2, most))
        other = Nominal(f"a{i}", tuple(f"a{i}v{v}" for v in range(min(size, 50 // count))))
        if rng.random() < 0.2 or size > 50:
            other = Ordered(f"a{i}", tuple(f"v{v}" for v in range(5 if count > 1 else 20)))
        others.append(other)
    label = None if rng.random() < 0.2 else Nominal("label", ("l0", "l1"))
    space = Space((first, *others), label, complete=is_complete)
    epsilon = float(rng.choice([0.01, 0.02, 0.03]))
    cells = np.array(cells_of(space))
    winners = (rng.random(len(cells)) < rng.uniform(0.3, 0.7)).astype(int)
    traps = rng.choice(len(first.variables), int(rng.integers(1, len(first.variables))), False)
    for value in traps.tolist():
        inside = np.flatnonzero(cells >> value & 1)
        broken = int(epsilon * rng.uniform(1.02, 1.2) * len(inside)) + 1
        winners[inside] = 0
        winners[rng.choice(inside, broken, replace=False)] = 1
    answers = dict(zip(cells.tolist(), winners.tolist(), strict=True))
    questions = int(rng.integers(20, 400)) if rng.random() < 0.25 else None
    return Case(SmallBox(space, Policy(), (answers,)), 1, epsilon, delta, seed, questions)


def random_answers(space, rng, epsilon, conditions):
    """Labels at some base rate, planted rules, and rules with too many exceptions."""
    cells = cells_of(space)
    masks, labels = (
        np.array(cells, dtype=np.int64),
        len(space.label.variables) if space.label else 2,
    )
    kind = rng.integers(0, 4)
    rates = rng.dirichlet(np.full(labels, 5.0))
    if kind == 1:  # rare labels
        rates = np.full(labels, float(rng.uniform(0.03, 0.2)))
    elif kind == 2:  # every rule "never this label" is a trap: broken by a little more than ε
        rates = np.full(labels, float(rng.uniform(1.1, 2.5)) * epsilon / max(1, labels - 1))
    if kind in (1, 2):
        often = int(rng.integers(labels))
        rates[often] = max(0.05, 1 - (rates.sum() - rates[often]))
    winners = rng.choice(labels, len(cells), p=rates / rates.sum())
    if kind == 3:  # an additive score
        at, score = 0, rng.normal(0, 0.3, len(cells))
        for attribute in space.attributes:
            _, own = np.unique(
                masks >> at & (1 << len(attribute.variables)) - 1, return_inverse=True
            )
            score += rng.normal(0, rng.choice([0.2, 1.0, 2.0]), own.max() + 1)[own]
            at += len(attribute.variables)
        winners = np.searchsorted(np.quantile(score, np.cumsum(rates / rates.sum())[:-1]), score)
    for _ in range(int(rng.integers(0, 5))):
        _plant(space, masks, winners, labels, rng, int(rng.integers(0, conditions + 2)), 0.0)
    for _ in range(int(rng.integers(0, 7))):
        share = float(rng.uniform(1.2, 3.0)) * epsilon
        _plant(space, masks, winners, labels, rng, int(rng.integers(1, conditions + 1)), share)
    return dict(zip(cells, map(int, winners), strict=True))


def _plant(space, masks, winners, labels, rng, count, share):
    """Make a rule of so many conditions hold, but for a share of its cells.

    It demands a label, or rules one out, or (by ruling it out elsewhere) demands a value with it.
    """
    inside = np.ones(len(masks), dtype=np.bool_)
    chosen = rng.choice(len(space.attributes), min(count, len(space.attributes)), replace=False)
    offsets = np.cumsum([0, *(len(a.variables) for a in space.attributes)])
    for i in chosen:
        mask = int(rng.choice(choices_of(space.attributes[i])[1:])) << int(offsets[i])
        inside &= masks & mask == mask
    kind, label = rng.integers(0, 4), int(rng.integers(labels))
    if kind == 3:
        inside &= masks & (1 << int(rng.integers(offsets[-1]))) == 0
    others = [other for other in range(labels) if other != label]
    to_change = np.flatnonzero(inside & (winners == label))
    if kind == 0:  # P → one label
        to_change, others = np.flatnonzero(inside), [label]
    room = int(inside.sum())
    winners[to_change] = rng.choice(others, len(to_change))
    if share and room:
        bad = min(room, int(np.floor(share * room)) + 1)
        wrong = rng.choice(np.flatnonzero(inside), bad, replace=False)
        winners[wrong] = label if kind else rng.choice([o for o in range(labels) if o != label])
