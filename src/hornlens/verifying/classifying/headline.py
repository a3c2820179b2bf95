"""The short ordered list of a classifier's rules: chosen and counted again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.grids import Wrong

LENGTH = 10
"""How many rules the list has, if so many decide further rows."""


def check_headline(recorded: ClassifierFile) -> tuple[list[str], list[str]]:
    """Choose the rules again, one by one; return what was checked, and what was not."""
    line = recorded.section.get("headline")
    if line is None:
        if recorded.is_recent:
            raise Wrong("headline: there is none")
        return [], []
    cells, labels, classes = recorded.row_cells, recorded.row_classes, recorded.classes
    open_ = np.ones(len(cells), dtype=np.bool_)
    given = np.full(len(cells), -1, dtype=np.intp)
    chosen: list[dict[str, int]] = []
    while len(chosen) < LENGTH:
        number, inside = _next(recorded, cells, open_)
        if inside is None:
            break
        given[inside] = classes.index(recorded.rules[number]["then"])
        open_ &= ~inside
        decided = len(cells) - int(open_.sum())
        chosen.append({"rule": number, "new": int(inside.sum()), "decided": decided})
    rest = labels[open_] if open_.any() else labels
    counts = [int((rest == place).sum()) for place in range(len(classes))]
    default = counts.index(max(counts))
    given[open_] = default
    again: dict[str, Any] = {
        "rules": chosen,
        "otherwise": classes[default],
        "left": int(open_.sum()),
        "right": int((given == labels).sum()),
    }
    if line != again:
        field = next((key for key in again if line.get(key) != again[key]), "a field")
        raise Wrong(f"headline: {field} is not what the rows give")
    return [f"headline: {len(chosen):,} rules in order, chosen and counted again"], []


def _next(
    recorded: ClassifierFile, cells: NDArray[np.intp], open_: NDArray[np.bool_]
) -> tuple[int, NDArray[np.bool_] | None]:
    """Return the first rule that decides most open rows, and which; None if none decides any."""
    number, chosen, most = -1, None, 0
    for place, rule in enumerate(recorded.rules):
        if rule["support"] <= most:
            continue  # it cannot decide more open rows than it has rows
        inside = open_.copy()
        for axis, low, high in rule["box"]:
            inside &= (low <= cells[:, axis]) & (cells[:, axis] <= high)
        if (count := int(inside.sum())) > most:
            number, chosen, most = place, inside, count
    return number, chosen
