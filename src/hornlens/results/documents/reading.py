"""envelope.json of an extraction, read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import fields, replace
from math import log
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import UNDECIDED, Decision, Policy
from hornlens.logic.envelope import Envelope
from hornlens.logic.maskmap import mask_map
from hornlens.results.analysis.possible import possible_from_json
from hornlens.results.analysis.worlds import union_of
from hornlens.results.documents.details import Details, details_from_json
from hornlens.results.documents.envelope import envelope_from_json, reading_envelope
from hornlens.results.documents.findings import Findings, Record, ShownCells
from hornlens.results.documents.question import ComparedAnswers, Question
from hornlens.results.documents.sent import sent_from_json
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.sifting import with_order
from hornlens.results.documents.writing import DECIDED


def extraction_from_json(
    content: Mapping[str, Any],
    path: Path,
    record: Record | None = None,
    scores: Mapping[str, Mapping[str, float]] | None = None,
) -> Findings:
    """Return the extraction of an envelope.json, with its run.json's and scores.csv's if given.

    What is wrong with it is an InputError about `path`.
    """
    with reading_envelope(content, path):
        if "probe" not in content:
            raise InputError("has no answers of a model or another target: extract writes those")
        findings = _extraction(content, path, record or Record(), scores or {})
        return findings.with_intersections(*_intersections(content))


def _intersections(content: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the attributes whose combinations have rates."""
    groups = [
        _texts(each["attributes"]) for each in content.get("disparities", {}).get("attributes", ())
    ]
    return [group for group in groups if len(group) > 1]


def _extraction(
    content: Mapping[str, Any],
    path: Path,
    record: Record,
    scores: Mapping[str, Mapping[str, float]],
) -> Findings:
    is_newer = "weakest" in content["certificate"]
    stored = envelope_from_json(content, path)
    envelope = _answered(stored, content.get("answers", []), is_newer)
    if envelope.sifted is not None:
        cells = [envelope.vocabulary.mask(answer["set"]) for answer in content.get("answers", [])]
        sifted = with_order(envelope.sifted, content["sift"].get("order", []), cells)
        envelope = replace(envelope, sifted=sifted)
    if envelope.space.background.closure(0) == BOTTOM:
        raise ValueError("nothing obeys the background")
    counts = (
        "distinct_prompts",
        *(() if envelope.certificate.proved else ("equivalence_queries",)),
    )
    if not all(isinstance(envelope.statistics.get(count), int) for count in counts):
        raise ValueError(f"has no {' or no '.join(counts)} among its statistics")
    variants, answers, name = (
        content.get("variants"),
        content.get("answers", []),
        content["probe"]["name"],
    )
    if variants is None:
        found = _world(content, content["probe"]["templates"], answers, envelope, scores, record)
        possible = possible_from_json(content.get("possible"), envelope, path)
        return replace(found, possible=possible)
    worlds = tuple(
        _world(
            {**content, **variant, "probe": {**content["probe"], **variant, "name": name}},
            [variant["template"]] if variant["template"] else [],
            [answer for answer in answers if answer["variant"] == variant["name"]],
            _answered(
                envelope_from_json(_alone(content, variant), path),
                [answer for answer in answers if answer["variant"] == variant["name"]],
                is_newer,
            ),
            scores,
            world=variant["name"],
        )
        for variant in variants
    )
    worlds = tuple(
        replace(world, possible=possible_from_json(line.get("possible"), world.envelope, path))
        for world, line in zip(worlds, variants, strict=True)
    )
    first, *others = worlds
    # Asked, and not decided when the run was ended: nothing tells in which way it was asked.
    rest = {p: line for p, line in scores.items() if not any(p in each.scores for each in worlds)}
    worlds = (replace(first, scores={**first.scores, **rest}), *others)
    model = content["model"]
    whole = union_of(
        model["name"],
        content["varied"],
        model["identity"],
        worlds,
        envelope,
        possible_from_json(content.get("possible"), envelope, path),
    )
    return replace(whole, record=record)


def _answered(envelope: Envelope, answers: Sequence[Mapping[str, Any]], is_newer: bool) -> Envelope:
    """Return an envelope that counts the answers: those of format 1 did not.

    What supports a rule is counted among the answers again: the envelope's own counts are of rows.
    """
    envelope = replace(envelope, support=None)
    certificate = envelope.certificate
    if is_newer or not answers:
        return envelope
    given = sum(a["winner"] is not None or a.get("abstained") == UNDECIDED for a in answers)
    certificate = replace(certificate, answered=(given, len(answers)))
    if envelope.space.assumed:
        certificate = replace(certificate, scope=replace(certificate.scope, assumed=True))
    questions = len({tuple(answer["set"]) for answer in answers})
    statistics = {"questions": questions, **envelope.statistics}
    return replace(envelope, certificate=certificate, statistics=statistics)


