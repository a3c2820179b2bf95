"""envelope.json of an extraction: written, and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.spaces import space_as_json
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import NO, YES, Decision, Policy
from hornlens.logic.space import Space
from hornlens.results.envelope import envelope_as_json, envelope_from_json, reading
from hornlens.results.evidence import Evidence
from hornlens.results.extraction import Extraction, Record
from hornlens.results.question import Question
from hornlens.results.rate_files import rates_as_json
from hornlens.results.sentences import in_words
from hornlens.results.settings import Settings

DECIDED = {NO: "no", YES: "yes"}
"""What stands for the winner in a space without a label."""


def summary_as_json(extraction: Extraction) -> dict[str, Any]:
    """Return the envelope and where it comes from, without the answers it rests on.

    Nothing here depends on when, or in how many attempts, the run was made.
    """
    content = envelope_as_json(extraction.envelope)
    for line, evidence in zip(content["readable"], extraction.evidence, strict=True):
        line.update(_support(evidence, extraction))
    question, space = extraction.question, extraction.space
    label = () if space.label is None else space.label.variables
    content["space"] = space_as_json(space)
    content["probe"] = {
        "name": question.name,
        "description": question.description,
        "templates": list(question.templates),
        "attributes": {a.name: list(a.variables) for a in space.attributes},
        "label": {name: question.words.get(name, name) for name in label},
        "label_attribute": None if space.label is None else space.label.name,
    }
    content["model"] = {"name": extraction.name, "identity": extraction.identity_text}
    content["policy"] = asdict(extraction.policy)
    content["settings"] = asdict(extraction.settings)
    return content


def extraction_as_json(extraction: Extraction) -> dict[str, Any]:
    """Return the contents of envelope.json: the envelope, the answers, and the evidence.

    `answers` lists every cell that the target was asked about; a rule's `evidence` are positions
    in that list, and so are the examples of flips in `rates`.
    """
    content = summary_as_json(extraction)
    cells = sorted(extraction.decisions)
    position = {cell: i for i, cell in enumerate(cells)}
    for line, evidence in zip(content["readable"], extraction.evidence, strict=True):
        closest = evidence.closest
        if closest is not None:
            line["closest"] = {"answer": position[closest.cell], "margin": closest.margin}
        line["evidence"] = [position[exhibit.cell] for exhibit in evidence.exhibits]
    content["rates"] = rates_as_json(extraction.rates, lambda world, cell: position[cell])
    content["abstentions"] = [position[cell] for cell, _ in extraction.abstentions]
    content["answers"] = [_answer(extraction, cell) for cell in cells]
    return content


def _answer(extraction: Extraction, cell: int) -> dict[str, Any]:
    decision = extraction.decisions[cell]
    return {
        "set": list(extraction.space.vocabulary.names_of(cell)),
        "prompts": list(extraction.show(cell)),
        "scores": list(decision.scores),
        "winner": _winner(extraction.space, decision.winner),
        "margin": decision.margin,
        **({"abstained": decision.abstained} if decision.abstained else {}),
        **({"repeats": list(decision.repeats)} if decision.repeats else {}),
    }


def _winner(space: Space, winner: int | None) -> str | None:
    if winner is None:
        return None
    return DECIDED[winner] if space.label is None else space.label.variables[winner]


def _support(evidence: Evidence, extraction: Extraction) -> dict[str, Any]:
    return {
        "support": evidence.support,
        "prompts": evidence.prompts,
        "mean_margin": evidence.mean_margin,
        "closest": None,
        "sentence": in_words(evidence.rule, extraction.space, extraction.question),
    }


def extraction_from_json(
    content: Mapping[str, Any],
    path: Path,
    record: Record | None = None,
    scores: Mapping[str, tuple[float, ...]] | None = None,
) -> Extraction:
    """Return the extraction of an envelope.json, with its run.json's and scores.csv's if given.

    What is wrong with it is an InputError about `path`.
    """
    with reading(content, path):
        if "probe" not in content:
            raise InputError("has no answers of a model or another target: extract writes those")
        return _extraction(content, path, record or Record(), scores or {})


def _extraction(
    content: Mapping[str, Any],
    path: Path,
    record: Record,
    scores: Mapping[str, tuple[float, ...]],
) -> Extraction:
    envelope = envelope_from_json(content, path)
    space, probe = envelope.space, content["probe"]
    if space.background.closure(0) == BOTTOM:
        raise ValueError("nothing obeys the background")
    labels = list(DECIDED.values()) if space.label is None else list(space.label.variables)
    decisions: dict[int, Decision] = {}
    shown: dict[int, tuple[str, ...]] = {}
    for answer in content.get("answers", []):
        cell = space.vocabulary.mask(answer["set"])
        winner = None if answer["winner"] is None else labels.index(answer["winner"])
        decisions[cell] = Decision(
            winner,
            answer["margin"],
            tuple(answer["scores"]),
            answer.get("abstained", ""),
            tuple(answer.get("repeats", ())),
        )
        shown[cell] = tuple(answer["prompts"])
    return Extraction(
        Question(
            probe["name"], probe["description"], tuple(probe["templates"]), dict(probe["label"])
        ),
        content["model"]["name"],
        content["model"]["identity"],
        Policy(**_known(Policy, content["policy"])),
        Settings(**_known(Settings, content["settings"])),
        envelope,
        decisions,
        lambda cell: shown.get(cell) or (", ".join(space.conditions(cell)),),
        scores,
        record,
    )


def _known(shape: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a value has; a file of another version may have others."""
    names = {each.name for each in fields(shape)}
    return {name: value for name, value in given.items() if name in names}
