"""The evidence behind a rule: the prompts it speaks of, their scores, and the closest call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from hornlens.logic.batch import contains, pack
from hornlens.logic.decisions import Decision
from hornlens.logic.rule import Rule
from hornlens.probes.probe import Probe


@dataclass(frozen=True)
class Exhibit:
    """One prompt that a rule speaks of: what the model says, and by how much the rule holds.

    `margin` is the winner's score minus that of the best label that the rule rejects; None where
    the model abstained or the rule rejects no label of this cell.
    """

    cell: int
    decision: Decision
    margin: float | None


@dataclass(frozen=True)
class Evidence:
    """All known prompts that have what the rule's antecedent asks of them.

    `support` counts those in which the model, asked, preferred another label to the one that the
    rule rejects.
    """

    rule: Rule
    exhibits: tuple[Exhibit, ...]

    @property
    def prompts(self) -> int:
        """How many known cells the rule speaks of."""
        return len(self.exhibits)

    @property
    def margins(self) -> list[float]:
        """The margins by which it holds."""
        return [e.margin for e in self.exhibits if e.margin is not None]

    @property
    def support(self) -> int:
        """How many cells speak for the rule."""
        return len(self.margins)

    @property
    def mean_margin(self) -> float | None:
        """The mean margin."""
        return sum(self.margins) / self.support if self.support else None

    @property
    def closest(self) -> Exhibit | None:
        """The prompt in which the rule held by the least."""
        speaking = [e for e in self.exhibits if e.margin is not None]
        return min(speaking, key=lambda e: (e.margin, e.cell), default=None)


def evidence_for(
    rules: Iterable[Rule], probe: Probe, decisions: Mapping[int, Decision]
) -> tuple[Evidence, ...]:
    """Collect the evidence for each rule among the cells that the model was asked about."""
    cells = sorted(decisions)
    width = len(probe.vocabulary)
    packed = pack(cells, width)

    def covered(rule: Rule) -> list[int]:
        wanted = pack([rule.antecedent & ~probe.label_mask], width)[0]
        return [cells[i] for i in np.flatnonzero(contains(packed, wanted)).tolist()]

    return tuple(
        Evidence(rule, tuple(_exhibit(rule, probe, c, decisions[c]) for c in covered(rule)))
        for rule in rules
    )


def _exhibit(rule: Rule, probe: Probe, cell: int, decision: Decision) -> Exhibit:
    rejected = [
        index
        for index in range(len(probe.label.values))
        if not rule.satisfied_by(probe.with_label(cell, index))
    ]
    margin = None
    if rejected and decision.winner is not None and decision.winner not in rejected:
        best = max(decision.scores[index] for index in rejected)
        margin = decision.scores[decision.winner] - best
    return Exhibit(cell, decision, margin)


def in_words(rule: Rule, probe: Probe) -> str:
    """Return the rule as a sentence about the model."""
    vocabulary = probe.vocabulary
    words = {value.name: value.word for value in probe.label.values}

    def said(mask: int) -> str:
        return " and ".join(vocabulary.names_of(mask & ~probe.label_mask))

    label = [words[name] for name in vocabulary.names_of(rule.antecedent & probe.label_mask)]
    given = said(rule.antecedent)
    about = f" for {given}" if given else ""
    if rule.is_negative and label:
        return f"The model never fills in “{label[0]}”{about}."
    if rule.is_negative:
        return f"The model accepts nothing{about}."
    new_label = [words[name] for name in vocabulary.names_of(rule.new & probe.label_mask)]
    new = said(rule.new)
    if label and new:
        return f"The model fills in “{label[0]}”{about} only if it is {new}."
    if new_label:
        return f"The model always fills in “{new_label[0]}”{about}."
    return f"Wherever it is {given or 'anything'}, it is {new}."
