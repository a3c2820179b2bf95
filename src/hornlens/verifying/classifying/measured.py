"""How often a binned model agrees with the model: counted again from what it was measured by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.classifying.cells import OPEN
from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.classifying.features import EXACT
from hornlens.verifying.grids import Wrong
from hornlens.verifying.packed import numbers_in

DRAWN = 10_000
"""So many inputs were drawn where a claim is of every input."""
TWICE = 200
"""So many inputs are asked a second time at most: half of them rows, half of them drawn."""
OLD_AGREEMENT = "the agreement on uniform inputs: they are not kept"


def check_agreement(recorded: ClassifierFile) -> tuple[list[str], list[str]]:
    """Count the agreement again; return what was checked, and what was not."""
    same, compared = _agreeing_rows(recorded)
    line = f"agreement: {same:,} of {compared:,} rows whose cells were asked have their class"
    if recorded.section.get("measured") is None:
        if recorded.is_recent:
            raise Wrong("measured: what the agreement was measured by is missing")
        return [line], [OLD_AGREEMENT]
    measured, stated = _Measured(recorded), dict(recorded.section["agreement"])
    counted = measured.agreement()
    if "ruled" in stated:
        counted["ruled"] = measured.ruled()
    stated.pop("sentence", None)
    usual = {"repeated": 0, "varied": 0, "compared": None}
    for key, value in counted.items():
        if stated.pop(key, usual.get(key)) != value:
            raise Wrong(f"agreement: {key} is {value}, counted again")
    if stated:
        raise Wrong(f"agreement: {', '.join(stated)} is nothing that is measured")
    drawn = f"{counted['uniform']:.6g} of {counted['drawn']:,} drawn inputs"
    return [f"{line}, and {drawn}"], []


def check_exact_bins(recorded: ClassifierFile) -> None:
    """Check that cells are said to have one class only if no measurement contradicts that."""
    section = recorded.section
    lines = (*recorded.features, *section["silent"])
    if (section["bins"] == EXACT[1]) != (
        section["bins"] != EXACT[0] and not any("cuts" in line for line in lines)
    ):
        raise Wrong("bins: they are not the values of each column")
    exact = section["bins"] in EXACT and _is_measured(section["agreement"])
    if section["exact_bins"] is not exact:
        raise Wrong("exact_bins: not what was measured")


def _is_measured(agreement: Mapping[str, Any]) -> bool:
    """Return whether the agreement was measured to the end, and no difference was seen."""
    same = agreement["rows"] == agreement["uniform"] == 1
    seen = agreement["mixed"] or agreement.get("varied", 0)
    return bool(same and not seen and agreement["drawn"] >= DRAWN)


class _Measured:
    """The cells of rows and drawn inputs, the classes of their points, and those of the inputs."""

    def __init__(self, recorded: ClassifierFile):
        """Unpack it; it must be that of these rows and cells."""
        self.recorded, line = recorded, recorded.section["measured"]
        count, classes = line["count"], len(recorded.classes)
        self.cells = recorded.levels(line["cells"], count, "measured")
        self.points = _classes(line["points"], count, classes, OPEN)
        inputs = np.array(numbers_in(line["inputs"], "H", count * classes), dtype=np.intp)
        self.inputs = inputs.reshape(count, classes)
        twice = recorded.section["agreement"].get("repeated", 0)
        self.again = _classes(line["again"], twice, classes)
        self.first = _classes(line["first"], twice, classes)
        self.rows = self._rows()
        self._check_points()
        self._check_twice()

    def _rows(self) -> NDArray[np.intp]:
        """Return how many rows of each cell got which class."""
        where = {cell: place for place, cell in enumerate(map(tuple, self.cells.tolist()))}
        if list(where) != sorted(where) or len(where) < len(self.cells):
            raise Wrong("measured: its cells are not in order")
        rows = np.zeros_like(self.inputs)
        own = self.recorded.row_cells.tolist(), self.recorded.row_classes.tolist()
        for cell, label in zip(*own, strict=True):
            if tuple(cell) not in where:
                raise Wrong("measured: the cell of a row is missing")
            rows[where[tuple(cell)], label] += 1
        if len(where) and not (rows + self.inputs).sum(axis=1).all():
            raise Wrong("measured: a cell in which nothing lies")
        return rows

    def _check_points(self) -> None:
        """Hold the classes of points against the recorded cells."""
        known = self.recorded.known(self.cells)
        if ((known >= 0) & (self.points >= 0) & (self.points != known)).any():
            raise Wrong("measured: a point of another class than its cell")
        whole = self.recorded.cells.is_grid or "sift" in self.recorded.certificate
        if whole and ((known == OPEN) & (self.points >= 0)).any():
            raise Wrong("measured: a point that was not asked has a class")
        if ((known >= 0) & (self.points < 0)).any() and not self.recorded.certificate.get("ended"):
            raise Wrong("measured: a cell was asked, and its class is not known")

    def _check_twice(self) -> None:
        """Check that the first answers are those that are recorded elsewhere."""
        rows = self.recorded.row_classes[: TWICE // 2]
        count = min(len(rows), len(self.first))
        if (self.first[:count] != rows[:count]).any():
            raise Wrong("measured: rows that were asked twice had another class before")
        drawn = min(int(self.inputs.sum()), TWICE // 2)
        if len(self.first) > len(rows) + drawn:
            raise Wrong("measured: more inputs were asked twice than there are")
        if not self.recorded.certificate.get("ended") and len(self.first) < len(rows) + drawn:
            raise Wrong("measured: fewer inputs were asked twice than usual")
        counts = np.bincount(self.first[count:], minlength=self.inputs.shape[1])
        if (counts > self.inputs.sum(axis=0)).any():
            raise Wrong("measured: inputs that were asked twice are not among those drawn")

    def agreement(self) -> dict[str, Any]:
        """Count how often the model says of rows and inputs what it says of their points."""
        there = np.flatnonzero(self.points >= 0)
        rows, inputs = self.rows[there], self.inputs[there]
        own = (np.arange(len(there)), self.points[there])
        compared, drawn = int(rows.sum()), int(inputs.sum())
        mixed = (rows + inputs).sum(axis=1) != rows[own] + inputs[own]
        return {
            "rows": int(rows[own].sum()) / compared if compared else 0.0,
            "uniform": int(inputs[own].sum()) / drawn if drawn else 0.0,
            "drawn": drawn,
            "cells": len(there),
            "mixed": int(mixed.sum()),
            "repeated": len(self.again),
            "varied": int((self.first != self.again).sum()),
            "compared": None if compared == int(self.rows.sum()) else compared,
        }

    def ruled(self) -> float:
        """Count how often the first rule that applies says of inputs what the model says."""
        undecided, right = np.ones(len(self.cells), dtype=np.bool_), 0
        for rule in self.recorded.rules:
            inside = undecided.copy()
            for axis, low, high in rule["box"]:
                inside &= (self.cells[:, axis] >= low) & (self.cells[:, axis] <= high)
            right += int(self.inputs[inside, self.recorded.classes.index(rule["then"])].sum())
            undecided &= ~inside
        return right / max(1, int(self.inputs.sum()))


def _classes(text: str, count: int, classes: int, least: int = 0) -> NDArray[np.intp]:
    labels = np.array(numbers_in(text, "b", count), dtype=np.intp)
    if len(labels) and (labels.min() < least or labels.max() >= classes or (labels == -1).any()):
        raise Wrong("measured: a class that there is not")
    return labels


def _agreeing_rows(recorded: ClassifierFile) -> tuple[int, int]:
    """Count the rows whose recorded cell has their class, and those whose cell is recorded."""
    known, share = recorded.known(recorded.row_cells), recorded.section["agreement"]["rows"]
    there = known >= 0
    same = int(((known == recorded.row_classes) & there).sum())
    total, rows = int(there.sum()), len(known)
    compared = recorded.section["agreement"].get("compared")
    if compared is not None and compared != total:
        raise Wrong(f"agreement: {total:,} rows can be compared, not {compared:,}")
    if compared and share != same / compared:
        raise Wrong(f"agreement: on {same:,} of {compared:,} rows, not on {share:.6g} of them")
    if same < total and share == 1:
        raise Wrong(f"agreement: {total - same:,} rows have another class than their cell")
    if total == rows and rows and share != same / rows:
        raise Wrong(f"agreement: on {same:,} of {rows:,} rows, not on {share:.6g} of them")
    return same, total
