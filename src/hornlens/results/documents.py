"""envelope.json of an extraction: written, and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.spaces import space_as_json
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import NO, YES, Decision, Policy
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.space import Space
from hornlens.results.details import Details, details_as_json, details_from_json
from hornlens.results.envelope import envelope_as_json, envelope_from_json, reading
from hornlens.results.evidence import Evidence
from hornlens.results.extraction import Extraction, Record
from hornlens.results.question import Question
from hornlens.results.rate_files import rates_as_json
from hornlens.results.sentences import plain
from hornlens.results.settings import Settings
from hornlens.results.warnings import warnings_of
from hornlens.results.worlds import Survival, survival, union_of

DECIDED = {NO: "no", YES: "yes"}
"""What stands for the winner in a space without a label."""
OWN_KEYS = ("rules", "readable", "non_horn", "certificate", "claim", "statistics")
"""What each way of asking has of its own, where there are several."""


def summary_as_json(extraction: Extraction) -> dict[str, Any]:
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
    }
    content["model"] = {"name": extraction.name, "identity": extraction.identity_text}
    content["policy"] = asdict(extraction.policy)
    content["settings"] = asdict(extraction.settings)
    if extraction.worlds:
        content["varied"] = extraction.noun
        content["variants"] = [_variant(world, extraction) for world in extraction.worlds]
    return content


def _envelope_with_support(extraction: Extraction) -> dict[str, Any]:
    content = envelope_as_json(extraction.envelope)
    lines = zip(content["readable"], extraction.evidence, extraction.vacuous, strict=True)
    for line, evidence, vacuous in lines:
        line.update(_support(evidence, extraction))
        if vacuous:
            line["vacuous"] = True
    return content


def _variant(world: Extraction, whole: Extraction) -> dict[str, Any]:
    """Return what a result says of one way of asking: how, and its own envelope."""
    question = world.question
    found: dict[str, Any] = {"name": world.world, "language": question.language}
    found["template"] = " / ".join(question.templates) or None
    found["label"] = dict(question.words)
    if (world.name, world.identity) != (whole.name, whole.identity):
        found["model"] = {"name": world.name, "identity": world.identity_text}
    if world.policy != whole.policy:
        found["policy"] = asdict(world.policy)
    envelope = _envelope_with_support(world)
    return found | {key: envelope[key] for key in OWN_KEYS}


def extraction_as_json(extraction: Extraction) -> dict[str, Any]:
    """Return the contents of envelope.json: the envelope, the answers, and the evidence.

    `answers` lists every cell that the target was asked about, in each way of asking; a rule's
    `evidence` are positions in that list, and so are the examples of flips in `rates`.
    """
    content = summary_as_json(extraction)
    each = extraction.each
    asked = sorted((cell, place) for place, world in enumerate(each) for cell in world.decisions)
    position = {one: i for i, one in enumerate(asked)}
    places = range(len(each))
    _point_to_evidence(content, extraction, places, position)
    for place, world in enumerate(extraction.worlds):
        _point_to_evidence(content["variants"][place], world, [place], position)
    content["rates"] = rates_as_json(extraction.rates, lambda world, cell: position[cell, world])
    content["abstentions"] = [
        at for at, (cell, place) in enumerate(asked) if each[place].decisions[cell].winner is None
    ]
    if extraction.worlds:
        content["survival"] = [
            _survival(line, extraction, position) for line in survival(extraction)
        ]
    content["answers"] = [_answer(each[place], cell) for cell, place in asked]
    at = {
        world.world: {cell: position[cell, place] for cell in world.decisions}
        for place, world in enumerate(each)
    }
    content["warnings"] = [w.as_json(at[w.variant]) for w in warnings_of(extraction)]
    return content


def _point_to_evidence(
    content: dict[str, Any],
    extraction: Extraction,
    places: Sequence[int],
    position: Mapping[tuple[int, int], int],
) -> None:
    """Say of every rule where its answers stand; `places` are those of the extraction's worlds."""
    for line, evidence in zip(content["readable"], extraction.evidence, strict=True):
        closest = evidence.closest
        if closest is not None:
            at = position[closest.cell, places[closest.world]]
            line["closest"] = {"answer": at, "margin": closest.margin}
        line["evidence"] = [position[e.cell, places[e.world]] for e in evidence.exhibits]


