"""What an attribute can say, read from its line in a file: names, choices, rules of its own.

Variables are bits from a given one on. A choice is a set of them that can be said together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from math import inf, nextafter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from hornlens.errors import InputError

Rule: TypeAlias = "tuple[int, int | None]"
"""Antecedent, and the same with the consequent; None for ⊥."""
ROUNDED = 1e-6
"""By which share of a cut its text may be off, where no row tells the two apart."""
MOST_VALUES = 1_500
"""Of so many values beside each other each two are gone through."""


class Attribute(NamedTuple):
    """The variables; all that can be said; what is taken for granted of that.

    `choices` begin with what says least: of intervals the widest, and of one width from low to
    high; of a taxonomy what stands under a value follows it. `ends` are the choices beyond which
    nothing can be said: in a complete space a cell makes one of them, and obeys `rules_of_ends` as
    well. Where there is one value only, unset is an end, too.
    """

    names: list[str]
    choices: list[int]
    rules: set[Rule]
    ends: tuple[int, ...]
    rules_of_ends: set[Rule]


def read_attribute(line: Mapping[str, Any], at: int) -> Attribute:
    """Return the attribute of a line of a file; its bits begin at `at`."""
    attribute = (_intervals if "cuts" in line or "levels" in line else _values)(line, at)
    if not all(isinstance(name, str) for name in attribute.names):
        raise ValueError("a variable without a name")
    return attribute


def _intervals(line: Mapping[str, Any], at: int) -> Attribute:
    """Return an interval: above some cuts, below others."""
    name = line["name"]
    if line.get("cuts"):
        names = _names_of_cuts(line)
    else:
        names = [f"{name} ≥ {v}" for v in line["levels"][1:]]
        names += [f"{name} ≤ {v}" for v in line["levels"][:-1]]
    m = len(names) // 2
    up, down = [1 << at + i for i in range(m)], [1 << at + m + i for i in range(m)]
    # From one value up to before another: the widest first, and of one width from low to high.
    ranges = sorted(combinations(range(m + 2), 2), key=lambda pair: (pair[0] - pair[1], pair[0]))
    choices = [sum(up[:low]) + sum(down[end - 1 :]) for low, end in ranges]
    ends = [choice for choice, (low, end) in zip(choices, ranges, strict=True) if end == low + 1]
    rules: set[Rule] = {(high, high | low) for low, high in pairwise(up)}
    rules |= {(low, low | high) for low, high in pairwise(down)}
    rules |= {(a | b, None) for a, b in zip(up, down, strict=True)}
    if line.get("missing"):  # no value is a value, too, and what has an interval is known
        known, absent = 1 << at + 2 * m, 2 << at + 2 * m
        names += [f"{name} is known", f"{name} is missing"]
        choices = [0, *(known | choice for choice in choices), absent]
        ends = [*(known | end for end in ends), absent]
        rules |= {(up[0], up[0] | known), (down[-1], down[-1] | known), (known | absent, None)}
    return Attribute(names, choices, rules, tuple(ends), set())


def _names_of_cuts(line: Mapping[str, Any]) -> list[str]:
    """Return the names of above each cut, then of below each; the exact numbers must go up."""
    cuts, after = line["cuts"], line.get("after", [])
    exact = line.get("at", list(map(float, cuts)))
    if len(exact) != len(cuts) or any(not low < high for low, high in pairwise(exact)):
        raise ValueError("cuts that do not go up")
    if any(type(place) is not int or not 0 <= place < len(cuts) for place in after):
        raise ValueError("a threshold that is no cut")
    for place, (text, number) in enumerate(zip(cuts, exact, strict=True)):
        # The last number below its cut, or the cut itself; floats hold not every whole one.
        shown = int(text) if type(number) is int else float(text)
        own = shown < number if place in after else shown <= number or is_single(text, number)
        if not (own or (place not in after and is_close(text, number))):
            raise ValueError("a cut that is shown as a number above it")
    up = [f"{line['name']} {'>' if i in after else '≥'} {cut}" for i, cut in enumerate(cuts)]
    down = [f"{line['name']} {'≤' if i in after else '<'} {cut}" for i, cut in enumerate(cuts)]
    return up + down


def is_single(text: str, number: float) -> bool:
    """Return whether a text is the number that another one is in single precision."""
    single = np.float32(number)
    return str(single).removesuffix(".0") == text and bool(
        single > np.float32(nextafter(number, -inf))
    )


def is_close(text: str, number: float) -> bool:
    """Return whether a text is a number but for a millionth of it."""
    return abs(float(text) - number) <= ROUNDED * abs(number)


def _values(line: Mapping[str, Any], at: int) -> Attribute:
    """Return values, each of which may stand under another: it is said with all above it."""
    names, above = list(line["values"]), line.get("under") or [None] * len(line["values"])
    if any(type(value) is not str for value in names):
        raise ValueError("values that are no texts")
    bit = {value: 1 << at + i for i, value in enumerate(names)}
    path: dict[str | None, int] = {None: 0}
    beside: dict[str | None, list[int]] = {}
    rules, single = set[Rule](), set[Rule]()
    for value, up in zip(names, above, strict=True):
        path[value] = path[up] | bit[value]
        beside.setdefault(up, []).append(bit[value])
        if up is not None:
            rules.add((bit[value], bit[value] | bit[up]))
    for up, group in beside.items():
        rules.update(at_most_one(group))
        if "under" in line and len(group) == 1 < len(names):
            left = 0 if up is None else bit[up]
            single.add((left, left | group[0]))
    order = _downwards(dict(zip(names, above, strict=True)))
    ends = [path[value] for value in order if value not in beside]
    choices = [0, *(path[value] for value in order)]
    return Attribute(names, choices, rules, tuple(ends if len(names) > 1 else choices), single)


def _downwards(above: Mapping[str, str | None]) -> list[str]:
    """Return values so that all that stands under one follows it, each in the order of the file."""
    under: dict[str | None, list[str]] = {}
    for value, up in above.items():
        under.setdefault(up, []).append(value)
    order: list[str] = []
    agenda = under.get(None, [])[::-1]
    while agenda:
        value = agenda.pop()
        order.append(value)
        agenda += reversed(under.get(value, []))
    return order


def at_most_one(group: Sequence[int]) -> list[Rule]:
    """Return the rules that say: at most one of these."""
    if len(group) > MOST_VALUES:
        raise InputError(f"an attribute of {len(group):,} values: {MOST_VALUES:,} can be verified")
    return [(a | b, None) for a, b in combinations(group, 2)]
