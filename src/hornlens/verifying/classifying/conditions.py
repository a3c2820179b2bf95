"""Ranges of levels as conditions in words and in variables, and the next wider ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hornlens.verifying.classifying.cells import Range

RANGED = ("number", "whole", "ordered")
"""The kinds of columns of which several levels make one condition."""


def say(feature: Mapping[str, Any], low: int, high: int) -> str:
    """Return a range of levels as a condition."""
    name, known = feature["name"], feature["levels"] - feature["missing"]
    if low == high == known:
        return f"{name} is missing"
    if "cuts" in feature:
        if (low, high) == (0, known - 1):
            return f"{name} is known"
        texts, after = feature["texts"], feature["after"]
        top = None if high == known - 1 else f"{'≤' if high in after else '<'} {texts[high]}"
        if low == 0:
            return f"{name} {top}"
        is_after = low - 1 in after
        if top is None:
            return f"{name} {'>' if is_after else '≥'} {texts[low - 1]}"
        return f"{texts[low - 1]} {'<' if is_after else '≤'} {name} {top}"
    values = feature["values"]
    if low == high and feature["kind"] == "boolean":
        return name if values[low] == "True" else f"not {name}"
    if low == high:
        return f"{name} = {values[low]}"
    if (low, high) == (0, known - 1):
        return f"{name} is known"
    if low == 0:
        return f"{name} ≤ {values[high]}"
    return (
        f"{name} ≥ {values[low]}"
        if high == known - 1
        else f"{values[low]} ≤ {name} ≤ {values[high]}"
    )


def bounds(feature: Mapping[str, Any], low: int, high: int) -> list[str]:
    """Return the variables of a range of levels: those of its bounds, where it is an interval."""
    known = feature["levels"] - feature["missing"]
    if low >= known or feature["kind"] not in RANGED or known == 1:
        return [say(feature, low, high)]
    if (low, high) == (0, known - 1):
        return [f"{feature['name']} is known"]
    if "cuts" in feature:
        below = [] if high == known - 1 else [say(feature, 0, high)]
        return [*([] if low == 0 else [say(feature, low, known - 1)]), *below]
    name, values = feature["name"], feature["values"]
    below = [] if high == known - 1 else [f"{name} ≤ {values[high]}"]
    return [*([] if low == 0 else [f"{name} ≥ {values[low]}"]), *below]


def wider(feature: Mapping[str, Any], low: int, high: int) -> list[Range]:
    """Return the ranges that are one step wider; the whole if there is none between."""
    known, last = feature["levels"] - feature["missing"], feature["levels"] - 1
    steps: list[Range] = []
    if feature["kind"] in RANGED and high < known:
        if low > 0:
            steps.append((low - 1, high))
        if high + 1 < known:
            steps.append((low, high + 1))
    return steps or [(0, last)]
