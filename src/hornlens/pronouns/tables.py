"""Tables of people: the columns that are asked for, row by row, each with its line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.files import read_text


def read_rows(
    path: Path, needed: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number of each row and its cells of these columns, stripped.

    A column that is optional and absent gives empty cells; other columns are ignored.
    """
    reader = csv.reader(StringIO(read_text(path), newline=""), strict=True)
    try:
        names = [cell.strip() for cell in next(cells for cells in reader if cells)]
        for name in (*needed, *optional):
            if name in needed and name not in names:
                raise InputError(f"there is no column {name!r}", path, reader.line_num)
            if names.count(name) > 1:
                raise InputError(f"two columns have the name {name!r}", path, reader.line_num)
        places = [names.index(name) if name in names else None for name in (*needed, *optional)]
        for cells in reader:
            if not cells:
                continue  # a blank line
            if len(cells) != len(names):
                raise InputError(
                    f"{len(cells)} cells, but the header has {len(names)} columns",
                    path,
                    reader.line_num,
                )
            yield (
                reader.line_num,
                ["" if place is None else cells[place].strip() for place in places],
            )
    except csv.Error as error:
        raise InputError(f"not a well-formed CSV line: {error}", path, reader.line_num) from None


def number_of_people(cell: str, path: Path, line: int) -> int:
    """Return the count in a cell of the column `people`; an empty one counts one person."""
    if not cell:
        return 1
    if not (cell.isascii() and cell.isdigit()) or len(cell) > 15:
        raise InputError(f"people: {cell!r} is not a number of people", path, line)
    return int(cell)
