"""Rates and flips, counted again: how often each value gets each label, and where it changes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from hornlens.verifying.answers import Answer
from hornlens.verifying.attributes import read_attribute
from hornlens.verifying.background import assumes
from hornlens.verifying.decided import same
from hornlens.verifying.grids import Space, Wrong

Worlds = Mapping[str | None, Sequence[Answer]]


class RatedValue:
    """The cells of answers by what they say of some attributes, and by what they say beside."""

    def __init__(self, content: Mapping[str, Any], space: Space):
        """Read the values of each attribute: the choices that are counted, and all variables."""
        self.values: list[list[int]] = []
        self.groups: list[int] = []
        lines, at = content["space"]["attributes"], 0
        self.names = [line["name"] for line in lines]
        for line in lines:
            attribute = read_attribute(line, at)
            at += len(attribute.names)
            ordered = "cuts" in line or "levels" in line
            if ordered or (space.ends is not None and len(attribute.names) > 1):
                values = list(attribute.ends)
            else:
                values = attribute.choices[1:]
                values = [*values, 0] if len(values) == 1 else values
            self.values.append(values)
            self.groups.append((1 << at) - (1 << at - len(attribute.names)))
        cells = space.ends or space.axes[: len(lines)]
        self.sizes = [len(axis) for axis in cells]

    def split(self, cell: int, axes: Sequence[int]) -> tuple[tuple[int, ...], int] | None:
        """Return what a cell says of some attributes, and beside; None if that is no value."""
        told = tuple(cell & self.groups[axis] for axis in axes)
        if any(v not in self.values[axis] for v, axis in zip(told, axes, strict=True)):
            return None
        return told, cell & ~sum(self.groups[axis] for axis in axes)


def check_rates(content: Mapping[str, Any], space: Space, worlds: Worlds) -> str:
    """Hold the rates and flips of a result against its answers; return what was checked."""
    rates, valued = content["rates"], RatedValue(content, space)
    labels = list(space.labels) or ["rejected", "accepted"]
    if rates["labels"] != labels:
        raise Wrong("rates: not the labels")
    every, answered = list(worlds.values()), content["answers"]
    assumed = assumes(content, space)
    _check_attributes("rates", rates["attributes"], labels, valued, every, answered, assumed)
    own = rates.get("variants", [])
    if [line["name"] for line in own] != [name for name in worlds if len(worlds) > 1]:
        raise Wrong("rates: not those of each variant")
    for line in own:
        where = f"rates of {line['name']}"
        _check_attributes(
            where, line["attributes"], labels, valued, [worlds[line["name"]]], answered, assumed
        )
    for line in content["disparities"]["attributes"]:
        _check_disparity(line, labels, valued, every)
    return f"rates: those of {len(valued.names):,} attributes and their flips are counted again"


def _check_attributes(
    where: str,
    lines: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    valued: RatedValue,
    worlds: Sequence[Sequence[Answer]],
    answered: Sequence[Mapping[str, Any]],
    assumed: bool,
) -> None:
    if [line["attribute"] for line in lines] != valued.names:
        raise Wrong(f"{where}: not those of each attribute")
    for axis, line in enumerate(lines):
        what = f"{where}: {line['attribute']}"
        counts: Counter[tuple[int, int | None]] = Counter()
        contexts: list[dict[int, list[Answer]]] = []
        for answers in worlds:
            inside: dict[int, list[Answer]] = {}
            for answer in answers:
                if (parts := valued.split(answer.cell, [axis])) is not None:
                    counts[parts[0][0], answer.winner] += 1
                    inside.setdefault(parts[1], []).append(answer)
            contexts.append(inside)
        rows = []
        for value in valued.values[axis]:
            given = [counts[value, place] for place in range(len(labels))]
            if any(given) or counts[value, None]:
                rows.append((given, counts[value, None]))
        _check_values(what, line, rows, labels)
        _check_flips(what, line["flips"], contexts, answered)
        k = len(valued.values[axis])
        others = prod(size for i, size in enumerate(valued.sizes) if i != axis)
        possible = others * k * (k - 1) // 2 * len(worlds)
        if not assumed and line["flips"]["possible"] != possible:
            raise Wrong(f"{what}: {possible:,} pairs are possible")


def _check_values(
    what: str,
    line: Mapping[str, Any],
    rows: Sequence[tuple[list[int], int]],
    labels: Sequence[str],
) -> None:
    told = [
        ([each["counts"][label] for label in labels], each["abstained"]) for each in line["values"]
    ]
    if told != list(rows):
        raise Wrong(f"{what}: the answers are counted otherwise")
    shares = []
    for each, (given, _) in zip(line["values"], rows, strict=True):
        own = [n / sum(given) for n in given] if sum(given) else None
        listed = each["shares"] and [each["shares"][label] for label in labels]
        if (own is None) != (listed is None) or not all(map(same, own or (), listed or ())):
            raise Wrong(f"{what}: shares that are not those of the counts")
        if own is not None:
            shares.append(own)
    for spread in line["spreads"]:
        column = [own[labels.index(spread["label"])] for own in shares]
        high, low = max(column), min(column)
        claimed = (spread["high"], spread["low"], spread["difference"], spread["ratio"])
        if not all(map(same, claimed, (high, low, high - low, low / high if high else None))):
            raise Wrong(f"{what}: a spread that is not that of the shares")


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _check_flips(
    what: str,
    line: Mapping[str, Any],
    contexts: Sequence[Mapping[int, Sequence[Answer]]],
    answers: Sequence[Mapping[str, Any]],
) -> None:
    """Count again in how many pairs of cells of one context the answers differ, or are missing."""
    flips = pairs = half = silent_pairs = 0
    together: dict[int, tuple[int, int]] = {}
    for number, inside in enumerate(contexts):
        for context, members in inside.items():
            wins = Counter(answer.winner for answer in members)
            silent = wins.pop(None, 0)
            given = sum(wins.values())
            pairs += _pairs(len(members))
            flips += _pairs(given) - sum(map(_pairs, wins.values()))
            half += silent * given
            silent_pairs += _pairs(silent)
            together |= {answer.place: (number, context) for answer in members}
    counted = {"count": flips, "pairs": pairs, "undecided": half + silent_pairs}
    for key, value in {**counted, "half_answered": half}.items():
        if line[key] != value:
            raise Wrong(f"{what}: {key} of flips is {value:,}, not {line[key]}")
    for first, second in line["examples"]:
        winners = {answers[first]["winner"], answers[second]["winner"]}
        of_one = together.get(first) is not None and together[first] == together.get(second)
        if not of_one or len(winners) < 2 or None in winners:
            raise Wrong(f"{what}: an example of a flip that is none")


def _check_disparity(
    line: Mapping[str, Any],
    labels: Sequence[str],
    valued: RatedValue,
    worlds: Sequence[Sequence[Answer]],
) -> None:
    """Count again how often each combination of values gets each label."""
    axes = [valued.names.index(name) for name in line["attributes"]]
    what = f"disparities of {', '.join(line['attributes'])}"
    counts: Counter[tuple[tuple[int, ...], int | None]] = Counter()
    for answer in (answer for answers in worlds for answer in answers):
        if (parts := valued.split(answer.cell, axes)) is not None:
            counts[parts[0], answer.winner] += 1
    wanted = []
    for values in product(*(valued.values[axis] for axis in axes)):
        given = [counts[values, place] for place in range(len(labels))]
        if any(given) or counts[values, None]:
            wanted += [(label, n, sum(given)) for label, n in zip(labels, given, strict=True)]
    listed = [(rate["label"], rate["count"], rate["answered"]) for rate in line["rates"]]
    if not set(listed) <= set(wanted) or len(listed) > len(wanted):
        raise Wrong(f"{what}: the answers are counted otherwise")
    for rate in line["rates"]:
        share = rate["count"] / rate["answered"] if rate["answered"] else None
        if not same(rate["share"], share):
            raise Wrong(f"{what}: a share that is not that of the counts")
