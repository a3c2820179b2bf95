"""Results with recorded answers: rules, evidence and counts, held against the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hornlens.verifying.almost import Known, check_almost, check_levels
from hornlens.verifying.answers import Answer, Reader, Spoken
from hornlens.verifying.attributes import Rule
from hornlens.verifying.background import assumes, check_background
from hornlens.verifying.claims import Claim
from hornlens.verifying.counted import (
    check_answered,
    check_label_words,
    check_queries,
    check_settings,
    check_statistics,
)
from hornlens.verifying.grids import Space, Wrong, breaks
from hornlens.verifying.interrupted import MissingAnswers
from hornlens.verifying.noise import check_counts, check_noise
from hornlens.verifying.notes import SHAPE, Notes, about
from hornlens.verifying.prompts import NO_SLOTS, check_sentences, has_slots
from hornlens.verifying.rated import check_rates
from hornlens.verifying.rules import Envelope
from hornlens.verifying.samples import check_sampled_settings, is_old
from hornlens.verifying.sent import NOT_CHECKED, check_sent
from hornlens.verifying.sources import check_sources
from hornlens.verifying.worlds import AllAnswers, SomeAnswers


def check_answers(content: Any, space: Space, listed: list[Rule], notes: Notes) -> None:
    """Hold a result against its recorded answers; note what was checked, and what cannot be."""
    if unknown := check_background(content, space, listed):
        notes.not_checked.append(unknown)
    claim = Claim.of(content["certificate"])
    noisy = claim.noise is not None
    probe = content["probe"]
    compared = probe.get("compared") is not None
    reader = Reader(space, content["policy"], noisy, bool(probe["templates"]), compared)
    answers = reader.read(content["answers"])
    abstained = [a.place for a in answers if a.winner is None]
    if sorted(content["abstentions"]) != abstained:
        raise Wrong("abstentions: not the answers without a winner")
    variants, policy = content.get("variants", []), content["policy"]
    scored, named = (sum(a.is_scored for a in answers), sum(a.is_named for a in answers))
    notes.checked.append(
        f"answers: {len(answers):,}; of {scored:,} with scores, winner and margin follow from these"
        + (f"; of {named:,} with replies instead, it is what most of them name" if named else "")
    )
    notes.not_checked.append("that the answers are the target's own: ask it again")
    if counted := check_sources(content):
        notes.checked.append(counted)
    if policy.get("top_k") is not None:
        notes.not_checked.append("who was among the model's first choices: it is not recorded")
    if policy.get("calibration", "none") != "none":
        notes.not_checked.append("how scores were calibrated: the baseline is not recorded")
    if len(content["probe"]["templates"]) > 1 and not variants:
        notes.not_checked.append("how scores were averaged: those of each phrasing are elsewhere")
    worlds: dict[Any, list[Answer]] = {line["name"]: [] for line in variants} or {None: []}
    for answer in answers:
        if answer.variant not in worlds:
            raise Wrong(f"answer {answer.place}: of no variant, {answer.variant!r}")
        worlds[answer.variant].append(answer)
    if (sent := check_sent(content, worlds)) is not None:
        notes.checked.append(sent)
        notes.not_checked.append(NOT_CHECKED)
    if "sift" in content or claim.sift is not None:
        _check_sifted(content, reader, listed, worlds, notes)
    else:
        _check_by_answers(content, reader, listed, worlds, notes)
    _check_run(content, space, worlds, notes)


def _check_by_answers(
    content: Any,
    reader: Reader,
    listed: list[Rule],
    worlds: dict[Any, list[Answer]],
    notes: Notes,
) -> None:
    """Hold the rules of a result that was not sifted against its answers."""
    space, variants = reader.space, content.get("variants", [])
    claim, noisy = Claim.of(content["certificate"]), reader.noisy
    answers = sorted((a for own in worlds.values() for a in own), key=lambda a: a.place)
    seen: AllAnswers | SomeAnswers | MissingAnswers
    claims = [claim, *(Claim.of(line["certificate"]) for line in variants)]
    # Where rules are said to be proved or tested, what was not asked must not break them.
    warranted = claim.weakest != "open" and not claim.settled and not noisy
    unasked = any(each.unasked for each in claims)
    partly = "weakest" in content["certificate"] and (warranted or unasked)
    if partly or any(each.proved and each.ended for each in claims):
        seen = MissingAnswers(reader, listed, worlds)
        notes.not_checked.append("that all rules are there: not everything was asked")
        left = space.rules(content.get("open", content.get("hypotheses", [])))
        if left:
            notes.checked.append(seen.check_open(left, claim))
        if claim.joint is not None:
            every = [*space.rules(content["rules"]), *left]
            # Ways of asking that were also learned alone have answers that no rule of all is by.
            bound = content["settings"].get("samples") is None and not noisy and not variants
            notes.checked.append(seen.check_joint(claim, every, bound))
    elif claim.settled or noisy:
        seen = AllAnswers(reader, listed, worlds, content.get("format", 0) < 2)
    else:
        bound = content["settings"].get("samples") is None
        seen = SomeAnswers(reader, listed, worlds, bound, not is_old(content))
        notes.not_checked.append("what was not asked: a sampled result makes no claim on it")
    envelope = Envelope.of(content, space, listed)
    notes.checked.append(seen.check(envelope, list(worlds), content["statistics"]))
    if noisy and isinstance(seen, AllAnswers):
        check_counts(answers, claim.noise or {})
        for line in variants or [content]:
            own, name = Claim.of(line["certificate"]).noise, line["name"] if variants else None
            if own is None:
                raise Wrong("certificate: that of a variant says nothing of noise")
            check_noise(worlds[name], own, len(answers))
            if variants:
                seen.check_possible(line["possible"], line["certificate"], listed, [name])
        notes.checked.append(
            "noise: each answer was decided, or left undecided, as the certificate says"
        )
        known = seen.check_possible(
            content["possible"], content["certificate"], listed, list(worlds)
        )
        notes.checked.append(known)
        notes.not_checked.append("that repeated answers are independent")
    notes.checked.append(SHAPE)
    _check_evidence(content, reader, worlds, notes)
    if isinstance(seen, AllAnswers) or claim.settled:
        # A way of asking may have been ended by the number of its rules, and the whole was not.
        whole = seen if isinstance(seen, AllAnswers) else AllAnswers(reader, listed, worlds)
        check_summaries(content, envelope, whole.known(list(worlds)), notes)
        _check_exceptions(content, reader, answers)
    elif "almost" in content or "levels" in content:
        raise Wrong("almost-rules and levels: not all cells were asked")
    for line in variants:
        with about(f"variant {line['name']}"):
            seen.check(Envelope.of(line, space, listed), [line["name"]], line["statistics"])
            stated, left = Claim.of(line["certificate"]).open, line.get("open", [])
            if stated != len(left) and not is_old(content):
                raise Wrong(f"certificate: {len(left):,} rules are open, not {stated:,}")
    if not variants:
        return
    for line in content["survival"]:
        (rule,) = space.rules([line])
        with about(f"survival of {space.show_rule(rule)}"):
            seen.check_survival(rule, line)
    count, where = len(variants), len(content["survival"])
    notes.checked.append(f"variants: {count} envelopes likewise, and where {where} rules hold")


def _check_run(content: Any, space: Space, worlds: dict[Any, list[Answer]], notes: Notes) -> None:
    """Check what is counted of the run, and of its answers, and that the settings fit."""
    new, variants = not is_old(content), content.get("variants", [])
    if (content.get("format", 0) > 1) != new:
        raise Wrong("certificate: not one of the format of the file")
    answers = [answer for own in worlds.values() for answer in own]
    if not variants:
        check_statistics(content, content, answers, new)
    for line in variants:
        with about(f"variant {line['name']}"):
            check_statistics(content, line, worlds[line["name"]], new)
    for key in ("abstentions", "distinct_prompts", "model_calls") if variants else ():
        total = sum(line["statistics"][key] for line in variants)
        if content["statistics"].get(key) != total:
            given = content["statistics"].get(key)
            raise Wrong(f"statistics: {key} is {total}, not {given}")
    check_queries(content["statistics"], new)
    if not new:
        notes.not_checked.append("rates and flips: an older version counted them otherwise")
        return
    if variants and content["statistics"]["questions"] != len({a.cell for a in answers}):
        raise Wrong("statistics: questions are not those of the variants")
    assumed = assumes(content, space)
    check_label_words(content)
    check_settings(content, space)
    check_answered(content, space, worlds, assumed)
    check_sampled_settings(content, content["settings"], space, list(worlds.values()), assumed)
    for line in variants:
        with about(f"variant {line['name']}"):
            own = {line["name"]: worlds[line["name"]]}
            check_answered(line, space, own, assumed)
            check_sampled_settings(line, content["settings"], space, list(own.values()), assumed)
    prompted = bool(content["probe"]["templates"]) and content["probe"].get("compared") is None
    if prompted and not has_slots(content):
        notes.not_checked.append(NO_SLOTS)
    if prompts := check_sentences(content, space, worlds):
        notes.checked.append(prompts)
    notes.checked.append("statistics: questions, answers and prompts are counted again")
    if "rates" in content:
        notes.checked.append(check_rates(content, space, worlds))


def _check_evidence(
    content: Any, reader: Reader, worlds: Mapping[Any, list[Answer]], notes: Notes
) -> None:
    """Count again what speaks for each readable rule, of all answers and of each variant's."""
    answers = sorted((a for own in worlds.values() for a in own), key=lambda a: a.place)
    _check_exhibits(content["readable"], reader, answers, "")
    for line in content.get("variants", []):
        _check_exhibits(line["readable"], reader, worlds[line["name"]], f"{line['name']}, ")
    notes.checked.append("evidence: support, margins and counts are those of the answers")


