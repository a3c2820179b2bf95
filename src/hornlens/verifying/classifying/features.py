"""The columns in levels: cuts as they are shown, points, values, the space, and the rows kept."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, inf, isfinite, nextafter
from typing import Any

import numpy as np

from hornlens.verifying.attributes import is_close, is_single
from hornlens.verifying.classifying.conditions import say
from hornlens.verifying.classifying.document import ClassifierFile
from hornlens.verifying.grids import Wrong

EXACT = ("the model's own thresholds", "the values of each column")
"""How bins are called of which each has one class, as far as the model was read."""
KINDS = ("number", "whole", "boolean", "category", "ordered")
Feature = Mapping[str, Any]
LARGEST_EXACT = 1 << 53
"""Up to here, every whole number is a float."""


def check_features(recorded: ClassifierFile) -> tuple[list[str], list[str]]:
    """Check the columns and their levels; return what was checked, and what was not."""
    section = recorded.section
    labels = [str(label) for label in section["labels"]]
    if labels != list(section["classes"]) or len(set(labels)) < len(labels):
        raise Wrong(f"classes: {', '.join(section['classes'])} are not what the model says")
    silent = section["silent"]
    if any(line["levels"] != 1 for line in silent) or any(n < 2 for n in recorded.sizes):
        raise Wrong("features: columns with one level among those with several")
    names = [line["name"] for line in (*recorded.features, *silent)]
    columns = list(section["columns"])
    if sorted(names) != sorted(columns) or len(set(names)) < len(names):
        raise Wrong("columns: they are not the features")
    if [name for name in columns if name in set(names[: len(recorded.features)])] != names[
        : len(recorded.features)
    ]:
        raise Wrong("features: in another order than the columns")
    for line in (*recorded.features, *silent):
        _check_levels(line)
    for line in (*recorded.features, *silent):
        _check_rows(recorded, line, columns.index(line["name"]))
    _check_space(recorded)
    checked = [
        "levels: thresholds are as shown, points and rows lie in their levels, and the space and "
        "the classes are made of them"
    ]
    not_checked = ["that columns, thresholds and classes are the model's own: ask it again"]
    if not recorded.has_all_rows:
        not_checked.append("the points that stand for levels: not all rows of X are kept")
    return checked, not_checked


def _check_levels(feature: Feature) -> None:
    """Check that the levels of a column fit together."""
    name, known = feature["name"], feature["levels"] - feature["missing"]
    points = feature["points"]
    if feature["kind"] not in KINDS or type(feature["missing"]) is not bool:
        raise Wrong(f"{name}: its kind is unknown")
    if len(points) != feature["levels"] or known < 0:
        raise Wrong(f"{name}: not a point for each level")
    if feature["missing"] and points[-1] is not None:
        raise Wrong(f"{name}: {points[-1]} stands for what is missing")
    if "cuts" in feature:
        if feature["kind"] not in ("number", "whole") or "values" in feature:
            raise Wrong(f"{name}: cuts of something that is no number")
        _check_cuts(feature, known)
        return
    values = [str(value) for value in points[:known]]
    if feature["kind"] in ("number", "whole") or "texts" in feature or "after" in feature:
        raise Wrong(f"{name}: numbers without cuts")
    if values != list(feature["values"]) or len(set(values)) < known:
        raise Wrong(f"{name}: its values are not its points")
    if feature["kind"] == "boolean" and any(type(point) is not bool for point in points[:known]):
        raise Wrong(f"{name}: a value that is neither true nor false")


def _check_cuts(feature: Feature, known: int) -> None:
    name, cuts, texts, after = (feature[key] for key in ("name", "cuts", "texts", "after"))
    if not len(cuts) == len(texts) == known - 1:
        raise Wrong(f"{name}: {len(cuts)} thresholds for {known} levels")
    if not all(map(isfinite, cuts)) or any(low >= high for low, high in pairwise(cuts)):
        raise Wrong(f"{name}: thresholds that do not go up")
    if list(after) != sorted(set(after)) or any(
        type(place) is not int or not 0 <= place < len(cuts) for place in after
    ):
        raise Wrong(f"{name}: a threshold that is none")
    for place, (cut, text) in enumerate(zip(cuts, texts, strict=True)):
        if not (_is_exact(feature, place) or _is_rounded(feature, place)):
            raise Wrong(f"{name}: a threshold {cut} is shown as {text}")
    if len(set(zip(texts, (place in after for place in range(len(cuts))), strict=True))) < len(
        cuts
    ):
        raise Wrong(f"{name}: two thresholds are shown alike")
    for level, point in enumerate(feature["points"][:known]):
        if type(point) not in (int, float) or bisect_right(cuts, point) != level:
            raise Wrong(f"{name}: {point} stands for a level that it is not in")


def _is_exact(feature: Feature, place: int) -> bool:
    """Return whether a threshold is shown as it is, in single or full precision."""
    cut, text = feature["cuts"][place], feature["texts"][place]
    if place in feature["after"]:
        return _is_just_after(cut, text)
    return text == shown_number(cut) or is_single(text, cut)


def _is_rounded(feature: Feature, place: int) -> bool:
    """Return whether a threshold is shown rounded, on its own side of its neighbours.

    The number that is shown must itself be decided as the text says.
    """
    cuts, number = feature["cuts"], float(feature["texts"][place])
    low = cuts[place - 1] if place else -inf
    high = cuts[place + 1] if place + 1 < len(cuts) else inf
    text = shown_number(number) == feature["texts"][place]
    as_shown = (number < cuts[place]) == (place in feature["after"])
    return text and low < number < high and as_shown and is_close(str(number), cuts[place])


def rounded_cuts(feature: Feature) -> list[int]:
    """Return the places of the thresholds of a column that are shown rounded."""
    return [place for place in range(len(feature.get("cuts", ()))) if not _is_exact(feature, place)]


def shown_number(value: float) -> str:
    """Return a number in the fewest digits that read back as it."""
    if type(value) is int:
        return str(value)
    return str(int(value)) if abs(value) < 1e16 and value == floor(value) else repr(float(value))


def _is_just_after(cut: float, text: str) -> bool:
    """Return whether a cut is the first number above the one shown, in single or full precision."""
    number = float(text)
    if cut == nextafter(number, inf):
        return True
    shown = np.float32(number)
    if float(str(shown)) != number:
        return False
    return bool(np.float32(cut) > shown >= np.float32(nextafter(cut, -inf)))


def _check_rows(recorded: ClassifierFile, feature: Feature, column: int) -> None:
    """Hold the rows that were kept against the levels, and the points against the rows."""
    name, rows = feature["name"], recorded.section["rows"]["values"]
    values = [row[column] for row in rows]
    if any(len(row) != len(recorded.section["columns"]) for row in rows):
        raise Wrong("rows: not a value for each column")
    names = [line["name"] for line in recorded.features]
    axis = names.index(name) if name in names else None
    if len(values) > recorded.section["rows"]["count"]:
        raise Wrong("rows: more values than rows")
    for row, value in enumerate(values):
        level = level_of(feature, value)
        stands = 0 if axis is None else int(recorded.row_cells[row, axis])
        if level != stands:
            raise Wrong(f"rows: {name} = {value} is in another cell than row {row + 1} says")
    for place in rounded_cuts(feature):
        cut, shown = feature["cuts"][place], float(feature["texts"][place])
        is_after = place in feature["after"]
        for value in values:
            if value is not None and (value >= cut) != (
                value > shown if is_after else value >= shown
            ):
                raise Wrong(f"{name}: {value} lies between the threshold {cut} and {shown}")
    if "cuts" not in feature or not recorded.has_all_rows:
        return
    numbers = [value for value in values if value is not None]
    whole = bool(values) and all(type(value) is int for value in values)
    if (feature["kind"] == "whole") != whole:
        raise Wrong(f"{name}: its numbers are {'' if whole else 'not '}whole")
    if bool(feature["missing"]) != (len(numbers) < len(values)):
        raise Wrong(f"{name}: whether values are missing is not what the rows say")
    wanted = _points(feature["cuts"], sorted(numbers), whole)
    for point, middle in zip(feature["points"], wanted, strict=False):
        if point != middle:
            raise Wrong(f"{name}: {middle} stands for its level, not {point}")


def level_of(feature: Feature, value: Any) -> int | None:
    """Return the level of a value; None if it has none."""
    known: int = feature["levels"] - feature["missing"]
    if value is None:
        return known if feature["missing"] else None
    if "cuts" in feature:
        if type(value) not in (int, float):
            return None
        return bisect_right(feature["cuts"], value)  # exact for whole numbers of any size
    places = [place for place, text in enumerate(feature["values"]) if text == str(value)]
    return places[0] if places else None


def _points(cuts: Sequence[float], numbers: Sequence[float], whole: bool) -> list[float]:
    """Return what stands for each bin: the lower median of its numbers, or else its middle."""
    low, high = (numbers[0], numbers[-1]) if numbers else (0.0, 0.0)
    step = (high - low) / (len(cuts) + 1) or 1.0
    points = []
    for place in range(len(cuts) + 1):
        inside = [number for number in numbers if bisect_right(cuts, number) == place]
        first = cuts[place - 1] if place else None
        last = cuts[place] if place < len(cuts) else None
        middle = inside[(len(inside) - 1) // 2] if inside else _middle(first, last, step, whole)
        points.append(middle)
    return points


def _middle(first: float | None, last: float | None, step: float, whole: bool) -> float:
    """Return the middle of a bin in which no row lies."""
    if whole and max(abs(first or 0), abs(last or 0)) > LARGEST_EXACT:
        return _whole_middle(first, last)
    if last is None:
        if first is None:
            return 0.0
        return float(ceil(first)) if whole else first + step / 2
    if first is None:
        below = float(ceil(last) - 1) if whole else last - step
        return below if below < last else nextafter(last, -inf)
    middle = first / 2 + last / 2
    if whole:
        middle = float(floor(middle)) if floor(middle) >= first else float(ceil(first))
    return middle if first <= middle < last else first


def _whole_middle(first: float | None, last: float | None) -> int:
    """Return the middle of a bin of whole numbers that no float holds."""
    if last is None:
        return ceil(first or 0)
    return ceil(last) - 1 if first is None else (ceil(first) + ceil(last) - 1) // 2


# --- the space ---


def _check_space(recorded: ClassifierFile) -> None:
    """Check that the space is made of the columns and the classes."""
    assert recorded.whole is not None
    space, target = recorded.whole["space"], recorded.section["target"]
    if type(target) is not str:
        raise Wrong("target: is no name")
    plain = _space(recorded.features, target, recorded.classes)
    apart = [{**f, "name": f"{f['name']} [{n}]"} for n, f in enumerate(recorded.features, 1)]
    if space not in (plain, _space(apart, f"{target} (predicted)", recorded.classes)):
        raise Wrong("space: not that of the columns and classes")


def _space(features: Sequence[Feature], target: str, classes: Sequence[str]) -> dict[str, Any]:
    values = [f"{target} = {label}" for label in classes]
    return {
        "attributes": [_attribute(feature) for feature in features],
        "label": {"name": target, "values": values},
        "complete": True,
    }


def _attribute(feature: Feature) -> dict[str, Any]:
    """Return what can be said of a column, as the space has it."""
    name, known = feature["name"], feature["levels"] - feature["missing"]
    absent = {"missing": True} if feature["missing"] else {}
    if feature.get("cuts"):
        after = {"after": list(feature["after"])} if feature["after"] else {}
        texts, numbers = list(feature["texts"]), list(feature["cuts"])
        return {"name": name, "cuts": texts, "at": numbers, **after, **absent}
    if feature["kind"] == "ordered" and known > 1:
        return {"name": name, "levels": list(feature["values"]), **absent}
    either = [f"{name} is known", f"{name} is missing"]
    if "cuts" in feature:
        return {"name": name, "values": either}
    values = [say(feature, level, level) for level in range(known)]
    if not feature["missing"]:
        return {"name": name, "values": values}
    above = [None, *(either[0] for _ in values), None]
    return {"name": name, "values": [either[0], *values, either[1]], "under": above}
