"""Formulas in which few of the variables occur: the others are left out, and put back after.

A variable that no clause and no rule speaks of is free. It is in no rule of the envelope, and each
non-Horn negative is one with it and without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, islice

from hornlens.logic.bits import BOTTOM, bits, mask_of
from hornlens.logic.cnf import Clause, Cnf
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary

COUNT_LIMIT = 10_000
"""How many non-Horn negatives are counted one by one, where the domain is too large to label."""

SAID = 50
"""A number of so many bits is still said: every reader of JSON takes it."""


@dataclass(frozen=True)
class Occurring:
    """The places of the variables that occur, in order."""

    places: tuple[int, ...]

    @classmethod
    def of(cls, formula: Cnf, background: Theory) -> Occurring:
        """Find the variables that a clause or a rule speaks of."""
        seen = 0
        for part in (*formula.clauses, *background):
            seen |= part.antecedent | max(part.consequent, 0)
        return cls(tuple(bits(seen)))

    def reduced(self, formula: Cnf, background: Theory) -> tuple[Cnf, Theory]:
        """Return both over the variables that occur."""
        new = {place: i for i, place in enumerate(self.places)}

        def small(mask: int) -> int:
            return mask if mask == BOTTOM else mask_of(new[i] for i in bits(mask))

        names = Vocabulary(tuple(formula.vocabulary.names[i] for i in self.places))
        clauses = tuple(Clause(small(c.antecedent), small(c.consequent)) for c in formula.clauses)
        rules = tuple(Rule(small(r.antecedent), small(r.consequent)) for r in background)
        return Cnf(names, clauses), Theory(len(names), rules)

    def widened(self, envelope: Envelope, vocabulary: Vocabulary, background: Theory) -> Envelope:
        """Return the envelope over all variables, given that over those that occur."""
        width = len(vocabulary)

        def theory(small: Theory) -> Theory:
            rules = (Rule(self._wide(r.antecedent), self._wide(r.consequent)) for r in small.rules)
            return Theory(width, tuple(rules))

        return replace(
            envelope,
            space=Space.of_variables(vocabulary, tuple(background)),
            basis=theory(envelope.basis),
            readable=theory(envelope.readable),
            non_horn=self._non_horn(envelope.non_horn, width),
        )

    def _wide(self, mask: int) -> int:
        return mask if mask == BOTTOM else mask_of(self.places[i] for i in bits(mask))

    def _non_horn(self, small: NonHorn, width: int) -> NonHorn:
        """Return the non-Horn negatives with any of the other variables, and their number."""
        here = set(self.places)
        free = [i for i in range(width) if i not in here]
        examples = islice(_extended([self._wide(x) for x in small.examples], free), COUNT_LIMIT)
        shown = NonHorn.of(list(examples), complete=False)
        if small.count == 0:
            return small
        if small.count is not None and len(free) < SAID - small.count.bit_length():
            count = small.count << len(free)
            return replace(shown, count=count, at_least=count)
        return replace(shown, at_least=small.at_least << min(len(free), SAID))


def _extended(masks: Iterable[int], free: list[int]) -> Iterator[int]:
    """Yield the masks with each set of free variables, small sets first."""
    masks = list(masks)
    for size in range(len(free) + 1 if masks else 0):
        for chosen in combinations(free, size):
            more = mask_of(chosen)
            yield from (mask | more for mask in masks)
