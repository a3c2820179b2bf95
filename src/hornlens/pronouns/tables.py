"""Tables of people: the columns that are asked for, row by row, each with its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_rows
from hornlens.formats.files import read_text


def read_rows(
    path: Path, needed: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number of each row and its cells of these columns, stripped.

    A column that is optional and absent gives empty cells; other columns are ignored.
    """
    rows = csv_rows(read_text(path), path)
    line, header = next(rows)
    names = [cell.strip() for cell in header]
    for name in (*needed, *optional):
        if name in needed and name not in names:
            raise InputError(f"there is no column {name!r}", path, line)
        if names.count(name) > 1:
            raise InputError(f"two columns have the name {name!r}", path, line)
    places = [names.index(name) if name in names else None for name in (*needed, *optional)]
    for line, cells in rows:
        if len(cells) != len(names):
            raise InputError(
                f"{len(cells)} cells, but the header has {len(names)} columns", path, line
            )
        yield line, ["" if place is None else cells[place].strip() for place in places]


def number_of_people(cell: str, path: Path, line: int) -> int:
    """Return the count in a cell of the column `people`; an empty one counts one person."""
    if not cell:
        return 1
    if not (cell.isascii() and cell.isdigit()) or len(cell) > 15:
        raise InputError(f"people: {cell!r} is not a number of people", path, line)
    return int(cell)
