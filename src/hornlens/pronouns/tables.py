"""Tables as streams: the columns that are asked for, row by row, each with its line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from hornlens.errors import InputError


def read_rows(
    path: Path, needed: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number of each row and its cells of these columns, stripped.

    A column that is optional and absent gives empty cells; other columns are ignored. Nothing but
    the row at hand is in memory.
    """
    reader = csv.reader(_lines(path), strict=True)
    try:
        header = next((cells for cells in reader if cells), None)
        if header is None:
            raise InputError("is empty", path)
        names = [cell.strip() for cell in header]
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


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file; what prevents it is an InputError with the line."""
    try:
        with path.open("rb") as file:
            for number, data in enumerate(file, start=1):
                try:
                    line = data.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise InputError("is not UTF-8 text; save it as UTF-8", path, number) from None
                if "\0" in line:
                    raise InputError("is a binary file, not text", path, number)
                yield line
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("is a directory, not a file", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None


def number_of_people(cell: str, path: Path, line: int) -> int:
    """Return the count in a cell of the column `people`; an empty one counts one person."""
    if not cell:
        return 1
    if not (cell.isascii() and cell.isdigit()) or len(cell) > 15:
        raise InputError(f"people: {cell!r} is not a number of people", path, line)
    return int(cell)
