"""Almost-rules and levels in a result: what they rest on, in words, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hornlens.formats.csvfiles import csv_text, named_cells
from hornlens.logic.almost import AlmostRule
from hornlens.logic.levels import Levels
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.results.analysis.evidence import Evidence, Exhibit, evidence_for, rejects_in
from hornlens.results.documents.answers import Position
from hornlens.results.wording.sentences import Almost, Part, plain

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings


@dataclass(frozen=True)
class Nearly:
    """A rule that may have exceptions, held against all answers.

    `of` counts the cells in which it rejects something, `broken` those of them in which an answer
    breaks it, in one way of asking or another; `exhibits` are these answers.
    """

    rule: Rule
    of: int
    broken: int
    exhibits: tuple[Exhibit, ...]
    undecided: bool = False
    """Whether in some of these cells there was no answer, which the policy accepts as any."""

    @classmethod
    def of_evidence(cls, evidence: Evidence, space: Space) -> Nearly:
        """Count in the evidence of a rule."""
        rule = evidence.rule
        could = {e.cell for e in evidence.exhibits if rejects_in(rule, space, e.cell)}
        breaking = tuple(e for e in evidence.exhibits if e.breaks)
        broken = {e.cell for e in breaking}
        decided = {e.cell for e in breaking if e.decision.winner is not None}
        return cls(rule, len(could), len(broken), breaking, decided != broken)

    @property
    def confidence(self) -> float:
        """The share of the cells in which nothing breaks it; 1 if it rejects nothing."""
        return 1 - self.broken / self.of if self.of else 1.0


def nearly_all(extraction: Findings, rules: Sequence[Rule]) -> list[Nearly]:
    """Hold rules against all answers of an extraction, in every way of asking."""
    said = [(world.policy, world.decisions) for world in extraction.each]
    found = evidence_for(rules, extraction.space, said)
    return [Nearly.of_evidence(evidence, extraction.space) for evidence in found]


@dataclass(frozen=True)
class Summary:
    """The almost-rules and the levels of an extraction, with what they rest on."""

    extraction: Findings

    @property
    def levels(self) -> Levels | None:
        """The curve, where there is one."""
        return self.extraction.envelope.levels

    @cached_property
    def almost(self) -> tuple[tuple[AlmostRule, Nearly], ...]:
        """The almost-rules, the least broken first."""
        found = self.extraction.envelope.almost
        if found is None:
            return ()
        rules = sorted(found.rules, key=lambda each: (-each.confidence, -each.of, each.rule.key))
        held = nearly_all(self.extraction, [each.rule for each in rules])
        return tuple(zip(rules, held, strict=True))

    @cached_property
    def steps(self) -> tuple[Nearly, ...]:
        """The rules of the levels."""
        levels = self.levels
        return tuple(nearly_all(self.extraction, [s.rule for s in levels.steps]) if levels else ())

    def parts(self, nearly: Nearly) -> list[Part]:
        """Return what such a rule says in words: with its exceptions, if it has any."""
        telling = self.extraction.telling
        if not nearly.broken:
            return telling.parts(nearly.rule)
        almost: Almost = "at most" if nearly.undecided else "exactly"
        return telling.parts(nearly.rule, nearly.broken, nearly.of, almost=almost)

    def sentence(self, nearly: Nearly) -> str:
        """Return the same as plain text."""
        return plain(self.parts(nearly))

    # --- files ---

    def point_to_answers(self, content: dict[str, Any], position: Position) -> None:
        """Say in an envelope.json which answers the exceptions are, and what the rules say."""
        if (found := self.extraction.envelope.almost) is not None:
            # In the order of the file: the order of people is another.
            held = nearly_all(self.extraction, [each.rule for each in found.rules])
            for line, nearly in zip(content["almost"], held, strict=True):
                line["sentence"] = self.sentence(nearly)
                line["answers"] = [position(e.cell, e.world) for e in nearly.exhibits]
        if self.levels is not None:
            for line, nearly in zip(content["levels"]["steps"], self.steps, strict=True):
                line["sentence"] = self.sentence(nearly)
                line["answers"] = [position(e.cell, e.world) for e in nearly.exhibits]

    def almost_csv(self) -> str:
        """Return almost.csv: a line for each exception of each almost-rule."""
        return csv_text(
            [
                "if",
                "then",
                "confidence",
                "broken",
                "of",
                "sentence",
                "exception",
                "variant",
                "shown",
            ],
            self._almost_lines(),
        )

    def _almost_lines(self) -> Iterator[list[object]]:
        names, each = self.extraction.space.vocabulary, self.extraction.each
        for rule, nearly in self.almost:
            start = [
                *named_cells(NamedRule.of(rule.rule, names)),
                f"{rule.confidence:.6g}",
                *(rule.broken, rule.of, self.sentence(nearly)),
            ]
            for e in nearly.exhibits:
                world = each[e.world]
                shown = " / ".join(world.show(e.cell))
                yield [*start, "; ".join(names.names_of(e.cell)), world.world, shown]

    def levels_csv(self) -> str:
        """Return levels.csv: the curve, a level a line."""
        levels = self.levels
        names = self.extraction.space.vocabulary
        lines = (
            []
            if levels is None
            else [
                [
                    level,
                    *named_cells(NamedRule.of(step.rule, names)),
                    *(step.explained, levels.rejections, levels.exceptions(level), step.at_most),
                    self.sentence(nearly),
                ]
                for level, (step, nearly) in enumerate(
                    zip(levels.steps, self.steps, strict=True), 1
                )
            ]
        )
        columns = ["level", "if", "then", "explained", "rejections", "exceptions", "at_most"]
        return csv_text([*columns, "sentence"], lines)
