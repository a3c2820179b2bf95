"""The columns in levels: cuts as they are shown, points, values, the space, and the rows kept."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from math import ceil, floor, inf, isfinite, nextafter
from typing import Any

import numpy as np

from hornlens.verifying.attributes import is_close, is_single
from hornlens.verifying.classifying.conditions import say
from hornlens.verifying.classifying.document import ENDED_AFTER, ClassifierFile
from hornlens.verifying.grids import Wrong

EXACT = ("the model's own thresholds", "the values of each column")
"""How bins are called of which each has one class, as far as the model was read."""
MOST_SHORT = 5_000_000
"""Rules with so few conditions are listed that these can be met in no more cells than that."""
ROUNDED_NOTE = (
    "thresholds are shown rounded by less than a millionth, with no row between what is shown and "
    "what is meant; the file has them exactly"
)
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
    _check_notes(recorded)
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


# --- notes ---


def _check_notes(recorded: ClassifierFile) -> None:
    """Write the notes on columns again."""
    assert recorded.whole is not None
    section, notes = recorded.section, list(recorded.section["notes"])
    sift, fallback = recorded.whole.get("sift"), section.get("fallback", "")
    if fallback:
        if notes[:1] != [fallback]:
            raise Wrong(f"notes: lack {fallback!r}")
        if section["bins"] in EXACT:
            raise Wrong("fallback: the trees were read, and were not")
        del notes[0]
    most = recorded.whole["settings"]["max_conditions"]
    if sift is not None and most is None and sift["conditions"] < 2:
        wanted = "rules have at most 1 condition: those with 2 are too many to sift"
        if notes[:1] != [wanted]:
            raise Wrong(f"notes: lack {wanted!r}")
        del notes[0]
    for wanted in _shortened(recorded):
        if notes[:1] != [wanted]:
            raise Wrong(f"notes: lack {wanted!r}")
        del notes[0]
    if notes and notes[0].startswith(ENDED_AFTER):
        count, _, rest = notes[0].removeprefix(ENDED_AFTER).partition(" of ")
        total = rest.removesuffix(" rows of X were asked").replace(",", "")
        shown = f"{section['rows']['count']:,}"
        whole = int(total) if total.isdecimal() else 0
        if (
            count != shown
            or whole <= section["rows"]["count"]
            or notes[0] != (f"{ENDED_AFTER}{count} of {whole:,} rows of X were asked")
        ):
            raise Wrong(f"notes: {shown} rows were asked")
        if recorded.certificate.get("ended") is None:
            raise Wrong("notes: not all rows were asked, though the run was not ended")
        del notes[0]
    silent = {line["name"]: line for line in section["silent"]}
    order = [name for name in section["columns"] if name in silent]
    if len(notes) != len(order):
        raise Wrong(f"notes: {len(order)} columns have one level")
    for note, name in zip(notes, order, strict=True):
        if note not in _notes_on(recorded, silent[name]):
            raise Wrong(f"notes: {note!r} is not so")


def _shortened(recorded: ClassifierFile) -> list[str]:
    """Return the notes on short rules that are too many, and on thresholds that are rounded."""
    assert recorded.whole is not None
    section, notes = recorded.section, []
    words = recorded.certificate.get("scope", {}).get("words", "")
    usual = recorded.whole["settings"]["max_conditions"] is None
    if section.get("trees") is not None and usual and words.startswith("of every "):
        cells = 1, sum(recorded.sizes), sum(a * b for a, b in combinations(recorded.sizes, 2))
        most = next((count for count in (1, 2) if cells[count] > MOST_SHORT), 3) - 1
        if most < 2:
            notes.append(
                f"every rule with at most {most} condition{'' if most == 1 else 's'} is here: "
                f"those with {most + 1} are too many to be gone through"
            )
    every = {line["name"]: line for line in (*recorded.features, *section["silent"])}
    if columns := [name for name in section["columns"] if rounded_cuts(every[name])]:
        notes.append(f"{ROUNDED_NOTE} ({', '.join(columns)})")
    return notes


def _notes_on(recorded: ClassifierFile, feature: Feature) -> list[str]:
    """Return what a note on a column with one level may say; more than one if not all is kept."""
    section, name = recorded.section, feature["name"]
    column, value = section["columns"].index(name), feature["points"][0]
    value = float("nan") if value is None and "cuts" in feature else value
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    constant = f"column {name!r} is constant ({shown}): rules are silent on it"
    agreement = section["agreement"]
    same = agreement["rows"] == agreement["uniform"] == 1
    same = same and not agreement["mixed"] and not agreement.get("varied", 0)
    model = "the model" if same else "the model, as it was read,"
    never = f"{model} never asks for column {name!r}"
    if recorded.is_recent and section["bins"] not in EXACT:
        never = f"column {name!r} has one bin: rules are silent on it"
    several = len({row[column] for row in section["rows"]["values"]}) > 1
    if "cuts" in feature and several:
        return [never]
    return [constant] if recorded.has_all_rows or "cuts" not in feature else [constant, never]
