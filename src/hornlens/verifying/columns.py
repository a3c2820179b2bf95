"""Columns of values read as the attributes of a result say: which variables a cell makes true."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.values import MISSING, Values
from hornlens.verifying.grids import Wrong

Reading = Callable[[str], int]
"""What a cell that is not missing says, as bits of its attribute."""


@dataclass(frozen=True)
class ScaledColumns:
    """The rows of a table as the attributes of a result read them, and how in words.

    `notes` has a line for each column of the file: each with the wordings that are right.
    """

    rows: tuple[int, ...]
    notes: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...]


def read_columns(values: Values, lines: Sequence[Mapping[str, Any]]) -> ScaledColumns:
    """Return the rows of a table of values; `lines` are the attributes, as files have them."""
    named = {line["name"]: line for line in lines}
    for name in named:
        if name not in values.columns:
            raise Wrong(f"space: there is no column {name!r} in the file")
    last = lines[-1]["name"] if lines else None
    order = [name for name in values.columns if name != last] + ([last] if last else [])
    if [name for name in order if name in named] != [line["name"] for line in lines]:
        raise Wrong("space: its attributes are not in the order of the columns")
    rows = [0] * values.rows
    offset = 0
    notes: dict[str, tuple[str, ...]] = {}
    for line in lines:
        name = line["name"]
        cells = values.columns[name]
        read, width, wordings = _reading(line, cells)
        notes[name] = wordings
        for place, cell in enumerate(cells):
            if cell not in MISSING:
                rows[place] |= read(cell) << offset
        offset += width
    left_out = tuple(name for name in values.columns if name not in named)
    by_column = values.columns if last is None or len(notes[last]) == 1 else order
    return ScaledColumns(
        tuple(rows),
        tuple(notes.get(name, (f"{name}: left out",)) for name in by_column),
        left_out,
    )


def plain_attributes(values: Values, variables: Sequence[str]) -> list[dict[str, Any]]:
    """Return the attributes of a result without any: each variable has a column of its own."""
    lines: list[dict[str, Any]] = []
    for variable in variables:
        texts = (variable, variable.removesuffix(" is known"), variable.rpartition("=")[0])
        splits = (variable[:place] for place, sign in enumerate(variable) if sign == "=")
        name = next((text for text in (*texts, *splits) if text in values.columns), None)
        if name is None:
            raise Wrong(f"variables: there is no column for {variable!r} in the file")
        lines.append({"name": name, "values": [variable]})
    return lines


def _reading(line: Mapping[str, Any], cells: Sequence[str]) -> tuple[Reading, int, tuple[str, ...]]:
    name = line["name"]
    if line.get("cuts"):
        at = line.get("at") or [float(cut) for cut in line["cuts"]]
        cuts = ", ".join(line["cuts"])
        return _by_cuts(name, at), 2 * len(at), (f"{name}: intervals, cut at {cuts}",)
    if line.get("levels"):
        levels = list(line["levels"])
        shown = f"{name}: ordinal, {' < '.join(levels)}"
        return _by_levels(name, levels), 2 * (len(levels) - 1), (shown,)
    values = list(line["values"])
    plural = f"{len(values)} values"
    if values == [name]:
        if any(cell not in ("0", "1") and cell not in MISSING for cell in cells):
            raise InputError(
                f"column {name!r}: the result does not say which of its values was read as yes "
                "(--scale binary:VALUE), so it cannot be verified"
            )
        return (lambda cell: int(cell == "1")), 1, (f"{name}: 0/1",)
    wordings = (f"{name}: nominal, {plural}", f"{name}: the label, {plural}")
    if values == [f"{name} is known"]:
        return (lambda cell: 1), 1, wordings
    bits = {value: 1 << place for place, value in enumerate(values)}

    def by_value(cell: str) -> int:
        if (bit := bits.get(f"{name}={cell}")) is None:
            raise Wrong(f"space: the column {name!r} has a value {cell!r} that it leaves out")
        return bit

    return by_value, len(values), wordings


def _by_cuts(name: str, at: Sequence[float]) -> Reading:
    count = len(at)

    def read(cell: str) -> int:
        number = _number(name, cell)
        above = [number >= cut for cut in at]
        return sum(1 << (i if over else count + i) for i, over in enumerate(above))

    return read


def _by_levels(name: str, levels: Sequence[str]) -> Reading:
    places = {level: place for place, level in enumerate(levels)}
    count = len(levels) - 1

    def read(cell: str) -> int:
        if (place := places.get(cell)) is None:
            raise Wrong(f"space: the column {name!r} has a level {cell!r} that it leaves out")
        return sum(1 << (i if place > i else count + i) for i in range(count))

    return read


def _number(name: str, cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise Wrong(f"space: the column {name!r} has {cell!r}, which no cut tells apart")
    return number
