"""envelope.json of an extraction, as it is written; `reading` reads it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hornlens.formats.digests import with_digest
from hornlens.formats.spaces import space_as_json
from hornlens.logic.decisions import NO, YES
from hornlens.logic.named import NamedRule
from hornlens.logic.space import Space
from hornlens.results.analysis.almost import Summary
from hornlens.results.analysis.disparities import disparities_as_json
from hornlens.results.analysis.evidence import Evidence
from hornlens.results.analysis.orders import orders_of
from hornlens.results.analysis.possible import possible_as_json
from hornlens.results.analysis.worlds import Survival, survival
from hornlens.results.documents.answers import Position, answers_of, places_of
from hornlens.results.documents.details import details_as_json
from hornlens.results.documents.envelope import envelope_as_json
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.question import Question
from hornlens.results.documents.rate_files import rates_as_json
from hornlens.results.documents.sent import sent_as_json
from hornlens.results.documents.sifting import point_to_answers
from hornlens.results.wording.sentences import plain

DECIDED = {NO: "no", YES: "yes"}
"""What stands for the winner in a space without a label."""
OWN_KEYS = (
    "rules",
    "readable",
    "open",
    "hypothesis",
    "non_horn",
    "certificate",
    "claim",
    "statistics",
)
"""What each way of asking has of its own, where there are several."""


def summary_as_json(extraction: Findings) -> dict[str, Any]:
    """Return the envelope and where it comes from, without the answers it rests on.

    Nothing here depends on when, or in how many attempts, the run was made.
    """
    content = _envelope_with_support(extraction)
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
        **({"phrases": dict(question.phrases)} if question.phrases else {}),
        **({"language": question.language} if question.language else {}),
        **_slots(question),
        **({} if question.compared is None else {"compared": asdict(question.compared)}),
    }
    content["model"] = {"name": extraction.name, "identity": extraction.identity_text}
    content["policy"] = asdict(extraction.policy)
    content["settings"] = asdict(extraction.settings)
    if extraction.worlds:
        content["varied"] = extraction.noun
        content["variants"] = [_variant(world, extraction) for world in extraction.worlds]
    return content


def _slots(question: Question) -> dict[str, Any]:
    """Return what the slots of the templates say; of several ways of asking, each has its own."""
    if not question.slots:
        return {}
    return {"slots": [{slot: list(own) for slot, own in s.items()} for s in question.slots]}


def _envelope_with_support(extraction: Findings) -> dict[str, Any]:
    content = envelope_as_json(extraction.envelope)
    lines = zip(content["readable"], extraction.evidence, extraction.vacuous, strict=True)
    for line, evidence, vacuous in lines:
        line.update(_support(evidence, extraction))
        if vacuous:
            line["vacuous"] = True
    return content


def _variant(world: Findings, whole: Findings) -> dict[str, Any]:
    """Return what a result says of one way of asking: how, and its own envelope."""
    question = world.question
    found: dict[str, Any] = {"name": world.world, "language": question.language}
    found["template"] = " / ".join(question.templates) or None
    found["label"] = dict(question.words)
    found |= _slots(question)
    if (world.name, world.identity) != (whole.name, whole.identity):
        found["model"] = {"name": world.name, "identity": world.identity_text}
    if world.policy != whole.policy:
        found["policy"] = asdict(world.policy)
    envelope = _envelope_with_support(world)
    return found | {key: envelope[key] for key in OWN_KEYS if key in envelope}


def extraction_as_json(extraction: Findings) -> dict[str, Any]:
    """Return the contents of envelope.json: the envelope, the answers, and the evidence.

    `answers` lists every cell that the target was asked about, in each way of asking; a rule's
    `evidence` are positions in that list, and so are the examples of flips in `rates`.
    """
    content = summary_as_json(extraction)
    each = extraction.each
    asked = answers_of(extraction)
    position = places_of(asked)
    places = range(len(each))
    _point_to_evidence(content, extraction, places, position)
    Summary(extraction).point_to_answers(content, position)
    sifted = extraction.envelope.sifted
    if sifted is not None:
        point_to_answers(content["sift"], sifted, lambda cell: position(cell, 0))
    if extraction.possible is not None:
        content["possible"] = possible_as_json(extraction, position)
    for place, world in enumerate(extraction.worlds):
        _point_to_evidence(content["variants"][place], world, [place], position)
        if world.possible is not None:
            content["variants"][place]["possible"] = possible_as_json(world, position, place)
    if extraction.has_rates:
        content["rates"] = rates_as_json(
            extraction.rates, lambda world, cell: position(cell, world)
        )
        content["disparities"] = disparities_as_json(extraction.all_disparities)
    if not extraction.why_no_chance:
        content["chance"] = extraction.chance().as_json()
    content["abstentions"] = [
        at for at, (cell, place) in enumerate(asked) if each[place].decisions[cell].winner is None
    ]
    if extraction.worlds:
        content["survival"] = [
            _survival(line, extraction, position) for line in survival(extraction)
        ]
    told = {prompt: d for world in each for prompt, d in world.details.items()}
    if (orders := orders_of(told)) is not None:
        content["orders"] = orders.as_json()
    if sent := [line for world in each for line in sent_as_json(world)]:
        content["sent"] = sent
    content["answers"] = [_answer(each[place], cell) for cell, place in asked]
    at = {world.world: place for place, world in enumerate(each)}
    content["warnings"] = [w.as_json(position, at.get(w.variant, -1)) for w in extraction.warnings]
    return with_digest(content)


def _point_to_evidence(
    content: dict[str, Any],
    extraction: Findings,
    places: Sequence[int],
    position: Position,
) -> None:
    """Say of every rule where its answers stand; `places` are those of the extraction's worlds."""
    for line, evidence in zip(content["readable"], extraction.evidence, strict=True):
        closest = evidence.closest
        if closest is not None:
            at = position(closest.cell, places[closest.world])
            line["closest"] = {"answer": at, "margin": closest.margin}
        line["evidence"] = [position(e.cell, places[e.world]) for e in evidence.exhibits]


