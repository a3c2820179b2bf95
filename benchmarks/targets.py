"""Seeded random targets of the kinds that the benchmarks measure."""

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from hornlens.exact.grid import LabelledSpace
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.vocabulary import Vocabulary
from hornlens.probes.probe import Label, LabelValue, Probe, ProbeAttribute, Value, numbered


def random_3cnf(variables: int, clauses: int, seed: int) -> Cnf:
    rng = Random(seed)
    chosen = []
    for _ in range(clauses):
        three = rng.sample(range(1, variables + 1), 3)
        chosen.append(clause_of(v if rng.random() < 0.5 else -v for v in three))
    return Cnf(Vocabulary.numbered(variables), tuple(chosen))


def random_horn(variables: int, rules: int, seed: int) -> Cnf:
    rng = Random(seed)
    chosen = []
    for _ in range(rules):
        body = rng.sample(range(1, variables + 1), rng.randint(2, 4))
        head = (
            [] if rng.random() < 0.1 else [rng.choice(sorted({*range(1, variables + 1)} - {*body}))]
        )
        chosen.append(clause_of([-v for v in body] + head))
    return Cnf(Vocabulary.numbered(variables), tuple(chosen))


def random_labelled_domain(values: int, rules: int, seed: int) -> LabelledSpace:
    """Six attributes; conjunctions of two or three values are rejected, and some exceptions."""
    rng = Random(seed)
    groups = [Nominal(f"a{a}", tuple(f"a{a}v{v}" for v in range(values))) for a in range(6)]
    domain = Space(tuple(groups))
    positive = np.ones(domain.shape, dtype=np.bool_)
    for _ in range(rules):
        cell: list[int | slice] = [slice(None)] * 6
        for axis in rng.sample(range(6), rng.randint(2, 3)):
            cell[axis] = rng.randint(1, values)
        positive[tuple(cell)] = False
    flat = positive.reshape(-1)
    exceptions = np.random.default_rng(seed).choice(
        flat.size, size=flat.size // 2000, replace=False
    )
    flat[exceptions] ^= True
    return LabelledSpace(domain, flat)


def planted_probe(attributes: int, values: int) -> Probe:
    """A probe whose prompts are lists of values, and whose answers are yes and no."""
    return Probe(
        "planted",
        tuple(
            ProbeAttribute(
                f"a{a}",
                tuple(Value(f"a{a}v{v}", f"a{a}v{v}") for v in range(values)),
                Value(f"a{a}", f"a{a}"),
            )
            for a in range(attributes)
        ),
        Label("answer", (LabelValue("yes", "Yes"), LabelValue("no", "No"))),
        numbered([" ".join(f"{{a{a}}}" for a in range(attributes)) + ": {label}"]),
    )


def planted_rules(probe: Probe, rules: int, seed: int) -> list[Rule]:
    """Conjunctions of two values that rule out the answer no."""
    rng = Random(seed)
    no = probe.vocabulary.mask(["no"])
    found: dict[int, None] = {}
    while len(found) < rules:
        one, other = rng.sample(probe.space.axes[:-1], 2)
        found[rng.choice(one[1:]) | rng.choice(other[1:]) | no] = None
    return [Rule(antecedent, BOTTOM) for antecedent in found]


def says_yes(probe: Probe, rules: list[Rule]) -> Callable[[str, Sequence[str]], Sequence[float]]:
    """A model that says yes where a rule wants it to, and elsewhere has no opinion."""
    pairs = [set(probe.vocabulary.names_of(rule.antecedent)) - {"no"} for rule in rules]
    by_first = {value: [p for p in pairs if min(p) == value] for value in map(min, pairs)}

    def call(prompt: str, words: Sequence[str]) -> Sequence[float]:
        said = set(prompt.partition(":")[0].split())
        for value in said & by_first.keys():
            if any(pair <= said for pair in by_first[value]):
                return (-0.1, -1.0)
        return (-1.0, -1.0)

    return call
