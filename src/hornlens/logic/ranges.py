"""A range of a column's levels as people say it: one condition, whatever the column holds."""

from __future__ import annotations

from collections.abc import Sequence

from hornlens.logic.cuts import Cuts


def say_range(
    name: str,
    kind: str,
    cuts: Cuts | None,
    values: Sequence[str],
    missing: bool,
    low: int,
    high: int,
) -> str:
    """Return levels from the first to the last as a condition; with `missing`, the last is that.

    >>> say_range("age", "number", Cuts.at([30, 60]), (), True, 1, 1)
    '30 ≤ age < 60'
    >>> say_range("size", "ordered", None, ("S", "M", "L"), False, 1, 2)
    'size ≥ M'
    """
    known = len(values) if cuts is None else cuts.bins
    if missing and low == high == known:
        return f"{name} is missing"
    if cuts is not None:
        if (low, high) == (0, known - 1):
            return f"{name} is known" if missing else f"{name} is any number"
        return cuts.say(name, low, high)
    if kind == "boolean" and low == high:
        return name if values[low] == "True" else f"not {name}"
    if low == high:
        return f"{name} = {values[low]}"
    if (low, high) == (0, known - 1):
        return f"{name} is known"
    if low == 0:
        return f"{name} ≤ {values[high]}"
    if high == known - 1:
        return f"{name} ≥ {values[low]}"
    return f"{values[low]} ≤ {name} ≤ {values[high]}"
