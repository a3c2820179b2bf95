"""What envelope.json holds of a classifier: its columns in levels, the cells asked, the rows of X.

Version 0.2 wrote explanation.json instead, which is read for ever.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.formats.certificates import claim_from_json
from hornlens.formats.jsonfiles import read_json
from hornlens.formats.packing import inflated
from hornlens.logic.certificates import Certificate
from hornlens.logic.cuts import Cuts
from hornlens.logic.ranges import say_range
from hornlens.logic.scopes import Agreement, plausible_words
from hornlens.logic.warrants import Warrant
from hornlens.results.documents.codec import RESULT_FORMAT, Codec, check_format
from hornlens.results.documents.flips import Flips

FeatureKind = Literal["number", "whole", "boolean", "category", "ordered"]
OUTSIDE, OPEN = -1, -2
"""What stands for the class of a cell that does not occur, and of one that was not asked."""
MOST_LEVELS = 1 << 16
"""No column may have more levels: they are kept in two bytes."""


@dataclass(frozen=True)
class FeatureDocument:
    """A column in levels: `cuts` with their texts for numbers, `values` for the others."""

    name: str
    kind: FeatureKind
    levels: int
    missing: bool
    points: tuple[Any, ...]
    cuts: tuple[float, ...] | None = None
    texts: tuple[str, ...] | None = None
    after: tuple[int, ...] | None = None
    values: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse levels that do not fit together."""
        if not 1 <= self.levels <= MOST_LEVELS or len(self.points) != self.levels:
            raise ValueError(f"has a column {self.name!r} without a point for each level")
        numbers = self.cuts is not None
        if numbers != (self.kind in ("number", "whole")):
            raise ValueError(f"has a column {self.name!r} whose kind is at odds with its levels")
        if not all(map(is_scalar, self.points)) or (
            numbers and not all(map(is_number, self.points[: self.known]))
        ):
            raise ValueError(f"has a column {self.name!r} with points that are none")
        named = self.in_cuts.bins if numbers else len(self.values or ())
        if named != self.known:
            raise ValueError(f"has a column {self.name!r} whose levels are not all named")

    @property
    def known(self) -> int:
        """How many levels there are beside "missing"."""
        return self.levels - self.missing

    @cached_property
    def in_cuts(self) -> Cuts:
        """Where it is cut; for a column of numbers."""
        try:
            return Cuts(self.cuts or (), self.texts or (), frozenset(self.after or ()))
        except InputError as error:
            raise ValueError(f"has a column {self.name!r}: {error.message}") from None

    def say(self, low: int, high: int) -> str:
        """Return a range of levels as a condition."""
        cuts = None if self.cuts is None else self.in_cuts
        return say_range(self.name, self.kind, cuts, self.values or (), self.missing, low, high)


@dataclass(frozen=True)
class RuleDocument:
    """A rule: its conditions in words and, for the features it speaks of, as ranges of levels."""

    conditions: tuple[str, ...] = field(metadata={"key": "if"})
    label: str = field(metadata={"key": "then"})
    support: int
    confidence: float | None
    cells: int
    box: tuple[tuple[int, ...], ...]
    warrant: Warrant | None = None
    """What stands behind it; None in files of format 1."""


@dataclass(frozen=True)
class CellsDocument:
    """The cells that were asked, with their classes: all of a grid in order, or a list."""

    kind: Literal["grid", "list"]
    labels: str
    count: int
    cells: str | None = None


@dataclass(frozen=True)
class RowsDocument:
    """The rows of X: the cell of each and what the classifier says; the values of the first."""

    count: int
    cells: str
    said: str
    values: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class MeasuredDocument:
    """What the agreement was measured by: the cells of rows and of drawn inputs.

    `points` has the class of each cell's point, -2 where it was not asked; `inputs` for each cell
    how many drawn inputs got which class. `first` is what the model said of the inputs that were
    asked twice, `again` the second time.
    """

    count: int
    cells: str
    points: str
    inputs: str
    first: str
    again: str


