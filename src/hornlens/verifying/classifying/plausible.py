"""What is plausible: the rules of the rows, and how many a cell may break, counted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.verifying.classifying.conditions import RANGED, say
from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.grids import Wrong
from hornlens.verifying.packed import numbers_in

KEPT = 0.99
"""The share of other rows that are to be plausible, at least."""
KEYS = {"rules", "most_broken", "rows", "held_out", "kept", "measured"}
WHO = "that rows to come are like those of X: what is plausible is what is like them"
WHICH = "which rules of the rows say what is plausible: others may hold as well"
GIVEN = "how many rows are plausible: the rows that were held out are not those of this file"


class PlausibleCells:
    """The rules of a result that say what is plausible, as boxes of the cells that break them."""

    def __init__(self, recorded: ClassifierFile):
        """Read them; without any, all is plausible."""
        self.recorded = recorded
        self.section: Mapping[str, Any] | None = recorded.section.get("plausible")
        lines = () if self.section is None else self.section["rules"]
        self.boxes = [self._box(line["box"]) for line in lines]
        self.most: int = 0 if self.section is None else self.section["most_broken"]

    def _box(self, given: Mapping[str, str]) -> list[int]:
        full = [(1 << size) - 1 for size in self.recorded.sizes]
        masks = [*full]
        for axis, levels in given.items():
            mask = int(levels, 16)
            place = int(axis)
            if str(place) != axis or levels != hex(mask) or not 0 < mask < full[place]:
                raise Wrong("plausible: a box with levels that there are not")
            masks[place] = mask
        return masks

    def counts(self, cells: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return how many of the rules each cell breaks."""
        counts = np.zeros(len(cells), dtype=np.intp)
        for box in self.boxes:
            inside = np.ones(len(cells), dtype=np.bool_)
            for axis, mask in enumerate(box):
                levels = [bool(mask >> level & 1) for level in range(self.recorded.sizes[axis])]
                if not all(levels):
                    inside &= np.array(levels)[cells[:, axis]]
            counts += inside
        return counts

    def check(self) -> tuple[list[str], list[str]]:
        """Hold the rules against their boxes, and the counts against the rows."""
        if self.section is None:
            return [], []
        section, features = self.section, self.recorded.features
        if set(section) - KEYS:
            raise Wrong("plausible: more than is known of it")
        for key in ("most_broken", "rows", "held_out", "kept"):
            if type(section[key]) is not int or section[key] < 0:
                raise Wrong(f"plausible: {key} is no count")
        if section["kept"] > section["held_out"]:
            raise Wrong("plausible: more rows are kept than were held out")
        for line, box in zip(section["rules"], self.boxes, strict=True):
            if set(line) != {"rule", "box"}:
                raise Wrong("plausible: a rule with other parts than it has")
            if line["rule"] != (words := _in_words(box, features)):
                raise Wrong(f"plausible: a rule whose box says {words}")
        if len({line["rule"] for line in section["rules"]}) < len(self.boxes):
            raise Wrong("plausible: a rule stands there twice")
        what = f"plausible: each of {len(self.boxes):,} rules of the rows says what its box says"
        if section.get("measured") is None:
            return [what], [WHO, WHICH, GIVEN]
        self._check_rows(section)
        return [f"{what}, and the rows that were held out break as many as is counted"], [
            WHO,
            WHICH,
        ]

    def _check_rows(self, section: Mapping[str, Any]) -> None:
        """Count the rows that were held out again, and how many rules 99% of others break."""
        total = self.recorded.section["rows"]["count"]
        marks = np.array(numbers_in(section["measured"], "b", total), dtype=np.intp)
        if not np.isin(marks, (0, 1)).all() or marks.sum() != section["held_out"]:
            raise Wrong("plausible: other rows were held out than are counted")
        if section["rows"] != min(total // 2, total - section["held_out"]):
            raise Wrong("plausible: other rows showed the rules than are left")
        counts = np.sort(self.counts(self.recorded.row_cells[marks == 1]))
        rank = ceil((len(counts) + 1) * KEPT)
        if rank > len(counts) or counts[rank - 1] != self.most:
            raise Wrong("plausible: 99% of the rows that were held out break another number")
        if section["kept"] != int((counts <= self.most).sum()):
            raise Wrong("plausible: another number of the rows that were held out is kept")


def _in_words(box: Sequence[int], features: Sequence[Mapping[str, Any]]) -> str:
    """Return the rule that is broken in a box."""
    full = [(1 << feature["levels"]) - 1 for feature in features]
    own = [(a, _range(mask, features[a])) for a, mask in enumerate(box) if mask != full[a]]
    open_ = [axis for axis, span in own if span is None]
    for right in open_ or [axis for axis, _ in reversed(own)]:
        other = _range(full[right] & ~box[right], features[right])
        if other is not None:
            left = [say(features[a], *span) for a, span in own if span is not None and a != right]
            return f"{' and '.join(left)} → {say(features[right], *other)}"
    left = [say(features[axis], *span) for axis, span in own if span is not None]
    return f"{' and '.join(left)} → false"


def _range(mask: int, feature: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return a set of levels as a range that is one condition; None if it is none."""
    low, high = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
    if mask != ((1 << high - low + 1) - 1) << low:
        return None
    known = feature["levels"] - feature["missing"]
    is_one = low == high or (feature["kind"] in RANGED and high < known)
    return (low, high) if is_one else None
