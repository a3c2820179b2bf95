"""Scaling: what the values of a column say, as attributes of a space.

Cells of 0 and 1 are a plain variable. Words are *nominal*: one of them at a time. Numbers are
*intervals*: at each cut, above it or below it, so that one rule may say "age < 30" of many. Cells
that are missing say nothing. Each column has a default, and may be given a scale of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from hornlens.errors import InputError
from hornlens.formats.values import MISSING, Values
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.cuts import Cuts, quantile_cuts, uniform_cuts
from hornlens.logic.ordered import Ordered
from hornlens.logic.space import Space
from hornlens.logic.table import Table

FEW = 6
"""So many different numbers are cut between each two; of more, quarters are made."""
BINS = 4
KINDS = ("nominal", "ordinal", "interval", "quantiles", "uniform", "binary", "drop")
_SCALE = re.compile(rf"(?P<name>.+)=(?P<kind>{'|'.join(KINDS)})(?::(?P<rest>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Scale:
    """How a column is read: its kind, and what the kind needs to know."""

    kind: str
    rest: str | None = None


@dataclass(frozen=True)
class Scaled:
    """A table over the variables of a space, and what became of each column, in words."""

    table: Table
    space: Space
    said: tuple[str, ...]


def parse_scales(given: Iterable[str]) -> dict[str, Scale]:
    """Return the scales that `--scale COLUMN=KIND` asks for, by column."""
    scales: dict[str, Scale] = {}
    for text in given:
        match = _SCALE.fullmatch(text)
        if match is None:
            raise InputError(
                f"--scale {text!r} is not COLUMN=KIND, of one of the kinds {', '.join(KINDS)}"
            )
        if match["name"] in scales:
            raise InputError(f"--scale: column {match['name']!r} stands there twice")
        scales[match["name"]] = Scale(match["kind"], match["rest"])
    return scales


def scaled(
    values: Values, scales: Mapping[str, Scale] | None = None, label: str | None = None
) -> Scaled:
    """Return the table that a table of values becomes; `label` names the column of the class."""
    scales = scales or {}
    for name in (*scales, *([] if label is None else [label])):
        if name not in values.columns:
            raise InputError(
                f"there is no column {name!r}; there are {', '.join(values.columns) or 'none'}"
            )
    attributes: list[Attribute] = []
    masks: list[list[int]] = []
    descriptions: list[str] = []
    names = [name for name in values.columns if name != label]
    for name in names if label is None else [*names, label]:
        cells = values.columns[name]
        scale = Scale("nominal") if name == label else scales.get(name) or default_scale(cells)
        made = _column(name, cells, scale)
        if made is None and name == label:
            raise InputError(f"the label {name!r} has no values")
        if made is None:
            descriptions.append(f"{name}: left out")
            continue
        attribute, masks_of = made
        descriptions.append(_say(name, attribute, scale, name == label))
        attributes.append(attribute)
        masks.append([masks_of[cell] for cell in cells])
    last = attributes.pop() if label is not None and attributes else None
    space = Space(tuple(attributes), last if isinstance(last, Nominal) else None)
    rows = [0] * values.rows
    for at, column in zip(space.offsets, masks, strict=True):
        for i, mask in enumerate(column):
            if mask:
                rows[i] |= mask << at
    return Scaled(Table(space.vocabulary, tuple(rows), values.lines), space, tuple(descriptions))


def default_scale(cells: Sequence[str]) -> Scale:
    """Return the scale of a column that was given none.

    A column of words that are all different names its rows, and says nothing of them: it is left
    out.
    """
    distinct = set(cells)
    known = distinct - MISSING
    if known <= {"0", "1"} and known == distinct:
        return Scale("binary")
    if known and all(_number(cell) is not None for cell in known):
        return Scale("ordinal" if len(known) <= FEW else "quantiles")
    if len(known) == len(cells) > FEW:
        return Scale("drop")
    return Scale("nominal")


def _column(
    name: str, cells: Sequence[str], scale: Scale
) -> tuple[Attribute, dict[str, int]] | None:
    """Return a column's attribute, and the choice that each of its texts is; None: left out."""
    distinct = list(dict.fromkeys(cells))
    known = [cell for cell in distinct if cell not in MISSING]
    nothing = dict.fromkeys(distinct, 0)
    kind, rest = scale.kind, scale.rest
    if kind == "drop" or (not known and kind != "binary"):
        return None
    if kind == "binary":
        yes = "1" if rest is None else rest
        if rest is None and (odd := next((c for c in known if c not in ("0", "1")), None)):
            raise InputError(f"column {name!r}: {odd!r} is neither 0 nor 1")
        if rest is not None and rest not in distinct:
            raise InputError(f"column {name!r}: no cell is {rest!r}")
        return Nominal(name, (name,)), {cell: int(cell == yes) for cell in distinct}
    if kind == "nominal":
        _refuse_rest(name, scale)
        values = sorted(known, key=_natural)
        attribute = Nominal(name, tuple(f"{name}={value}" for value in values))
        return attribute, nothing | {value: 1 << i for i, value in enumerate(values)}
    if kind == "ordinal" and (rest is not None or any(_number(c) is None for c in known)):
        return _levels(name, known, rest, nothing)
    numbers = {cell: _needed_number(name, cell) for cell in known}
    cuts = _cuts(name, [numbers[cell] for cell in cells if cell in numbers], scale)
    if not cuts.values:
        attribute = Nominal(name, (f"{name} is known",))
        return attribute, nothing | dict.fromkeys(known, 1)
    ordered = cuts.ordered(name)
    places = cuts.places([numbers[cell] for cell in known]).tolist()
    choices = {cell: ordered.interval(at, at) for cell, at in zip(known, places, strict=True)}
    return ordered, nothing | choices