@dataclass(frozen=True)
class HeadlineLine:
    """A line of the headline: the place of its rule, and how many rows it decides that are left."""

    rule: int
    new: int
    decided: int


@dataclass(frozen=True)
class HeadlineDocument:
    """A short list of rules in order, and the class of the rows that they leave.

    Of the rows, `left` get that class; `right` get from the list the class that the model gives.
    """

    rules: tuple[HeadlineLine, ...]
    otherwise: str
    left: int
    right: int


@dataclass(frozen=True)
class LeafDocument:
    """A leaf of a tree: the levels that lead there, where not all do, and what it adds."""

    levels: Mapping[str, str]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class PlausibleRuleDocument:
    """A rule of the rows of X, and the box of cells that break it: its levels, as of a leaf."""

    rule: str
    box: Mapping[str, str]


@dataclass(frozen=True)
class PlausibleDocument:
    """What is plausible: cells that break at most `most_broken` of the rules.

    So many `rows` showed the rules; of `held_out` others, `kept` are plausible. `measured` has a 1
    for each row of X that was held out; None where these are not rows of X.
    """

    rules: tuple[PlausibleRuleDocument, ...]
    most_broken: int
    rows: int
    held_out: int
    kept: int
    measured: str | None = None

    @property
    def sentence(self) -> str:
        """What is plausible, and of how many rows that was tested."""
        return plausible_words(
            len(self.rules), self.most_broken, self.rows, (self.kept, self.held_out)
        )


@dataclass(frozen=True, kw_only=True)
class ClassifierDocument:
    """The section `classifier` of an envelope.json: all that its rules are checked and shown by.

    `labels` are the classes as the classifier says them, `classes` their texts. `silent` are the
    columns with one level, of which no rule speaks. `target` is the name of the class.
    """

    model: str
    identity: str | None
    target: str
    classes: tuple[str, ...]
    labels: tuple[Any, ...]
    columns: tuple[str, ...]
    features: tuple[FeatureDocument, ...]
    silent: tuple[FeatureDocument, ...]
    bins: str
    exact_bins: bool
    background: tuple[str, ...]
    notes: tuple[str, ...]
    agreement: Agreement
    cells: CellsDocument
    rows: RowsDocument
    flips: tuple[Flips, ...]
    fallback: str = ""
    """Why the trees that the model has could not be read; it is the first note."""
    measured: MeasuredDocument | None = None
    """None in files of older versions."""
    changed: tuple[str, ...] = ()
    """For each feature the classes of the rows with each of its levels: -1 for their own level, and
    where a row does not occur. There are none where these are too many to be kept."""
    trees: tuple[tuple[LeafDocument, ...], ...] | None = None
    headline: HeadlineDocument | None = None
    """None in files of older versions."""
    forbidden: tuple[Mapping[str, str], ...] = ()
    """With trees: the boxes that the background rules out, as the levels of a leaf are given."""
    plausible: PlausibleDocument | None = None
    """What is plausible, if nothing else is meant."""
    rounding: float | None = None
    """With trees: how close two sums may be, for each unit of what leaves add up, so that the model
    itself is asked; None: 1e-9."""


