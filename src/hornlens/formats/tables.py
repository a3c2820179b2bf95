"""Tables of positive examples: 0/1 CSV files and Burmeister's .cxt contexts."""

from __future__ import annotations

import re
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_rows
from hornlens.formats.files import lines_of, read_text
from hornlens.logic.bits import mask_of
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary


def read_csv(path: Path) -> Table:
    """Read a comma-separated table: names in the first line, then rows of 0 and 1."""
    return parse_csv(read_text(path), path)


def parse_csv(text: str, path: Path | str = "<text>") -> Table:
    """Return the table that CSV text describes."""
    names: list[str] | None = None
    header_line = 0
    rows: list[int] = []
    lines: list[int] = []
    for line, cells in csv_rows(text, path):
        if cells == [cells[0]] and not cells[0].strip():
            continue  # a line of spaces
        if names is None:
            names, header_line = [cell.strip() for cell in cells], line
            continue
        if len(cells) != len(names):
            raise InputError(
                f"{len(cells)} cells, but the header has {len(names)} columns", path, line
            )
        rows.append(_csv_row(cells, names, path, line))
        lines.append(line)
    return Table(_columns(names or [], path, header_line), tuple(rows), tuple(lines))


def _csv_row(cells: list[str], names: list[str], path: Path | str, line: int) -> int:
    mask = 0
    for i, cell in enumerate(cells):
        value = cell.strip()
        if value not in ("0", "1"):
            raise InputError(f"column {names[i]!r}: {value!r} is neither 0 nor 1", path, line)
        mask |= int(value) << i
    return mask


def _columns(names: list[str], path: Path | str, line: int) -> Vocabulary:
    if all(name in ("0", "1") for name in names):
        raise InputError("the first line must name the columns; it is a row of 0 and 1", path, line)
    seen: set[str] = set()
    for i, name in enumerate(names, start=1):
        if not name:
            raise InputError(f"column {i} has no name", path, line)
        if name in seen:
            raise InputError(f"two columns have the name {name!r}", path, line)
        seen.add(name)
    return Vocabulary(tuple(names))


def read_cxt(path: Path) -> Table:
    """Read a formal context in Burmeister's format: its objects are the positive examples."""
    return parse_cxt(read_text(path), path)


def parse_cxt(text: str, path: Path | str = "<text>") -> Table:
    """Return the table that Burmeister text describes."""
    lines = lines_of(text)
    if lines[0].strip() != "B":
        raise InputError("a Burmeister context starts with a line 'B'", path, 1)
    # Then the context's name (often blank, sometimes left out), the two counts, a blank line. A
    # name that is a number can be told from a count only by what the counts then promise.
    at = 1 if _is_count(lines, 1) and _is_count(lines, 2) and not _fits(lines, 2) else 2
    counts = []
    for what in ("objects", "attributes"):
        if not _is_count(lines, at):
            raise InputError(f"expected the number of {what}", path, at + 1)
        counts.append(int(lines[at]))
        at += 1
    objects, attributes = counts
    if at < len(lines) and not lines[at].strip():
        at += 1
    end = at + objects + attributes + objects
    if len(lines) < end:
        raise InputError(
            f"ends too early: {objects} objects and {attributes} attributes need {end} lines",
            path,
            len(lines),
        )
    names_at = at + objects
    names = [line.strip() for line in lines[names_at : names_at + attributes]]
    seen: set[str] = set()
    for i, name in enumerate(names):
        if not name or name in seen:
            problem = f"two attributes have the name {name!r}" if name else "an empty name"
            raise InputError(problem, path, names_at + i + 1)
        seen.add(name)
    rows = []
    where = range(names_at + attributes, end)
    for i in where:
        row = lines[i].strip()
        if len(row) != attributes or set(row.lower()) - {"x", "."}:
            raise InputError(f"expected {attributes} characters, each X or .", path, i + 1)
        rows.append(mask_of(j for j, mark in enumerate(row) if mark in "xX"))
    for i, extra in enumerate(lines[end:], start=end + 1):
        if extra.strip():
            raise InputError("more lines than the counts say", path, i)
    called = tuple(line.strip() for line in lines[at : at + objects])
    return Table(
        Vocabulary(tuple(names)),
        tuple(rows),
        tuple(i + 1 for i in where),
        called if all(called) else (),
    )


def _is_count(lines: list[str], at: int) -> bool:
    return at < len(lines) and re.fullmatch(r"\s*[0-9]{1,9}\s*", lines[at]) is not None


def _fits(lines: list[str], at: int) -> bool:
    """Say whether the counts at a line are right for the lines that follow."""
    if not (_is_count(lines, at) and _is_count(lines, at + 1)):
        return False
    objects, attributes = int(lines[at]), int(lines[at + 1])
    rest = "\n".join(lines[at + 2 :]).strip("\n").split("\n")
    row = re.compile(rf"\s*[xX.]{{{attributes}}}\s*")
    return len(rest) == 2 * objects + attributes and all(
        row.fullmatch(line) for line in rest[objects + attributes :]
    )
