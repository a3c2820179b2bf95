"""The readable form of a basis: the same theory, said as shortly as people would say it.

The antecedents of a DG basis are saturated: canonical, but long. Here each is shrunk to a smallest
one from which the rest of the theory and the background restore it, and each consequent to what is
really new. The result is equivalent to the basis, rule by rule in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb

import numpy as np

from hornlens.logic.batch import contains, pack
from hornlens.logic.bits import BOTTOM, bits, mask_of
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory, forward_chain

SEARCH_LIMIT = 5_000
"""How many candidate antecedents are tried for a provably smallest one; past it, a minimal one."""


def readable(basis: Theory, background: Theory | None = None) -> Theory:
    """Return the readable form of a DG basis: equivalent to it under the background."""
    granted = tuple(background or ())
    # The others as they stand in the basis: a shrunk rule is entailed by the basis and entails its
    # old self, so all antecedents may be shrunk at once.
    inside = _Inside((*basis.rules, *granted), basis.width)
    rules = [
        Rule(smallest_generator(rule.antecedent, inside.of(rule.antecedent, i)), rule.consequent)
        for i, rule in enumerate(basis.rules)
    ]
    inside = _Inside((*rules, *granted), basis.width)
    for i, rule in enumerate(rules):
        if rule.consequent != BOTTOM:
            rules[i] = Rule(rule.antecedent, _what_is_new(rule, inside.of(rule.consequent, i)))
            inside.rules[i] = rules[i]
    return Theory(basis.width, tuple(rules))


class _Inside:
    """Finds the rules whose antecedents lie in a given set: only they can fire inside it."""

    def __init__(self, rules: Iterable[Rule], width: int):
        self.rules, self.width = list(rules), width
        self._missing = ~pack([rule.antecedent for rule in self.rules], width)

    def of(self, target: int, without: int) -> tuple[Rule, ...]:
        """Return the rules that can fire inside `target`, leaving out the one at `without`."""
        outside = ~pack([target], self.width)[0]
        found = np.flatnonzero(contains(self._missing, outside)).tolist()
        return tuple(self.rules[i] for i in found if i != without)


def smallest_generator(target: int, rest: tuple[Rule, ...]) -> int:
    """Return a smallest subset of `target` from which `rest` derives all of `target`.

    Of several smallest, the first in vocabulary order; where the search would be too long
    (SEARCH_LIMIT), a subset-minimal one.
    """
    derivable = 0
    for rule in rest:
        if rule.consequent != BOTTOM:
            derivable |= rule.consequent & ~rule.antecedent
    optional = list(bits(target & derivable))
    core = target & ~derivable

    def restores(candidate: int) -> bool:
        return target & ~forward_chain(rest, candidate) == 0

    minimal = target
    for index in reversed(optional):
        if restores(minimal & ~(1 << index)):
            minimal &= ~(1 << index)
    budget = SEARCH_LIMIT
    for size in range(minimal.bit_count() - core.bit_count() + 1):
        budget -= comb(len(optional), size)
        if budget < 0:
            return minimal
        for extra in combinations(optional, size):
            if restores(core | mask_of(extra)):
                return core | mask_of(extra)
    return minimal


def _what_is_new(rule: Rule, rest: tuple[Rule, ...]) -> int:
    """Return a minimal consequent: with `rest`, it still gives all of the rule's consequent."""
    needed = rule.consequent & ~forward_chain(rest, rule.antecedent)
    for index in reversed(list(bits(needed))):
        without = needed & ~(1 << index)
        if rule.consequent & ~forward_chain(rest, rule.antecedent | without) == 0:
            needed = without
    return needed