@dataclass(frozen=True, kw_only=True)
class ExplanationDocument(ClassifierDocument):
    """A classifier's rules, with the section they rest on: as explanation.json of 0.2 has them."""

    kind: Literal["classifier"]
    certificate: Mapping[str, Any]
    rules: tuple[RuleDocument, ...]

    def __post_init__(self) -> None:
        """Refuse parts that are not of one explanation."""
        _ = self.claim
        if len(self.labels) != len(self.classes) or not 1 <= len(self.classes) <= 64:
            raise ValueError("has classes without labels")
        named = [feature.name for feature in (*self.features, *self.silent)]
        if sorted(named) != sorted(self.columns) or len(set(named)) < len(named):
            raise ValueError("has columns that are no features, or features that are no columns")
        if any(f.levels == 1 for f in self.features) or any(f.levels > 1 for f in self.silent):
            raise ValueError("has columns with one level among those with several")
        telling = [feature.name for feature in self.features]
        if telling != [name for name in self.columns if name in set(telling)]:
            raise ValueError("has features in another order than its columns")
        sizes = [feature.levels for feature in self.features]
        for rule in self.rules:
            if rule.label not in self.classes:
                raise ValueError(f"has a rule for {rule.label!r}, which is no class")
            for part in rule.box:
                if len(part) != 3 or not 0 <= part[0] < len(sizes):
                    raise ValueError("has a rule whose box is none")
                if not 0 <= part[1] <= part[2] < sizes[part[0]]:
                    raise ValueError("has a rule whose box is none")
        if len({flips.feature for flips in self.flips} - set(self.columns)):
            raise ValueError("has flips of something that is no column")
        if any(len(row) != len(self.columns) for row in self.rows.values):
            raise ValueError("has rows without a value for each column")
        for feature in (*self.features, *self.silent):
            place = self.columns.index(feature.name)
            fits = is_number if feature.cuts is not None else is_scalar
            if not all(row[place] is None or fits(row[place]) for row in self.rows.values):
                raise ValueError(f"has rows whose {feature.name!r} is no value of this column")
        if len(self.rows.values) > self.rows.count:
            raise ValueError("has more rows than it says")
        lines = () if self.headline is None else self.headline.rules
        if any(not 0 <= line.rule < len(self.rules) for line in lines):
            raise ValueError("has a headline with a rule that there is not")
        leaves = [leaf for tree in self.trees or () for leaf in tree]
        if any(len(leaf.scores) != len(self.classes) for leaf in leaves):
            raise ValueError("has a leaf without a score for each class")
        usual = () if self.plausible is None else self.plausible.rules
        boxes = (*(leaf.levels for leaf in leaves), *self.forbidden, *(one.box for one in usual))
        for box in boxes:
            for axis, levels in box.items():
                if not (axis.isdecimal() and int(axis) < len(sizes)) or (
                    not 0 < int(levels, 16) < 1 << sizes[int(axis)]
                ):
                    raise ValueError("has a box with levels that there are not")
        _ = (self.asked, self.row_cells, self.row_said, self.held_out)

    @cached_property
    def claim(self) -> Certificate:
        """What is claimed of the rules: never more than the measured agreement allows."""
        try:
            return claim_from_json(
                self.certificate, self.exact_bins, self.bins, self.agreement, bool(self.background)
            )
        except InputError as error:
            raise ValueError(f"has a {error.message}") from None

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each feature has."""
        return tuple(feature.levels for feature in self.features)

    @cached_property
    def asked(self) -> tuple[NDArray[np.intp] | None, NDArray[np.int8]]:
        """The cells that were asked in rows of levels (None: all of the grid), and their classes.

        In a grid, -1 stands where a cell does not occur. -2 stands for a class that is not known,
        because the run was ended before the cell was asked.
        """
        count = prod(self.sizes) if self.cells.kind == "grid" else self.cells.count
        labels = unpacked(self.cells.labels, np.dtype(np.int8), count)
        known = labels if self.cells.kind == "grid" else labels[labels != OUTSIDE]
        if len(known) < count or (
            count and not OPEN <= labels.min() <= labels.max() < len(self.classes)
        ):
            raise ValueError("has a cell of a class that there is not")
        if self.claim.complete and (labels == OPEN).any():
            raise ValueError("claims to be complete, though not every cell was asked")
        if self.cells.kind == "grid":
            return None, labels
        return self._levels(self.cells.cells or "", count), labels

    @cached_property
    def row_cells(self) -> NDArray[np.intp]:
        """The cell that each row of X lies in."""
        return self._levels(self.rows.cells, self.rows.count)

    @cached_property
    def row_said(self) -> NDArray[np.intp]:
        """What the classifier says of each row of X: the place of a class."""
        said = unpacked(self.rows.said, np.dtype(np.int8), self.rows.count)
        if len(said) and not 0 <= said.min() <= said.max() < len(self.classes):
            raise ValueError("has a row of a class that there is not")
        return said.astype(np.intp)

    @cached_property
    def held_out(self) -> tuple[int, ...] | None:
        """Which rows of X were held out to see what is plausible; None if that is not kept."""
        if self.plausible is None or self.plausible.measured is None:
            return None
        marks = unpacked(self.plausible.measured, np.dtype(np.int8), self.rows.count)
        if not np.isin(marks, (0, 1)).all() or marks.sum() != self.plausible.held_out:
            raise ValueError("has other rows held out than it counts")
        return tuple(np.flatnonzero(marks).tolist())

    def in_masks(self, box: Mapping[str, str]) -> tuple[int, ...]:
        """Return a box of sets of levels as bits for each feature."""
        full = ((1 << size) - 1 for size in self.sizes)
        return tuple(int(box.get(str(axis), hex(own)), 16) for axis, own in enumerate(full))

    def _levels(self, text: str, count: int) -> NDArray[np.intp]:
        width = len(self.features)
        flat = unpacked(text, np.dtype(np.uint16), count * width).astype(np.intp)
        cells = flat.reshape(count, width)
        if count and (cells >= np.array(self.sizes)).any():
            raise ValueError("has a cell of a level that there is not")
        return cells


EXPLANATION = Codec(ExplanationDocument, "explanation.json", RESULT_FORMAT)
SECTION = "classifier"
"""The key of the section in envelope.json."""


def is_of_classifier(content: Any) -> bool:
    """Return whether the contents of a result's file are those of a classifier."""
    return isinstance(content, dict) and (SECTION in content or content.get("kind") == "classifier")


