"""Conditions as boxes of cells: which levels of each feature they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, inf, isinf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.logic.cuts import Cuts, number_text, shortest_between
from hornlens.logic.numbers import exact_number
from hornlens.targets.classifiers.conditions import Condition, Sign
from hornlens.targets.classifiers.features import Feature


def cuts_asked_for(
    conditions: Iterable[Condition],
    numbers: Sequence[str],
    whole: Mapping[str, tuple[int, int]],
) -> dict[str, Cuts]:
    """Return for each column of numbers the cuts that conditions ask for.

    `whole` has the least and the largest number of each column of whole numbers.
    """
    found: dict[str, Cuts] = {}
    for one in conditions:
        if one.name not in numbers or one.sign in ("missing", "known"):
            continue
        number = one.number
        at = [number] if one.sign in ("<", "≥", "=") else []
        behind = [number] if one.sign in (">", "≤", "=") else []
        if one.name in whole:
            least, largest = whole[one.name]
            places = [ceil(v) for v in at] + [floor(v) + 1 for v in behind]
            cuts = Cuts.at(place for place in places if least < place <= largest)
        else:
            cuts = Cuts.at(at).with_cuts(_just_after(behind))
        found[one.name] = found.get(one.name, Cuts.at([])).with_cuts(cuts)
    return found


def _just_after(numbers: Sequence[float]) -> Cuts:
    values = tuple(nextafter(number, inf) for number in numbers)
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
        limits = feature.limits if feature.kind == "whole" else None
        low, high = _numbers(condition, feature.cuts, feature.known, limits)
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


def _numbers(
    condition: Condition, cuts: Cuts, count: int, limits: tuple[int, int] | None
) -> tuple[int, int]:
    """Return the first level and the one behind the last that a comparison meets.

    `limits` are the least and the largest number of a column of whole ones.
    """
    if (place := _cut_named(condition, cuts)) is not None:
        return (0, place + 1) if condition.sign in ("<", "≤") else (place + 1, count)
    low, high = _span(condition, limits is not None)
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    if low > high:
        return 0, 0
    return int(cuts.places([low])[0]), int(cuts.places([high])[0]) + 1


def _span(condition: Condition, is_whole: bool) -> tuple[float, float]:
    """Return the least and the largest number that meet a comparison."""
    number, sign = condition.number, condition.sign
    low, high = -inf, inf
    if sign in ("≥", "="):
        low = ceil(number) if is_whole else number
    elif sign == ">":
        low = floor(number) + 1 if is_whole else nextafter(number, inf)
    if sign in ("≤", "="):
        high = floor(number) if is_whole else number
    elif sign == "<":
        high = ceil(number) - 1 if is_whole else nextafter(number, -inf)
    return low, high


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
    is_whole = feature.kind == "whole"
    low, high = _range_of(feature.cuts, level, compared, is_whole)
    if not compared or low <= point <= high:
        return point
    if low > high:
        return NO_VALUE
    if isinf(low) or isinf(high):
        inner = low + 1 if isinf(high) else high - 1
        return min(max(inner, low), high)
    if is_whole or low == high:
        return exact_number(low)
    return shortest_between(low, high)


def _range_of(
    cuts: Cuts, level: int, conditions: Sequence[Condition], is_whole: bool
) -> tuple[float, float]:
    """Return the least and the largest number of a bin that meet comparisons; both meet them."""
    spans = [(-inf, inf), *(_span(one, is_whole) for one in conditions)]
    if level:
        first = cuts.values[level - 1]
        spans.append((ceil(first) if is_whole else first, inf))
    if level < len(cuts.values):
        last = cuts.values[level]
        spans.append((-inf, ceil(last) - 1 if is_whole else nextafter(last, -inf)))
    return max(low for low, _ in spans), min(high for _, high in spans)


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
