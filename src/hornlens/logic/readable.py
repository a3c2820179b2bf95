"""The readable form of a basis: the same theory, said as shortly as people would say it.

The antecedents of a DG basis are saturated: canonical, but long. Here each is shrunk to a smallest
one from which the rest of the theory and the background restore it, and each consequent to what is
really new. The result is equivalent to the basis, rule by rule in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import comb

import numpy as np

from hornlens.logic.batch import FEW, contains, pack, words_needed
from hornlens.logic.bits import BOTTOM, bits, mask_of
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory, forward_chain

SEARCH_LIMIT = 5_000
"""How many candidate antecedents are tried for a provably smallest one; past it, a minimal one."""


def readable(
    basis: Theory, background: Theory | None = None, antecedents: Sequence[int] | None = None
) -> Theory:
    """Return the readable form of a DG basis: equivalent to it under the background.

    `antecedents`, if given, are used instead of the smallest ones, without what is granted of them;
    from each, the rest of the theory and the background must derive its rule's own.
    """
    # What the background's exclusive groups forbid occurs in no side of a rule of the basis.
    granted = () if background is None else background.rules
    # The others as they stand in the basis: a shrunk rule is entailed by the basis and entails its
    # old self, so all antecedents may be shrunk at once.
    inside = _Inside(basis.rules, granted, basis.width)
    if antecedents is None:
        antecedents = [
            smallest_generator(rule.antecedent, *inside.of(rule.antecedent, i))
            for i, rule in enumerate(basis.rules)
        ]
    else:
        antecedents = [_not_granted(x, inside.of(x, -1)[1]) for x in antecedents]
    rules = [Rule(x, rule.consequent) for x, rule in zip(antecedents, basis.rules, strict=True)]
    inside = _Inside(rules, granted, basis.width)
    for i, rule in enumerate(rules):
        if rule.consequent != BOTTOM:
            rules[i] = Rule(rule.antecedent, _what_is_new(rule, *inside.of(rule.consequent, i)))
            inside.rules[i] = rules[i]
    return Theory(basis.width, tuple(rules))


Firing = tuple[tuple[Rule, ...], tuple[Rule, ...]]
"""Rules that can fire inside a set: those of a theory, and those taken for granted."""


class _Inside:
    """Finds the rules whose antecedents lie in a given set: only they can fire inside it."""

    def __init__(self, rules: Iterable[Rule], granted: Iterable[Rule], width: int):
        self.rules, self.width = list(rules), width
        self._is_wide = words_needed(width) > FEW
        if self._is_wide:  # there may be a rule for each of thousands of values
            self._own: dict[int, list[int]] = {}
            for i, rule in enumerate(self.rules):
                self._own.setdefault(_lowest(rule), []).append(i)
        else:
            self._missing = ~pack([rule.antecedent for rule in self.rules], width)
        self._by_lowest: dict[int, list[Rule]] = {}
        for rule in granted:  # there may be one for each value of an attribute
            self._by_lowest.setdefault(_lowest(rule), []).append(rule)

    def of(self, target: int, without: int) -> Firing:
        """Return what can fire inside `target`, leaving out the rule at `without`."""
        if self._is_wide:
            near = (i for bit in (-1, *bits(target)) for i in self._own.get(bit, ()))
            found = sorted(i for i in near if self.rules[i].antecedent & ~target == 0)
        else:
            outside = ~pack([target], self.width)[0]
            found = np.flatnonzero(contains(self._missing, outside)).tolist()
        granted = (
            rule
            for index in ((-1, *bits(target)) if self._by_lowest else ())
            for rule in self._by_lowest.get(index, ())
            if rule.antecedent & ~target == 0
        )
        return tuple(self.rules[i] for i in found if i != without), tuple(granted)


def _lowest(rule: Rule) -> int:
    """Return the first variable of an antecedent; -1 if it has none."""
    return (rule.antecedent & -rule.antecedent).bit_length() - 1


def smallest_generator(target: int, rest: tuple[Rule, ...], granted: tuple[Rule, ...] = ()) -> int:
    """Return a smallest subset of `target` from which `rest` and `granted` derive all of `target`.

    Of several smallest, the first in vocabulary order; where the search would be too long
    (SEARCH_LIMIT), a subset-minimal one.
    """
    every = (*rest, *granted)

    def restores(candidate: int) -> bool:
        return target & ~forward_chain(every, candidate) == 0

    start = _without_granted(target, granted, restores)
    derivable = _derivable(every)
    optional = list(bits(start & derivable))
    core = start & ~derivable
    minimal = start
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


def _what_is_new(rule: Rule, rest: tuple[Rule, ...], granted: tuple[Rule, ...]) -> int:
    """Return a minimal consequent: with the others, it still gives all of the rule's consequent."""
    every = (*rest, *granted)

    def restores(new: int) -> bool:
        return rule.consequent & ~forward_chain(every, rule.antecedent | new) == 0

    known = forward_chain(every, rule.antecedent)
    needed = _without_granted(rule.consequent & ~known, granted, restores)
    for index in reversed(list(bits(needed))):
        if restores(needed & ~(1 << index)):
            needed &= ~(1 << index)
    return needed


def _without_granted(target: int, granted: tuple[Rule, ...], enough: Callable[[int], bool]) -> int:
    """Return a set without what is granted to follow from the rest of it, if that is enough.

    What a special value implies (at least 60: at least 30) need not be tried one by one.
    """
    plain = tuple(rule for rule in granted if rule.antecedent & ~target == 0)
    start = target & ~_derivable(plain)
    return start if enough(start) else target


def _not_granted(target: int, granted: tuple[Rule, ...]) -> int:
    """Return a set without what is granted to follow from the rest of it."""
    return _without_granted(
        target, granted, lambda rest: target & ~forward_chain(granted, rest) == 0
    )


def _derivable(rules: Iterable[Rule]) -> int:
    derivable = 0
    for rule in rules:
        if rule.consequent != BOTTOM:
            derivable |= rule.consequent & ~rule.antecedent
    return derivable
