"""What the rules of a classifier have to be: true of every cell, as general as can be, enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

import numpy as np

from hornlens.verifying.claims import Claim
from hornlens.verifying.classifying.cells import (
    OPEN,
    OUTSIDE,
    Box,
    RecordedCells,
    has_cell,
    is_part_of,
)
from hornlens.verifying.classifying.conditions import bounds, say, wider
from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.classifying.leaves import Leaves, box_masks
from hornlens.verifying.grids import Wrong

TRIES = 300
"""How many random short sets of conditions are looked at for rules that are missing."""


def rule_box(rule: Mapping[str, Any], sizes: Sequence[int]) -> Box:
    """Return the box of a rule, which lists the ranges that are conditions."""
    axes = [axis for axis, _, _ in rule["box"]]
    if axes != sorted(set(axes)) or any(type(axis) is not int or axis < 0 for axis in axes):
        raise Wrong(f"{_show(rule)}: its box is none")
    box = [(0, size - 1) for size in sizes]
    for axis, low, high in rule["box"]:
        if not 0 <= low <= high < sizes[axis] or (low, high) == (0, sizes[axis] - 1):
            raise Wrong(f"{_show(rule)}: its box is none")
        box[axis] = (low, high)
    return tuple(box)


def _show(rule: Mapping[str, Any]) -> str:
    return f"{' ∧ '.join(rule['if']) or '⊤'} → {rule['then']}"


def check_rule(
    rule: Mapping[str, Any],
    box: Box,
    place: int,
    cells: RecordedCells,
    leaves: Leaves | None,
    features: Sequence[Mapping[str, Any]],
) -> bool:
    """Check that a rule holds in every cell of its box, and says what the box says.

    With leaves, return whether they prove it: it may be too hard, or too close to call.
    """
    count = 0
    for label in cells.inside(box):
        count += 1
        if label == OPEN:
            raise Wrong(f"{_show(rule)}: a cell that was not asked is in its box")
        if label != place:
            raise Wrong(f"{_show(rule)}: a cell of another class is in its box")
    if count != rule["cells"]:
        raise Wrong(f"{_show(rule)}: {count:,} cells are in its box, not {rule['cells']:,}")
    proved = True if leaves is None else leaves.decided(box_masks(box), place)
    if proved is False:
        raise Wrong(f"{_show(rule)}: some input breaks it")
    words = [say(features[axis], low, high) for axis, low, high in rule["box"]]
    if words != rule["if"]:
        raise Wrong(f"{_show(rule)}: its box says {' ∧ '.join(words)}")
    return bool(proved)


def check_in_variables(content: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> None:
    """Read each rule in variables again: one for each bound of its box, and one for its class."""
    features, known = content["classifier"]["features"], set(content["variables"])
    label = content["space"]["label"]["values"]
    names = [line["name"] for line in content["space"]["attributes"]]
    for line in lines:
        wanted = set()
        for axis, low, high in line["box"]:
            wanted |= set(bounds({**features[axis], "name": names[axis]}, low, high))
        if line["if"] != [name for name in content["variables"] if name in wanted] or (
            not wanted <= known
        ):
            shown = ", ".join(sorted(wanted)) or "nothing"
            raise Wrong(f"{' ∧ '.join(line['conditions']) or '⊤'}: in variables it is {shown}")
        place = content["classifier"]["classes"].index(line["class"])
        if line["then"] != [label[place]]:
            raise Wrong(f"{line['class']}: in variables it is {label[place]}")


def is_short(box: Box, claim: Claim, sizes: Sequence[int]) -> bool:
    """Return whether a rule has no more conditions than all rules of a claim that are there."""
    conditions = sum(span != (0, size - 1) for span, size in zip(box, sizes, strict=True))
    return conditions <= (claim.most or 0)


def check_general(
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
            for more in wider(features[axis], low, high):
                wide = (*box[:axis], more, *box[axis + 1 :])
                if leaves is None:
                    if cells.only(wide, place):
                        raise Wrong(f"rule {number}: it holds with {features[axis]['name']} wider")
                    continue
                decided = leaves.decided(box_masks(wide), place)
                if decided:
                    raise Wrong(f"rule {number}: it holds with {features[axis]['name']} wider")
                unsettled += decided is None
    return unsettled


def check_cover(boxes: Sequence[tuple[Box, int]], cells: RecordedCells) -> None:
    """Check that every cell that was asked lies in the box of a rule."""
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
        if not any(has_cell(box, cell) for box, _ in boxes):
            raise Wrong("a cell is decided by no rule")


def check_missing(
    classes: Sequence[str],
    claim: Claim,
    boxes: Sequence[tuple[Box, int]],
    cells: RecordedCells,
    leaves: Leaves | None,
    features: Sequence[Mapping[str, Any]],
) -> int:
    """Look at random sets of at most so many conditions: what they imply must be said."""
    most, rng = claim.most or 0, Random(0)
    sizes = [feature["levels"] for feature in features]
    if claim.unsettled:
        return 0
    looked = 0
    for _ in range(TRIES):
        some = rng.sample(range(len(sizes)), min(len(sizes), rng.randint(0, most)))
        box = [(0, size - 1) for size in sizes]
        for axis in some:
            at = rng.randrange(sizes[axis])
            box[axis] = (at, at)
        implied = set(cells.inside(tuple(box)))
        if len(implied) > 1:
            looked += 1
            continue
        if leaves is not None:
            if not leaves.occurring(box_masks(tuple(box))):
                continue
            places = implied or set(range(len(classes)))
            implied = {p for p in places if leaves.decided(box_masks(tuple(box)), p)}
        looked += 1
        for place in implied:
            if not any(p == place and is_part_of(tuple(box), b) for b, p in boxes):
                words = [say(features[axis], *box[axis]) for axis in sorted(some)]
                label = classes[place]
                raise Wrong(f"a rule is missing: {' ∧ '.join(words) or '⊤'} → {label} holds")
    return looked


def check_support(recorded: ClassifierFile, boxes: Sequence[tuple[Box, int]]) -> None:
    """Count the rows in each rule again, and those of its class."""
    cells, labels = recorded.row_cells, recorded.row_classes
    for rule, (box, place) in zip(recorded.rules, boxes, strict=True):
        inside = np.ones(len(cells), dtype=np.bool_)
        for axis, (low, high) in enumerate(box):
            inside &= (low <= cells[:, axis]) & (cells[:, axis] <= high)
        count = int(inside.sum())
        if count != rule["support"]:
            raise Wrong(f"{_show(rule)}: support is {count}, not {rule['support']}")
        share = int((labels[inside] == place).sum()) / count if count else None
        if share != rule["confidence"]:
            raise Wrong(f"{_show(rule)}: confidence is {share}, not {rule['confidence']}")
    pairs = zip(recorded.rules, boxes, strict=True)
    order = [(-r["support"], len(r["box"]), -r["cells"], place, box) for r, (box, place) in pairs]
    if recorded.is_recent and order != sorted(order):
        raise Wrong("readable: the rules that most rows obey do not come first")
