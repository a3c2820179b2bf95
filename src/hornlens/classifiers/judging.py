"""Judging a rule about a classifier: by the cells that its conditions touch, and by its trees.

Names of a rule are conditions about columns, or classes. What breaks a rule are inputs that meet
its conditions, with a class: so a rule becomes some searches, each for an input of a box and of one
of some classes. If none finds one, and all was looked at, the rule holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import Explained
from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Box
from hornlens.exact.boxes.cells import GridCells, Levels, cells_at
from hornlens.limits import Stopped
from hornlens.logic.named import NamedRule
from hornlens.logic.warrants import OPEN, PROVED, Warrant
from hornlens.results.analysis.judging import SHOWN, Exceptions, Judgement
from hornlens.results.analysis.truth import Truth
from hornlens.results.documents.checks import ShownAnswer
from hornlens.targets.classifiers.answering import NotKept
from hornlens.targets.classifiers.boxes import (
    NO_VALUE,
    box_of,
    exactly,
    levels_of,
    never_missing,
    opposites,
    value_in,
)
from hornlens.targets.classifiers.conditions import Condition, parse_conditions

TRIED = 100
"""In so many cells, the model itself is asked for an input that breaks a rule."""
BINNED_ALONE = "the binned model breaks it, but no input is known that does"


@dataclass(frozen=True)
class _Read:
    """A rule in conditions and classes (bits): what is given, and what follows from it."""

    given: tuple[Condition, ...]
    classes: int
    follows: tuple[Condition, ...]
    wanted: int

    def searches(self, result: Explained) -> list[tuple[tuple[Condition, ...], int]]:
        """Return what breaks the rule: conditions, and classes of which one is said there."""
        by_name = {feature.name: feature for feature in result.binned.every}
        searches = [(self.given, self.classes & ~self.wanted)]
        for one in self.follows:
            for other in opposites(one, by_name[one.name]):
                searches.append(((*self.given, other), self.classes & self.wanted))
        return [(conditions, classes) for conditions, classes in searches if classes]


class _Witness(NamedTuple):
    """What a search came to: an input that breaks the rule, none (and why), or open."""

    outcome: Literal["broken", "none", "open"]
    why: str = ""
    shown: ShownAnswer | None = None


def judge_by_cells(result: Explained, rule: NamedRule, owner: Explained | None = None) -> Judgement:
    """Return what is known of a rule over the inputs that meet its conditions.

    Thresholds of a rule of another classifier, its `owner`, are those that it shows so.
    """
    meant = _meant(result, rule)
    judgement = _judged(result, meant, owner)
    if meant == rule:
        return judgement
    return replace(judgement, finding=f"{judgement.finding} Read as: {meant}.")


def _judged(result: Explained, rule: NamedRule, owner: Explained | None) -> Judgement:
    read = _read(result, rule)
    if owner is not None:
        columns = {feature.name: feature for feature in owner.binned.every}
        read = replace(read, given=tuple(exactly(one, columns[one.name]) for one in read.given))
    small = _small(result, read.given)
    known = (Condition(one.name, "missing") for one in read.follows if one.sign == "known")
    unseen = never_missing((*read.given, *known), result.binned.every)
    if unseen is not None:
        return Judgement(Truth("open"), f"Not known: no row of X has a missing {unseen}.")
    if small is None:
        return Judgement(Truth("vacuous", PROVED), "No input meets its conditions.")
    of = result.labelled.count_in(small)
    # Rules of others are compared over the cells, whatever lies between the points.
    results = [_search(result, *each, owner is None) for each in read.searches(result)]
    shown = next((found.shown for found in results if found.shown is not None), None)
    if shown is not None:
        finding = f"The model says {shown.said} where it should not."
        return Judgement(Truth("broken"), finding, (shown,), 1, of)
    if all(found.outcome == "none" for found in results):
        why = next((found.why for found in results if found.why), "")
        finding = why or f"Each of {of:,} cells that it speaks of agrees."
        vacuous = _is_vacuous(result, read, small)
        return Judgement(Truth("vacuous" if vacuous else "holds", PROVED), finding, of=of)
    if why := next((found.why for found in results if found.outcome == "open" and found.why), ""):
        return Judgement(Truth("open"), f"Not proved: {why}.", of=of)
    warrant = _listed_warrant(result, small, read)
    if warrant.proved:
        return Judgement(Truth("holds", PROVED), f"Each of {of:,} cells agrees.", of=of)
    if warrant.known:
        return Judgement(Truth("tested", warrant), f"Not proved. {warrant.sentence}", of=of)
    asked = of - result.labelled.open_in(small)
    finding = f"Not proved: none of {asked:,} cells that were asked breaks it."
    return Judgement(Truth("open"), finding, of=of)


def exceptions_by_cells(result: Explained, rule: NamedRule) -> Exceptions:
    """Count the asked cells that break a rule: those whose points meet its conditions."""
    read = _read(result, _meant(result, rule))
    whole = tuple(axis.whole for axis in result.binned.axes)
    given, follows = (_fits(result, each)[0] for each in (read.given, read.follows))
    both = [one & other for one, other in zip(given, follows, strict=True)]
    every = result.labelled.count_in(whole)
    spoken = _cells_of(result, whole, read.classes, given, every)
    agreeing = len(_cells_of(result, whole, read.classes & read.wanted, both, every))
    of, broken = len(spoken), len(spoken) - agreeing
    breaking = _cells_of(result, whole, read.classes & ~read.wanted, given, SHOWN)
    return Exceptions(
        broken,
        of,
        (isinstance(result.labelled, GridCells) and not result.labelled.open)
        or result.certificate.settled,
        f"{agreeing:,} of {of:,} cells that it speaks of agree.",
        tuple(_shown_cell(result, cell) for cell in breaking),
        "not all cells were asked",
    )


# --- reading ---


def _meant(result: Explained, rule: NamedRule) -> NamedRule:
    """Return a rule whose right side is ⊤ or ⊥ as one of the class that is called True or False.

    "age < 30 → True" is how a rule of a Boolean class is shown, and nobody requires ⊤. That
    something never has a class names one on the left.
    """
    if rule.consequent or (
        rule.consequent is None
        and any(_class_of(result, name) is not None for name in rule.antecedent)
    ):
        return rule
    word = "false" if rule.consequent is None else "true"
    labels = [label for label in result.binned.classifier.labels if label.lower() == word]
    return replace(rule, consequent=(f"class = {labels[0]}",)) if labels else rule


def _read(result: Explained, rule: NamedRule) -> _Read:
    """Return what the names of a rule mean: conditions about columns, or classes."""
    names, every = result.feature_names, (1 << len(result.binned.classifier.labels)) - 1
    classes, texts = every, []
    for name in rule.antecedent:
        place = _class_of(result, name)
        if place is None or _conditions(name, names):
            texts.append(name)
        else:
            classes &= 1 << place
    given = parse_conditions(" and ".join(texts), names)
    follows: list[Condition] = []
    wanted = 0 if rule.consequent is None else every
    for name in rule.consequent or ():
        place, conditions = _class_of(result, name), _conditions(name, names)
        if place is not None:
            wanted &= 1 << place
        elif conditions is not None:
            follows += conditions
        else:
            there = ", ".join(result.binned.classifier.labels[:8])
            raise InputError(f"there is no class {name!r} (there are: {there})")
    return _Read(given, classes, tuple(follows), wanted)


def _class_of(result: Explained, name: str) -> int | None:
    """Return the place of the class that a name is, as "yes" or "class = yes"."""
    labels = result.binned.classifier.labels
    for begin in ("", f"{result.target} = ", "class = "):
        if name.startswith(begin) and name[len(begin) :] in labels:
            return labels.index(name[len(begin) :])
    return None


def _conditions(text: str, names: Sequence[str]) -> tuple[Condition, ...] | None:
    try:
        return parse_conditions(text, names)
    except InputError:
        return None


def _small(result: Explained, conditions: Sequence[Condition]) -> Box | None:
    """Return the cells in which conditions can be met; None if they cannot be."""
    box = box_of(conditions, result.binned.every)
    return None if box is None else tuple(box[place] for place in result.binned.telling)


def _listed_warrant(result: Explained, box: Box, read: _Read) -> Warrant:
    """Return what draws show of a rule that is listed; a special case is proved if that one is.

    What was shown of the cells of a box says nothing of a part of them.
    """
    drawn = result.certificate.trial or result.certificate.sift
    if drawn is None or read.follows or read.classes != (1 << len(result.classes)) - 1:
        return OPEN
    for row in result.rules:
        if row.box is None or read.wanted != 1 << (row.place or 0):
            continue
        if row.box == box or (row.warrant.proved and _lies_in(box, row.box)):
            return row.warrant
    return OPEN


def _lies_in(box: Box, other: Box) -> bool:
    """Say whether a box is a part of another."""
    return all(c <= a and b <= d for (a, b), (c, d) in zip(box, other, strict=True))


def _is_vacuous(result: Explained, read: _Read, small: Box) -> bool:
    """Return whether nothing occurs that a rule speaks of, or always what it says and no else."""
    if not isinstance(result.labelled, GridCells) or result.labelled.open:
        return False
    if not result.labelled.classes_in(small) & read.classes:
        return True
    plain = bool(read.given) and not read.follows and read.wanted & (read.wanted - 1) == 0
    return plain and result.labelled.classes == read.wanted


# --- searching ---


def _search(
    result: Explained, conditions: tuple[Condition, ...], classes: int, inside_bins: bool
) -> _Witness:
    """Look for an input that meets conditions and is of one of some classes.

    With `inside_bins`, cells do not stand for a part of a bin.
    """
    small = _small(result, conditions)
    if small is None:
        return _Witness("none")
    labelled = result.labelled
    if labelled.classes_in(small) & classes:
        found = _among_cells(result, conditions, small, classes)
        if found.outcome != "none":
            return found
    if inside_bins and not result.exact_bins:
        parted = _parts_a_bin(result, conditions)
        if parted is not None:
            return _inside_bins(result, conditions, small, classes, parted)
    if isinstance(labelled, GridCells) and not labelled.open_in(small):
        return _Witness("none")
    if result.vote is not None:
        try:
            cell, settled = result.vote.any_of(result.vote.mask(small), classes)
        except (NotKept, Stopped):
            cell, settled = None, False
        if cell is not None:
            return _asked_in(result, conditions, cell[None, :], classes)
        if settled and result.exact_bins:
            return _Witness("none", f"Proved for {result.certificate.scope.inputs}.")
    of = labelled.count_in(small)
    if result.certificate.settled and of:
        return _Witness(
            "none", f"Each of {of:,} cells that were asked and that it speaks of agrees."
        )
    return _Witness("open")


def _among_cells(
    result: Explained, conditions: tuple[Condition, ...], small: Box, classes: int
) -> _Witness:
    """Look among the cells that were asked, at first where the point itself meets conditions."""
    points, values = _fits(result, conditions)
    own = _cells_of(result, small, classes, points, 1)
    if len(own):
        return _Witness("broken", "", _shown_cell(result, own[0]))
    able = _cells_of(result, small, classes, values, TRIED)
    return _asked_in(result, conditions, able, classes) if len(able) else _Witness("none")


def _parts_a_bin(result: Explained, conditions: Sequence[Condition]) -> str | None:
    """Return a column of which conditions ask for a part of a bin: cells say nothing of that."""
    for feature in result.binned.every:
        own = [one for one in conditions if one.name == feature.name]
        if feature.cuts is None or not own:
            continue
        met = np.ones(feature.size, dtype=np.bool_)
        missed = np.zeros(feature.size, dtype=np.bool_)
        for one in own:
            met &= levels_of(one, feature)
            for other in opposites(one, feature):
                missed |= levels_of(other, feature)
        if (met & missed).any():
            return feature.name
    return None


def _inside_bins(
    result: Explained, conditions: tuple[Condition, ...], small: Box, classes: int, column: str
) -> _Witness:
    """Look for an input where conditions ask for a part of a bin: the model itself is asked."""
    every, fits = (1 << len(result.classes)) - 1, _fits(result, conditions)[1]
    if not all(own.any() for own in fits):
        return _Witness("none", "No input meets its conditions.")
    cells = _cells_of(result, small, every, fits, TRIED)
    asked = _asked_in(result, conditions, cells, classes) if len(cells) else _Witness("open")
    if asked.outcome == "broken":
        return asked
    return _Witness("open", f"it asks for a part of a bin of {column}, and no input breaks it")


def _asked_in(
    result: Explained, conditions: tuple[Condition, ...], cells: Levels, classes: int
) -> _Witness:
    """Return an input of some cells that meets conditions, and what the model says of it."""
    binned, names = result.binned, {one.name for one in conditions}
    columns = binned.columns(cells)
    for place, feature in enumerate(binned.every):
        if feature.name not in names:
            continue
        axis = binned.telling.index(place) if place in binned.telling else None
        levels = [0] * len(cells) if axis is None else cells[:, axis].tolist()
        values = [value_in(feature, level, conditions) for level in levels]
        if any(value is NO_VALUE for value in values):
            return _Witness("open")
        column = np.empty(len(cells), dtype=columns[place].dtype)
        column[:] = values
        columns[place] = column
    try:
        said = binned.ask(cells) if result.exact_bins else binned.classifier.decide(columns)
    except (NotKept, Stopped):
        return _Witness("open", BINNED_ALONE)
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

Fits: TypeAlias = list[NDArray[np.bool_]]
"""For each column, which of its levels will do."""


def _fits(result: Explained, conditions: Sequence[Condition]) -> tuple[Fits, Fits]:
    """Say of each level of each column whether its point, and whether a value, meets conditions."""
    points, values = [], []
    for feature in result.binned.every:
        met = [value_in(feature, level, conditions) for level in range(feature.size)]
        pairs = zip(met, feature.points, strict=True)
        points.append(np.array([value is point or value == point for value, point in pairs]))
        values.append(np.array([value is not NO_VALUE for value in met]))
    return points, values


def _cells_of(result: Explained, box: Box, classes: int, fits: Fits, most: int) -> Levels:
    """Return the first cells of a box that were asked, are of some classes, and fit."""
    binned, labelled = result.binned, result.labelled
    silent = (own for place, own in enumerate(fits) if place not in binned.telling)
    telling = [fits[place] for place in binned.telling]
    if not all(own.all() for own in silent):
        return np.zeros((0, len(telling)), dtype=np.intp)
    if not isinstance(labelled, GridCells):
        inside = labelled.inside(box) & _is_one_of(result, labelled.labels, classes)
        for axis, own in enumerate(telling):
            inside &= own[labelled.cells[:, axis]]
        return labelled.cells[np.flatnonzero(inside)[:most]]
    ranges = [slice(low, high + 1) for low, high in box]
    inside = _is_one_of(result, labelled.labels[tuple(ranges)], classes)
    for axis, (own, part) in enumerate(zip(telling, ranges, strict=True)):
        if not own[part].all():
            inside &= own[part].reshape([-1 if at == axis else 1 for at in range(inside.ndim)])
    first = cells_at(np.flatnonzero(inside.ravel())[:most], inside.shape)
    return first + np.array([low for low, _ in box], dtype=np.intp)


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