def _check_exhibits(lines: Any, reader: Reader, answers: list[Answer], of: str) -> None:
    space, spoken = reader.space, Spoken(reader.space, answers)
    for number, (rule, line) in enumerate(zip(space.rules(lines), lines, strict=True), 1):
        with about(f"{of}readable rule {number}, {space.show_rule(rule)}"):
            reader.check_evidence(rule, line, spoken.of(rule, line))


def _check_sifted(
    content: Any,
    reader: Reader,
    background: list[Rule],
    worlds: dict[Any, list[Answer]],
    notes: Notes,
) -> None:
    """Check a result that was sifted: NumPy is needed for that, and for nothing else."""
    from hornlens.verifying.sifted import check_sifted

    if "almost" in content or "levels" in content or "possible" in content:
        raise Wrong("almost-rules, levels and possible rules: not all cells were asked")
    checked, not_checked = check_sifted(content, reader, background, worlds)
    notes.checked.extend(checked)
    notes.not_checked.extend(not_checked)
    _check_evidence(content, reader, worlds, notes)
    if None in worlds:
        return
    some = SomeAnswers(reader, [], worlds, bound=True)
    for line in content["survival"]:
        (rule,) = reader.space.rules([line])
        with about(f"survival of {reader.space.show_rule(rule)}"):
            some.check_survival(rule, line)
    count, where = len(worlds), len(content["survival"])
    notes.checked.append(f"variants: {count} say what all say, and where {where} rules hold")


def check_summaries(content: Any, envelope: Envelope, known: Known, notes: Notes) -> None:
    """Check almost-rules and levels, where there are any."""
    exact, assumed = envelope.rules, envelope.background
    if "almost" in content:
        notes.checked.append(check_almost(content, known.space, exact + assumed, known))
    if "levels" in content:
        notes.checked.append(check_levels(content, known.space, exact, known))
        notes.not_checked.append("that each level has the best rules for it")


def _check_exceptions(content: Any, reader: Reader, answers: list[Answer]) -> None:
    """Check that the answers said to break an almost-rule, or that of a level, are all that do."""
    lists = [("almost-rule", content.get("almost", []))]
    lists.append(("level", content.get("levels", {}).get("steps", [])))
    for what, lines in lists:
        for number, (rule, line) in enumerate(
            zip(reader.space.rules(lines), lines, strict=True), 1
        ):
            really = [a.place for a in answers if any(breaks(x, rule) for x in reader.accepted(a))]
            if sorted(line["answers"]) != really:
                raise Wrong(f"{what} {number}: the answers listed are not those that break it")