def _survival(
    line: Survival, extraction: Extraction, position: Mapping[tuple[int, int], int]
) -> dict[str, Any]:
    """Return what becomes of a rule: the worlds by outcome, and the answers that break it."""
    space = extraction.space
    names = [world.world for world in extraction.worlds]
    by = {
        outcome: [
            name for name, found in zip(names, line.outcomes, strict=True) if found == outcome
        ]
        for outcome in ("holds", "vacuous", "unknown")
    }
    kept = [name for name in names if name in by["holds"] or name in by["vacuous"]]
    return {
        **NamedRule.of(line.rule, space.vocabulary).as_json(),
        "sentence": plain(extraction.telling.parts(line.rule, holds_in=kept)),
        "holds_in": by["holds"],
        "vacuous_in": by["vacuous"],
        "broken_in": {
            name: position[x & ~space.label_mask, place]
            for place, (name, x) in enumerate(zip(names, line.breaking, strict=True))
            if x is not None
        },
        "unknown_in": by["unknown"],
    }


def _answer(extraction: Extraction, cell: int) -> dict[str, Any]:
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
        **details_as_json(extraction.details, prompts),
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
        "sentence": extraction.sentence(evidence),
        **({} if (share := extraction.share_of(evidence)) is None else {"share": share}),
    }


def extraction_from_json(
    content: Mapping[str, Any],
    path: Path,
    record: Record | None = None,
    scores: Mapping[str, Mapping[str, float]] | None = None,
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
    scores: Mapping[str, Mapping[str, float]],
) -> Extraction:
    envelope = envelope_from_json(content, path)
    if envelope.space.background.closure(0) == BOTTOM:
        raise ValueError("nothing obeys the background")
    variants, answers, name = (
        content.get("variants"),
        content.get("answers", []),
        content["probe"]["name"],
    )
    if variants is None:
        return _world(content, content["probe"]["templates"], answers, envelope, scores, record)
    worlds = tuple(
        _world(
            {**content, **variant, "probe": {**content["probe"], **variant, "name": name}},
            [variant["template"]] if variant["template"] else [],
            [answer for answer in answers if answer["variant"] == variant["name"]],
            envelope_from_json({**content, **variant}, path),
            scores,
            world=variant["name"],
        )
        for variant in variants
    )
    model = content["model"]
    whole = union_of(model["name"], content["varied"], model["identity"], worlds, envelope)
    return replace(whole, record=record)


def _world(
    content: Mapping[str, Any],
    templates: Sequence[str],
    answers: Sequence[Mapping[str, Any]],
    envelope: Envelope,
    scores: Mapping[str, Mapping[str, float]],
    record: Record | None = None,
    world: str = "",
) -> Extraction:
    """Return the result of one way of asking."""
    space, probe = envelope.space, content["probe"]
    labels = list(DECIDED.values()) if space.label is None else list(space.label.variables)
    decisions: dict[int, Decision] = {}
    shown: dict[int, tuple[str, ...]] = {}
    details: dict[str, Details] = {}
    for answer in answers:
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
        details.update(details_from_json(answer))
    prompts = {prompt for each in shown.values() for prompt in each}
    policy = Policy(**_known(Policy, content["policy"]))
    return Extraction(
        Question(
            probe["name"],
            probe["description"],
            tuple(templates),
            dict(probe["label"]),
            dict(probe.get("phrases", {})),
            averaged=len(templates) > 1,
            language=probe.get("language", ""),
        ),
        content["model"]["name"],
        content["model"]["identity"],
        policy,
        Settings(**_known(Settings, content["settings"])),
        envelope,
        decisions,
        lambda cell: shown.get(cell) or (", ".join(space.conditions(cell)),),
        {prompt: line for prompt, line in scores.items() if prompt in prompts} if world else scores,
        record or Record(),
        world,
        details=details,
    )


def _known(shape: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a value has; a file of another version may have others."""
    names = {each.name for each in fields(shape)}
    return {name: value for name, value in given.items() if name in names}
