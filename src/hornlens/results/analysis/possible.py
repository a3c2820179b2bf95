"""The rules that are possible where answers vary: each with the prompts that would settle it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hornlens.formats.rulelists import theory_from_json
from hornlens.logic.decisions import UNDECIDED
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.results.analysis.truth import proved_rules
from hornlens.results.documents.answers import Position
from hornlens.results.documents.envelope import envelope_as_json
from hornlens.results.documents.findings import Findings


class PossibleRule(NamedTuple):
    """A rule that holds unless an undecided cell breaks it: the cells that may, with their worlds.

    It is certain if none can, nor a cell that was not asked.
    """

    rule: Rule
    undecided: tuple[tuple[int, int], ...]
    certain: bool


def undecided_of(extraction: Findings) -> list[tuple[int, int]]:
    """Return the undecided cells, each with the place of its world."""
    return [
        (cell, place)
        for place, world in enumerate(extraction.each)
        for cell, decision in sorted(world.decisions.items())
        if decision.abstained == UNDECIDED
    ]


def possible_rules(extraction: Findings) -> list[PossibleRule]:
    """Return the possible rules in their readable form, those that are certain first."""
    if extraction.possible is None:
        return []
    space, left = extraction.space, undecided_of(extraction)
    places = () if space.label is None else range(len(space.label.variables))
    labelled = {cell: [space.with_label(cell, k) for k in places] or [cell] for cell, _ in left}
    known = None if extraction.asked_all else proved_rules(extraction)
    found = []
    for rule in extraction.possible.readable:
        given = rule.antecedent & ~space.label_mask
        may = tuple(
            (cell, world)
            for cell, world in left
            if given & ~cell == 0 and any(not rule.satisfied_by(x) for x in labelled[cell])
        )
        certain = not may and (known is None or known.entails(rule))
        found.append(PossibleRule(rule, may, certain))
    return sorted(found, key=lambda line: (len(line.undecided), line.rule.key))


def possible_as_json(extraction: Findings, position: Position, at: int = -1) -> dict[str, Any]:
    """Return what stands under `possible` in envelope.json.

    Undecided answers are told by their positions; `at` is the place of a single world of several.
    """
    assert extraction.possible is not None
    names, telling = extraction.space.vocabulary, extraction.telling

    def where(cells: tuple[tuple[int, int], ...]) -> list[int]:
        return [position(cell, world if at < 0 else at) for cell, world in cells]

    envelope = envelope_as_json(extraction.possible)
    told = {line.rule: line for line in possible_rules(extraction)}
    readable = [
        {
            **NamedRule.of(rule, names).as_json(),
            "certain": told[rule].certain,
            "sentence": telling.sentence(rule) if told[rule].certain else maybe(extraction, rule),
            "undecided": where(told[rule].undecided),
        }
        for rule in extraction.possible.readable
    ]
    settling = {pair for line in told.values() for pair in line.undecided}
    return {
        "rules": envelope["rules"],
        "readable": readable,
        "non_horn": envelope["non_horn"],
        "settling": sorted(where(tuple(settling))),
    }


def maybe(extraction: Findings, rule: Rule) -> str:
    """Return a sentence that says of a rule that it is possible."""
    return f"Possibly: {extraction.telling.sentence(rule)}"


def possible_from_json(
    content: Mapping[str, Any] | None, certain: Envelope, path: Path
) -> Envelope | None:
    """Return what `possible_as_json` wrote."""
    if content is None:
        return None
    names = certain.space.vocabulary
    basis, readable = (theory_from_json(content[k], names, path) for k in ("rules", "readable"))
    full = (r if r.is_negative else Rule(r.antecedent, r.antecedent | r.consequent) for r in basis)
    if len(basis) != len(readable):
        raise ValueError("possible rules that do not fit together")
    told = content["non_horn"]
    examples = tuple(names.mask(example) for example in told["examples"])
    non_horn = NonHorn(told["count"], examples, told.get("at_least", told["count"] or 0))
    return Envelope(
        certain.space,
        type(basis)(basis.width, tuple(full)),
        readable,
        certain.certificate,
        non_horn,
    )
