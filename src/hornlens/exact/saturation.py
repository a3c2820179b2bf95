"""The DG basis of rules that say all that follows from their left sides.

Let C be the closure of X. Close X under the rules whose closure is smaller than C. Of the results
for all X of one closure, the smallest that are not C itself are the antecedents of the DG basis.
Inside C no other rule can fire, so going up by the size of closures, ⊥ last, takes one pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.closing import closed_under, union_inside
from hornlens.logic.batch import Words, obeys, pack, unpack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory


class Saturated(NamedTuple):
    """A DG basis in canonical order, and for each rule a left side that it was found from.

    The rules with smaller closures make all of its antecedent of that left side.
    """

    basis: Theory
    generators: tuple[int, ...]


def saturate(xs: Words, closures: Words, background: Theory) -> Saturated:
    """Return the DG basis, relative to a background, of the rules x → closure.

    Each closure has to be all that follows from its x, by these rules and the background. Of the
    left sides that lead to one antecedent, the first is kept as its generator.
    """
    width = background.width
    lefts = pack([rule.antecedent for rule in background.rules], width)
    rights = pack([rule.consequent for rule in background.rules], width)
    exclusive = Theory(width, (), background.exclusive)
    sizes = _sizes(closures, width)
    found: list[tuple[Rule, int]] = []
    for size in sorted(set(sizes.tolist())):
        level = np.flatnonzero(sizes == size)
        closed = closed_under(xs[level], lefts, rights)
        open_still = (closed != closures[level]).any(axis=1)
        if background.exclusive:  # what the background forbids is no finding
            open_still &= obeys(closed, exclusive)
        level, closed = level[open_still], closed[open_still]
        first: dict[int, int] = {}
        for place, antecedent in enumerate(unpack(closed)):
            first.setdefault(antecedent, place)
        distinct = np.array(list(first.values()), dtype=np.intp)
        new = np.zeros(0, dtype=np.intp)
        by_size = _sizes(closed[distinct], width)
        for smaller in sorted(set(by_size.tolist())):
            some = distinct[by_size == smaller]
            gained = union_inside(closed[some], closed[new], closures[level[new]])
            new = np.concatenate([new, some[(gained & ~closed[some] == 0).all(axis=1)]])
        antecedents, consequents = closed[new], closures[level[new]]
        lefts, rights = np.concatenate([lefts, antecedents]), np.concatenate([rights, consequents])
        rules = map(Rule, unpack(antecedents), unpack(consequents))
        found += zip(rules, unpack(xs[level[new]]), strict=True)
    found.sort(key=lambda pair: pair[0].key)
    return Saturated(Theory(width, tuple(rule for rule, _ in found)), tuple(x for _, x in found))


def _sizes(masks: Words, width: int) -> NDArray[np.int64]:
    """Return how many variables each mask has; BOTTOM has more than any other."""
    counts = np.array([mask.bit_count() for mask in unpack(masks)], dtype=np.int64)
    counts[masks[:, 0] == BOTTOM] = width + 1
    return counts
