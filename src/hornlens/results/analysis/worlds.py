"""Several ways of asking, put together: what holds in all, and what becomes of each rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hornlens.logic.decisions import united
from hornlens.logic.envelope import Envelope
from hornlens.logic.rule import Rule
from hornlens.results.analysis.truth import truth_of
from hornlens.results.documents.findings import Findings

Outcome = Literal["holds", "vacuous", "broken", "unknown"]


def union_of(
    name: str,
    noun: str,
    identity: str | None,
    worlds: tuple[Findings, ...],
    envelope: Envelope,
    possible: Envelope | None = None,
) -> Findings:
    """Return the result of several worlds; `envelope` is that of what some world accepts."""
    first = worlds[0]
    questions = [world.question for world in worlds]
    words = {
        name: " / ".join(dict.fromkeys(each.words.get(name, name) for each in questions))
        for name in questions[0].words
    }
    templates = tuple(t for each in questions for t in each.templates)
    labels = 2 if first.space.label is None else len(first.space.label.variables)
    cells = sorted(set.intersection(*(set(world.decisions) for world in worlds)))
    decisions = {c: united([world.decisions[c] for world in worlds], labels) for c in cells}
    counted = ("model_calls", "distinct_prompts", "abstentions")
    sums = {key: sum(world.envelope.statistics[key] for world in worlds) for key in counted}
    if "questions" in first.envelope.statistics:  # files of 0.2 do not count them
        sums["questions"] = len({cell for world in worlds for cell in world.decisions})
    return Findings(
        replace(
            questions[0], templates=templates, words=words, averaged=False, language="", slots=()
        ),
        name,
        identity,
        first.policy,
        first.settings,
        replace(envelope, statistics={**envelope.statistics, **sums}),
        decisions,
        lambda cell: tuple(text for world in worlds for text in world.show(cell)),
        {},
        worlds=worlds,
        noun=noun,
        possible=possible,
    )


@dataclass(frozen=True)
class Survival:
    """What becomes of a rule in each of several worlds.

    `breaking` has for each world in which it is broken an answer that breaks it. In a world whose
    own rules are not proved complete, a rule that does not follow and is not broken is unknown.
    """

    rule: Rule
    outcomes: tuple[Outcome, ...]
    breaking: tuple[int | None, ...]

    @property
    def holds(self) -> int:
        """In how many worlds it holds, and not only because what it speaks of never occurs."""
        return self.outcomes.count("holds")

    @property
    def kept(self) -> int:
        """In how many worlds nothing breaks it."""
        return self.holds + self.outcomes.count("vacuous")

    @property
    def everywhere(self) -> bool:
        """Whether it holds in every world."""
        return self.kept == len(self.outcomes)

    def where(self, names: Sequence[str], *outcomes: Outcome) -> list[str]:
        """Return the worlds in which it comes to one of some outcomes; all worlds are named."""
        pairs = zip(names, self.outcomes, strict=True)
        return [name for name, outcome in pairs if outcome in outcomes]


def survival_of(rules: Iterable[Rule], worlds: Sequence[Findings]) -> list[Survival]:
    """Say what becomes of each rule in each world: each once, those that hold in most first."""
    found = (_survival(rule, worlds) for rule in dict.fromkeys(rules))
    return sorted(found, key=lambda line: (-line.kept, -line.holds, line.rule.key))


def _survival(rule: Rule, worlds: Sequence[Findings]) -> Survival:
    outcomes, breaking = zip(*(outcome_in(world, rule) for world in worlds), strict=True)
    return Survival(rule, outcomes, breaking)


def outcome_in(world: Findings, rule: Rule) -> tuple[Outcome, int | None]:
    """Say what becomes of a rule in one world, and what breaks it, if an answer does."""
    truth = truth_of(rule, world)
    if truth.holds:
        return ("vacuous" if truth.outcome == "vacuous" else "holds"), None
    if truth.breaking is not None or truth.outcome == "broken":
        return "broken", truth.breaking
    return "unknown", None


def survival(extraction: Findings) -> list[Survival]:
    """Say of every rule of any world in which of them it holds: those that hold in most first.

    Rules are those of the whole and each world's own, in their readable forms, each once.
    """
    envelopes = (each.envelope for each in (extraction, *extraction.worlds))
    rules = (rule for envelope in envelopes for rule in envelope.readable)
    return [line for line in survival_of(rules, extraction.worlds) if line.kept]
