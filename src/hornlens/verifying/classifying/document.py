"""The result of a classifier as a file holds it: its section, its rules, and the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.classifying.cells import OPEN, RecordedCells
from hornlens.verifying.grids import Wrong
from hornlens.verifying.packed import numbers_in

DIGEST = "digest"
"""The versions that write a digest also record what agreement and flips were measured by."""


@dataclass(frozen=True, eq=False)
class ClassifierFile:
    """A result: the section `classifier`, the rules as boxes, the certificate, and the whole file.

    `whole` is None for an explanation.json of 0.2, which had no more than a section.
    """

    section: Mapping[str, Any]
    rules: Sequence[Mapping[str, Any]]
    certificate: Mapping[str, Any]
    whole: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> ClassifierFile:
        """Return the result that a file holds: an envelope.json, or an explanation.json of 0.2."""
        if "classifier" not in content:
            return cls(content, content["rules"], content["certificate"])
        lines = content["readable"]
        rules = [{**line, "if": line["conditions"], "then": line["class"]} for line in lines]
        return cls(content["classifier"], rules, content["certificate"], content)

    @property
    def is_recent(self) -> bool:
        """Whether a version made it that records all that is measured.

        What an older one made, and this one saved again, has neither of the two.
        """
        kept = "measured" in self.section or "changed" in self.section
        return self.whole is not None and DIGEST in self.whole and kept

    @property
    def features(self) -> Sequence[Mapping[str, Any]]:
        """The columns with several levels."""
        lines: Sequence[Mapping[str, Any]] = self.section["features"]
        return lines

    @cached_property
    def sizes(self) -> list[int]:
        """How many levels each of these has."""
        return [feature["levels"] for feature in self.features]

    @property
    def classes(self) -> Sequence[str]:
        """The classes, as texts."""
        texts: Sequence[str] = self.section["classes"]
        return texts

    @cached_property
    def cells(self) -> RecordedCells:
        """The cells that were asked, with their classes."""
        return RecordedCells(self.section, self.sizes)

    @cached_property
    def row_cells(self) -> NDArray[np.intp]:
        """The cell of each row of X."""
        return self.levels(self.section["rows"]["cells"], self.section["rows"]["count"], "rows")

    @cached_property
    def row_classes(self) -> NDArray[np.intp]:
        """What the model says of each row of X."""
        rows = self.section["rows"]
        labels = np.array(numbers_in(rows["said"], "b", rows["count"]), dtype=np.intp)
        if len(labels) and not 0 <= labels.min() <= labels.max() < len(self.classes):
            raise Wrong("rows: a class that there is not")
        return labels

    def levels(self, text: str, count: int, what: str) -> NDArray[np.intp]:
        """Return packed cells in rows of levels."""
        if type(count) is not int:
            raise Wrong(f"{what}: a number of cells that is none")
        flat = np.array(numbers_in(text, "H", count * len(self.sizes)), dtype=np.intp)
        levels = flat.reshape(count, len(self.sizes))
        if count and (levels >= np.array(self.sizes, dtype=np.intp)).any():
            raise Wrong(f"{what}: a level that there is not")
        return levels

    @cached_property
    def has_all_rows(self) -> bool:
        """Whether the values of all rows of X are there."""
        rows = self.section["rows"]
        early = any(note.startswith(ENDED_AFTER) for note in self.section["notes"])
        return len(rows["values"]) == rows["count"] and not early

    def known(self, cells: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the recorded classes of cells; OPEN where none is recorded."""
        by_cell = self.cells.by_cell()
        labels = (by_cell(tuple(cell)) for cell in cells.tolist())
        return np.array([OPEN if label is None else label for label in labels], dtype=np.intp)

    @property
    def cell_count(self) -> int:
        """How many cells there are."""
        return prod(self.sizes)


ENDED_AFTER = "the run was ended after "
"""How a note begins that not all rows of X were asked."""
