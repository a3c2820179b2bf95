"""Random targets, all from seeds: formulas of every temper, domains, theories."""

from random import Random

from hornlens.logic.attributes import Nominal
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary

KINDS = ("any", "unsatisfiable", "tautology", "horn", "near-horn", "far-from-horn")


def random_clauses(rng: Random, width: int, kind: str) -> list[list[int]]:
    """DIMACS clauses of a formula of the given kind."""
    if kind == "tautology":
        if not width:
            return []
        variables = [rng.randint(1, width) for _ in range(rng.randint(0, 3))]
        return [[v, -v, *([rng.randint(1, width)] * rng.randint(0, 1))] for v in variables]
    count = rng.randint(0, 3 * width) if kind != "far-from-horn" else rng.randint(1, width + 1)
    clauses = []
    for _ in range(count):
        size = rng.randint(1, 4) if width else 0
        positive = {"horn": 0.0, "near-horn": 0.2, "far-from-horn": 0.8}.get(kind, 0.4)
        clause = [
            (1 if rng.random() < positive else -1) * rng.randint(1, width) for _ in range(size)
        ]
        if kind == "horn" and clause and rng.random() < 0.7:
            clause[0] = abs(clause[0])
        clauses.append(clause)
    if kind == "unsatisfiable":
        broken = rng.randint(0, 1) if width else 0
        v = rng.randint(1, width) if width else 0
        clauses += [[v], [-v]] if broken else [[]]
    if kind == "any" and clauses and rng.random() < 0.2:
        clauses.append(list(clauses[0]))
    return clauses


def random_formula(seed: int, kind: str, widths=(0, 6)) -> tuple[Cnf, list[list[int]]]:
    rng = Random(f"{seed} {kind}")
    low, high = widths
    width = (
        rng.randint(low, high) if rng.random() < 0.1 else rng.randint(min(max(2, low), high), high)
    )
    clauses = random_clauses(rng, width, kind)
    return Cnf(Vocabulary.numbered(width), tuple(map(clause_of, clauses))), clauses


def random_space(rng: Random, kinds=("nominal", "ordered", "taxonomy")) -> Space:
    """A few attributes of the given kinds, and perhaps free variables; a label or none."""
    attributes = []
    for a in range(rng.randint(0, 3)):
        names = tuple(f"a{a}v{v}" for v in range(rng.randint(1, 3)))
        match rng.choice(kinds):
            case "nominal":
                attributes.append(Nominal(f"a{a}", names))
            case "ordered":
                attributes.append(Ordered(f"a{a}", ("low", *names[:2])))
            case "missing":
                attributes.append(Ordered(f"a{a}", ("low", *names[:2])[:2], missing=True))
            case "taxonomy":
                parents = (rng.choice([None, *range(i)]) for i in range(len(names)))
                attributes.append(Taxonomy(f"a{a}", names, tuple(parents)))
    attributes += (Nominal(f"f{i}", (f"f{i}",)) for i in range(rng.randint(0, 2)))
    label = Nominal("label", ("yes", "no")) if rng.random() < 0.3 else None
    rng.shuffle(attributes)
    return Space(tuple(attributes), label)


def random_theory(rng: Random, width: int, rules: int) -> Theory:
    full = (1 << width) - 1
    return Theory(
        width,
        tuple(
            Rule(
                rng.getrandbits(width) & rng.getrandbits(width) & full if width else 0,
                -1 if rng.random() < 0.25 or not width else rng.getrandbits(width),
            )
            for _ in range(rules)
        ),
    )
