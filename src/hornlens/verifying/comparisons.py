"""Comparisons and checks: do they speak of the results that are there, and is what they say so?

Both name the files that they rest on, with their digests. Where these are there, `hornlens.verify`
compares or checks again; here is what independent code can see of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornlens.formats.digests import digest_of
from hornlens.formats.jsonfiles import read_json
from hornlens.verifying.attributes import Rule
from hornlens.verifying.grids import Space, Wrong, breaks, chain
from hornlens.verifying.verify import document_in

if TYPE_CHECKING:
    from hornlens.verifying.documents import DocumentNotes

FATES = ("entailed", "vacuous", "contradicted", "unknown")


def named_file(name: str, document: Path) -> Path | None:
    """Return a file that a document names: from here, or from where the document stands."""
    for base in (Path(), document.parent):
        if name and (base / name).exists():
            return base / name
    return None


def digest_of_text(path: Path) -> str:
    """Return the digest of a file that is no document of ours, such as requirements."""
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def _read_named(line: Mapping[str, Any], document: Path, notes: DocumentNotes) -> Any:
    """Return the result that a line names; None if it is not there. Another one is Wrong."""
    name = line.get("path") or ""
    path = named_file(name, document)
    if path is None or not line.get("digest"):
        notes.missing.append(name or line["name"])
        return None
    content = read_json(document_in(path))
    if digest_of(content) != line["digest"]:
        raise Wrong(f"{name}: has another digest, so it is not the result that this is about")
    return content


# --- comparisons ---


def check_comparison(content: Any, path: Path, notes: DocumentNotes) -> DocumentNotes:
    """Check what becomes of each result's rules in each other one."""
    from hornlens.verifying.ledgers.comparisons import COMPARISON_ALONE

    names = [line["name"] for line in content["results"]]
    if len(set(names)) < len(names) or len(names) < 2:
        raise Wrong("results: fewer than two, or two of one name")
    results = [_read_named(line, path, notes) for line in content["results"]]
    for line, result in zip(content["results"], results, strict=True):
        if result is not None and "weakest" in result["certificate"]:
            _check_kind(line, result)
    kept = dict(zip(names, results, strict=True))
    pairs = [(pair["left"], pair["right"]) for pair in content["comparisons"]]
    first = [(names[0], other) for other in names[1:]]
    every = [(one, other) for i, one in enumerate(names) for other in names[i + 1 :]]
    if pairs not in (every, first):
        raise Wrong("comparisons: not each result with each of the others")
    counted = 0
    for pair in content["comparisons"]:
        left, right = pair["left"], pair["right"]
        for key, owner, other in (
            ("rules_of_left_in_right", left, right),
            ("rules_of_right_in_left", right, left),
        ):
            counted += len(pair[key])
            _check_fates(f"rules of {owner} in {other}", pair[key], kept[owner], kept[other])
    if notes.missing:
        notes.ledger = COMPARISON_ALONE
        return notes
    notes.checked += [
        "results: both are there, with the digests that the comparison names"
        if len(names) == 2
        else f"results: all {len(names)} are there, with the digests that the comparison names",
        f"fates: {counted:,} rules, by what follows from the rules of the other result",
    ]
    return notes


def _check_kind(line: Mapping[str, Any], result: Any) -> None:
    if line["certificate"] != result["certificate"]["kind"]:
        raise Wrong(f"{line['name']}: its certificate is {result['certificate']['kind']}")


def _check_fates(what: str, lines: Sequence[Any], owner: Any, other: Any) -> None:
    for number, line in enumerate(lines, 1):
        if line["fate"] not in FATES or (line["fate"] == "contradicted") != ("witness" in line):
            raise Wrong(f"{what}: rule {number} is contradicted by an answer, or is not")
    plain = [each for each in (owner, other) if each is not None and _has_rules(each)]
    if not plain:
        return
    space = Space.of(plain[0])
    for number, line in enumerate(lines, 1):
        (rule,) = space.rules([line])
        if "witness" in line and not _is_broken(rule, space, line["witness"]):
            raise Wrong(f"{what}: the answer shown does not break rule {number}")
    if owner is not None and _has_rules(owner):
        own = [(line["if"], line["then"]) for line in owner["readable"]]
        if [(line["if"], line["then"]) for line in lines] != own:
            raise Wrong(f"{what}: not the rules of its envelope.json")
    if other is None or not _has_rules(other):
        return
    theirs = Space.of(other)
    known = theirs.rules(other["rules"]) + theirs.rules(other["background"])
    proved = all(
        line.get("warrant", {}).get("kind", "proved") == "proved" for line in other["rules"]
    )
    whole = other["certificate"].get("complete", {}).get("every", False)
    for number, (rule, line) in enumerate(zip(space.rules(lines), lines, strict=True), 1):
        closed = chain(rule[0], known)
        follows = closed is None or (rule[1] is not None and not rule[1] & ~closed)
        fate = line["fate"]
        if (fate == "contradicted" and follows and proved) or (
            whole and proved and not follows and fate in ("entailed", "vacuous")
        ):
            raise Wrong(f"{what}: rule {number} is {fate}, which its rules do not bear out")


def _has_rules(content: Any) -> bool:
    return bool(content.get("rules") is not None and "variables" in content) and (
        "classifier" not in content
    )


def _is_broken(rule: Rule, space: Space, witness: Mapping[str, Any]) -> bool:
    return breaks(space.mask(witness["accepted"]), rule)


# --- checks ---


def check_checks(content: Any, path: Path, notes: DocumentNotes) -> DocumentNotes:
    """Check that the outcomes add up, and that the files named are those that were checked."""
    from hornlens.verifying.ledgers.checks import CHECK_ALONE

    requirements = named_file(content["requirements"], path)
    for line in content["results"]:
        for outcome in line["outcomes"]:
            _check_outcome(line["name"], outcome)
        passed = all(outcome["passed"] for outcome in line["outcomes"])
        if line["passed"] is not passed:
            raise Wrong(f"{line['name']}: passed is {passed}, by its outcomes")
        _read_named({**line, "path": line["name"]}, path, notes)
    passed = all(line["passed"] for line in content["results"])
    if content["passed"] is not passed:
        raise Wrong(f"passed: is {passed}, by the results")
    stated = content.get("requirements_digest")
    if requirements is None or not stated:
        notes.missing.append(content["requirements"] or "the requirements")
    elif digest_of_text(requirements) != stated:
        raise Wrong(f"{content['requirements']}: has another digest: other requirements")
    notes.checked.append("passed: follows from the outcomes")
    if notes.missing:
        notes.ledger = CHECK_ALONE
    else:
        notes.checked.append("files: results and requirements are those that were checked")
    return notes


def _check_outcome(name: str, outcome: Mapping[str, Any]) -> None:
    if type(outcome["passed"]) is not bool:
        raise Wrong(f"{name}: whether {outcome['what']} passed is not said")
    status, kind = outcome["status"], outcome["kind"]
    if kind == "forbid" and outcome["passed"] and status in ("holds", "vacuous"):
        raise Wrong(f"{name}: {outcome['what']} is forbidden, holds, and passed")
    if kind == "require" and outcome["passed"] and status == "broken":
        raise Wrong(f"{name}: {outcome['what']} is required, is broken, and passed")
