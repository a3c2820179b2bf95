"""Which labels were chosen at all, and which rules say no more than that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hornlens.logic.decisions import Decision
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space


@dataclass(frozen=True)
class Choices:
    """The labels, by place, that were never chosen, and the one that always was."""

    never: frozenset[int] = frozenset()
    always: int | None = None

    def explain(self, rule: Rule, space: Space) -> bool:
        """Say whether a rule holds vacuously: whatever else is so, because of these labels.

        It speaks of a label that was never chosen, or says nothing but the one that always was.
        """
        label = space.label_of(rule.antecedent)
        if label is not None and label in self.never:
            return True
        if self.always is None or rule.is_negative:
            return False
        return rule.new == space.with_label(0, self.always)


def choices_of(space: Space, decisions: Iterable[Decision]) -> Choices:
    """Return what was chosen in some decisions; without any, or without labels, nothing is said."""
    chosen = {decision.winner for decision in decisions}
    if space.label is None or not chosen:
        return Choices()
    never = frozenset(range(len(space.label.variables))) - chosen
    (first, *others) = chosen
    return Choices(never, None if others else first)