def _levels(
    name: str, known: Sequence[str], rest: str | None, nothing: dict[str, int]
) -> tuple[Attribute, dict[str, int]]:
    """Return the attribute of levels that are given from low to high."""
    if rest is None:
        raise InputError(
            f"column {name!r} has words: say their order, as --scale '{name}=ordinal:low<high'"
        )
    levels = [level.strip() for level in rest.split("<")]
    if (odd := next((cell for cell in known if cell not in levels), None)) is not None:
        raise InputError(f"column {name!r}: {odd!r} is not among the levels {' < '.join(levels)}")
    ordered = Ordered(name, tuple(levels))
    return ordered, nothing | {level: ordered.interval(i, i) for i, level in enumerate(levels)}


def _cuts(name: str, numbers: Sequence[float], scale: Scale) -> Cuts:
    """Return where a column of numbers is cut."""
    if scale.kind == "ordinal":
        return Cuts.at(sorted(set(numbers))[1:])
    if scale.kind == "interval" and scale.rest is not None:
        return Cuts.at(_needed_number(name, part.strip()) for part in scale.rest.split(","))
    bins = BINS
    if scale.rest is not None:
        if not re.fullmatch("[1-9][0-9]{0,3}", scale.rest):
            raise InputError(f"column {name!r}: {scale.rest!r} is no number of bins")
        bins = int(scale.rest)
    return (uniform_cuts if scale.kind == "uniform" else quantile_cuts)(numbers, bins)


def _refuse_rest(name: str, scale: Scale) -> None:
    if scale.rest is not None:
        raise InputError(f"--scale {name}={scale.kind} takes nothing behind a colon")


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _needed_number(name: str, cell: str) -> float:
    value = _number(cell)
    if value is None:
        raise InputError(f"column {name!r}: {cell!r} is no number")
    return value


def _natural(cell: str) -> tuple[bool, float, str]:
    """Sort numbers as numbers, before words."""
    value = _number(cell)
    return value is None, value or 0.0, cell


def _say(name: str, attribute: Attribute, scale: Scale, is_label: bool) -> str:
    """Say in a few words how a column was read."""
    if is_label:
        return f"{name}: the label, {len(attribute.variables)} values"
    if scale.kind == "binary":
        return f"{name}: 0/1"
    if isinstance(attribute, Ordered):
        if attribute.cuts is not None:
            return f"{name}: intervals, cut at {', '.join(attribute.cuts)}"
        return f"{name}: ordinal, {' < '.join(attribute.levels)}"
    return f"{name}: nominal, {len(attribute.variables)} values"
