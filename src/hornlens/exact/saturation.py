"""The DG basis of rules that say all that follows from their left sides.

Let C be the closure of X. Close X under the rules whose closure is smaller than C. Of the results
for all X of one closure, the smallest that are not C itself are the antecedents of the DG basis.
Inside C no other rule can fire, so going up by the size of closures, ⊥ last, takes one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.closures import union_inside
from hornlens.exact.columns import turned
from hornlens.logic.batch import Words, obeys, pack, unpack
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

TOGETHER = 20_000
"""So many left sides are closed in a step, at most."""
Pair: TypeAlias = "tuple[Rule, int]"
"""A rule of the basis, and a left side that it was found from."""


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
    pairs = [pair for some, _ in saturation(xs, closures, background) for pair in some]
    return in_order(pairs, background.width)


def in_order(pairs: Sequence[Pair], width: int) -> Saturated:
    """Return rules that `saturation` gave, or some of them, in canonical order."""
    ordered = sorted(pairs, key=lambda pair: pair[0].key)
    return Saturated(
        Theory(width, tuple(rule for rule, _ in ordered)), tuple(x for _, x in ordered)
    )


def saturation(
    xs: Words, closures: Words, background: Theory
) -> Iterator[tuple[list[Pair], float]]:
    """Yield the rules of that DG basis with their generators, some at a time, in no order.

    Beside them: what share of the left sides is done. Any part of the rules is saturated, too.
    """
    width = background.width
    chain = _Chain(width)
    chain.add(*_sides(background.rules, width))
    exclusive = Theory(width, (), background.exclusive)
    sizes = _sizes(closures, width)
    done = 0
    for size in sorted(set(sizes.tolist())):
        whole = np.flatnonzero(sizes == size)
        open_levels, open_closed = [whole[:0]], [xs[:0]]
        for start in range(0, len(whole), TOGETHER):
            level = whole[start : start + TOGETHER]
            closed = chain.closed(xs[level])
            open_still = (closed != closures[level]).any(axis=1)
            if background.exclusive:  # what the background forbids is no finding
                open_still &= obeys(closed, exclusive)
            open_levels.append(level[open_still])
            open_closed.append(closed[open_still])
            done += len(level)
            yield [], done / len(xs)
        level, closed = np.concatenate(open_levels), np.concatenate(open_closed)
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
        chain.add(antecedents, consequents)
        rules = map(Rule, unpack(antecedents), unpack(consequents))
        yield list(zip(rules, unpack(xs[level[new]]), strict=True)), done / len(xs)


class _Chain:
    """Closes sets under rules that become more and more, by trying each on all sets at once.

    For each variable, the sets that have it are one integer. Joining those of a left side says
    which sets a rule is for; mostly that is none after three or four.
    """

    def __init__(self, width: int):
        self.width = width
        self.rules: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []

    def add(self, lefts: Words, rights: Words) -> None:
        """Take in rules."""
        for left, right in zip(unpack(lefts), unpack(rights), strict=True):
            gained = (self.width,) if right == BOTTOM else tuple(bits(right & ~left))
            self.rules.append((left, tuple(bits(left)), gained))

    def closed(self, xs: Words) -> Words:
        """Return each set closed under the rules so far."""
        having = [*turned(unpack(xs), self.width), 0]  # the last: those that have become ⊥
        # What has changed since the last round, of the sets and of the variables: first, all.
        sets, variables = (1 << len(xs)) - 1, BOTTOM
        while sets:
            among, waiting_for, sets, variables = sets, variables, 0, 0
            for mask, left, gained in self.rules:
                if left and not mask & waiting_for:
                    continue
                them = among
                for variable in left:
                    them &= having[variable]
                    if not them:
                        break
                else:
                    for variable in gained:
                        before = having[variable]
                        if before != (now := before | them):
                            having[variable] = now
                            variables |= 1 << variable
                            sets |= them
        masks = turned(having[:-1], len(xs))
        for absurd in bits(having[-1]):
            masks[absurd] = BOTTOM
        return pack(masks, self.width)


def _sides(rules: Iterable[Rule], width: int) -> tuple[Words, Words]:
    listed = list(rules)
    return (
        pack([rule.antecedent for rule in listed], width),
        pack([rule.consequent for rule in listed], width),
    )


def _sizes(masks: Words, width: int) -> NDArray[np.int64]:
    """Return how many variables each mask has; BOTTOM has more than any other."""
    counts = np.array([mask.bit_count() for mask in unpack(masks)], dtype=np.int64)
    counts[masks[:, 0] == BOTTOM] = width + 1
    return counts
