"""How far repeated runs agree, with each other and with the exact envelope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hornlens.logic.batch import obeys, pack
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.studies.documents import RuleStability


@dataclass
class Judge:
    """Says what the rules of an envelope entail, about the interpretations that can be asked.

    `labels` are the labels (as masks) that such an interpretation can have. Where one is always
    set, `nurse → female` and `nurse ∧ male → ⊥` say the same: they differ on interpretations
    without a label only, about which no prompt asks. So a rule counts as entailed if it is under
    every label.
    """

    envelope: Envelope
    labels: Sequence[int]
    _known: Theory = field(init=False)
    _readable: frozenset[Rule] = field(init=False)
    _closures: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the rules and the background together."""
        self._known = self.envelope.basis + self.envelope.background
        self._readable = frozenset(self.envelope.readable)

    def finds(self, rule: Rule) -> bool:
        """Return whether a rule is literally among the readable ones."""
        return rule in self._readable

    def entails(self, rule: Rule) -> bool:
        """Say whether the envelope's rules entail another, whatever the label is."""
        return all(
            rule.consequent & ~self._closure(rule.antecedent | label) == 0 for label in self.labels
        )

    def share_of(self, rules: Iterable[Rule]) -> float | None:
        """Return which share of some rules is entailed; None if there are none."""
        verdicts = [self.entails(rule) for rule in rules]
        return sum(verdicts) / len(verdicts) if verdicts else None

    def independent(self) -> list[Rule]:
        """Return the readable rules without those that the others entail, whatever the label is.

        Without regard to labels no rule of a basis follows from the others.
        """
        kept = list(self.envelope.readable)
        for rule in reversed(self.envelope.readable.rules):
            rest = Theory(self.envelope.basis.width, tuple(r for r in kept if r != rule))
            if Judge(replace(self.envelope, basis=rest), self.labels).entails(rule):
                kept.remove(rule)
        return kept

    def agreement(self, other: Judge) -> float:
        """Return on which share of the interpretations that can be asked both say the same."""
        space = self.envelope.space
        masks = space.masks()
        if 0 not in self.labels:
            label = pack([space.label_mask], space.width)[0]
            masks = masks[(masks & label).any(axis=1)]
        mine = obeys(masks, self._known)
        return float(np.mean(mine == obeys(masks, other._known)))

    def _closure(self, x: int) -> int:
        if x not in self._closures:
            self._closures[x] = self._known.closure(x)
        return self._closures[x]


def stability_of(
    rule: Rule, runs: Sequence[Judge], exact: Judge | None, published: int | None = None
) -> RuleStability:
    """Return how many of the runs find a rule and entail it, and whether it is true."""
    return RuleStability(
        NamedRule.of(rule, runs[0].envelope.vocabulary),
        sum(run.finds(rule) for run in runs),
        sum(run.entails(rule) for run in runs),
        None if exact is None else exact.entails(rule),
        published,
    )


def stability(runs: Sequence[Judge], exact: Judge | None) -> tuple[RuleStability, ...]:
    """Return every rule that some run found, the most often found first."""
    rules = dict.fromkeys(rule for run in runs for rule in run.envelope.readable)
    lines = [(stability_of(rule, runs, exact), rule.key) for rule in rules]
    lines.sort(key=lambda line: (-line[0].found, -line[0].entailed, line[1]))
    return tuple(line for line, _ in lines)
