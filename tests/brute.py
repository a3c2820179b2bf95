"""References by brute force, written from the definitions and from nothing in the package."""

from itertools import combinations


def positives_of(clauses, width):
    """All models of clauses given as lists of DIMACS literals."""
    return [
        x
        for x in range(1 << width)
        if all(any((x >> (abs(v) - 1) & 1) == (v > 0) for v in clause) for clause in clauses)
    ]


def close(models):
    """All intersections of one or more models."""
    closed = set(models)
    while True:
        new = {a & b for a in closed for b in closed} - closed
        if not new:
            return closed
        closed |= new


def closure(models, x):
    """The intersection of the models above x, or None if there are none."""
    above = [y for y in models if x & ~y == 0]
    if not above:
        return None
    common = above[0]
    for y in above:
        common &= y
    return common


def dg(models, domain):
    """The DG basis by its definition, as a set of (antecedent, closure or None).

    P is pseudo-closed if it is not closed and contains the closure of every smaller pseudo-closed
    set inside it; relative to a domain, only sets in the domain count.
    """
    pseudo = []
    for x in sorted(domain, key=lambda x: (bin(x).count("1"), x)):
        closed = closure(models, x)
        if closed != x and all(
            q & ~x != 0 or (c is not None and c & ~x == 0) for q, c in pseudo if q != x
        ):
            pseudo.append((x, closed))
    return set(pseudo)


def pairs(theory):
    """A theory of the package in the same form."""
    return {(r.antecedent, None if r.consequent == -1 else r.consequent) for r in theory}


def satisfying(rules, x):
    return all(a & ~x != 0 or (c is not None and c & ~x == 0) for a, c in rules)


def smallest_equivalent(rules, background, width):
    """The least number of Horn rules P → Q that have the same models (tiny widths only)."""
    space = [x for x in range(1 << width) if satisfying(background, x)]
    wanted = {x for x in space if satisfying(rules, x)}
    every = [(p, c) for p in range(1 << width) for c in [None, *range(1 << width)]]
    useful = [r for r in every if all(satisfying([r], x) for x in wanted)]
    for size in range(len(rules) + 1):
        for chosen in combinations(useful, size):
            if {x for x in space if satisfying(chosen, x)} == wanted:
                return size
    return None
