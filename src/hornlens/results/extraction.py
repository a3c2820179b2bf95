"""What an extraction found: the envelope, what the target said, and on what each rule rests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hornlens.logic.batch import obeys, pack
from hornlens.logic.decisions import YES, Decision, Policy, accepts
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.results.evidence import Evidence, evidence_for
from hornlens.results.question import Question
from hornlens.results.rates import Rates, rates_of
from hornlens.results.rules import RuleRow, Rules
from hornlens.results.sentences import in_words
from hornlens.results.settings import Settings


@dataclass(frozen=True)
class Record:
    """How a run went: what may differ in the next one."""

    started: str = ""
    seconds: float = 0.0
    asked: int = 0
    """What the target itself was asked."""
    reused: int = 0
    """What was known from the store."""


@dataclass(frozen=True, repr=False)
class Extraction:
    """The rules that a target obeys, with everything they rest on."""

    question: Question
    name: str
    """What people call the target: a model's spec."""
    identity: str | None
    """What its answers depend on; None: they cannot be told from another's."""
    policy: Policy
    settings: Settings
    envelope: Envelope
    decisions: Mapping[int, Decision]
    """What the target said, by cell."""
    show: Callable[[int], tuple[str, ...]]
    """Returns how a cell was shown to the target: its prompts, or a row of what is set."""
    scores: Mapping[str, tuple[float, ...]]
    """The model's raw scores, by prompt."""
    record: Record = Record()
    worlds: tuple[Extraction, ...] = ()
    """The result of each way of asking, where there were several; the rules hold in all of them."""

    @property
    def each(self) -> tuple[Extraction, ...]:
        """The result of each way of asking: of the only one, this."""
        return self.worlds or (self,)

    @property
    def identity_text(self) -> str:
        """The identity, or something to call the target by where it has none."""
        return self.identity or f"function:{self.name}"

    @property
    def title(self) -> str:
        """What was asked of whom."""
        return f"{self.question.name} on {self.name}" if self.question.templates else self.name

    @property
    def space(self) -> Space:
        """What could be said of the target."""
        return self.envelope.space

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence for each readable rule, in the order of the rules."""
        return evidence_for(self.envelope.readable, self.space, self.decisions)

    @cached_property
    def excluded(self) -> frozenset[int]:
        """What the target rejects, as far as it was asked, and no rule does.

        After an exact run: all non-Horn negatives.
        """
        cells, space = sorted(self.decisions), self.space
        decided = [self.decisions[cell].place for cell in cells]
        if space.label is None:
            asked = {YES: cells}
        else:
            places = range(len(space.label.variables))
            asked = {i: [space.with_label(cell, i) for cell in cells] for i in places} | {-1: cells}
        found: list[int] = []
        for label, examples in asked.items():
            left = obeys(pack(examples, space.width), self.envelope.basis)
            left &= ~accepts(self.policy, decided, label)
            found += (examples[place] for place in np.flatnonzero(left).tolist())
        return frozenset(found)

    @property
    def abstentions(self) -> list[tuple[int, Decision]]:
        """The cells in which the target gave no answer, with the reason."""
        return [(c, d) for c, d in sorted(self.decisions.items()) if d.winner is None]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The places of the readable rules, the strongest first: by support, then mean margin."""

        def strength(place: int) -> tuple[object, ...]:
            evidence = self.evidence[place]
            return -evidence.support, -(evidence.mean_margin or 0.0), evidence.rule.key

        return tuple(sorted(range(len(self.evidence)), key=strength))

    @cached_property
    def rules(self) -> Rules:
        """The rules as a table, the strongest first."""
        names, rows = self.space.vocabulary, []
        for place in self.order:
            evidence = self.evidence[place]
            rows.append(
                RuleRow(
                    NamedRule.of(evidence.rule, names),
                    evidence.support,
                    evidence.prompts,
                    evidence.mean_margin,
                    min(evidence.margins, default=None),
                    in_words(evidence.rule, self.space, self.question),
                    NamedRule.of(self.envelope.basis.rules[place], names),
                )
            )
        return Rules(rows)

    @cached_property
    def rates(self) -> Rates:
        """How often each value of each attribute gets each label, and how often it changes it."""
        return rates_of(self.space, [(each.name, each.decisions) for each in self.each])

    def strongest_first(self) -> list[Evidence]:
        """Return the evidence in the order of `rules`."""
        return [self.evidence[place] for place in self.order]

    def entails(self, rule: Rule | NamedRule | str) -> bool:
        """Say whether a rule follows from those found, given the background.

        Text is read as a rule: ``result.entails("nurse & male -> false")``.
        """
        return self.envelope.entails(rule)

    def __repr__(self) -> str:
        """Say what it is in a line."""
        found = f"{len(self.envelope.basis)} rules, {self.envelope.certificate.kind}"
        return f"<{type(self).__name__}: {self.title}, {found}>"
