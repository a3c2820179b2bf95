"""`verify`: is a result what its recorded answers, or a formula or table, say it is?"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.formats.jsonfiles import read_json
from hornlens.verifying.almost import Known, check_almost_rows
from hornlens.verifying.attributes import Rule
from hornlens.verifying.bounded import check_bounded
from hornlens.verifying.claims import Claim
from hornlens.verifying.explored import Session, check_explored
from hornlens.verifying.files import File
from hornlens.verifying.grids import Grid, Space, Wrong, breaks
from hornlens.verifying.interrupted import check_interrupted, follows
from hornlens.verifying.notes import SHAPE, Notes
from hornlens.verifying.outcomes import Verification
from hornlens.verifying.recorded import check_answers, check_summaries
from hornlens.verifying.rules import Envelope, check_by_chaining, check_exact, check_wide
from hornlens.verifying.samples import check_samples
from hornlens.verifying.tables import check_beside, check_clauses, check_left_over

FORMAT = 2
"""The newest files that are understood."""
WIDE = 1 << 20
"""Up to so many interpretations of a file are gone through one and all."""
BEYOND = (ArithmeticError, RecursionError)
"""What numbers that are too large, and files that are too deep, lead to."""
DOCUMENTS = (
    *("envelope.json", "explanation.json", "table.json"),
    *("study.json", "bias.json", "comparison.json"),
)
"""The documents that a folder can be verified by; the first that is there is."""


def verify_alone(
    result: str | Path, against: str | Path | None = None, background: str | Path | None = None
) -> Verification:
    """Check what a result says by independent code: `hornlens.verify` without writing it again."""
    path = document_in(Path(result))
    content = read_json(path)
    if isinstance(content, dict) and "rules" not in content and "envelope" in content:
        content = content["envelope"]  # a table.json: up to 0.2 there was no other file
    file: File | Session | None = None
    if against is not None:
        file = _read_against(Path(against), content)
    return verify_content(content, path, file, None if background is None else Path(background))


def _read_against(path: Path, content: Any) -> File | Session:
    """Read what a result is held against: a session, or else a formula or a table."""
    if path.suffix.lower() == ".json":
        kept = read_json(path)
        if not isinstance(kept, dict) or "attributes" not in kept:  # no context either
            return Session.read(path)
    try:
        return File.read(path, content if isinstance(content, dict) else None)
    except Wrong as wrong:
        raise InputError(f"does not fit the result: {wrong}", path) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise InputError("does not fit the result", path) from None


def document_in(path: Path) -> Path:
    """Return the document of a result: that in a folder, or the file itself."""
    if not path.is_dir():
        return path
    there = (path / name for name in DOCUMENTS if (path / name).is_file())
    return next(there, path / "envelope.json")


def verify_content(
    content: Any, path: Path, file: File | Session | None = None, background: Path | None = None
) -> Verification:
    """Check the contents of an envelope.json, or of an explanation.json."""
    notes = Notes([], [])
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


def _check(
    content: Any, file: File | Session | None, background: Path | None, notes: Notes
) -> None:
    if content.get("kind") == "classifier" or "classifier" in content:
        if file is not None:
            raise InputError("is of a classifier: there is nothing to hold it against")
        from hornlens.verifying.classifying.check import check_classifier

        checked, not_checked = check_classifier(content)
        notes.checked.extend(checked)
        notes.not_checked.extend(not_checked)
        return
    if not isinstance(content.get("format", 0), int) or content.get("format", 0) > FORMAT:
        raise InputError("was written by a newer hornlens: upgrade hornlens")
    if "rules" not in content and "cnf" in content and isinstance(file, File):
        notes.checked.append(check_clauses(content, file))
        return
    if "rules" not in content:
        raise InputError("has no rules: there is nothing to verify")
    claim = Claim.of(content["certificate"])
    with_ledger = "answers" in content and "probe" in content  # which names what is not checked
    if not with_ledger and ("chance" in content or "disparities" in content):
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
        check_answers(content, space, listed, notes)
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
    notes: Notes,
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
    notes: Notes,
) -> None:
    if file.names != space.names:
        raise Wrong("variables: not those of the file")
    if background is not None:
        if set(listed) - space.own != file.background(background) - space.own:
            raise Wrong("background: not that of the file")
        notes.checked.append("background: that of the file")
    elif set(listed) - space.own:
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
            if _size(space) <= WIDE:
                grid = Grid(space.axes, len(space.names))
                inside = grid.everything & ~grid.breaking_any(listed)
                check_left_over(content, envelope, grid, inside, file.positive(grid, inside))
            else:
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
        check_summaries(counted, envelope, target, notes)
    lines = content["readable"]
    for number, (rule, line) in enumerate(zip(envelope.readable, lines, strict=True), 1):
        support = file.support(rule[0])
        if line.get("support") not in (None, support) or (file.rows and line["support"] is None):
            raise Wrong(f"readable rule {number}: support is {support}, not {line['support']}")
    checked, not_checked = check_beside(content, envelope, file)
    notes.checked.extend(checked)
    notes.not_checked.extend(not_checked)


def _size(space: Space) -> int:
    return prod(map(len, space.axes))
