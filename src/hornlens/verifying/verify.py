"""`verify`: is a result what its recorded answers, or a formula or table, say it is?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.formats.jsonfiles import read_json
from hornlens.verifying.almost import Known, check_almost, check_almost_rows, check_levels
from hornlens.verifying.answers import Answer, Reader, Spoken, check_statistics
from hornlens.verifying.attributes import Rule
from hornlens.verifying.bounded import check_bounded
from hornlens.verifying.claims import Claim
from hornlens.verifying.explored import Session, check_explored
from hornlens.verifying.files import File
from hornlens.verifying.grids import Grid, Space, Wrong, breaks
from hornlens.verifying.interrupted import MissingAnswers, check_interrupted, follows
from hornlens.verifying.noise import check_counts, check_noise
from hornlens.verifying.rules import Envelope, check_by_chaining, check_exact, check_wide
from hornlens.verifying.samples import check_samples
from hornlens.verifying.sent import NOT_CHECKED, check_sent
from hornlens.verifying.sources import check_sources
from hornlens.verifying.worlds import AllAnswers, SomeAnswers

FORMAT = 2
"""The newest files that are understood."""
WIDE = 1 << 20
"""Up to so many interpretations of a file are gone through one and all."""
BEYOND = (ArithmeticError, RecursionError)
"""What numbers that are too large, and files that are too deep, lead to."""
SHAPE = "minimal and saturated: no rule follows from the others; the readable rules say the same"


@dataclass(frozen=True)
class Verification:
    """What was checked, what was not, and the first thing that is wrong: None if nothing is.

    >>> done = Verification(checked=("answers: 660",), wrong="readable rule 3: support is 7, not 8")
    >>> done.ok
    False
    """

    checked: tuple[str, ...]
    not_checked: tuple[str, ...] = ()
    wrong: str | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.wrong is None

    def as_json(self) -> dict[str, Any]:
        """Return it as `hornlens verify --format json` prints it."""
        return {
            "ok": self.ok,
            "wrong": self.wrong,
            "checked": list(self.checked),
            "not_checked": list(self.not_checked),
        }


def verify(
    result: str | Path, against: str | Path | None = None, background: str | Path | None = None
) -> Verification:
    """Check a saved result by independent code; it asks no model.

    Args:
        result: The folder, or the envelope.json, table.json or explanation.json in it.
        against: The formula or table that `hornlens envelope` or `learn` was given, or the
            exploration.json in which `hornlens explore` kept the answers.
        background: The rules that were taken for granted: a Horn .cnf or an envelope.json.

    Returns:
        What was checked, what could not be, and what is wrong, if anything.

    Raises:
        InputError: if a file is no result, or cannot be read.

    >>> import tempfile
    >>> from hornlens import extract
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     extract(lambda prompt, words: [0.9, 0.1], cache=False).save(folder)
    ...     verify(folder).ok
    True
    """
    path = Path(result)
    if path.is_dir():
        names = ("envelope.json", "explanation.json", "table.json")
        there = (path / name for name in names if (path / name).is_file())
        path = next(there, path / "envelope.json")
    content = read_json(path)
    if isinstance(content, dict) and "rules" not in content and "envelope" in content:
        content = content["envelope"]  # a table.json: up to 0.2 there was no other file
    file: File | Session | None = None
    if against is not None:
        reads = Session if Path(against).suffix.lower() == ".json" else File
        file = reads.read(Path(against))
    return verify_content(content, path, file, None if background is None else Path(background))


def verify_content(
    content: Any, path: Path, file: File | Session | None = None, background: Path | None = None
) -> Verification:
    """Check the contents of an envelope.json, or of an explanation.json."""
    notes = _Notes([], [])
    try:
        _check(content, file, background, notes)
    except Wrong as wrong:
        return Verification(tuple(notes.checked), tuple(notes.not_checked), str(wrong))
    except InputError as error:
        raise InputError(error.message, error.path or path, error.line) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, *BEYOND):
        old = isinstance(content, dict) and content.get("kind") == "classifier"
        wanted = "explanation.json" if old or path.name == "explanation.json" else "envelope.json"
        raise InputError(f"is no {wanted} of hornlens, or of another version", path) from None
    return Verification(tuple(notes.checked), tuple(notes.not_checked))


@dataclass(frozen=True)
class _Notes:
    """What was checked so far, and what can not be."""

    checked: list[str]
    not_checked: list[str]


def _check(
    content: Any, file: File | Session | None, background: Path | None, notes: _Notes
) -> None:
    if content.get("kind") == "classifier" or "classifier" in content:
        if file is not None:
            raise InputError("is of a classifier: there is nothing to hold it against")
        from hornlens.verifying.classifiers import check_classifier

        checked, not_checked = check_classifier(content)
        notes.checked.extend(checked)
        notes.not_checked.extend(not_checked)
        return
    if not isinstance(content.get("format", 0), int) or content.get("format", 0) > FORMAT:
        raise InputError("was written by a newer hornlens: upgrade hornlens")
    if "rules" not in content:
        raise InputError("has no rules: there is nothing to verify")
    claim = Claim.of(content["certificate"])
    notes.not_checked.append("sentences, and the files beside envelope.json")
    if "chance" in content or "disparities" in content:
        notes.not_checked.append("what chance would give, and the intervals of rates")
    for line in (content, *content.get("variants", [])):
        if unknown := check_samples(line):
            notes.not_checked.append(unknown)
    space = Space.of(content)
    listed = space.rules(content["background"])
    for rule in sorted(space.own - set(listed), key=str):
        raise Wrong(f"background: lacks {space.show_rule(rule)}")
    if isinstance(file, Session):
        _check_session(content, space, listed, file, background, notes)
    elif claim.word is not None:
        raise InputError(
            "is an exploration: give the session that it was kept in, --against X.exploration.json"
        )
    elif file is not None:
        _check_file(content, space, listed, file, background, notes)
    elif "answers" in content:
        _check_answers(content, space, listed, notes)
    else:
        raise InputError(
            "has no answers: give the formula or the table that it is of, with --against FILE"
        )


# --- an exploration ---


def _check_session(
    content: Any,
    space: Space,
    listed: list[Rule],
    session: Session,
    background: Path | None,
    notes: _Notes,
) -> None:
    claim = Claim.of(content["certificate"])
    if "answers" in content or (claim.word is None and not claim.ended):
        raise InputError("is no exploration: a session is not what it can be held against")
    if background is not None:
        raise InputError("--background does not go with a session, which does not keep it")
    checked, not_checked = check_explored(content, space, listed, session)
    notes.checked.extend([*checked, SHAPE])
    notes.not_checked.extend(not_checked)


# --- a formula or a table ---


def _check_file(
    content: Any,
    space: Space,
    listed: list[Rule],
    file: File,
    background: Path | None,
    notes: _Notes,
) -> None:
    if file.names != space.names:
        raise Wrong("variables: not those of the file")
    if background is not None:
        if set(listed) != file.background(background):
            raise Wrong("background: not that of the file")
        notes.checked.append("background: that of the file")
    elif listed:
        notes.not_checked.append("that the background was given so: --background FILE compares it")
    for row in file.rows:
        for rule in listed:
            if breaks(row, rule):
                raise Wrong(f"background: {space.show(row)} is accepted, and breaks it")
    envelope = Envelope.of(content, space, listed)
    claim = envelope.claim
    exact = claim.every
    if exact and _size(space) <= WIDE:
        grid = Grid(space.axes, len(space.names))
        inside = grid.everything & ~grid.breaking_any(listed)
        notes.checked.append(check_exact(envelope, grid, inside, file.positive(grid, inside)))
    else:
        closure, rejects = file.closures(listed)
        if exact:
            notes.checked.append(check_wide(envelope, closure, rejects))
            notes.not_checked.append("that no rule is missing: there are too many interpretations")
            notes.not_checked.append("how many non-Horn negatives there are")
        elif claim.settled:
            notes.checked.append(check_bounded(envelope, closure, file.support))
            envelope.check_examples(lambda x: rejects(x) and closure(x) == x, None)
            notes.not_checked.append("how many non-Horn negatives there are")
        elif claim.proved:
            notes.checked.append(check_interrupted(envelope, lambda rule: follows(rule, closure)))
            notes.not_checked.append("that all rules are there: the run was ended early")
        else:
            check_by_chaining(envelope)
            true = sum(closure(rule[0]) == rule[1] for rule in envelope.rules)
            notes.checked.append(
                f"sampled: {true:,} of {plural(len(envelope.rules), 'rule')} say what the file says"
            )
            notes.not_checked.append("that all rules are there: a sampled result claims less")
    notes.checked.append(SHAPE)
    rows = file.rows if file.clauses is None else None
    if "almost" in content and rows is not None:
        known = envelope.rules + envelope.background
        notes.checked.append(check_almost_rows(content, space, known, rows))
    if "levels" in content or ("almost" in content and rows is None):
        if _size(space) > WIDE:
            raise Wrong("levels: of more interpretations than are ever counted")
        points = Grid(space.axes, len(space.names))
        allowed = points.everything & ~points.breaking_any(listed)
        target = Known(space, points, allowed, file.positive(points, allowed))
        counted = {k: v for k, v in content.items() if k != "almost" or rows is None}
        _check_summaries(counted, envelope, target, notes)
    lines = content["readable"]
    for number, (rule, line) in enumerate(zip(envelope.readable, lines, strict=True), 1):
        support = file.support(rule[0])
        if line.get("support") not in (None, support) or (file.rows and line["support"] is None):
            raise Wrong(f"readable rule {number}: support is {support}, not {line['support']}")


def _size(space: Space) -> int:
    return prod(map(len, space.axes))


# --- recorded answers ---


def _check_answers(content: Any, space: Space, listed: list[Rule], notes: _Notes) -> None:
    labels = sum(space.label_masks)
    for rule in listed:
        if rule not in space.own and (rule[0] | (rule[1] or 0)) & labels:
            raise Wrong(f"background: {space.show_rule(rule)} is about the label")
    claim = Claim.of(content["certificate"])
    noisy = claim.noise is not None
    reader = Reader(space, content["policy"], noisy)
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
        return
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
        seen = SomeAnswers(reader, listed, worlds, bound)
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
    _check_evidence(content, reader, answers, notes)
    if isinstance(seen, AllAnswers) or claim.settled:
        # A way of asking may have been ended by the number of its rules, and the whole was not.
        whole = seen if isinstance(seen, AllAnswers) else AllAnswers(reader, listed, worlds)
        _check_summaries(content, envelope, whole.known(list(worlds)), notes)
        _check_exceptions(content, reader, answers)
    elif "almost" in content or "levels" in content:
        raise Wrong("almost-rules and levels: not all cells were asked")
    if not variants:
        plain = policy.get("calibration", "none") == "none"
        check_statistics(content["statistics"], answers, plain)
        return
    for line in variants:
        with _about(f"variant {line['name']}"):
            seen.check(Envelope.of(line, space, listed), [line["name"]], line["statistics"])
    for line in content["survival"]:
        (rule,) = space.rules([line])
        with _about(f"survival of {space.show_rule(rule)}"):
            seen.check_survival(rule, line)
    count, where = len(variants), len(content["survival"])
    notes.checked.append(f"variants: {count} envelopes likewise, and where {where} rules hold")


def _check_evidence(content: Any, reader: Reader, answers: list[Answer], notes: _Notes) -> None:
    """Count again what speaks for each readable rule."""
    space, lines = reader.space, content["readable"]
    spoken = Spoken(space, answers)
    for number, (rule, line) in enumerate(zip(space.rules(lines), lines, strict=True), 1):
        with _about(f"readable rule {number}, {space.show_rule(rule)}"):
            reader.check_evidence(rule, line, spoken.of(rule, line))
    notes.checked.append("evidence: support, margins and counts are those of the answers")


def _check_sifted(
    content: Any,
    reader: Reader,
    background: list[Rule],
    worlds: dict[Any, list[Answer]],
    notes: _Notes,
) -> None:
    """Check a result that was sifted: NumPy is needed for that, and for nothing else."""
    from hornlens.verifying.sifted import check_sifted

    if "almost" in content or "levels" in content or "possible" in content:
        raise Wrong("almost-rules, levels and possible rules: not all cells were asked")
    checked, not_checked = check_sifted(content, reader, background, worlds)
    notes.checked.extend(checked)
    notes.not_checked.extend(not_checked)
    answers = [answer for each in worlds.values() for answer in each]
    answers.sort(key=lambda answer: answer.place)
    _check_evidence(content, reader, answers, notes)
    plain = content["policy"].get("calibration", "none") == "none"
    if None in worlds:
        check_statistics(content["statistics"], answers, plain)
        return
    for line in content["variants"]:
        with _about(f"variant {line['name']}"):
            check_statistics(line["statistics"], worlds[line["name"]], plain)
    for key in ("abstentions", "distinct_prompts"):
        total = sum(line["statistics"][key] for line in content["variants"])
        if content["statistics"][key] != total:
            given = content["statistics"][key]
            raise Wrong(f"statistics: {key} is {total}, not {given}")
    some = SomeAnswers(reader, [], worlds, bound=True)
    for line in content["survival"]:
        (rule,) = reader.space.rules([line])
        with _about(f"survival of {reader.space.show_rule(rule)}"):
            some.check_survival(rule, line)
    count, where = len(worlds), len(content["survival"])
    notes.checked.append(f"variants: {count} say what all say, and where {where} rules hold")


def _check_summaries(content: Any, envelope: Envelope, known: Known, notes: _Notes) -> None:
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


@contextmanager
def _about(what: str) -> Iterator[None]:
    """Say of what something is wrong."""
    try:
        yield
    except Wrong as wrong:
        raise Wrong(f"{what}: {wrong}") from None
