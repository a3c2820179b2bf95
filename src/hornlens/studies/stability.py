"""How far repeated runs agree, with each other and with the exact envelope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hornlens.logic.batch import obeys, pack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.results.comparison import Result


@dataclass
class Judge:
    """Says what the rules of a result entail, about the interpretations that can be asked.

    `labels` are the labels (as masks) that such an interpretation can have. Where one is always
    set, `nurse → female` and `nurse ∧ male → ⊥` say the same: they differ on interpretations
    without a label only, about which no prompt asks. So a rule counts as entailed if it is under
    every label.
    """

    result: Result
    labels: Sequence[int]
    _known: Theory = field(init=False)
    _closures: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the rules and the background together."""
        self._known = self.result.basis + self.result.background

    def entails(self, rule: Rule) -> bool:
        """Say whether the result's rules entail another, whatever the label is."""
        return all(
            rule.consequent & ~self._closure(rule.antecedent | label) == 0 for label in self.labels
        )

    def share_of(self, rules: Iterable[Rule]) -> float | None:
        """Return which share of some rules is entailed; None if there are none."""
        verdicts = [self.entails(rule) for rule in rules]
        return sum(verdicts) / len(verdicts) if verdicts else None

    def independent(self) -> list[Rule]:
        """Return the result's rules without those that the others entail, whatever the label is.

        Without regard to labels no rule of a basis follows from the others.
        """
        kept = list(self.result.readable)
        for rule in reversed(self.result.readable.rules):
            rest = Theory(self.result.basis.width, tuple(r for r in kept if r != rule))
            others = Judge(replace(self.result, basis=rest), self.labels)
            if others.entails(rule):
                kept.remove(rule)
        return kept

    def agreement(self, other: Judge, domain: Space) -> float:
        """Return on which share of the interpretations that can be asked both say the same."""
        masks = domain.masks()
        width = len(domain.vocabulary)
        if 0 not in self.labels:
            label = pack([domain.vocabulary.groups[-1]], width)[0]
            masks = masks[(masks & label).any(axis=1)]
        mine = obeys(masks, self._known)
        return float(np.mean(mine == obeys(masks, other._known)))

    def _closure(self, x: int) -> int:
        if x not in self._closures:
            groups = self.result.vocabulary.groups
            possible = all((x & group).bit_count() <= 1 for group in groups)
            self._closures[x] = self._known.closure(x) if possible else BOTTOM
        return self._closures[x]


@dataclass(frozen=True)
class Stability:
    """A rule over repeated runs: how many found it, and how many entail it.

    `true` says whether the exact envelope entails it; None where that is not known.
    """

    rule: Rule
    found: int
    entailed: int
    true: bool | None


def stability(runs: Sequence[Judge], exact: Judge | None) -> list[Stability]:
    """Return every rule that some run found, the most often found first."""
    found = Counter(rule for run in runs for rule in run.result.readable)
    rules = [
        Stability(
            rule,
            count,
            sum(run.entails(rule) for run in runs),
            None if exact is None else exact.entails(rule),
        )
        for rule, count in found.items()
    ]
    return sorted(rules, key=lambda s: (-s.found, -s.entailed, s.rule.key))
