"""Requirements held against a classifier's rules: the same files and outcomes as for results."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from hornlens.classifiers.explanation import Explained, NotKept
from hornlens.classifiers.flips import flips_of
from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import GridCells
from hornlens.logic.named import NamedRule
from hornlens.logic.warrants import PROVED
from hornlens.results.analysis.gates import answered, certainty, rule_count, rule_passes
from hornlens.results.analysis.truth import Truth
from hornlens.results.documents.checks import Checked, CheckOutcome, Flip, ShownAnswer, Status
from hornlens.results.documents.claims import FlipPair
from hornlens.results.documents.requirements import (
    Allowance,
    AnsweredShare,
    CertaintyRequirement,
    Invariance,
    Requirement,
    Requirements,
    RuleCount,
    RuleRequirement,
)
from hornlens.targets.classifiers.boxes import box_of
from hornlens.targets.classifiers.conditions import parse_conditions


def check_explanation(result: Explained, requirements: Requirements, name: str = "") -> Checked:
    """Say of every requirement whether a classifier obeys it, and what shows that."""
    path, allow = requirements.path or None, requirements.allow
    found = (_outcome(result, each, path, allow) for each in requirements.each)
    outcomes = tuple(outcome for outcome in found if outcome is not None)
    return Checked(name or result.name, outcomes, requirements.path)


def _outcome(
    result: Explained, required: Requirement, path: str | None, allow: Collection[Allowance]
) -> CheckOutcome | None:
    match required:
        case RuleRequirement():
            return _rule(result, required, path, allow)
        case Invariance():
            return _invariance(result, required, allow)
        case CertaintyRequirement():
            return certainty(required, [result.certificate], allow)
        case RuleCount():
            return rule_count(required, len(result.boxes))
        case AnsweredShare():  # a classifier says a class of every input
            return answered(required, len(result.rows), len(result.rows))


def _rule(
    result: Explained, required: RuleRequirement, path: str | None, allow: Collection[Allowance]
) -> CheckOutcome:
    truth, finding, shown, of = _truth(result, required.rule, path, required.line)
    passed, hint = rule_passes(required, truth, result.certificate.scope.direct, allow)
    status: Status = "unknown" if truth.outcome == "open" else truth.outcome
    return CheckOutcome(
        kind=required.kind,
        what=str(required.rule),
        passed=passed,
        status=status,
        finding=f"{finding} {hint}" if hint and not passed else finding,
        because=required.because,
        line=required.line,
        count=len(shown),
        of=of,
        answers=shown,
    )


def _truth(
    result: Explained, rule: NamedRule, path: str | None, line: int | None
) -> tuple[Truth, str, tuple[ShownAnswer, ...], int]:
    """Return what is known of a rule over the cells that its conditions touch."""
    labels = result.binned.classifier.labels
    try:
        conditions = parse_conditions(" and ".join(rule.antecedent), result.feature_names)
        box = box_of(conditions, result.binned.every)
        wanted = _classes(rule.consequent, labels)
    except InputError as error:
        raise InputError(error.message, path, line) from None
    if box is None:
        return Truth("vacuous", PROVED), "No input meets its conditions.", (), 0
    small = tuple(box[place] for place in result.binned.telling)
    labelled, of = result.labelled, result.labelled.count_in(small)
    other = labelled.classes_in(small) & ~wanted
    if other:
        cell = _cell_of(result, small, other)
        return *_refuted(_shown(result, cell)), of
    if isinstance(labelled, GridCells) and not labelled.open_in(small):
        return Truth("holds", PROVED), f"Each of {of:,} cells that it speaks of agrees.", (), of
    if result.vote is not None:
        try:
            broken, settled = result.vote.any_of(result.vote.mask(small), ~wanted)
        except NotKept:
            broken, settled = None, False
        if broken is not None:
            return *_refuted(_shown(result, broken.tolist())), of
        if settled and result.exact_bins:
            return Truth("holds", PROVED), f"Proved for {result.certificate.scope.inputs}.", (), of
    if result.certificate.settled and of:
        said = f"Each of {of:,} cells that were asked and that it speaks of agrees."
        return Truth("holds", PROVED), said, (), of
    trial = result.certificate.trial
    if trial is not None and _is_listed(result, small, wanted):
        warrant = trial.warrant(of)
        return Truth("tested", warrant), f"Not proved. {warrant.sentence}", (), of
    asked = of - labelled.open_in(small)
    return Truth("open"), f"Not proved: none of {asked:,} cells that were asked breaks it.", (), of


def _refuted(shown: ShownAnswer) -> tuple[Truth, str, tuple[ShownAnswer, ...]]:
    return Truth("broken"), f"The model says {shown.said} where it should not.", (shown,)


def _is_listed(result: Explained, box: Box, wanted: int) -> bool:
    """Return whether a rule is one of those that were tested: its box and its only class."""
    return any(box == rule.box and wanted == 1 << (rule.place or 0) for rule in result.rules)


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


def _invariance(
    result: Explained, required: Invariance, allow: Collection[Allowance]
) -> CheckOutcome:
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
    direct = result.certificate.scope.direct or "surrogate" in allow
    status: Status = "holds" if all(fine) else "broken"
    if status == "broken" and not any(one.ever for one in each):
        status = "unknown"
    pairs = [pair for one in each for pair in one.examples]
    return CheckOutcome(
        kind="invariant",
        what=", ".join(required.attributes),
        passed=all(fine) and direct,
        status=status,
        finding=" ".join(one.sentence for one in each)
        + ("" if direct else " To let rules of a binned model pass, give: allow: [surrogate]."),
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
