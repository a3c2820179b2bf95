"""What share of rows and of drawn inputs the rules of a classifier decide: counted again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.grids import Wrong
from hornlens.verifying.packed import numbers_in

FIELDS = {"wanted", "rows", "of_rows", "right", "inputs", "drawn", "hard"}
OPTIONAL = {"inputs": 0, "drawn": 0, "hard": 0}


def check_coverage(recorded: ClassifierFile, occurs: NDArray[np.bool_]) -> str:
    """Count the rows that occur and inputs in the boxes of rules; return what was checked."""
    line: dict[str, Any] = {**OPTIONAL, **recorded.certificate["coverage"]}
    if line.keys() != FIELDS or any(type(line[key]) is not int for key in FIELDS - {"wanted"}):
        raise Wrong("certificate: a coverage with other parts than it has")
    if type(line["wanted"]) not in (int, float) or not 0 < line["wanted"] <= 1:
        raise Wrong("certificate: a coverage that wants no share")
    given = _classes_given(recorded, recorded.row_cells[occurs])
    count = given.sum(axis=1)
    own = given[np.arange(len(given)), recorded.row_classes[occurs]]
    rows = {
        "of_rows": len(given),
        "rows": int((count > 0).sum()),
        "right": int((own & (count == 1)).sum()),
    }
    for key, count in rows.items():
        if line[key] != count:
            raise Wrong(f"certificate: its coverage has {line[key]:,} for {key}, not {count:,}")
    if not 0 <= line["hard"] <= len(recorded.rules):
        raise Wrong("certificate: more rules may be wider than there are")
    checked = f"coverage: the rules decide {rows['rows']:,} of {rows['of_rows']:,} rows"
    if (line["drawn"], line["inputs"]) == (0, 0):
        return checked
    measured = recorded.section.get("measured")
    if measured is None or recorded.certificate.get("ended"):
        raise Wrong("certificate: its coverage is of inputs that were not drawn from all")
    cells = recorded.levels(measured["cells"], measured["count"], "measured")
    shape = (measured["count"], len(recorded.classes))
    inputs = np.array(numbers_in(measured["inputs"], "H", shape[0] * shape[1])).reshape(shape)
    counts = inputs.sum(axis=1, dtype=np.intp)
    drawn, inside = (
        int(counts.sum()),
        int(counts[_classes_given(recorded, cells).any(axis=1)].sum()),
    )
    if (line["drawn"], line["inputs"]) != (drawn, inside):
        raise Wrong(f"certificate: the rules decide {inside:,} of {drawn:,} drawn inputs")
    return f"{checked}, and {inside:,} of {drawn:,} drawn inputs"


def _classes_given(recorded: ClassifierFile, cells: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for each cell, and each class, whether a rule gives it that class."""
    given = np.zeros((len(cells), len(recorded.classes)), dtype=np.bool_)
    for rule in recorded.rules:
        inside = np.ones(len(cells), dtype=np.bool_)
        for axis, low, high in rule["box"]:
            inside &= (low <= cells[:, axis]) & (cells[:, axis] <= high)
        given[inside, recorded.classes.index(rule["then"])] = True
    return given