def _survival(line: Survival, extraction: Findings, position: Position) -> dict[str, Any]:
    """Return what becomes of a rule: the worlds by outcome, and the answers that break it."""
    space = extraction.space
    names = [world.world for world in extraction.worlds]
    kept = line.where(names, "holds", "vacuous")
    return {
        **NamedRule.of(line.rule, space.vocabulary).as_json(),
        "sentence": plain(extraction.telling.parts(line.rule, holds_in=kept)),
        "holds_in": line.where(names, "holds"),
        "vacuous_in": line.where(names, "vacuous"),
        "broken_in": {
            name: position(x & ~space.label_mask, place)
            for place, (name, x) in enumerate(zip(names, line.breaking, strict=True))
            if x is not None
        },
        "unknown_in": line.where(names, "unknown"),
    }


def _answer(extraction: Findings, cell: int) -> dict[str, Any]:
    decision, prompts = extraction.decisions[cell], extraction.show(cell)
    return {
        **({"variant": extraction.world} if extraction.world else {}),
        "set": list(extraction.space.vocabulary.names_of(cell)),
        "prompts": list(prompts),
        "scores": list(decision.scores),
        "winner": _winner(extraction.space, decision.winner),
        "margin": decision.margin,
        **({"abstained": decision.abstained} if decision.abstained else {}),
        **({"repeats": list(decision.repeats)} if decision.repeats else {}),
        **({"silent": decision.silent} if decision.silent else {}),
        **details_as_json(extraction.details, prompts),
    }


def _winner(space: Space, winner: int | None) -> str | None:
    if winner is None:
        return None
    return DECIDED[winner] if space.label is None else space.label.variables[winner]


def _support(evidence: Evidence, extraction: Findings) -> dict[str, Any]:
    return {
        "support": evidence.support,
        "prompts": evidence.prompts,
        "mean_margin": evidence.mean_margin,
        "closest": None,
        "sentence": extraction.sentence(evidence),
        **({} if (share := extraction.share_of(evidence)) is None else {"share": share}),
    }
