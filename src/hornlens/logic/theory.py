"""Horn theories: forward chaining, entailment, equivalence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.rule import Rule
from hornlens.logic.vocabulary import Vocabulary

PASSES = 4
"""So often all rules are looked at: that settles nearly everything, and is quick."""


def forward_chain(rules: Iterable[Rule], x: int, exclusive: Sequence[int] = ()) -> int:
    """Return the smallest superset of `x` that obeys all `rules`; BOTTOM if there is none.

    Linear in the size of the rules: after a few passes, a rule whose antecedent is incomplete waits
    at one missing variable, and is looked at again only when that variable arrives. Of each group
    in `exclusive` it may have one variable at most.
    """
    known = x
    for _ in range(PASSES):
        before, left = known, []
        for rule in rules:
            if rule.antecedent & ~known:
                left.append(rule)
            else:
                known |= rule.consequent  # with ⊥, everything
        if known in (before, BOTTOM) or not left:
            break
        rules = left
    else:
        known = _chain_by_what_is_missing(left, known)
    return known if not exclusive or _at_most_one_each(known, exclusive) else BOTTOM


def _chain_by_what_is_missing(rules: Iterable[Rule], x: int) -> int:
    known = x
    waiting: dict[int, list[Rule]] = {}
    while True:
        gained = 0
        for rule in rules:
            missing = rule.antecedent & ~known
            if missing:
                waiting.setdefault(missing & -missing, []).append(rule)
            elif rule.consequent & ~known:
                if rule.consequent == BOTTOM:
                    return BOTTOM
                gained |= rule.consequent & ~known
                known |= rule.consequent
        if not gained:
            return known
        rules = [rule for bit in bits(gained) for rule in waiting.pop(1 << bit, ())]


def _at_most_one_each(x: int, exclusive: Sequence[int]) -> bool:
    return all((x & group).bit_count() <= 1 for group in exclusive)


@dataclass(frozen=True)
class Theory:
    """A Horn theory over `width` variables: a conjunction of rules.

    `exclusive` are groups of variables of which at most one is true: as many rules a ∧ b → ⊥ as a
    group has pairs, at the cost of one mask. Iteration yields them after the others.
    """

    width: int
    rules: tuple[Rule, ...] = ()
    exclusive: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Rule]:
        """Iterate over the rules, those of the exclusive groups written out."""
        yield from self.rules
        for group in self.exclusive:
            for a, b in combinations(bits(group), 2):
                yield Rule(1 << a | 1 << b, BOTTOM)

    def __len__(self) -> int:
        """Return the number of rules, those of the exclusive groups counted one by one."""
        return len(self.rules) + sum(comb(group.bit_count(), 2) for group in self.exclusive)

    def __add__(self, other: Theory | Sequence[Rule]) -> Theory:
        """Return the conjunction of two theories."""
        if isinstance(other, Theory):
            return Theory(
                self.width, (*self.rules, *other.rules), (*self.exclusive, *other.exclusive)
            )
        return Theory(self.width, (*self.rules, *other), self.exclusive)

    def satisfied_by(self, x: int) -> bool:
        """Say whether the interpretation `x` obeys every rule."""
        return all(rule.satisfied_by(x) for rule in self.rules) and _at_most_one_each(
            x, self.exclusive
        )

    def closure(self, x: int) -> int:
        """Return everything that follows from `x` (the paper's H[x]), or BOTTOM."""
        return forward_chain(self.rules, x, self.exclusive)

    def without(self, other: Theory) -> Theory:
        """Return this theory without the rules and groups that stand in the other one."""
        known = set(other.rules)

        def is_known(rule: Rule) -> bool:
            return rule in known or (
                rule.is_negative
                and rule.antecedent.bit_count() == 2
                and any(rule.antecedent & ~group == 0 for group in other.exclusive)
            )

        return Theory(
            self.width,
            tuple(rule for rule in self.rules if not is_known(rule)),
            tuple(group for group in self.exclusive if group not in other.exclusive),
        )

    def entails(self, what: Rule | Theory) -> bool:
        """Say whether every positive of this theory obeys the rule (or every rule) given."""
        if isinstance(what, Theory):
            return all(self.entails(rule) for rule in what.without(self))
        return what.consequent & ~self.closure(what.antecedent) == 0

    def equivalent(self, other: Theory) -> bool:
        """Say whether both theories have the same positives."""
        return self.entails(other) and other.entails(self)

    def positives(self) -> Iterator[int]:
        """Yield every positive, smallest number first. Exponential: for small vocabularies."""
        return (x for x in range(1 << self.width) if self.satisfied_by(x))

    def show(self, vocabulary: Vocabulary) -> str:
        """Return the rules, one a line."""
        return "\n".join(rule.show(vocabulary) for rule in self)
