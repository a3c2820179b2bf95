"""Rules: the paper's metarules P → ∧Q."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hornlens.logic.bits import BOTTOM, canonical
from hornlens.logic.vocabulary import Vocabulary


def in_signs(left: Sequence[str], right: Sequence[str] | None) -> str:
    """Return a rule of these names, or conditions, as people write it; None is ⊥, nothing ⊤."""
    sides = (" ∧ ".join(side) or "⊤" if side is not None else "⊥" for side in (left, right))
    return " → ".join(sides)


@dataclass(frozen=True, slots=True)
class Rule:
    """`antecedent → consequent`: what has all of the one has all of the other.

    A consequent of BOTTOM makes it a negative rule: nothing has all of the antecedent.
    """

    antecedent: int
    consequent: int

    @property
    def is_negative(self) -> bool:
        """Whether the consequent is ⊥."""
        return self.consequent == BOTTOM

    @property
    def new(self) -> int:
        """What the rule adds: its consequent without its antecedent (BOTTOM stays BOTTOM)."""
        return BOTTOM if self.consequent == BOTTOM else self.consequent & ~self.antecedent

    def satisfied_by(self, x: int) -> bool:
        """Say whether `x` obeys the rule: P ⊄ x *or* Q ⊆ x (the paper misprints "and")."""
        return self.antecedent & ~x != 0 or self.consequent & ~x == 0

    def show(self, vocabulary: Vocabulary) -> str:
        """Return the rule as people write it: ``nurse ∧ male → ⊥``.

        >>> Rule(0b011, BOTTOM).show(Vocabulary(("nurse", "male", "tall")))
        'nurse ∧ male → ⊥'
        """
        right = None if self.is_negative else vocabulary.names_of(self.new)
        return in_signs(vocabulary.names_of(self.antecedent), right)

    @property
    def key(self) -> tuple[object, ...]:
        """The canonical sort key: by antecedent, then consequent (⊥ last)."""
        bottom = self.is_negative
        return canonical(self.antecedent), bottom, canonical(0 if bottom else self.consequent)
