"""Seeded random targets of the kinds that the benchmarks measure."""

from random import Random

import numpy as np

from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.domain import Domain
from hornlens.logic.labelled import LabelledDomain
from hornlens.logic.vocabulary import Attribute, Vocabulary


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


def random_labelled_domain(values: int, rules: int, seed: int) -> LabelledDomain:
    """Six attributes; conjunctions of two or three values are rejected, and some exceptions."""
    rng = Random(seed)
    groups = [Attribute(f"a{a}", tuple(f"a{a}v{v}" for v in range(values))) for a in range(6)]
    domain = Domain(Vocabulary.of_attributes(groups))
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
    return LabelledDomain(domain, flat)
