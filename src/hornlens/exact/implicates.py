"""The envelope of a formula that is far from Horn, from its prime Horn implicates.

For each head, all maximal positives that lack it are found, each at the cost of about two SAT
calls. A left side gives the head if and only if it leaves each of them: so the smallest left sides
are the minimal hitting sets of what these positives lack. They are all prime Horn implicates, many
times as many as the rules of the DG basis, and saturation makes the basis of them.

The two steps must not be mixed: which left sides are smallest depends on all positives of the head.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from hornlens.exact.closures import closed_under, common_above
from hornlens.exact.engine import Step, run
from hornlens.exact.hitting import count_members, minimal_hitting_sets
from hornlens.exact.maximal import LargePositives
from hornlens.exact.saturation import saturation
from hornlens.exact.sources import ABSURD
from hornlens.logic.batch import Words, distinct, pack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.cnf import Cnf, clauses_of
from hornlens.logic.inclusion import pairs_inside
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

Implicates: TypeAlias = "tuple[int, Words]"
"""A head, and left sides that give it."""
FIRST = 1_000
"""So many left sides, the smallest, are made rules of, if the search is ended before its time."""


class ImplicateSearch:
    """Finds the DG basis of a formula relative to a background, all rules at once."""

    def __init__(self, formula: Cnf, background: Theory | None = None):
        """Prepare the solver; nothing is searched yet."""
        self.background = background or Theory(formula.width)
        self.width = formula.width
        self.source = LargePositives(formula.clauses + clauses_of(self.background), formula.width)
        self.positives: set[int] = set()
        # What the formula says itself: the first that can be told, if nobody waits for more.
        horn = [clause for clause in formula.clauses if clause.is_horn]
        self._implicates: list[Implicates] = [
            (max(clause.consequent.bit_length() - 1, ABSURD), pack([clause.antecedent], self.width))
            for clause in horn
            if not clause.antecedent & clause.consequent
        ]
        self._rules: list[Rule] = []
        self._saturating = False

    def steps(self) -> Iterator[Step]:
        """Find the implicates, head by head; then, by saturation, the rules."""
        own = len(self._implicates)
        yield from self._find_implicates()
        self._saturating = True
        xs = distinct(np.concatenate([lefts for _, lefts in self._implicates[own:]]))
        closures = common_above(xs, pack(sorted(self.positives), self.width))
        for pairs, settled in saturation(xs, closures, self.background):
            new = [rule for rule, _ in pairs]
            self._rules += new
            yield Step(new, settled)

    def _find_implicates(self) -> Iterator[Step]:
        full = (1 << self.width) - 1
        # All that is possible is inside one of these: other left sides are rules of ⊥.
        top = yield from self._maximal(ABSURD)
        self._implicates.append((ABSURD, pack([], self.width)))
        for head in (ABSURD, *range(self.width)):
            own = 0 if head == ABSURD else 1 << head
            # Of the largest positives of all, those that lack the head are among the head's own.
            known = [x for x in top if not x & own]
            lacking = top if head == ABSURD else (yield from self._maximal(head, known))
            for batch in minimal_hitting_sets(
                [full & ~positive & ~own for positive in lacking],
                self.width,
                rows=() if head == ABSURD else self._where_it_follows(top, own, lacking),
                support=0 if head == ABSURD else 1,
            ):
                self._implicates.append((head, batch))
                yield Step()

    def _where_it_follows(self, top: Sequence[int], own: int, lacking: Sequence[int]) -> list[int]:
        """Return those of `top` in which some left side can give the head `own`.

        One that is inside a positive without the head, but for the head, has no such left side.
        """
        having = [x for x in top if x & own]
        follows = np.ones(len(having), dtype=np.bool_)
        rest = pack([x & ~own for x in having], self.width)
        for _, places in pairs_inside(pack(lacking, self.width), rest):
            follows[places] = False
        return [having[place] for place in np.flatnonzero(follows).tolist()]

    def _maximal(self, head: int, known: Sequence[int] = ()) -> Generator[Step, None, list[int]]:
        positives = []
        for positive in self.source.maximal(head, known):
            positives.append(positive)
            yield Step()
        self.positives.update(positives)
        return positives

    def proved(self) -> Sequence[Rule]:
        """Return the rules so far. Before there are any, what some implicates say."""
        return self._rules if self._saturating else self._first_rules()

    def _first_rules(self) -> list[Rule]:
        """Return the DG basis of the smallest left sides so far, with the heads they give."""
        if not self._implicates:
            return []
        lefts = np.concatenate([some for _, some in self._implicates])
        heads = pack([BOTTOM if h == ABSURD else 1 << h for h, _ in self._implicates], self.width)
        rights = np.repeat(heads, [len(some) for _, some in self._implicates], axis=0)
        smallest = np.argsort(count_members(lefts.view(np.uint64)), kind="stable")[:FIRST]
        lefts, rights = lefts[smallest], rights[smallest]
        assumed = list(self.background)
        sides = (
            pack([rule.antecedent for rule in assumed], self.width),
            pack([rule.consequent for rule in assumed], self.width),
        )
        closures = closed_under(
            lefts, np.concatenate([lefts, sides[0]]), np.concatenate([rights, sides[1]])
        )
        return [
            rule for pairs, _ in saturation(lefts, closures, self.background) for rule, _ in pairs
        ]

    def run(self) -> Theory:
        """Find all rules; return the DG basis."""
        return run(self).basis
