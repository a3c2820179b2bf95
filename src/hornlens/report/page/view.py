"""What the page of an extraction works with: everything that follows from its data, worked out.

Who accepts what, margins, evidence, non-Horn negatives and LaTeX are Python's; the scripts show
them. A choice of an attribute is a number: its place among the attribute's choices, 0 for unset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hornlens.formats.latex import latex_rule
from hornlens.logic.attributes import Attribute
from hornlens.logic.bits import canonical
from hornlens.logic.decisions import YES, accepts
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.results.analysis.evidence import Evidence
from hornlens.results.analysis.sifted import SiftSummary
from hornlens.results.documents.answers import Position, answers_of, places_of
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.replies import named_words
from hornlens.results.documents.rules import COLUMNS

UNLABELLED = ("rejected", "accepted")
"""What a target without labels says of a cell, NO first."""

BRIEF_REASONS = {
    "tie": "a tie",
    "margin": "too small a lead",
    "top_k": "not among the first choices",
    "repeats": "repeated answers disagreed",
    "undecided": "answers vary too much",
    "refusal": "a refusal",
    "cut": "a reply cut off",
    "unclear": "an unclear reply",
    "order": "depends on the order of the options",
    "other": "something else",
    "none": "no answer",
    "half": "too few answers to compare",
}
"""Why a target gives no answer, beside the answer itself."""


def view_of(extraction: Findings, with_answers: bool) -> dict[str, Any]:
    """Return what the scripts need beside envelope.json itself."""
    space, question = extraction.space, extraction.question
    names = UNLABELLED if space.label is None else space.label.variables
    places, each = _Places(space), extraction.each
    asked = answers_of(extraction) if with_answers else []
    position = places_of(asked)
    accepted = [_accepted(world) for world in each]
    lines, sift = extraction.rules.lines, SiftSummary.of(extraction)
    drawn = None if sift is None else sift.drawn
    return {
        "exact": is_complete(extraction),
        "labelled": space.label is not None,
        "prompted": bool(question.templates) and question.compared is None,
        "scored": is_scored(extraction),
        "odds": extraction.in_odds,
        "hasDraws": drawn is not None,
        "unit": question.unit,
        "subject": question.subject,
        "attributes": [_attribute(attribute, space.complete) for attribute in space.attributes],
        "labels": [{"name": name, "word": question.words.get(name, name)} for name in names],
        "noun": extraction.noun,
        "averaged": question.averaged,
        "worlds": [
            {
                "name": world.world,
                "words": [world.question.words.get(name, name) for name in names],
                "templates": world.question.templates,
                "candidates": [
                    named_words(world, number)
                    for number in range(max(1, len(world.question.templates)))
                ],
            }
            for world in each
        ],
        "answers": [
            {
                "choices": places.of(cell)[0],
                "world": world,
                "winner": max(winner, -1),
                "accepted": accepted[world][winner],
                **({} if drawn is None else {"drawn": cell in drawn}),
            }
            for cell, world in asked
            for winner in [each[world].decisions[cell].place]
        ],
        "rules": [
            {
                **_sides(places, evidence.rule),
                "shown": {"if": shown.antecedent, "then": shown.consequent},
                "latex": [latex_rule(form) for form in forms],
                "csv": line,
                "warrant": {
                    **warrant.as_json(),
                    "sentence": extraction.behind(place)[1],
                },
                **({} if drawn is None else {"cells": extraction.cases_of(evidence)}),
                **({} if extraction.asked else {"sentence": extraction.sentence(evidence)}),
                **(_evidence(evidence, position) if with_answers else {}),
            }
            for place, (evidence, forms, warrant, line) in enumerate(
                zip(
                    extraction.evidence,
                    extraction.envelope.named,
                    extraction.envelope.warrants,
                    [line for _, line in sorted(zip(extraction.order, lines, strict=True))],
                    strict=True,
                )
            )
            for shown in [in_conditions(evidence.rule, space)]
        ],
        "non_horn": [
            _interpretation(places, x)
            for x in (
                sorted(extraction.excluded, key=canonical)
                if with_answers and is_complete(extraction)
                else extraction.envelope.non_horn.examples
            )
        ],
        "reasons": BRIEF_REASONS,
        "columns": COLUMNS,
    }


def _accepted(world: Findings) -> dict[int, list[int]]:
    """Return for each winner, or none (-1), the labels that are accepted with it.

    In a space without a label: none (-1), if the cell is accepted.
    """
    winners = {decision.place for decision in world.decisions.values()}
    label = world.space.label
    if label is None:
        return {winner: [-1] * bool(accepts(world.policy, winner, YES)) for winner in winners}
    labels = len(label.variables)
    return {
        winner: np.flatnonzero(accepts(world.policy, winner, range(labels))).tolist()
        for winner in winners
    }


def is_complete(extraction: Findings) -> bool:
    """Say whether the rules are exact and every cell was asked, so that all answers are known."""
    return extraction.envelope.certificate.all_rules and extraction.asked_all


def is_scored(extraction: Findings) -> bool:
    """Say whether the target gave scores: without any there is no margin and no map."""
    worlds = (world.decisions.values() for world in extraction.each)
    return any(decision.scores for decisions in worlds for decision in decisions)


def in_conditions(rule: Rule, space: Space) -> NamedRule:
    """Return a rule as people read it: an interval, or a place in a taxonomy, is one condition."""
    right = None if rule.is_negative else tuple(space.conditions(rule.new))
    return NamedRule(tuple(space.conditions(rule.antecedent)), right)


class _Places:
    """Finds the choices of an interpretation, as places on the axes of its space."""

    def __init__(self, space: Space):
        self.space = space
        self._closes = bool(space.background.rules)

    def of(self, x: int) -> tuple[list[int], int]:
        """Return the places of an interpretation's choices, and of its label (-1: none).

        What follows from a choice may be left out, as readable rules do.
        """
        space = self.space
        whole = space.background.closure(x) if self._closes else x
        places = space.places(whole)
        if space.label is None:
            return places, -1
        return places[:-1], places[-1] - 1


def _attribute(attribute: Attribute, complete: bool) -> dict[str, Any]:
    """Return an attribute's choices in words and, unless each stands alone, their spans.

    `leaves`: in a complete space the choices, by place, that a cell can have.
    """
    leaves = {"leaves": [attribute.place(leaf) for leaf in attribute.leaves]} if complete else {}
    return {
        **leaves,
        "name": attribute.name,
        "variables": attribute.variables,
        "values": [attribute.describe(choice) for choice in attribute.choices[1:]],
        "spans": attribute.spans(),
    }


def _interpretation(places: _Places, x: int) -> dict[str, Any]:
    choices, label = places.of(x)
    return {"choices": choices, "label": label}


def _sides(places: _Places, rule: Rule) -> dict[str, Any]:
    right = None if rule.is_negative else _interpretation(places, rule.new)
    return {"left": _interpretation(places, rule.antecedent), "right": right}


def _evidence(evidence: Evidence, position: Position) -> dict[str, Sequence[Any]]:
    """Return which answers break a rule, which force it by how much, and which do neither."""
    breaking = [e for e in evidence.exhibits if e.breaks]
    breaking.sort(key=lambda e: -e.decision.margin)  # without scores it is 0
    forcing = [e for e in evidence.exhibits if e.supports]
    forcing.sort(key=lambda e: e.margin or 0.0)
    others = [e for e in evidence.exhibits if not (e.breaks or e.supports)]
    return {
        "breaking": [
            [position(e.cell, e.world), e.decision.margin if e.decision.scores else None]
            for e in breaking
        ],
        "forcing": [[position(e.cell, e.world), e.margin] for e in forcing],
        "others": [[position(e.cell, e.world), None] for e in others],
    }
