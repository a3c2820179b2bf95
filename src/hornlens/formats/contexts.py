"""Formal contexts in the formats that other programs have: FIMI .dat, JSON, Burmeister .cxt.

`.ctx` is Burmeister's format under another ending. JSON is conexp-clj's ({"attributes": […],
"adjacency-list": [{"object": …, "attributes": […]}]}), or a matrix, as R and Python write it
({"objects": […], "attributes": […], "incidence": [[0, 1], …]}).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_text
from hornlens.formats.files import lines_of, read_text, write_file
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.formats.plain import visible
from hornlens.formats.tables import read_cxt
from hornlens.logic.bits import bits, mask_of
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary


def read_fimi(path: Path) -> Table:
    """Read transactions: a line is a row, and names the items that it has, apart by spaces."""
    transactions = [line.split() for line in lines_of(read_text(path))]
    items = sorted({item for row in transactions for item in row}, key=_as_number)
    place = {item: i for i, item in enumerate(items)}
    if not items:
        raise InputError("has no items", path)
    rows = tuple(mask_of(place[item] for item in row) for row in transactions)
    return Table(Vocabulary(tuple(items)), rows, tuple(range(1, len(rows) + 1)))


def _as_number(item: str) -> tuple[bool, int, str]:
    number = re.fullmatch("[0-9]{1,18}", item, re.ASCII)
    return number is None, int(item) if number else 0, item


def read_context_json(path: Path) -> Table:
    """Read a context as conexp-clj writes it, or as objects, attributes and a matrix."""
    content = read_json(path)
    if isinstance(content, dict) and isinstance(content.get("context"), dict):
        content = content["context"]
    names = content.get("attributes") if isinstance(content, dict) else None
    if not isinstance(names, list) or not names:
        raise InputError('expected {"attributes": […], "adjacency-list": […]}', path)
    vocabulary = _vocabulary([_name(name, path) for name in names], path)
    if isinstance(content.get("adjacency-list"), list):
        rows = [_listed(entry, vocabulary, path) for entry in content["adjacency-list"]]
        objects = [entry.get("object") for entry in content["adjacency-list"]]
    elif isinstance(content.get("incidence"), list):
        rows = [_crosses(line, len(vocabulary), path) for line in content["incidence"]]
        objects = content.get("objects", [])
    else:
        raise InputError('has neither "adjacency-list" nor "incidence"', path)
    named = isinstance(objects, list) and len(objects) == len(rows)
    names = tuple(map(str, objects)) if named and all(objects) else ()
    return Table(vocabulary, tuple(rows), objects=names)


def _vocabulary(names: list[str], path: Path) -> Vocabulary:
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            raise InputError(
                f"two attributes have the name {name!r}" if name else "an empty name", path
            )
        seen.add(name)
    return Vocabulary(tuple(names))


def _name(value: Any, path: Path) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise InputError(f"an attribute's name must be text, not {value!r}", path)
    return str(value)


def _listed(entry: Any, vocabulary: Vocabulary, path: Path) -> int:
    listed = entry.get("attributes") if isinstance(entry, dict) else None
    if not isinstance(listed, list):
        raise InputError('an object is not {"object": …, "attributes": […]}', path)
    names = [_name(name, path) for name in listed]
    for name in names:
        if name not in vocabulary:
            raise InputError(f"an object has {name!r}, which is no attribute", path)
    return vocabulary.mask(names)


def _crosses(line: Any, width: int, path: Path) -> int:
    if not isinstance(line, list) or len(line) != width or any(x not in (0, 1) for x in line):
        raise InputError(f"a row of the incidence is not {width} times 0 or 1", path)
    return mask_of(i for i, x in enumerate(line) if x)


READERS: dict[str, Callable[[Path], Table]] = {
    ".cxt": read_cxt,
    ".ctx": read_cxt,
    ".dat": read_fimi,
    ".json": read_context_json,
}
"""How a context is read, by the ending of its file."""


def write_cxt(table: Table, objects: Sequence[str] = ()) -> str:
    """Return a context in Burmeister's format; objects are numbered if they have no names."""
    width = len(table.vocabulary)
    named = table.objects if all(map(_takes_a_line, table.objects)) else ()
    called = objects or named or [f"o{i}" for i in range(1, len(table.rows) + 1)]
    for name in (*called, *table.vocabulary.names):
        if not _takes_a_line(name):
            raise InputError(f"the name {name!r} cannot stand in a .cxt file: it takes one line")
    lines = ["B", "", str(len(table.rows)), str(width), ""]
    lines += called
    lines += table.vocabulary.names
    lines += ["".join("X" if row >> i & 1 else "." for i in range(width)) for row in table.rows]
    return "\n".join(lines) + "\n"


def _takes_a_line(name: str) -> bool:
    return visible(name) == name == name.strip()


def write_fimi(table: Table) -> str:
    """Return transactions: items by the numbers of their columns, from 1 on."""
    return "".join(" ".join(str(i + 1) for i in bits(row)) + "\n" for row in table.rows)


def write_context_json(table: Table) -> str:
    """Return a context as conexp-clj has it."""
    names_of = table.vocabulary.names_of
    return json_text(
        {
            "attributes": list(table.vocabulary.names),
            "adjacency-list": [
                {"object": f"o{i}", "attributes": list(names_of(row))}
                for i, row in enumerate(table.rows, start=1)
            ],
        }
    )


def write_context_csv(table: Table) -> str:
    """Return a table of 0 and 1."""
    width = len(table.vocabulary)
    return csv_text(
        table.vocabulary.names, ([row >> i & 1 for i in range(width)] for row in table.rows)
    )


WRITERS: dict[str, Callable[[Table], str]] = {
    ".csv": write_context_csv,
    ".cxt": write_cxt,
    ".ctx": write_cxt,
    ".dat": write_fimi,
    ".json": write_context_json,
}
"""How a context is written, by the ending of its file."""


def write_table(table: Table, path: Path) -> None:
    """Write a context by the ending of its file."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"unknown kind of file; expected one of {', '.join(WRITERS)}", path)
    write_file(path, writer(table))
