"""How two theories differ: the rules of each that the other does not entail, with witnesses."""

from __future__ import annotations

from dataclasses import dataclass

from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory


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
    unshared = []
    for rule in theory:
        witness = other.closure(rule.antecedent)
        if rule.consequent & ~witness:
            unshared.append(Unshared(rule, witness))
    return tuple(unshared)
