"""Judging a rule about a classifier: by the cells that its conditions touch, and by its trees.

Names of a rule are conditions about columns, or classes. What breaks a rule are inputs that meet
its conditions, with a class: so a rule becomes some searches, each for an input of a box and of one
of some classes. If none finds one, and all was looked at, the rule holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import Explained
from hornlens.classifiers.reading import ReadRule, meant_rule, parsed_rule
from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import GridCells, Levels, cells_at
from hornlens.limits import Stopped
from hornlens.logic.named import NamedRule
from hornlens.logic.warrants import OPEN, PROVED, Warrant
from hornlens.results.analysis.judging import SHOWN, Exceptions, Judgement
from hornlens.results.analysis.truth import Truth
from hornlens.results.documents.checks import ShownAnswer
from hornlens.targets.classifiers.answering import NotKept
from hornlens.targets.classifiers.boxes import NO_VALUE, exactly, levels_of, opposites
from hornlens.targets.classifiers.cases import Case
from hornlens.targets.classifiers.conditions import (
    ParsedRule,
    conditions_in,
    replaced,
)
from hornlens.targets.classifiers.features import Feature

TRIED = 100
"""In so many cells, the model itself is asked for an input that breaks a rule."""
BINNED_ALONE = "the binned model breaks it, but no input is known that does"


class _Witness(NamedTuple):
    """What a search came to: an input that breaks the rule, none (and why), or open."""

    outcome: Literal["broken", "none", "open"]
    why: str = ""
    shown: ShownAnswer | None = None


def judge_by_cells(result: Explained, rule: NamedRule, owner: Explained | None = None) -> Judgement:
    """Return what is known of a rule over the inputs that meet its conditions.

    Thresholds of a rule of another classifier, its `owner`, are those that it shows so.
    """
    meant = meant_rule(result, rule)
    judgement = _judged(result, meant, owner)
    if meant == rule:
        return judgement
    return replace(judgement, finding=f"{judgement.finding} Read as: {meant}.")


def _judged(result: Explained, rule: NamedRule, owner: Explained | None) -> Judgement:
    parsed = parsed_rule(result, rule)
    if owner is not None:
        columns = {feature.name: feature for feature in owner.binned.every}
        meant = replaced(parsed.given, lambda one: exactly(one, columns[one.name]))
        parsed = ParsedRule(meant, parsed.follows)
    read = ReadRule.of(result, parsed)
    if read.unseen:
        return Judgement(Truth("open"), f"Not known: no row of X has a missing {read.unseen[0]}.")
    small = _small(result, read.given)
    if not small:
        return Judgement(Truth("vacuous", PROVED), "No input meets its conditions.")
    of = sum(result.labelled.count_in(box) for box in small)
    # Rules of others are compared over the cells, whatever lies between the points.
    results = [_search(result, case, owner is None) for case in read.exceptions]
    shown = next((one.shown for one in results if one.shown is not None), None)
    if shown is not None:
        finding = f"The model says {shown.said} where it should not."
        return Judgement(Truth("broken"), finding, (shown,), 1, of)
    if all(one.outcome == "none" for one in results):
        why = next((one.why for one in results if one.why), "")
        finding = why or f"Each of {of:,} cells that it speaks of agrees."
        vacuous = _is_vacuous(result, read, small)
        return Judgement(Truth("vacuous" if vacuous else "holds", PROVED), finding, of=of)
    if why := next((one.why for one in results if one.outcome == "open" and one.why), ""):
        return Judgement(Truth("open"), f"Not proved: {why}.", of=of)
    warrant = _listed_warrant(result, small, read)
    if warrant.proved:
        return Judgement(Truth("holds", PROVED), f"Each of {of:,} cells agrees.", of=of)
    if warrant.known:
        return Judgement(Truth("tested", warrant), f"Not proved. {warrant.sentence}", of=of)
    asked = of - sum(result.labelled.open_in(box) for box in small)
    finding = f"Not proved: none of {asked:,} cells that were asked breaks it."
    return Judgement(Truth("open"), finding, of=of)


def exceptions_by_cells(result: Explained, rule: NamedRule) -> Exceptions:
    """Count the asked cells that break a rule: those whose points meet its conditions."""
    read = ReadRule.of(result, parsed_rule(result, meant_rule(result, rule)))
    every = result.labelled.count_in(tuple(axis.whole for axis in result.binned.axes))
    of = len(_cells_meeting(result, read.given, every))
    breaking = _cells_meeting(result, read.exceptions, every)
    return Exceptions(
        len(breaking),
        of,
        (isinstance(result.labelled, GridCells) and not result.labelled.open)
        or result.certificate.settled,
        f"{of - len(breaking):,} of {of:,} cells that it speaks of agree.",
        tuple(_shown_cell(result, cell) for cell in breaking[:SHOWN]),
        "not all cells were asked",
    )


# --- reading ---


def _small(result: Explained, cases: Sequence[Case]) -> list[Box]:
    """Return boxes without a common cell that have all cells in which a case can be met."""
    apart: list[Box] = []
    for case in cases:
        boxes = case.boxes(result.binned.every)
        parts = [tuple(box[place] for place in result.binned.telling) for box in boxes]
        for other in tuple(apart):
            parts = [rest for part in parts for rest in _without(part, other)]
        apart += parts
    return apart


def _without(box: Box, other: Box) -> list[Box]:
    """Return boxes without a common cell that have the cells of a box that are not in another."""
    if any(
        high < first or last < low for (low, high), (first, last) in zip(box, other, strict=True)
    ):
        return [box]
    rest: list[Box] = []
    inner = list(box)
    for axis, ((low, high), (first, last)) in enumerate(zip(box, other, strict=True)):
        for part in ((low, first - 1), (last + 1, high)):
            if part[0] <= part[1]:
                rest.append((*inner[:axis], part, *inner[axis + 1 :]))
        inner[axis] = (max(low, first), min(high, last))
    return rest


def _listed_warrant(result: Explained, boxes: Sequence[Box], read: ReadRule) -> Warrant:
    """Return what draws show of a rule that is listed; a special case is proved if that one is.

    What was shown of the cells of a box says nothing of a part of them.
    """
    drawn = result.certificate.trial or result.certificate.sift
    if drawn is None or not read.is_plain or len(boxes) > 1:
        return OPEN
    (box,) = boxes
    for row in result.rules:
        if row.box is None or read.wanted != 1 << (row.place or 0):
            continue
        if row.box == box or (row.warrant.proved and _lies_in(box, row.box)):
            return row.warrant
    return OPEN


def _lies_in(box: Box, other: Box) -> bool:
    """Say whether a box is a part of another."""
    return all(c <= a and b <= d for (a, b), (c, d) in zip(box, other, strict=True))


def _is_vacuous(result: Explained, read: ReadRule, boxes: Sequence[Box]) -> bool:
    """Return whether nothing occurs that a rule speaks of, or always what it says and no else."""
    labelled = result.labelled
    if not isinstance(labelled, GridCells) or labelled.open:
        return False
    if not _cells_meeting(result, read.given, 1, points=False).size and result.binned.features:
        return True
    has_conditions = bool(conditions_in(read.rule.given))
    plain = has_conditions and read.is_plain and read.wanted & (read.wanted - 1) == 0
    return plain and labelled.classes == read.wanted


# --- searching ---


def _search(result: Explained, case: Case, inside_bins: bool) -> _Witness:
    """Look for an input of a case.

    With `inside_bins`, cells do not stand for a part of a bin.
    """
    small = _small(result, [case])
    if not small:
        return _Witness("none")
    labelled, classes = result.labelled, case.classes
    if any(labelled.classes_in(box) & classes for box in small):
        witness = _among_cells(result, case)
        if witness.outcome != "none":
            return witness
    if inside_bins and not result.exact_bins:
        parted = _parts_a_bin(result, case)
        if parted is not None:
            return _inside_bins(result, case, parted)
    if isinstance(labelled, GridCells) and not any(map(labelled.open_in, small)):
        return _Witness("none")
    if result.vote is not None:
        try:
            cell, settled = result.vote.any_of(case.masks(result.binned.features), classes)
        except (NotKept, Stopped):
            cell, settled = None, False
        if cell is not None:
            return _asked_in(result, case, cell[None, :])
        if settled and result.exact_bins:
            return _Witness("none", f"Proved for {result.certificate.scope.inputs}.")
    of = sum(map(labelled.count_in, small))
    if result.certificate.settled and of:
        return _Witness(
            "none", f"Each of {of:,} cells that were asked and that it speaks of agrees."
        )
    return _Witness("open")


def _among_cells(result: Explained, case: Case) -> _Witness:
    """Look among the cells that were asked, at first where the point itself meets conditions."""
    own = _cells_meeting(result, [case], 1)
    if len(own):
        return _Witness("broken", "", _shown_cell(result, own[0]))
    able = _cells_meeting(result, [case], TRIED, points=False)
    return _asked_in(result, case, able) if len(able) else _Witness("none")


def _parts_a_bin(result: Explained, case: Case) -> str | None:
    """Return a column of which a case asks for a part of a bin: cells say nothing of that."""
    for feature in result.binned.every:
        if feature.cuts is None or feature.name not in case.tests:
            continue
        wholly = np.zeros(feature.size, dtype=np.bool_)
        for conditions in case.tests[feature.name]:
            own = np.ones(feature.size, dtype=np.bool_)
            for one in conditions:
                own &= levels_of(one, feature)
                for other in opposites(one, feature):
                    own &= ~levels_of(other, feature)
            wholly |= own
        if (case.levels(feature) & ~wholly).any():
            return feature.name
    return None


def _inside_bins(result: Explained, case: Case, column: str) -> _Witness:
    """Look for an input where a case asks for a part of a bin: the model itself is asked."""
    anything = Case(case.tests, (1 << len(result.classes)) - 1)
    if not all(_fits(case, feature, False).any() for feature in result.binned.every):
        return _Witness("none", "No input meets its conditions.")
    cells = _cells_meeting(result, [anything], TRIED, points=False)
    asked = _asked_in(result, case, cells) if len(cells) else _Witness("open")
    if asked.outcome == "broken":
        return asked
    return _Witness("open", f"it asks for a part of a bin of {column}, and no input breaks it")


def _asked_in(result: Explained, case: Case, cells: Levels) -> _Witness:
    """Return an input of some cells that a case speaks of, and what the model says of it."""
    binned, classes = result.binned, case.classes
    columns = binned.columns(cells)
    for place, feature in enumerate(binned.every):
        if feature.name not in case.tests:
            continue
        axis = binned.telling.index(place) if place in binned.telling else None
        levels = [0] * len(cells) if axis is None else cells[:, axis].tolist()
        values = [case.value(feature, level) for level in levels]
        if any(value is NO_VALUE for value in values):
            return _Witness("open")
        column = np.empty(len(cells), dtype=columns[place].dtype)
        column[:] = values
        columns[place] = column
    try:
        said = binned.ask(cells) if result.exact_bins else binned.classifier.decide(columns)
    except (NotKept, Stopped):
        return _Witness("open", "only the model could tell")
    hits = np.flatnonzero(_is_one_of(result, said, classes))
    if not len(hits):
        return _Witness("open", BINNED_ALONE)
    row = int(hits[0])
    values = [column[row] for column in columns]
    shown = dict(zip(result.feature_names, map(_plain, values), strict=True))
    return _Witness(
        "broken", "", ShownAnswer.of_row(shown, binned.classifier.labels[int(said[row])])
    )


# --- cells ---


def _cells_meeting(
    result: Explained, cases: Sequence[Case], most: int, points: bool = True
) -> Levels:
    """Return the first cells that were asked and that cases speak of, each of them once.

    With `points`, their points meet the conditions; else some value of each level does.
    """
    parts = [_cells_of(result, case, most, points) for case in cases]
    if len(parts) == 1:
        return parts[0]
    every = np.concatenate([np.zeros((0, len(result.binned.features)), dtype=np.intp), *parts])
    return np.unique(every, axis=0)[:most] if every.shape[1] else every[:1]


def _cells_of(result: Explained, case: Case, most: int, points: bool) -> Levels:
    binned, labelled = result.binned, result.labelled
    fits = [_fits(case, feature, points) for feature in binned.every]
    silent = (own for place, own in enumerate(fits) if place not in binned.telling)
    telling = [fits[place] for place in binned.telling]
    if not all(own.all() for own in silent):
        return np.zeros((0, len(telling)), dtype=np.intp)
    if not isinstance(labelled, GridCells):
        inside = _is_one_of(result, labelled.labels, case.classes)
        for axis, own in enumerate(telling):
            inside &= own[labelled.cells[:, axis]]
        return labelled.cells[np.flatnonzero(inside)[:most]]
    inside = _is_one_of(result, labelled.labels, case.classes)
    for axis, own in enumerate(telling):
        if not own.all():
            inside &= own.reshape([-1 if at == axis else 1 for at in range(inside.ndim)])
    return cells_at(np.flatnonzero(inside.ravel())[:most], inside.shape)


def _fits(case: Case, feature: Feature, points: bool) -> NDArray[np.bool_]:
    """Say of each level whether its point, or some value, is what a case asks for."""
    if feature.name not in case.tests:
        return np.ones(feature.size, dtype=np.bool_)
    values = [case.value(feature, level) for level in range(feature.size)]
    if not points:
        return np.array([value is not NO_VALUE for value in values])
    pairs = zip(values, feature.points, strict=True)
    return np.array([value is point or value == point for value, point in pairs])


def _is_one_of(result: Explained, labels: NDArray[Any], classes: int) -> NDArray[np.bool_]:
    """Say of each label whether it is one of some classes; what is open or outside is none."""
    table = [bool(classes >> place & 1) for place in range(len(result.classes))]
    found: NDArray[np.bool_] = np.array([*table, False, False])[labels]
    return found


def _shown_cell(result: Explained, cell: Levels) -> ShownAnswer:
    """Return what the model says of the point of a cell."""
    said = int(result.labelled.at(cell[None, :])[0])
    return ShownAnswer.of_row(
        result.describe_cell(cell.tolist()), result.binned.classifier.labels[said]
    )


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
