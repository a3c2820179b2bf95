"""Horn theories: forward chaining, entailment, equivalence, and how two theories differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.rule import Rule
from hornlens.logic.vocabulary import Vocabulary


def forward_chain(rules: Iterable[Rule], x: int) -> int:
    """Return the smallest superset of `x` that obeys all `rules`; BOTTOM if there is none.

    Linear in the size of the rules: a rule whose antecedent is incomplete waits at one missing
    variable, and is looked at again only when that variable arrives.
    """
    known = x
    waiting: dict[int, list[Rule]] = {}
    agenda: Iterable[Rule] = rules
    while True:
        gained = 0
        for rule in agenda:
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
        agenda = [rule for bit in bits(gained) for rule in waiting.pop(1 << bit, ())]


@dataclass(frozen=True)
class Theory:
    """A Horn theory over `width` variables: a conjunction of rules."""

    width: int
    rules: tuple[Rule, ...] = ()

    def __iter__(self) -> Iterator[Rule]:
        """Iterate over the rules."""
        return iter(self.rules)

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.rules)

    def __add__(self, other: Theory | Sequence[Rule]) -> Theory:
        """Return the conjunction of two theories."""
        return Theory(self.width, (*self.rules, *other))

    def satisfied_by(self, x: int) -> bool:
        """Say whether the interpretation `x` obeys every rule."""
        return all(rule.satisfied_by(x) for rule in self.rules)

    def closure(self, x: int) -> int:
        """Return everything that follows from `x` (the paper's H[x]), or BOTTOM."""
        return forward_chain(self.rules, x)

    def entails(self, what: Rule | Theory) -> bool:
        """Say whether every positive of this theory obeys the rule (or every rule) given."""
        if isinstance(what, Theory):
            return all(self.entails(rule) for rule in what.rules)
        return what.consequent & ~self.closure(what.antecedent) == 0

    def equivalent(self, other: Theory) -> bool:
        """Say whether both theories have the same positives."""
        return self.entails(other) and other.entails(self)

    def positives(self) -> Iterator[int]:
        """Yield every positive, smallest number first. Exponential: for small vocabularies."""
        return (x for x in range(1 << self.width) if self.satisfied_by(x))

    def show(self, vocabulary: Vocabulary) -> str:
        """Return the rules, one a line."""
        return "\n".join(rule.show(vocabulary) for rule in self.rules)


@dataclass(frozen=True, slots=True)
class Unshared:
    """A rule of one theory that the other does not entail.

    `witness` is a positive of the other theory that falsifies the rule: it shows the difference.
    """

    rule: Rule
    witness: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How two theories differ: the rules of each that the other does not entail."""

    only_left: tuple[Unshared, ...]
    only_right: tuple[Unshared, ...]

    def __bool__(self) -> bool:
        """Say whether there is a difference."""
        return bool(self.only_left or self.only_right)


def difference(left: Theory, right: Theory, background: Theory | None = None) -> Difference:
    """Compare two theories by entailment, given the background that both share.

    Each witness obeys the background, so it is an interpretation that can really occur.
    """
    shared = background or Theory(left.width)
    return Difference(_unshared(left, right + shared), _unshared(right, left + shared))


def _unshared(theory: Theory, other: Theory) -> tuple[Unshared, ...]:
    found = []
    for rule in theory.rules:
        witness = other.closure(rule.antecedent)
        if rule.consequent & ~witness:
            found.append(Unshared(rule, witness))
    return tuple(found)


def background_of(vocabulary: Vocabulary) -> Theory:
    """Return "at most one value an attribute" as rules: the vocabulary's background."""
    return Theory(
        len(vocabulary),
        tuple(
            Rule(1 << a | 1 << b, BOTTOM)
            for group in vocabulary.groups
            for a in bits(group)
            for b in bits(group)
            if a < b
        ),
    )
