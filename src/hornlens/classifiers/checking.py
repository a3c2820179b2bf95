"""Requirements held against a classifier's rules: the same files and outcomes as for results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hornlens.classifiers.boxes import box_of
from hornlens.classifiers.conditions import parse_conditions
from hornlens.classifiers.explanation import Explained, NotKept
from hornlens.classifiers.flips import flips_of
from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import GridCells
from hornlens.logic.named import NamedRule
from hornlens.results.checks import Checked, CheckOutcome, Flip, ShownAnswer, Status
from hornlens.results.claims import FlipPair
from hornlens.results.requirements import (
    CertaintyRequirement,
    Invariance,
    Requirement,
    Requirements,
    RuleCount,
    RuleRequirement,
)

STRENGTH = {"exact": 2, "bounded": 2, "pac": 1}


def check_explanation(result: Explained, requirements: Requirements, name: str = "") -> Checked:
    """Say of every requirement whether a classifier obeys it, and what shows that."""
    path = requirements.path or None
    outcomes = tuple(_outcome(result, each, path) for each in requirements.each)
    return Checked(name or result.name, outcomes, requirements.path)


def _outcome(result: Explained, required: Requirement, path: str | None) -> CheckOutcome:
    match required:
        case RuleRequirement():
            return _rule(result, required, path)
        case Invariance():
            return _invariance(result, required)
        case CertaintyRequirement():
            claim = result.certificate
            passed = STRENGTH[claim.kind] >= STRENGTH[required.at_least]
            return _plain("at_least", required.at_least, passed, str(claim), required.line)
        case RuleCount():
            count, low, high = len(result.found), required.at_least, required.at_most
            passed = (low is None or low <= count) and (high is None or count <= high)
            said = f"There {'is 1 rule' if count == 1 else f'are {count:,} rules'}."
            return _plain("rules", f"{low or 0} to {high or 'any'}", passed, said, required.line)


def _plain(kind: str, what: str, passed: bool, finding: str, line: int | None) -> CheckOutcome:
    return CheckOutcome(
        kind=kind,  # type: ignore[arg-type]
        what=what,
        passed=passed,
        status="holds" if passed else "broken",
        finding=finding,
        line=line,
    )


def _rule(result: Explained, required: RuleRequirement, path: str | None) -> CheckOutcome:
    status, finding, shown, of = _truth(result, required.rule, path, required.line)
    holds = status in ("holds", "vacuous")
    return CheckOutcome(
        kind=required.kind,
        what=str(required.rule),
        passed=status != "unknown" and holds == (required.kind == "require"),
        status=status,
        finding=finding,
        because=required.because,
        line=required.line,
        count=len(shown),
        of=of,
        answers=shown,
    )


def _truth(
    result: Explained, rule: NamedRule, path: str | None, line: int | None
) -> tuple[Status, str, tuple[ShownAnswer, ...], int]:
    """Say whether a rule holds of every cell that its conditions touch."""
    labels = result.binned.classifier.labels
    try:
        conditions = parse_conditions(" and ".join(rule.antecedent), result.feature_names)
        box = box_of(conditions, result.binned.every)
        wanted = _classes(rule.consequent, labels)
    except InputError as error:
        raise InputError(error.message, path, line) from None
    if box is None:
        return "vacuous", "No input meets its conditions.", (), 0
    small = tuple(box[place] for place in result.binned.telling)
    labelled, of = result.labelled, result.labelled.count_in(small)
    other = labelled.classes_in(small) & ~wanted
    if other:
        cell = _cell_of(result, small, other)
        shown = _shown(result, cell)
        return "broken", f"The model says {shown.said} where it should not.", (shown,), of
    if isinstance(labelled, GridCells):
        return "holds", f"Each of {of:,} cells that it speaks of agrees.", (), of
    if result.vote is not None:
        try:
            broken, settled = result.vote.any_of(result.vote.mask(small), ~wanted)
        except NotKept:
            broken, settled = None, False
        if broken is not None:
            shown = _shown(result, broken.tolist())
            return "broken", f"The model says {shown.said} where it should not.", (shown,), of
        if settled:
            return "holds", "Proved for every input.", (), of
    if result.certificate.proved and of:
        return (
            "holds",
            f"Each of {of:,} cells that were asked and that it speaks of agrees.",
            (),
            of,
        )
    return "unknown", f"Not proved: none of {of:,} cells that were asked breaks it.", (), of


def _classes(names: Sequence[str] | None, labels: Sequence[str]) -> int:
    if names is None:
        return 0
    bits = (1 << len(labels)) - 1
    for name in names:
        if name not in labels:
            raise InputError(f"there is no class {name!r} (there are: {', '.join(labels[:8])})")
        bits &= 1 << labels.index(name)
    return bits


def _cell_of(result: Explained, box: Box, classes: int) -> list[int]:
    """Return a cell of a box that has one of some classes."""
    labelled = result.labelled
    wanted = [place for place in range(len(result.classes)) if classes >> place & 1]
    if isinstance(labelled, GridCells):
        part = labelled.labels[tuple(slice(low, high + 1) for low, high in box)]
        first = np.argwhere(np.isin(part, wanted))[0]
        return [int(at) + low for at, (low, _) in zip(first, box, strict=True)]
    inside = labelled.inside(box) & np.isin(labelled.labels, wanted)
    found: list[int] = labelled.cells[int(np.argmax(inside))].tolist()
    return found


def _shown(result: Explained, cell: Sequence[int]) -> ShownAnswer:
    row = result.describe_cell(cell)
    said = result.binned.ask(np.asarray(cell, dtype=np.intp)[None, :])[0]
    return ShownAnswer((_in_words(row),), result.binned.classifier.labels[said])


def _in_words(row: object) -> str:
    return ", ".join(f"{name} = {value}" for name, value in dict(row).items())  # type: ignore[call-overload]


def _invariance(result: Explained, required: Invariance) -> CheckOutcome:
    each = [flips_of(result, name) for name in required.attributes]
    shares = [
        one.pairs / one.of_pairs if one.pairs and one.of_pairs else one.rows / max(1, one.of_rows)
        for one in each
    ]
    fine = [
        (share <= required.tolerance) if one.ever else one.proved
        for one, share in zip(each, shares, strict=True)
    ]
    if not required.tolerance:
        fine = [ok and not one.ever for ok, one in zip(fine, each, strict=True)]
    status: Status = "holds" if all(fine) else "broken"
    if status == "broken" and not any(one.ever for one in each):
        status = "unknown"
    pairs = [pair for one in each for pair in one.examples]
    return CheckOutcome(
        kind="invariant",
        what=", ".join(required.attributes),
        passed=all(fine),
        status=status,
        finding=" ".join(one.sentence for one in each),
        because=required.because,
        line=required.line,
        count=sum(one.rows for one in each),
        of=sum(one.of_rows for one in each),
        flips=tuple(_flip(pair) for pair in pairs[:3]),
    )


def _flip(pair: FlipPair) -> Flip:
    return Flip(
        ShownAnswer((_in_words(pair.first),), pair.said_first),
        ShownAnswer((_in_words(pair.second),), pair.said_second),
    )
