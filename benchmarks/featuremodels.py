"""Feature models as product lines have them: a tree of features, groups, cross-tree constraints."""

from random import Random

from hornlens.logic.cnf import Clause, Cnf, clause_of
from hornlens.logic.vocabulary import Vocabulary

CROSS_TREE = 0.1
"""Constraints across the tree, for each feature: a share that published models have."""


def feature_model(features: int, seed: int) -> Cnf:
    """Return a random feature model: a child needs its parent, and a parent its mandatory children.

    Children come singly, mandatory or optional, or in groups of which one (xor) or some (or) must
    be chosen; across the tree, features require or exclude each other. The root is always chosen.
    """
    rng = Random(seed)
    clauses: list[Clause] = [clause_of([1])]
    product = {1}  # one that is possible: no constraint across the tree rules it out
    parents, following = [1], 2
    while following <= features:
        parent = parents.pop(rng.randrange(len(parents)))
        for _ in range(rng.randint(1, 3)):
            kind = rng.choice(("mandatory", "optional", "optional", "xor", "or"))
            many = rng.randint(2, 5) if kind in ("xor", "or") else 1
            group = list(range(following, min(following + many, features + 1)))
            if not group:
                break
            following += len(group)
            parents += group
            if parent in product:
                taken = {"mandatory": group, "optional": group[: rng.randint(0, 1)]}
                product.update(taken.get(kind, group[:1]))
            clauses += [clause_of([-child, parent]) for child in group]
            if kind != "optional":
                clauses.append(clause_of([-parent, *group]))
            if kind == "xor":
                pairs = ((a, b) for i, a in enumerate(group) for b in group[:i])
                clauses += [clause_of([-a, -b]) for a, b in pairs]
        parents = parents or [following - 1]
    for _ in range(int(CROSS_TREE * features)):
        a, b = rng.sample(range(2, features + 1), 2)
        requires = rng.random() < 0.6
        if a not in product or (b in product) == requires:
            clauses.append(clause_of([-a, b if requires else -b]))
    return Cnf(Vocabulary.numbered(features), tuple(clauses))
