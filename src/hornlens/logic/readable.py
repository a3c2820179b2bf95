"""The readable form of a basis: the same theory, said as shortly as people would say it.

The antecedents of a DG basis are saturated: canonical, but long. Here each is shrunk to a smallest
one from which the rest of the theory and the background restore it, and each consequent to what is
really new. The result is equivalent to the basis, rule by rule in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np

from hornlens.logic.batch import FEW, pack, words_needed
from hornlens.logic.bits import BOTTOM, bits, mask_of
from hornlens.logic.inclusion import pairs_inside
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory, forward_chain

SEARCH_LIMIT = 5_000
"""How many candidate antecedents are tried for a provably smallest one; past it, a minimal one."""
TOGETHER = 1 << 12
"""Of so many sets at a time the rules inside are found."""


def readable(
    basis: Theory, background: Theory | None = None, antecedents: Sequence[int] | None = None
) -> Theory:
    """Return the readable form of a DG basis: equivalent to it under the background.

    `antecedents`, if given, are used instead of the smallest ones, without what is granted of them;
    from each, the rest of the theory and the background must derive its rule's own.
    """
    # What the background's exclusive groups forbid occurs in no side of a rule of the basis.
    assumed = _Granted(() if background is None else background.rules)
    # The others as they stand in the basis: a shrunk rule is entailed by the basis and entails its
    # old self, so all antecedents may be shrunk at once.
    given = [rule.antecedent for rule in basis.rules]
    if antecedents is None:
        inside = _each_inside(given, given, basis.width)
        antecedents = [
            smallest_generator(x, _all_but(i, own, basis.rules), assumed.inside(x))
            for i, (x, own) in enumerate(zip(given, inside, strict=True))
        ]
    else:
        antecedents = [_not_granted(x, assumed.inside(x)) for x in antecedents]
    rules = [Rule(x, rule.consequent) for x, rule in zip(antecedents, basis.rules, strict=True)]
    positive = [i for i, rule in enumerate(rules) if rule.consequent != BOTTOM]
    targets = [rules[i].consequent for i in positive]
    for i, own in zip(positive, _each_inside(targets, antecedents, basis.width), strict=True):
        rest = _all_but(i, own, rules)
        rules[i] = Rule(
            antecedents[i], _what_is_new(rules[i], rest, assumed.inside(rules[i].consequent))
        )
    return Theory(basis.width, tuple(rules))


def _all_but(without: int, places: Sequence[int], rules: Sequence[Rule]) -> tuple[Rule, ...]:
    return tuple([rules[i] for i in places if i != without])


def _each_inside(
    targets: Sequence[int], antecedents: Sequence[int], width: int
) -> Iterator[Sequence[int]]:
    """Yield for each target the places of the antecedents inside it: only they can fire there."""
    if words_needed(width) > FEW:  # there may be a rule for each of thousands of values
        yield from _each_inside_wide(targets, antecedents)
        return
    lefts = pack(antecedents, width)
    for start in range(0, len(targets), TOGETHER):
        xs = pack(targets[start : start + TOGETHER], width)
        inside = [np.zeros(0, dtype=np.intp)] * len(xs)
        for x, left in pairs_inside(xs, lefts):
            first = np.flatnonzero(np.diff(x, prepend=-1)).tolist()
            ends = [*first[1:], len(x)]
            for place, begin, end in zip(x[first].tolist(), first, ends, strict=True):
                inside[place] = left[begin:end]
        for places in inside:
            yield places.tolist()


def _each_inside_wide(
    targets: Sequence[int], antecedents: Sequence[int]
) -> Iterator[Sequence[int]]:
    by_lowest: dict[int, list[int]] = {}
    for i, x in enumerate(antecedents):
        by_lowest.setdefault(_lowest(x), []).append(i)
    for target in targets:
        near = (i for bit in (-1, *bits(target)) for i in by_lowest.get(bit, ()))
        yield sorted(i for i in near if antecedents[i] & ~target == 0)


class _Granted:
    """Finds the rules taken for granted that can fire inside a set."""

    def __init__(self, rules: Iterable[Rule]):
        self._by_lowest: dict[int, list[Rule]] = {}
        for rule in rules:  # there may be one for each value of an attribute
            self._by_lowest.setdefault(_lowest(rule.antecedent), []).append(rule)

    def inside(self, target: int) -> tuple[Rule, ...]:
        if not self._by_lowest:
            return ()
        return tuple(
            rule
            for index in (-1, *bits(target))
            for rule in self._by_lowest.get(index, ())
            if rule.antecedent & ~target == 0
        )


def _lowest(antecedent: int) -> int:
    """Return the first variable of an antecedent; -1 if it has none."""
    return (antecedent & -antecedent).bit_length() - 1


def smallest_generator(target: int, rest: tuple[Rule, ...], assumed: tuple[Rule, ...] = ()) -> int:
    """Return a smallest subset of `target` from which `rest` and `granted` derive all of `target`.

    Of several smallest, the first in vocabulary order; where the search would be too long
    (SEARCH_LIMIT), a subset-minimal one.
    """
    every = (*rest, *assumed)

    def restores(candidate: int) -> bool:
        return target & ~forward_chain(every, candidate) == 0

    start = _without_granted(target, assumed, restores)
    derivable = _derivable(every)
    optional = list(bits(start & derivable))
    core = start & ~derivable
    if not optional or restores(core):
        return core
    minimal = start
    for index in reversed(optional):
        if restores(minimal & ~(1 << index)):
            minimal &= ~(1 << index)
    budget = SEARCH_LIMIT - 1
    for size in range(1, minimal.bit_count() - core.bit_count() + 1):
        budget -= comb(len(optional), size)
        if budget < 0:
            return minimal
        for extra in combinations(optional, size):
            if restores(core | mask_of(extra)):
                return core | mask_of(extra)
    return minimal


def _what_is_new(rule: Rule, rest: tuple[Rule, ...], assumed: tuple[Rule, ...]) -> int:
    """Return a minimal consequent: with the others, it still gives all of the rule's consequent."""
    every = (*rest, *assumed)

    def restores(new: int) -> bool:
        return rule.consequent & ~forward_chain(every, rule.antecedent | new) == 0

    known = forward_chain(every, rule.antecedent)
    needed = _without_granted(rule.consequent & ~known, assumed, restores)
    for index in reversed(list(bits(needed & _derivable(every)))):
        if restores(needed & ~(1 << index)):
            needed &= ~(1 << index)
    return needed


def _without_granted(target: int, assumed: tuple[Rule, ...], enough: Callable[[int], bool]) -> int:
    """Return a set without what is granted to follow from the rest of it, if that is enough.

    What a special value implies (at least 60: at least 30) need not be tried one by one.
    """
    if not assumed:
        return target
    plain = tuple(rule for rule in assumed if rule.antecedent & ~target == 0)
    start = target & ~_derivable(plain)
    return start if enough(start) else target


def _not_granted(target: int, assumed: tuple[Rule, ...]) -> int:
    """Return a set without what is granted to follow from the rest of it."""
    return _without_granted(
        target, assumed, lambda rest: target & ~forward_chain(assumed, rest) == 0
    )


def _derivable(rules: Iterable[Rule]) -> int:
    derivable = 0
    for rule in rules:
        if rule.consequent != BOTTOM:
            derivable |= rule.consequent & ~rule.antecedent
    return derivable