def _alone(content: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, Any]:
    """Return the envelope of one way of asking: almost-rules, levels, hypotheses are of all."""
    of_all = ("almost", "levels", "hypotheses", "open", "hypothesis")
    return {**{key: value for key, value in content.items() if key not in of_all}, **variant}


def _world(
    content: Mapping[str, Any],
    templates: Sequence[str],
    answers: Sequence[Mapping[str, Any]],
    envelope: Envelope,
    scores: Mapping[str, Mapping[str, float]],
    record: Record | None = None,
    world: str = "",
) -> Findings:
    """Return the result of one way of asking."""
    space, probe = envelope.space, content["probe"]
    labels = list(DECIDED.values()) if space.label is None else list(space.label.variables)
    decisions: MutableMapping[int, Decision] = mask_map(space.width)
    shown: MutableMapping[int, tuple[str, ...]] = mask_map(space.width)
    details: dict[str, Details] = {}
    unscored: set[str] = set()
    for answer in answers:
        cell = space.vocabulary.mask(answer["set"])
        if cell & space.label_mask or cell not in space:
            raise ValueError("has an answer about what is no cell")
        winner = None if answer["winner"] is None else labels.index(answer["winner"])
        decision = Decision(
            winner,
            _numbers([answer["margin"]])[0],
            _numbers(answer["scores"]),
            _text(answer.get("abstained", "")),
            tuple(map(int, _numbers(answer.get("repeats", ())))),
            int(_numbers([answer.get("silent", 0)])[0]),
        )
        if len(decision.scores) not in (0, len(labels)):
            raise ValueError("has an answer without a score for each label")
        shown[cell], told = _texts(answer["prompts"]), dict(details_from_json(answer))
        if _made_up(decision, told.values()):
            decision = decision._replace(margin=0.0, scores=())
            unscored.update(shown[cell])
        decisions[cell] = decision
        details.update(told)
    prompts = {prompt for each in shown.values() for prompt in each}
    scored = {prompt: {} if prompt in unscored else line for prompt, line in scores.items()}
    policy = Policy(**known_fields(Policy, content["policy"]))
    return Findings(
        Question(
            _text(probe["name"]),
            _text(probe["description"]),
            _texts(templates),
            dict(probe["label"]),
            dict(probe.get("phrases", {})),
            averaged=len(templates) > 1,
            language=probe.get("language", ""),
            compared=_compared(probe.get("compared")),
            slots=tuple(
                {_text(slot): _texts(own) for slot, own in each.items()}
                for each in probe.get("slots", ())
            ),
        ),
        _text(content["model"]["name"]),
        _text(content["model"]["identity"]),
        policy,
        Settings(**known_fields(Settings, content["settings"])),
        envelope,
        decisions,
        ShownCells(space, shown),
        {prompt: line for prompt, line in scored.items() if prompt in prompts} if world else scored,
        record or Record(),
        world,
        details=details,
        sent=sent_from_json(content.get("sent", []), world),
    )


def _compared(content: Mapping[str, Any] | None) -> ComparedAnswers | None:
    """Return how the labels of a comparison are put into sentences; None if it is none."""
    if content is None:
        return None
    acts, opposites = dict(content["acts"]), dict(content.get("opposites", {}))
    for text in (*acts, *acts.values(), *opposites, *opposites.values()):
        _text(text)
    return ComparedAnswers(_text(content["who"]), acts, opposites, content.get("proper") is True)


def _made_up(decision: Decision, details: Iterable[Details]) -> bool:
    """Say whether scores are what version 0.2 made of replies, or of counts, that have none."""
    replies = [reply for each in details for reply in each.replies]
    if replies:
        return not any(reply.scores for reply in replies)
    repeats = decision.repeats
    if not decision.scores:
        return bool(repeats) and (decision.silent > 0 or decision.abstained == UNDECIDED)
    whole = sum(repeats) + len(repeats) / 2
    return decision.scores == tuple(log((n + 0.5) / whole) for n in repeats if n >= 0)


def _numbers(listed: Sequence[Any]) -> tuple[float, ...]:
    """Return numbers as they stand; what is none, or larger than any float, is a ValueError."""
    if not all(isinstance(n, float) or (type(n) is int and abs(n) < 1 << 1023) for n in listed):
        raise ValueError("a score that is no number")
    return tuple(listed)


def _text(value: Any) -> str:
    """Return a text; anything else is a ValueError."""
    if not isinstance(value, str):
        raise ValueError("has something else where a text should stand")
    return value


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    """Return texts; anything else is a ValueError."""
    if not isinstance(values, list):
        raise ValueError("has something else where a list should stand")
    return tuple(map(_text, values))


def known_fields(shape: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a value has; a file of another version may have others."""
    names = {each.name for each in fields(shape)}
    return {name: value for name, value in given.items() if name in names}
