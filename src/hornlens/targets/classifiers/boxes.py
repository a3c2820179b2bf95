"""Conditions as boxes of cells: which levels of each feature they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.logic.cuts import Cuts, number_text, shortest_between
from hornlens.targets.classifiers.conditions import Condition, Sign
from hornlens.targets.classifiers.features import Feature


def cuts_asked_for(
    conditions: Iterable[Condition], numbers: Sequence[str], whole: Sequence[str]
) -> dict[str, Cuts]:
    """Return for each column of numbers the cuts that conditions ask for."""
    found: dict[str, Cuts] = {}
    for one in conditions:
        if one.name not in numbers or one.sign in ("missing", "known"):
            continue
        number = one.number
        at = [number] if one.sign in ("<", "≥", "=") else []
        behind = [number] if one.sign in (">", "≤", "=") else []
        if one.name in whole:
            cuts = Cuts.at(
                [float(np.ceil(v)) for v in at] + [float(np.floor(v)) + 1 for v in behind]
            )
        else:
            cuts = Cuts.at(at).with_cuts(_just_after(behind))
        found[one.name] = found.get(one.name, Cuts.at([])).with_cuts(cuts)
    return found


def _just_after(numbers: Sequence[float]) -> Cuts:
    values = tuple(float(np.nextafter(number, np.inf)) for number in numbers)
    return Cuts(values, tuple(map(number_text, numbers)), frozenset(range(len(values))))


def levels_of(condition: Condition, feature: Feature) -> NDArray[np.bool_]:
    """Say of each level of a feature whether some value of it meets a condition.

    A number that is written as a threshold is shown means this threshold, in the precision in which
    the model compares it.
    """
    found = np.zeros(feature.size, dtype=np.bool_)
    sign = condition.sign
    if sign == "missing":
        if feature.missing:
            found[feature.known] = True
        return found
    if sign == "known":
        found[: feature.known] = True
        return found
    if feature.cuts is not None:
        low, high = _numbers(condition, feature.cuts, feature.known, feature.kind == "whole")
        found[low:high] = True
        return found
    value = _value(condition, feature)
    if sign == "=":
        found[value] = True
    elif feature.kind != "ordered":
        raise InputError(f"column {feature.name!r} has no order: compare it with =")
    elif sign in ("<", "≤"):
        found[: value + (sign == "≤")] = True
    else:
        found[value + (sign == ">") : feature.known] = True
    return found


def _numbers(condition: Condition, cuts: Cuts, count: int, is_whole: bool) -> tuple[int, int]:
    """Return the first level and the one behind the last that a comparison meets."""
    number, sign = condition.number, condition.sign
    if (place := _cut_named(condition, cuts)) is not None:
        return (0, place + 1) if sign in ("<", "≤") else (place + 1, count)
    if is_whole:
        first, last = np.ceil(number), np.floor(number)
        below = first - 1 if sign == "<" else last
        above = last + 1 if sign == ">" else first
        if sign == "=" and first != last:
            return 0, 0
    else:
        below = np.nextafter(number, -np.inf) if sign == "<" else number
        above = np.nextafter(number, np.inf) if sign == ">" else number
    at_most, at_least = cuts.places([below])[0] + 1, cuts.places([above])[0]
    if sign == "=":
        return int(at_least), int(at_most)
    return (0, int(at_most)) if sign in ("<", "≤") else (int(at_least), count)


def _value(condition: Condition, feature: Feature) -> int:
    text = condition.value.strip()
    for place, value in enumerate(feature.values):
        if str(value) == text:
            return place
    if feature.kind == "boolean" and text.lower() in ("true", "false", "0", "1", "yes", "no"):
        wanted = text.lower() in ("true", "1", "yes")
        if wanted in feature.values:
            return feature.values.index(wanted)
    for place, value in enumerate(feature.values):  # 1.0 for 1
        try:
            if float(value) == float(text):
                return place
        except (TypeError, ValueError):
            pass
    known = ", ".join(map(str, feature.values[:8]))
    raise InputError(f"column {feature.name!r} has no value {text!r} (there are: {known})")


def opposites(condition: Condition, feature: Feature) -> tuple[Condition, ...]:
    """Return conditions of which an input meets one just if it does not meet this one."""
    name, sign = condition.name, condition.sign
    missing = (Condition(name, "missing"),) if feature.missing else ()
    if sign == "missing":
        return (Condition(name, "known"),)
    if sign == "known":
        return missing
    if sign != "=":
        return Condition(name, OTHERWISE[sign], condition.value), *missing
    if feature.cuts is not None:
        return (
            Condition(name, "<", condition.value),
            Condition(name, ">", condition.value),
            *missing,
        )
    own = _value(condition, feature)
    others = (str(value) for place, value in enumerate(feature.values) if place != own)
    return *(Condition(name, "=", value) for value in others), *missing


OTHERWISE: dict[Sign, Sign] = {"<": "≥", "≥": "<", ">": "≤", "≤": ">"}
"""For a comparison, the one that holds where it does not."""


def value_in(feature: Feature, level: int, conditions: Sequence[Condition]) -> Any:
    """Return a value of a level that meets conditions about its column; NO_VALUE if none does.

    It is the point of the level, if this will do.
    """
    point = feature.points[level]
    own = [one for one in conditions if one.name == feature.name]
    if not all(levels_of(one, feature)[level] for one in own):
        return NO_VALUE
    if feature.cuts is None or level == feature.known:
        return point
    compared = [one for one in own if not _names_a_cut(one, feature.cuts)]
    low, high = _range_of(feature.cuts, level, compared)
    if not compared or low <= point <= high:
        return point
    if feature.kind == "whole":
        low, high = float(np.ceil(low)), float(np.floor(high))
    if low > high:
        return NO_VALUE
    if np.isinf(low) or np.isinf(high):
        inner = low + 1 if np.isinf(high) else high - 1
        return min(max(inner, low), high)
    if feature.kind == "whole" or low == high:
        return low
    return shortest_between(low, high)


def _range_of(cuts: Cuts, level: int, conditions: Sequence[Condition]) -> tuple[float, float]:
    """Return the least and the largest number of a bin that meet comparisons; both meet them."""
    lows = [cuts.values[level - 1] if level else -np.inf]
    highs = [np.nextafter(cuts.values[level], -np.inf) if level < len(cuts.values) else np.inf]
    for one in conditions:
        number, sign = one.number, one.sign
        if sign in ("≥", "=", ">"):
            lows.append(np.nextafter(number, np.inf) if sign == ">" else number)
        if sign in ("≤", "=", "<"):
            highs.append(np.nextafter(number, -np.inf) if sign == "<" else number)
    return float(max(lows)), float(min(highs))


def exactly(condition: Condition, feature: Feature) -> Condition:
    """Return a condition that names a threshold of a column as it is shown, in all its digits.

    "x ≤ 0.8" of a tree may mean x < 0.8000000119209292: so it does elsewhere, too.
    """
    cuts = feature.cuts
    place = None if cuts is None else _cut_named(condition, cuts)
    if cuts is None or place is None:
        return condition
    sign: Sign = "<" if condition.sign in ("<", "≤") else "≥"
    return Condition(condition.name, sign, repr(float(cuts.values[place])))


NO_VALUE = object()
"""What stands for a value where there is none."""


def _names_a_cut(condition: Condition, cuts: Cuts) -> bool:
    """Say whether levels alone decide a condition: it is about known values, or a shown cut."""
    return condition.sign in ("missing", "known") or _cut_named(condition, cuts) is not None


def _cut_named(condition: Condition, cuts: Cuts) -> int | None:
    """Return the place of the cut that a comparison names as it is shown; None if there is none."""
    if condition.sign not in ("<", "≤", ">", "≥"):
        return None
    is_after = condition.sign in ("≤", ">")
    for place, text in enumerate(cuts.texts):
        if (place in cuts.after) == is_after and float(text) == condition.number:
            return place
    return None
