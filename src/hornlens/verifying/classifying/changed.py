"""What changing one column does: flips, counted again from cells and from the changed rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.classifying.cells import OUTSIDE, RecordedCells
from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.classifying.features import level_of
from hornlens.verifying.grids import Wrong
from hornlens.verifying.packed import numbers_in

EXAMPLES = 5
"""So many pairs of rows are shown of a column at most."""
MOST_KEPT = 4_000_000
"""More answers about changed rows than these are not kept."""
PLAIN = {"feature", "rows", "of_rows", "pairs", "of_pairs", "proved", "every_input", "examples"}
WRITTEN = {"ever", "sentence", "excluded", "kept"}
"""What is written of flips beside the counts."""
OLD_FLIPS = "which rows flip: what the model said of changed rows is not kept"
Line = Mapping[str, Any]
Occurs = Callable[[NDArray[np.intp]], NDArray[np.bool_]]
"""Says of each cell whether the background allows it."""


def check_flips(recorded: ClassifierFile, occurs: Occurs) -> tuple[list[str], list[str]]:
    """Count the flips of each column again; return what was checked, and what was not."""
    section, flips = recorded.section, recorded.section["flips"]
    names = [line["feature"] for line in flips]
    if names != [line["name"] for line in recorded.features]:
        raise Wrong("flips: not of each column")
    texts = section.get("changed") or ()
    kept = sum(line["of_rows"] * size for line, size in zip(flips, recorded.sizes, strict=True))
    if len(texts) != len(flips) and (texts or (recorded.is_recent and kept <= MOST_KEPT)):
        raise Wrong("changed: not of each column")
    for axis, line in enumerate(flips):
        _check_line(recorded, axis, line)
        if texts:
            _ChangedRows(recorded, axis, texts[axis], line, occurs).check()
    what = "flips: pairs of cells that differ in one column were counted again"
    if not texts and flips:
        return [what], [OLD_FLIPS]
    return [f"{what}, and so were the rows that get another class"], []


def _check_line(recorded: ClassifierFile, axis: int, line: Line) -> None:
    """Count the pairs of cells again, and hold what is said of a column against them."""
    name, cells, section = line["feature"], recorded.cells, recorded.section
    if not 0 <= line["rows"] <= line["of_rows"] <= section["rows"]["count"]:
        raise Wrong(f"flips of {name}: more rows than there are")
    if line["every_input"] is not section["exact_bins"]:
        raise Wrong(f"flips of {name}: of every input only if the bins are exact")
    if line["proved"] is not (cells.is_grid and not cells.open):
        raise Wrong(f"flips of {name}: proved only if all cells were asked")
    counted = _pairs(cells, axis, recorded.sizes) if cells.is_grid else (None, None)
    if (line["pairs"], line["of_pairs"]) != counted:
        raise Wrong(f"flips of {name}: {counted[0]} of {counted[1]} pairs of cells differ")
    if bool(line["examples"]) != bool(line["rows"] or line["pairs"]):
        raise Wrong(f"flips of {name}: examples, and how many there are, do not agree")
    excluded = recorded.certificate["scope"].get("excluded", []) if section["exact_bins"] else []
    if line.get("excluded", []) != excluded:
        raise Wrong(f"flips of {name}: they exclude other inputs than the certificate")
    if line.get("kept") != recorded.certificate["scope"].get("kept"):
        raise Wrong(f"flips of {name}: they are of other inputs than the certificate")
    for key in set(line) - PLAIN - WRITTEN:
        if line[key]:
            raise Wrong(f"flips of {name}: {key} is nothing that was counted")


def _pairs(cells: RecordedCells, axis: int, sizes: Sequence[int]) -> tuple[int, int]:
    """Return how many pairs along an axis differ, and how many there are."""
    labels = np.array(cells.labels, dtype=np.int8).reshape(sizes)
    lines = np.moveaxis(labels, axis, 0).reshape(sizes[axis], -1)
    there = (lines >= 0).sum(axis=0).astype(object)
    total, same = (there * (there - 1) // 2).sum(), 0
    for label in np.unique(lines[lines >= 0]).tolist():
        count = (lines == label).sum(axis=0).astype(object)
        same += (count * (count - 1) // 2).sum()
    return int(total - same), int(total)


class _ChangedRows:
    """What the model said of the rows with every level of one column."""

    def __init__(self, recorded: ClassifierFile, axis: int, text: str, line: Line, occurs: Occurs):
        """Unpack it."""
        self.recorded, self.axis, self.line, self.occurs = recorded, axis, line, occurs
        self.name, self.size = line["feature"], recorded.sizes[axis]
        flat = np.array(numbers_in(text, "b", line["of_rows"] * self.size), dtype=np.intp)
        self.answers = flat.reshape(line["of_rows"], self.size)
        self.rows = recorded.row_cells[: line["of_rows"]]
        self.classes = recorded.row_classes[: line["of_rows"]]

    def check(self) -> None:
        """Count the rows that get another class, and look at those that are shown."""
        self._check_answers()
        self.flipped = (self.answers != OUTSIDE) & (self.answers != self.classes[:, None])
        changed = int(self.flipped.any(axis=1).sum())
        if changed != self.line["rows"]:
            raise Wrong(
                f"flips of {self.name}: {changed:,} of {len(self.rows):,} rows get another class, "
                f"not {self.line['rows']:,}"
            )
        self._check_examples()

    def _check_answers(self) -> None:
        """Check where there are answers; where a cell has one class, it is that of the answer."""
        answers, recorded = self.answers, self.recorded
        if answers.size and not -1 <= answers.min() <= answers.max() < len(recorded.classes):
            raise Wrong(f"flips of {self.name}: a class that there is not")
        first = self.occurs(self.rows)
        for level in range(self.size):
            cells = self.rows.copy()
            cells[:, self.axis] = level
            wanted = first & self.occurs(cells) & (self.rows[:, self.axis] != level)
            if ((answers[:, level] != OUTSIDE) != wanted).any():
                raise Wrong(f"flips of {self.name}: rows that are changed, and have no answer")
            if recorded.section["exact_bins"]:
                labels = recorded.known(cells[wanted])
                if ((labels >= 0) & (labels != answers[wanted, level])).any():
                    raise Wrong(
                        f"flips of {self.name}: a changed row of another class than its cell"
                    )

    def _check_examples(self) -> None:
        """Compare the pairs of rows that are shown with the first that there are."""
        examples, section = self.line["examples"], self.recorded.section
        rows = np.flatnonzero(self.flipped.any(axis=1))[:EXAMPLES].tolist()
        if not rows:
            for pair in examples:
                self._check_cells(pair)
            if len(examples) > 1:
                raise Wrong(f"flips of {self.name}: more examples than one of cells")
            return
        if len(examples) != len(rows):
            raise Wrong(f"flips of {self.name}: {len(rows)} examples, not {len(examples)}")
        column, kept = section["columns"].index(self.name), section["rows"]["values"]
        point = self.recorded.features[self.axis]["points"]
        for row, pair in zip(rows, examples, strict=True):
            level = int(np.argmax(self.flipped[row]))
            own = self.recorded.classes[self.classes[row]]
            other = self.recorded.classes[self.answers[row, level]]
            if (pair["said_first"], pair["said_second"]) != (own, other):
                raise Wrong(f"flips of {self.name}: an example of which the model says otherwise")
            first = kept[row] if row < len(kept) else list(pair["first"].values())
            second = [*first]
            second[column] = point[level]
            self._check_values(pair["first"], first)
            self._check_values(pair["second"], second)

    def _check_values(self, shown: Line, values: Sequence[Any]) -> None:
        columns = self.recorded.section["columns"]
        if list(shown) != list(columns) or not _are_same(list(shown.values()), values):
            raise Wrong(f"flips of {self.name}: an example that is no row of X")

    def _check_cells(self, pair: Line) -> None:
        """Check an example of two cells: their points, which differ in this column only."""
        section = self.recorded.section
        columns, ends = section["columns"], []
        silent = {line["name"]: line for line in section["silent"]}
        for shown, answer in (("first", "said_first"), ("second", "said_second")):
            row, cell, points = pair[shown], [], []
            for feature in self.recorded.features:
                level = level_of(feature, row[feature["name"]])
                if level is None:
                    raise Wrong(f"flips of {self.name}: an example that is no cell")
                cell.append(level)
            levels = dict(zip((f["name"] for f in self.recorded.features), cell, strict=True))
            by_name = {line["name"]: line for line in (*self.recorded.features, *silent.values())}
            points = [by_name[name]["points"][levels.get(name, 0)] for name in columns]
            self._check_values(row, points)
            label = int(self.recorded.known(np.array([cell]))[0])
            if label < 0 or self.recorded.classes[label] != pair[answer]:
                raise Wrong(f"flips of {self.name}: an example of another class than its cell")
            ends.append(cell)
        differ = [axis for axis, (a, b) in enumerate(zip(*ends, strict=True)) if a != b]
        if differ != [self.axis] or pair["said_first"] == pair["said_second"]:
            raise Wrong(f"flips of {self.name}: an example that is no flip")


def _are_same(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether values of rows are the same; 1 and 1.0 are, 1 and true are not."""
    return len(values) == len(others) and all(
        a == b and isinstance(a, bool) == isinstance(b, bool)
        for a, b in zip(values, others, strict=True)
    )