def explanation_from_json(content: Mapping[str, Any], path: Path) -> ExplanationDocument:
    """Return the rules of a classifier from an envelope.json, or an explanation.json of 0.2."""
    if SECTION not in content:
        return EXPLANATION.parse(content, path)
    check_format(content, path, RESULT_FORMAT)
    try:
        for line in content["readable"]:
            if not all(_are_names(line[side]) for side in ("if", "then")):
                raise TypeError(line)
        rules = [
            {**line, "if": line["conditions"], "then": line["class"]}
            for line in content["readable"]
        ]
        given = {**content[SECTION], "kind": "classifier", "rules": rules}
        return EXPLANATION.parse({**given, "certificate": content["certificate"]}, path)
    except (KeyError, TypeError):
        raise InputError("is no envelope.json of hornlens, or of another version", path) from None


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def find_explanation(path: Path) -> tuple[Any, Path] | None:
    """Return the contents and the file of a classifier's result; None if it is of another kind.

    `path` is its folder or its file.
    """
    file = path
    if path.is_dir():
        there = (path / name for name in ("envelope.json", EXPLANATION.file_name))
        file = next((each for each in there if each.is_file()), path / "envelope.json")
    if file.suffix != ".json" or not file.is_file():
        return None
    content = read_json(file)
    if not is_of_classifier(content) and file.name != EXPLANATION.file_name:
        return None
    return content, file


def is_number(value: object) -> bool:
    """Say whether a value of JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_scalar(value: object) -> bool:
    """Say whether a value of JSON is no list and no object."""
    return value is None or isinstance(value, str | int | float)


def packed(numbers: NDArray[Any]) -> str:
    """Return numbers as text: little-endian, deflated, in base 64."""
    content = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<")).tobytes()
    return b64encode(zlib.compress(content, 6)).decode("ascii")


def unpacked(text: str, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    """Return so many numbers that `packed` wrote; a ValueError if they are not there."""
    size = count * kind.itemsize
    content = inflated(text, size)
    if len(content) != size:
        raise ValueError(f"has other numbers than the {count:,} that belong there")
    return np.frombuffer(content, dtype=kind.newbyteorder("<")).astype(kind)
