"""What else the file of a classifier claims: its scope, its warrants, its flips, its levels.

These are the claims of format 2. Each is counted again from the cells, or has to follow from what
the file says elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil, isclose, log, prod
from typing import Any, Protocol

from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import Wrong

OUTSIDE = -1
SHOWN_DIGITS = 1e-5
"""So far a threshold may be from the number that is shown: trees compare in single precision."""


class ClassifiedCells(Protocol):
    """The recorded cells with their classes; OUTSIDE: does not occur."""

    is_grid: bool
    open: int

    @property
    def labels(self) -> Sequence[int]:
        """The class of each cell."""

    @property
    def steps(self) -> Sequence[int]:
        """How far apart neighbours of a grid are, along each axis."""

    @property
    def listed(self) -> Sequence[tuple[int, ...]]:
        """The cells, where they are no grid."""


def check_scope(content: Mapping[str, Any], claim: Claim, cells: ClassifiedCells) -> None:
    """Hold the scope against the cells: which were asked, and of what they can speak."""
    of = claim.scope["of"]
    if of not in ("every input", "surrogate", "part"):
        raise Wrong(f"certificate: a classifier is not asked of {of!r}")
    if of == "part" and (cells.is_grid or not content["exact_bins"]):
        raise Wrong("certificate: of a part, though that is not what was asked")
    drawn = claim.trial or claim.sift
    some = not cells.is_grid and not drawn and (claim.decides or not content.get("trees"))
    if of == "every input" and some:
        raise Wrong("certificate: of every input, though only some cells were asked")
    if bool(claim.scope.get("assumed")) != bool(content["background"]):
        raise Wrong("certificate: what it assumes is not the background")
    if not content["background"] and OUTSIDE in cells.labels:
        raise Wrong("cells: some do not occur, and there is no background")


def check_complete(claim: Claim, cells: ClassifiedCells, sizes: Sequence[int]) -> None:
    """Hold what is claimed to be complete against what was asked."""
    if claim.every:
        raise Wrong("certificate: every rule, though these are rules of classes only")
    tested = claim.trial is not None or claim.sift is not None
    if claim.sift is None and claim.weakest != ("tested" if tested else "proved"):
        raise Wrong(f"certificate: {claim.weakest}, which is not what the rules rest on")
    complete = claim.decides or claim.most is not None
    if tested and complete:
        raise Wrong("certificate: complete, though the rules are only tested")
    if not (tested or complete or claim.ended):
        raise Wrong("certificate: neither complete nor ended")
    near = claim.scope.get("words", "").startswith("those of the rows")
    if cells.is_grid or near or (claim.ended and not tested):
        wanted = cells.open
    else:
        wanted = prod(sizes) - len(set(cells.listed))
    if claim.unasked != wanted:
        raise Wrong(f"certificate: {wanted:,} cells were not asked, not {claim.unasked:,}")


def check_cell_counts(content: Mapping[str, Any], claim: Claim, cells: ClassifiedCells) -> None:
    """Count the cells and rows again, and name the certificate again."""
    line = content["certificate"]
    if line["kind"] != (kind := _kind(claim)):
        raise Wrong(f"certificate: it is {kind}, not {line['kind']}")
    asked, rows = _asked(cells), content["classifier"]["rows"]["count"]
    counted = content["statistics"]
    if (counted["cells"], counted["rows"]) != (asked, rows):
        raise Wrong(f"statistics: {asked:,} cells and {rows:,} rows are recorded")
    if counted.get("questions", asked) != asked:
        raise Wrong(f"statistics: {asked:,} questions were asked, not {counted['questions']:,}")
    count = sum(label >= 0 for label in cells.labels) + claim.unasked
    if line.get("cells", count) != count:
        raise Wrong(f"certificate: there are {count:,} cells, not {line['cells']:,}")


def _kind(claim: Claim) -> str:
    """Return what a certificate is called."""
    if claim.sift is not None:
        return "sifted"
    if claim.ended:
        return "interrupted"
    if claim.trial is not None:
        return "tested"
    if not (claim.decides or claim.bounded):
        return "partial"
    names = {"surrogate": "surrogate", "part": "partial"}
    return names.get(claim.scope["of"]) or ("exact" if claim.decides else "bounded")


def _asked(cells: ClassifiedCells) -> int:
    """Return how many different cells have a class."""
    if cells.is_grid:
        return sum(label >= 0 for label in cells.labels)
    pairs = zip(cells.listed, cells.labels, strict=True)
    return len({cell for cell, label in pairs if label >= 0})


def check_warrants(
    content: Mapping[str, Any],
    claim: Claim,
    cells: ClassifiedCells,
    features: Sequence[Mapping[str, Any]],
) -> None:
    """Work the warrant of each rule out again."""
    boxes = [(tuple(map(tuple, rule["box"])), rule["then"]) for rule in content["rules"]]
    if len(set(boxes)) < len(boxes):
        raise Wrong("rules: one is listed twice")
    trial = claim.trial
    if claim.sift is not None:
        return  # see `siftedcells`
    if trial is None:
        if any(rule["warrant"] != {"kind": "proved"} for rule in content["rules"]):
            raise Wrong("rules: a warrant that is not that of the certificate")
        return
    most, classes = trial["max_conditions"], len(content["classes"])
    ways = [_ranges(feature) for feature in features]
    candidates = classes * sum(
        prod(some) for size in range(min(most, len(ways)) + 1) for some in combinations(ways, size)
    )
    least = ceil(log(candidates / trial["delta"]) / -log(1 - trial["epsilon"]))
    counted = {"samples": len(cells.labels), "least": least, "candidates": candidates}
    for name, number in counted.items():
        if trial[name] != number:
            raise Wrong(f"certificate: {name} is {number:,}, not {trial[name]:,}")
    for rule in content["rules"]:
        if len(rule["box"]) > most or rule["cells"] < least:
            raise Wrong(f"{' ∧ '.join(rule['if'])}: too few cells, or too long, to be tested")
        bound = min(trial["epsilon"], 1 - (trial["delta"] / candidates) ** (1 / rule["cells"]))
        warrant = rule["warrant"]
        same = {**warrant, "bound": 0} == {"kind": "tested", "tested": rule["cells"], "bound": 0}
        if not same or not isclose(warrant["bound"], bound, rel_tol=1e-9):
            raise Wrong(f"{' ∧ '.join(rule['if'])}: a warrant that its cells do not give")


def _ranges(feature: Mapping[str, Any]) -> int:
    """Return how much can be said of a feature, nothing included."""
    levels, missing = feature["levels"], feature["missing"]
    known = levels - missing
    ranged = feature["kind"] in ("number", "whole", "ordered")
    each = known * (known + 1) // 2 if ranged else known
    return int(each + missing + (missing or not ranged))


def check_flips(content: Mapping[str, Any], cells: ClassifiedCells, sizes: Sequence[int]) -> str:
    """Count the pairs of cells again that differ in one column."""
    flips = content["flips"]
    if [line["feature"] for line in flips] != [line["name"] for line in content["features"]]:
        raise Wrong("flips: not of each column")
    for axis, line in enumerate(flips):
        name = line["feature"]
        if not 0 <= line["rows"] <= line["of_rows"] <= content["rows"]["count"]:
            raise Wrong(f"flips of {name}: more rows than there are")
        if line["every_input"] and not content["exact_bins"]:
            raise Wrong(f"flips of {name}: of every input, though the bins are not exact")
        if line["proved"] and (not cells.is_grid or cells.open):
            raise Wrong(f"flips of {name}: proved, though not all cells were asked")
        counted = _pairs(cells, axis, sizes) if cells.is_grid else (None, None)
        if (line["pairs"], line["of_pairs"]) != counted:
            raise Wrong(f"flips of {name}: {counted[0]} of {counted[1]} pairs of cells differ")
        if bool(line["examples"]) != bool(line["rows"] or line["pairs"]):
            raise Wrong(f"flips of {name}: examples, and how many there are, do not agree")
    return "flips: pairs of cells that differ in one column were counted again"


def _pairs(cells: ClassifiedCells, axis: int, sizes: Sequence[int]) -> tuple[int, int]:
    """Return how many pairs along an axis differ, and how many there are."""
    step, size = cells.steps[axis], sizes[axis]
    differ = total = 0
    for start in range(len(cells.labels)):
        if start // step % size:
            continue
        line = [at for at in cells.labels[start : start + step * size : step] if at >= 0]
        pairs = len(line) * (len(line) - 1) // 2
        same = sum(line.count(at) * (line.count(at) - 1) // 2 for at in set(line))
        differ, total = differ + pairs - same, total + pairs
    return differ, total


def check_thresholds(content: Mapping[str, Any], row_cells: Sequence[int]) -> str:
    """Hold thresholds against how they are shown, against their points, and the rows kept."""
    classes = [str(label) for label in content["labels"]]
    if classes != list(content["classes"]):
        raise Wrong(f"classes: {', '.join(content['classes'])} are not what the model says")
    features, columns = content["features"], list(content["columns"])
    for axis, feature in enumerate(features):
        if "cuts" not in feature:
            continue
        name, cuts = feature["name"], feature["cuts"]
        for cut, text in zip(cuts, feature["texts"], strict=True):
            if not isclose(cut, float(text), rel_tol=SHOWN_DIGITS, abs_tol=1e-9):
                raise Wrong(f"{name}: a threshold {cut} is shown as {text}")
        for level, point in enumerate(feature["points"][: len(cuts) + 1]):
            if bisect_right(cuts, point) != level:
                raise Wrong(f"{name}: {point} stands for a level that it is not in")
        place, width = columns.index(name), len(features)
        for row, values in enumerate(content["rows"]["values"]):
            value = values[place]
            level = len(cuts) + 1 if value is None else bisect_right(cuts, float(value))
            if row_cells[row * width + axis] != level:
                raise Wrong(f"rows: {name} = {value} is in another cell than row {row + 1} says")
    return "levels: thresholds are as shown, and the rows that were kept are in their cells"
