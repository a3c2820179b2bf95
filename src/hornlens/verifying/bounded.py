"""What the rules of a bounded result have to be: sound, short, and complete up to their length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from math import prod
from random import Random

from hornlens.counts import plural
from hornlens.verifying.grids import Wrong, chain
from hornlens.verifying.rules import TRIES, Envelope, check_by_chaining

LIMIT = 2_000_000
"""Up to so many pairs of a rule and a set of conditions are gone through one and all."""


def check_bounded(
    envelope: Envelope, closure: Callable[[int], int | None], support: Callable[[int], int]
) -> str:
    """Hold a bounded envelope against what follows from conditions; return what was found.

    `closure` says what all that is accepted has in common, of that which has some conditions;
    `support` how many positive examples have them.
    """
    check_by_chaining(envelope)
    space, rules, claim = envelope.space, envelope.rules, envelope.claim
    most, least = claim.most, claim.least
    most = len(space.axes) if most is None else most
    if claim.rules != len(rules):
        raise Wrong(f"certificate: it is {plural(len(rules), 'rule')}, not {claim.rules}")
    groups = [_union(axis) for axis in space.axes]
    for number, ((left, both), (short, _)) in enumerate(
        zip(rules, envelope.readable, strict=True), 1
    ):
        if closure(left) != both:
            raise envelope.wrong(number, "not what the target says")
        if sum(bool(short & group) for group in groups) > most:
            raise envelope.wrong(number, f"the readable rule has more than {most} conditions")
    axes = [[choice for choice in axis if choice] for axis in space.axes]
    count = sum(prod(map(len, some)) for n in range(most + 1) for some in combinations(axes, n))
    every = count * (len(rules) + 1) <= LIMIT
    looked_at = 0
    for x in _all(axes, most) if every else _some(axes, most):
        if support(x) < least:
            continue
        looked_at += 1
        if chain(x, rules + envelope.background) != closure(x):
            raise Wrong(f"a rule is missing: the rules do not say all that {space.show(x)} implies")
    which = "all" if every else "random"
    return (
        f"bounded: each of {plural(len(rules), 'rule')} says what the target says, and "
        f"{looked_at:,} sets of at most {most} conditions ({which}) have just the "
        "consequences that they give them"
    )


def _union(axis: Sequence[int]) -> int:
    found = 0
    for choice in axis:
        found |= choice
    return found


def _all(axes: Sequence[Sequence[int]], most: int) -> Iterator[int]:
    for n in range(most + 1):
        for some in combinations(axes, n):
            yield from map(sum, product(*some))


def _some(axes: Sequence[Sequence[int]], most: int) -> Iterator[int]:
    rng, said = Random(0), [axis for axis in axes if axis]
    for _ in range(TRIES):
        some = rng.sample(said, min(len(said), rng.randint(0, most)))
        yield sum(rng.choice(axis) for axis in some)
