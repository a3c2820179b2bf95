"""What the rules of a classifier have to be: true of every cell, as general as can be, and enough.

The cells and their classes are recorded; of an ensemble of trees with too many cells, its leaves
are. Then each rule is proved again by splitting its box until every part is decided.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from random import Random
from typing import Any

from hornlens.errors import InputError
from hornlens.verifying.claims import Claim
from hornlens.verifying.explained import (
    check_cell_counts,
    check_complete,
    check_flips,
    check_scope,
    check_thresholds,
    check_warrants,
)
from hornlens.verifying.grids import Wrong

OUTSIDE, OPEN = -1, -2
CLOSE = 1e-9
TRIES = 300
"""How many random short sets of conditions are looked at for rules that are missing."""
PATIENCE = 200_000
MEASURED = ("rows", "uniform", "drawn", "cells", "mixed", "repeated", "varied", "compared")
DRAWN = 10_000
"""So many inputs were drawn where a claim is of every input."""
Range = tuple[int, int]
Box = tuple[Range, ...]


class RecordedCells:
    """The recorded cells with their classes, as one dictionary or in the order of a grid."""

    def __init__(self, content: Mapping[str, Any], sizes: Sequence[int]):
        """Unpack them."""
        self.sizes = sizes
        self.steps: list[int]
        self.listed: list[tuple[int, ...]] = []
        cells = content["cells"]
        labels = _numbers(cells["labels"], "b")
        self.is_grid = cells["kind"] == "grid"
        if self.is_grid:
            if len(labels) != prod(sizes):
                raise Wrong(f"cells: {len(labels):,} classes for {prod(sizes):,} cells")
            self.labels: Sequence[int] = labels
            steps = [1]
            for size in reversed(sizes[1:]):
                steps.insert(0, steps[0] * size)
            self.steps = steps[: len(sizes)]
        else:
            self.steps = []
            flat, width = _numbers(cells["cells"], "H"), len(sizes)
            self.listed = [tuple(flat[i * width : (i + 1) * width]) for i in range(cells["count"])]
            self.labels = labels
        top = len(content["classes"])
        least = OPEN if self.is_grid else 0
        if any(not least <= label < top and label != OPEN for label in labels):
            raise Wrong("cells: a class that there is not")
        self.open = sum(label == OPEN for label in labels)
        """How many cells were not asked."""

    def inside(self, box: Box) -> Iterator[int]:
        """Yield the class of every cell in a box; OPEN where it was not asked."""
        if self.is_grid:
            axes = [
                [level * step for level in range(low, high + 1)]
                for (low, high), step in zip(box, self.steps, strict=True)
            ]
            for parts in product(*axes):
                if (label := self.labels[sum(parts)]) != OUTSIDE:
                    yield label
            return
        for cell, label in zip(self.listed, self.labels, strict=True):
            if all(low <= at <= high for at, (low, high) in zip(cell, box, strict=True)):
                yield label

    def by_cell(self) -> Callable[[tuple[int, ...]], int | None]:
        """Return a function to the class of a cell; None: it was not asked."""
        if self.is_grid:
            return lambda cell: self.labels[
                sum(at * step for at, step in zip(cell, self.steps, strict=True))
            ]
        return dict(zip(self.listed, self.labels, strict=True)).get

    def only(self, box: Box, place: int) -> bool:
        """Say whether every cell of a box has a class."""
        return all(label == place for label in self.inside(box))


class Leaves:
    """An ensemble by its leaves: sets of levels, and what each adds to the classes."""

    def __init__(self, content: Any, sizes: Sequence[int]):
        """Read them; the leaves of a tree must part what can be."""
        trees, classes = content["trees"], len(content["classes"])
        self.full = [(1 << size) - 1 for size in sizes]
        self.trees = [[self._leaf(leaf, classes) for leaf in tree] for tree in trees]
        cells = prod(sizes)
        for number, tree in enumerate(self.trees, 1):
            covered = sum(prod(mask.bit_count() for mask in masks) for masks, _ in tree)
            if covered != cells:
                raise Wrong(f"tree {number}: its leaves do not part all inputs")
        largest = sum(max(max(map(abs, s)) for _, s in tree) for tree in self.trees)
        self.close = CLOSE * max(1.0, largest)
        self.forbidden = [self._box(levels) for levels in content.get("forbidden", ())]

    def _leaf(self, leaf: Mapping[str, Any], classes: int) -> tuple[list[int], list[float]]:
        masks = self._box(leaf["levels"])
        if len(leaf["scores"]) != classes:
            raise Wrong("a leaf without a score for each class")
        return masks, leaf["scores"]

    def _box(self, given: Mapping[str, str]) -> list[int]:
        masks = [*self.full]
        for axis, levels in given.items():
            masks[int(axis)] = int(levels, 16)
        return masks

    def occurring(self, masks: list[int]) -> list[list[int]]:
        """Return a box in parts without what the background rules out; none if nothing is left."""
        whole, sure = [masks], []
        while whole:
            box = whole.pop()
            bad = next((bad for bad in self.forbidden if _meet(bad, box)), None)
            if bad is None:
                sure.append(box)
                continue
            for axis, mask in enumerate(box):
                if mask & ~bad[axis]:  # its part outside, and the rest once more
                    whole.append([*box[:axis], mask & ~bad[axis], *box[axis + 1 :]])
                    whole.append([*box[:axis], mask & bad[axis], *box[axis + 1 :]])
                    break
        return sure

    def decided(self, masks: list[int], place: int) -> bool | None:
        """Say whether every cell of a box gets a class; None if that is too close or too hard."""
        stack, looked = self.occurring(masks), 0
        sure = True
        while stack:
            box = stack.pop()
            looked += 1
            if looked > PATIENCE:
                return None
            left = [[leaf for leaf in tree if _meet(leaf[0], box)] for tree in self.trees]
            others = range(len(left[0][0][1]))
            lead = max(
                (
                    sum(max(s[other] - s[place] for _, s in tree) for tree in left)
                    for other in others
                    if other != place
                ),
                default=-1.0,
            )
            if lead < -self.close:
                continue
            open_ = max(left, key=len)
            if len(open_) == 1:
                if lead > self.close:
                    return False
                sure = False  # rounding decides: the model would have to be asked
                continue
            first = open_[0][0]
            axis = next(a for a, mask in enumerate(box) if mask & ~first[a])
            for part in (box[axis] & first[axis], box[axis] & ~first[axis]):
                if part:
                    stack.append([*box[:axis], part, *box[axis + 1 :]])
        return True if sure else None


def _meet(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(a & b for a, b in zip(one, other, strict=True))


def check_classifier(content: Any) -> tuple[list[str], list[str]]:
    """Check the result of a classifier; return what was checked, and what was not.

    It is an envelope.json, or an explanation.json of 0.2.
    """
    if content["format"] > 2:
        raise InputError("was written by a newer hornlens: upgrade hornlens")
    if "classifier" not in content:
        return _check_explanation(content)
    lines = content["readable"]
    if content["rules"] is not None:
        raise Wrong("rules: a basis, which the result of a classifier does not have")
    rules = [{**line, "if": line["conditions"], "then": line["class"]} for line in lines]
    checked, not_checked = _check_explanation(
        {**content["classifier"], "certificate": content["certificate"], "rules": rules}
    )
    _check_variables(content, content["readable"])
    checked.append("variables: each rule says in variables what its conditions say")
    more, less = _check_claims({**content["classifier"], "rules": rules}, content)
    if "sift" in content or "sift" in content["certificate"]:
        again, never = _check_sift(content)
        more, less = [*more, *again], [*less, *never]
    return [*checked, *more], [*not_checked, *less]


def _check_sift(content: Any) -> tuple[list[str], list[str]]:
    """Count a sift again: NumPy is needed for that."""
    from hornlens.verifying.siftedcells import check_sifted_cells

    if "sift" not in content or "sift" not in content["certificate"]:
        raise Wrong("sift: a certificate without a record, or a record without a certificate")
    section = content["classifier"]
    cells = RecordedCells(section, [feature["levels"] for feature in section["features"]])
    if cells.is_grid or cells.open:
        raise Wrong("sift: its cells are no list of those that were asked")
    _check_variables(content, content["open"])
    return check_sifted_cells(content, cells.listed, cells.labels)


def _check_claims(content: Any, whole: Any) -> tuple[list[str], list[str]]:
    """Check what files of format 1 do not claim; return what was checked, and what was not."""
    features = content["features"]
    sizes = [feature["levels"] for feature in features]
    cells, claim = RecordedCells(content, sizes), Claim.of(whole["certificate"])
    check_complete(claim, cells, sizes)
    check_scope(content, claim, cells)
    check_cell_counts(whole, claim, cells)
    check_warrants(content, claim, cells, features)
    checked = [
        "certificate: its scope and warrants are those of the cells",
        check_flips(content, cells, sizes),
        check_thresholds(content, _numbers(content["rows"]["cells"], "H")),
    ]
    not_checked = ["which rows flip, and which other inputs the model accepts: ask it again"]
    if content["background"] and cells.is_grid:
        not_checked.append("that the cells that do not occur are those of the background")
    return checked, not_checked


def _check_variables(content: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> None:
    """Read each rule in variables again: one for each bound of its box, and one for its class."""
    features, known = content["classifier"]["features"], set(content["variables"])
    label = content["space"]["label"]["values"]
    names = [line["name"] for line in content["space"]["attributes"]]
    for line in lines:
        wanted = set()
        for axis, low, high in line["box"]:
            wanted |= set(_bounds({**features[axis], "name": names[axis]}, low, high))
        if set(line["if"]) != wanted or not wanted <= known:
            shown = ", ".join(sorted(wanted)) or "nothing"
            raise Wrong(f"{' ∧ '.join(line['conditions']) or '⊤'}: in variables it is {shown}")
        place = content["classifier"]["classes"].index(line["class"])
        if line["then"] != [label[place]]:
            raise Wrong(f"{line['class']}: in variables it is {label[place]}")


def _bounds(feature: Mapping[str, Any], low: int, high: int) -> list[str]:
    """Return the variables of a range of levels: those of its bounds, where it is an interval."""
    known = feature["levels"] - feature["missing"]
    if low >= known or feature["kind"] not in ("number", "whole", "ordered") or known == 1:
        return [_say(feature, low, high)]
    if (low, high) == (0, known - 1):
        return [f"{feature['name']} is known"]
    if "cuts" in feature:
        below = [] if high == known - 1 else [_say(feature, 0, high)]
        return [*([] if low == 0 else [_say(feature, low, known - 1)]), *below]
    name, values = feature["name"], feature["values"]
    below = [] if high == known - 1 else [f"{name} ≤ {values[high]}"]
    return [*([] if low == 0 else [f"{name} ≥ {values[low]}"]), *below]


def _check_explanation(content: Any) -> tuple[list[str], list[str]]:
    features = content["features"]
    sizes = [feature["levels"] for feature in features]
    cells = RecordedCells(content, sizes)
    boxes = [(_box(rule, sizes), _place(rule, content)) for rule in content["rules"]]
    claim = _claim(content)
    _check_open(claim, cells)
    checked, not_checked = [], ["sentences, and the files beside it"]
    trees = content.get("trees")
    leaves = None
    sifted = claim.sift is not None
    by_trees = claim.proved and not (claim.decides or sifted or _is_near_rows(claim))
    if trees is not None and not cells.is_grid and by_trees:
        leaves = Leaves(content, sizes)
        if leaves.forbidden:
            not_checked.append("that the boxes that do not occur are those of the background")
    for rule, (box, place) in zip(content["rules"], boxes, strict=True):
        _check_rule(rule, box, place, cells, leaves, features)
    what = "proved again from the leaves of the trees" if leaves else "true of every recorded cell"
    checked.append(f"rules: each of {len(boxes):,} is {what}, and says what its box says")
    if claim.ended and leaves:
        not_checked.append("that rules are general: the run was ended before all was proved")
    elif claim.proved or sifted:
        close = _check_general(boxes, cells, leaves, features)
        checked.append("general: no condition of a rule can be left out or made wider")
        if close:
            not_checked.append(f"{close:,} wider boxes, which are too hard or too close to call")
    if claim.decides:
        _check_cover(boxes, cells)
        checked.append("complete: every cell is decided by a rule, as the model decided it")
    elif claim.ended and not sifted:
        not_checked.append("rules that are not there: a run that was ended makes no claim on them")
    elif claim.proved and not sifted:
        looked = _check_missing(content, claim, boxes, cells, leaves, sizes, features)
        checked.append(f"complete: {looked:,} random sets of so few conditions have no other rule")
    elif not sifted:
        not_checked.append("what was not drawn: a sampled result makes no claim on it")
    _check_rows(content, boxes, sizes)
    checked.append("support and confidence: counted again from the rows")
    checked.append(_check_agreement(content, claim, cells, sizes))
    not_checked.append("the agreement on uniform inputs: they are not kept")
    not_checked.append("that the classes are the model's own: ask it again")
    return checked, not_checked


def _is_near_rows(claim: Claim) -> bool:
    """Say whether a claim is of the cells of rows and those next to them only."""
    words = claim.scope.get("words", "")
    return claim.scope.get("of") == "part" or words.startswith("those of the rows")


def _check_open(claim: Claim, cells: RecordedCells) -> None:
    """Hold what is claimed against the cells that were not asked."""
    if cells.open and (claim.decides or claim.every or claim.bounded or not claim.ended):
        raise Wrong(f"certificate: complete, though {cells.open:,} cells were not asked")
    if (cells.open or cells.is_grid) and claim.unasked != cells.open:
        raise Wrong(f"certificate: {cells.open:,} cells were not asked, not {claim.unasked:,}")
    if claim.ended and (claim.decides or claim.every or claim.bounded):
        raise Wrong("certificate: complete, though the run was ended")


def _numbers(text: str, code: str) -> tuple[int, ...]:
    raw = zlib.decompress(b64decode(text))
    return struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)


def _box(rule: Mapping[str, Any], sizes: Sequence[int]) -> Box:
    box = [(0, size - 1) for size in sizes]
    for axis, low, high in rule["box"]:
        if not 0 <= low <= high < sizes[axis] or (low, high) == (0, sizes[axis] - 1):
            raise Wrong(f"{_show(rule)}: its box is none")
        box[axis] = (low, high)
    return tuple(box)


def _place(rule: Mapping[str, Any], content: Mapping[str, Any]) -> int:
    place: int = content["classes"].index(rule["then"])
    return place


def _show(rule: Mapping[str, Any]) -> str:
    return f"{' ∧ '.join(rule['if']) or '⊤'} → {rule['then']}"


def _check_rule(
    rule: Mapping[str, Any],
    box: Box,
    place: int,
    cells: RecordedCells,
    leaves: Leaves | None,
    features: Sequence[Mapping[str, Any]],
) -> None:
    count = 0
    for label in cells.inside(box):
        count += 1
        if label == OPEN:
            raise Wrong(f"{_show(rule)}: a cell that was not asked is in its box")
        if label != place:
            raise Wrong(f"{_show(rule)}: a cell of another class is in its box")
    if count != rule["cells"]:
        raise Wrong(f"{_show(rule)}: {count:,} cells are in its box, not {rule['cells']:,}")
    if leaves is not None and leaves.decided(_masks(box), place) is False:
        raise Wrong(f"{_show(rule)}: some input breaks it")
    said = [_say(features[axis], low, high) for axis, low, high in rule["box"]]
    if said != rule["if"]:
        raise Wrong(f"{_show(rule)}: its box says {' ∧ '.join(said)}")


def _masks(box: Box) -> list[int]:
    return [((1 << high - low + 1) - 1) << low for low, high in box]


def _say(feature: Mapping[str, Any], low: int, high: int) -> str:
    """Return a range of levels as a condition."""
    name, known = feature["name"], feature["levels"] - feature["missing"]
    if low == high == known:
        return f"{name} is missing"
    if (low, high) == (0, known - 1):
        return f"{name} is known"
    if "cuts" in feature:
        texts, after = feature["texts"], feature["after"]
        top = None if high == known - 1 else f"{'≤' if high in after else '<'} {texts[high]}"
        if low == 0:
            return f"{name} {top}"
        is_after = low - 1 in after
        if top is None:
            return f"{name} {'>' if is_after else '≥'} {texts[low - 1]}"
        return f"{texts[low - 1]} {'<' if is_after else '≤'} {name} {top}"
    values = feature["values"]
    if feature["kind"] == "boolean":
        return name if values[low] == "True" else f"not {name}"
    if low == high:
        return f"{name} = {values[low]}"
    if low == 0:
        return f"{name} ≤ {values[high]}"
    return (
        f"{name} ≥ {values[low]}"
        if high == known - 1
        else f"{values[low]} ≤ {name} ≤ {values[high]}"
    )


def _wider(feature: Mapping[str, Any], low: int, high: int) -> list[Range]:
    known, last = feature["levels"] - feature["missing"], feature["levels"] - 1
    steps: list[Range] = []
    if feature["kind"] in ("number", "whole", "ordered") and high < known:
        if low > 0:
            steps.append((low - 1, high))
        if high + 1 < known:
            steps.append((low, high + 1))
    return steps or [(0, last)]


def _check_general(
    boxes: Sequence[tuple[Box, int]],
    cells: RecordedCells,
    leaves: Leaves | None,
    features: Sequence[Mapping[str, Any]],
) -> int:
    """Widen every rule by one step in every way; return how often that was not settled."""
    unsettled = 0
    for number, (box, place) in enumerate(boxes, 1):
        for axis, (low, high) in enumerate(box):
            if (low, high) == (0, features[axis]["levels"] - 1):
                continue
            for more in _wider(features[axis], low, high):
                wide = (*box[:axis], more, *box[axis + 1 :])
                if leaves is None:
                    if cells.only(wide, place):
                        raise Wrong(f"rule {number}: it holds with {features[axis]['name']} wider")
                    continue
                decided = leaves.decided(_masks(wide), place)
                if decided:
                    raise Wrong(f"rule {number}: it holds with {features[axis]['name']} wider")
                unsettled += decided is None
    return unsettled


def _check_cover(boxes: Sequence[tuple[Box, int]], cells: RecordedCells) -> None:
    if cells.is_grid:
        decided = bytearray(len(cells.labels))
        for box, _ in boxes:
            *front, (low, high) = box or ((0, 0),)
            steps = cells.steps[: len(front)] if box else []
            axes = [
                [level * step for level in range(a, b + 1)]
                for (a, b), step in zip(front, steps, strict=True)
            ]
            for parts in product(*axes):
                start = sum(parts) + low
                decided[start : start + high - low + 1] = b"\1" * (high - low + 1)
        for at, label in enumerate(cells.labels):
            if label != OUTSIDE and not decided[at]:
                raise Wrong("a cell is decided by no rule")
        return
    for cell in cells.listed:
        if not any(_contains(box, cell) for box, _ in boxes):
            raise Wrong("a cell is decided by no rule")


def _contains(box: Box, cell: Sequence[int]) -> bool:
    return all(low <= at <= high for at, (low, high) in zip(cell, box, strict=True))


def _check_missing(
    content: Mapping[str, Any],
    claim: Claim,
    boxes: Sequence[tuple[Box, int]],
    cells: RecordedCells,
    leaves: Leaves | None,
    sizes: Sequence[int],
    features: Sequence[Mapping[str, Any]],
) -> int:
    """Look at random sets of at most so many conditions: what they imply must be said."""
    most, rng = claim.most or 0, Random(0)
    if claim.unsettled:
        return 0
    looked = 0
    for _ in range(TRIES):
        some = rng.sample(range(len(sizes)), min(len(sizes), rng.randint(0, most)))
        box = [(0, size - 1) for size in sizes]
        for axis in some:
            at = rng.randrange(sizes[axis])
            box[axis] = (at, at)
        found = set(cells.inside(tuple(box)))
        if len(found) > 1:
            looked += 1
            continue
        if leaves is not None:
            if not leaves.occurring(_masks(tuple(box))):
                continue
            places = found or set(range(len(content["classes"])))
            found = {p for p in places if leaves.decided(_masks(tuple(box)), p)}
        looked += 1
        for place in found:
            if not any(p == place and _holds(b, tuple(box)) for b, p in boxes):
                said = [_say(features[axis], *box[axis]) for axis in sorted(some)]
                label = content["classes"][place]
                raise Wrong(f"a rule is missing: {' ∧ '.join(said) or '⊤'} → {label} holds")
    return looked


def _holds(outer: Box, inner: Box) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))


def _claim(content: Mapping[str, Any]) -> Claim:
    """Return what is claimed; of a file of format 1, as the measured agreement allows."""
    line = content["certificate"]
    if "weakest" in line:
        claim = Claim.of(line)
        measured, stated = content["agreement"], claim.scope.get("agreement", {})
        if any(stated.get(name, 0) != measured.get(name, 0) for name in MEASURED):
            raise Wrong("certificate: its agreement is not the one that was measured")
        if claim.scope["of"] == "every input" and not content["exact_bins"]:
            raise Wrong("certificate: of every input, though the bins are not exact")
        if claim.scope["of"] == "every input" and measured["drawn"] < DRAWN:
            raise Wrong("certificate: of every input, though fewer inputs were measured")
        if claim.rules != len(content["rules"]):
            raise Wrong(f"certificate: there are {len(content['rules']):,} rules")
        return claim
    kind = line["kind"]
    if kind == "exact":
        return Claim("proved", decides=True)
    if kind == "bounded":
        return Claim("proved", most=line["max_conditions"], unsettled=line["unsettled"])
    return Claim("tested", trial=line)


def _check_agreement(
    content: Mapping[str, Any], claim: Claim, cells: RecordedCells, sizes: Sequence[int]
) -> str:
    """Count again of how many rows the cell has the class that the model said."""
    rows, width = content["rows"], len(sizes)
    flat, said = _numbers(rows["cells"], "H"), _numbers(rows["said"], "b")
    known = cells.by_cell()
    same = other = 0
    for i, label in enumerate(said):
        stands = known(tuple(flat[i * width : (i + 1) * width]))
        if stands is not None and stands >= 0:
            same += stands == label
            other += stands != label
    share, compared = content["agreement"]["rows"], content["agreement"].get("compared")
    if compared is not None and compared != same + other:
        raise Wrong(f"agreement: {same + other:,} rows can be compared, not {compared:,}")
    if compared and share != same / compared:
        raise Wrong(f"agreement: on {same:,} of {compared:,} rows, not on {share:.6g} of them")
    if other and share == 1:
        raise Wrong(f"agreement: {other:,} rows have another class than their cell")
    if same + other == len(said) and said and share != same / len(said):
        raise Wrong(f"agreement: on {same:,} of {len(said):,} rows, not on {share:.6g} of them")
    return f"agreement: {same:,} of {same + other:,} rows whose cells were asked have their class"


def _check_rows(
    content: Mapping[str, Any], boxes: Sequence[tuple[Box, int]], sizes: Sequence[int]
) -> None:
    rows, width = content["rows"], len(sizes)
    flat, said = _numbers(rows["cells"], "H"), _numbers(rows["said"], "b")
    cells = [flat[i * width : (i + 1) * width] for i in range(rows["count"])]
    for rule, (box, place) in zip(content["rules"], boxes, strict=True):
        inside = [label for cell, label in zip(cells, said, strict=True) if _contains(box, cell)]
        if len(inside) != rule["support"]:
            raise Wrong(f"{_show(rule)}: support is {len(inside)}, not {rule['support']}")
        share = inside.count(place) / len(inside) if inside else None
        if share != rule["confidence"]:
            raise Wrong(f"{_show(rule)}: confidence is {share}, not {rule['confidence']}")
