"""The DG basis of rules that say all that follows from their left sides.

Let C be the closure of X. Close X under the rules whose closure is smaller than C. Of the results
for all X of one closure, the smallest that are not C itself are the antecedents of the DG basis.
Inside C no other rule can fire, so going up by the size of closures, ⊥ last, takes one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.closing import closed_under, union_inside
from hornlens.exact.hitting import spread
from hornlens.logic.batch import Words, obeys, pack, unpack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.cnf import clauses_of, literals
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

MANY = 3_000
"""Of so many left sides, each is closed by itself: comparing them with all rules is slower."""
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
    found = [pair for some, _ in saturation(xs, closures, background) for pair in some]
    return in_order(found, background.width)


def in_order(found: Sequence[Pair], width: int) -> Saturated:
    """Return rules that `saturation` gave, or some of them, in canonical order."""
    pairs = sorted(found, key=lambda pair: pair[0].key)
    return Saturated(Theory(width, tuple(rule for rule, _ in pairs)), tuple(x for _, x in pairs))


def saturation(
    xs: Words, closures: Words, background: Theory
) -> Iterator[tuple[list[Pair], float]]:
    """Yield the rules of that DG basis with their generators, some at a time, in no order.

    Beside them: what share of the left sides is done. Any part of the rules is saturated, too.
    """
    width = background.width
    chain: _Chain = (_Propagation if len(xs) > MANY else _Comparison)(width)
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


class _Chain(Protocol):
    """Closes sets under rules that become more and more."""

    def add(self, lefts: Words, rights: Words) -> None:
        """Take in rules."""
        ...

    def closed(self, xs: Words) -> Words:
        """Return each set closed under the rules so far."""
        ...


class _Comparison:
    """Compares sets with rules, in numpy: best for not too many."""

    def __init__(self, width: int):
        self.lefts = self.rights = pack([], width)

    def add(self, lefts: Words, rights: Words) -> None:
        self.lefts = np.concatenate([self.lefts, lefts])
        self.rights = np.concatenate([self.rights, rights])

    def closed(self, xs: Words) -> Words:
        return closed_under(xs, self.lefts, self.rights)


class _Propagation:
    """Unit propagation, which looks at a rule only if what it waits for has come."""

    def __init__(self, width: int):
        from pysat.solvers import Solver  # few runs need it

        self.width = width
        self.solver = Solver("minisat22")
        # What holds without assumptions it would leave out, so all rules depend on one.
        self.always = width + 1

    def add(self, lefts: Words, rights: Words) -> None:
        for clause in clauses_of(map(Rule, unpack(lefts), unpack(rights))):
            self.solver.add_clause([-self.always, *literals(clause)])

    def closed(self, xs: Words) -> Words:
        x, variables = np.nonzero(spread(xs, self.width))
        ends = np.cumsum(np.bincount(x, minlength=len(xs))).tolist()
        assumed = (variables + 1).tolist()
        # By literal; negative ones count from the end, where there are none of ours.
        mask = [0, *(1 << v for v in range(self.width)), *[0] * (self.width + 2)]
        found, start = [], 0
        for end in ends:
            possible, true = self.solver.propagate([self.always, *assumed[start:end]])
            found.append(sum(map(mask.__getitem__, true)) if possible else BOTTOM)
            start = end
        return pack(found, self.width)


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
