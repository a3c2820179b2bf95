"""Tables of any values, as they stand in files: CSV; Parquet and Excel by what is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from hornlens.errors import InputError
from hornlens.formats.csvfiles import check_points, csv_rows
from hornlens.formats.files import read_text
from hornlens.formats.packing import check_archive

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "None"})
"""Cells that say nothing."""
MOST_CELLS = 20_000_000
"""How many cells a Parquet or Excel file may have."""
MOST_CHARACTERS = 200_000_000
"""How many characters they may have."""
PART = 1_000
"""How many cells of a column are made Python's own at a time, at most."""
COPIED = 20_000_000
"""How many characters they may have together, if they are more than one."""
FRAMES = {".parquet": "read_parquet", ".xlsx": "read_excel", ".xls": "read_excel"}


@dataclass(frozen=True)
class Values:
    """Columns by name, in order, with a text a row; `lines` says where in the file a row stood."""

    columns: dict[str, list[str]]
    rows: int
    lines: tuple[int, ...] = ()


def read_values(path: Path) -> Values:
    """Read a table by its ending: .csv, .parquet, .xlsx."""
    if path.suffix.lower() in FRAMES:
        return _of_frame(path)
    return parse_values(read_text(path), path)


def parse_values(text: str, path: Path | str = "<text>") -> Values:
    """Return the table that CSV text describes: names in the first line, then a row a line."""
    names: list[str] | None = None
    header_line = 0
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, cells in csv_rows(text, path):
        if len(cells) == 1 and not cells[0].strip() and (names is None or len(names) > 1):
            continue  # a line of spaces
        if names is None:
            names, header_line = [cell.strip() for cell in cells], line
            check_names(names, path, header_line)
            continue
        if len(cells) != len(names):
            raise InputError(
                f"{len(cells)} cells, but the header has {len(names)} columns", path, line
            )
        rows.append(cells)
        lines.append(line)
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    named = dict(zip(names or [], columns or [[] for _ in names or []], strict=True))
    for name, column in named.items():
        check_points(name, (cell for cell in column if cell not in MISSING), path)
    return Values(named, len(rows), tuple(lines))


def check_names(names: Sequence[str], path: Path | str, line: int | None) -> None:
    """Refuse columns without a name, or with one name."""
    if names and all(name in ("0", "1") for name in names):
        raise InputError("the first line must name the columns; it is a row of 0 and 1", path, line)
    seen: set[str] = set()
    for i, name in enumerate(names, start=1):
        if not name:
            raise InputError(f"column {i} has no name", path, line)
        if name in seen:
            raise InputError(f"two columns have the name {name!r}", path, line)
        seen.add(name)


def _of_frame(path: Path) -> Values:
    """Read a file through whatever is installed that can: openpyxl, polars, pandas."""
    if not path.is_file():
        raise InputError("is a directory, not a file" if path.is_dir() else "no such file", path)
    named: list[str] = []
    columns: list[list[str]] = []
    if path.suffix.lower() == ".xlsx" and is_zipfile(path):
        check_archive(path)
    for read in _READERS[path.suffix.lower()]:
        try:
            named, columns = read(path)
            break
        except InputError as error:
            raise InputError(error.message, path) from None
        except ImportError:  # it is not there, or lacks what it needs for this kind of file
            continue
        except Exception as error:  # theirs may be any
            raise InputError(f"cannot be read: {_first_line(error)}", path) from None
    else:
        raise InputError(f"needs more to be read: {NEEDED[path.suffix.lower()]}", path)
    check_names(named, path, None)
    return Values(dict(zip(named, columns, strict=True)), len(columns[0]) if columns else 0)


def _by_openpyxl(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read the first sheet of a workbook: values, not formulas. The first row names the columns."""
    book = import_module("openpyxl").load_workbook(path, read_only=True, data_only=True)
    try:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # how many cells a sheet says it has may be wrong
        header, *rows = _counted(sheet.values)
    except ValueError:
        raise ValueError("its first sheet is empty") from None
    finally:
        book.close()
    kept = [row for row in rows if any(row)]
    width = max(map(len, (header, *kept)))
    _check_size(width * (1 + len(kept)))
    header, *kept = (row + [""] * (width - len(row)) for row in (header, *kept))
    while header and not header[-1] and not any(row[len(header) - 1] for row in kept):
        header.pop()  # columns that were emptied still count for Excel
    return header, [[row[i] for row in kept] for i in range(len(header))]


def _counted(rows: Iterable[Sequence[Any]]) -> Iterator[list[str]]:
    """Yield rows as texts, as long as they are not too many: a few bytes can stand for millions."""
    cells = characters = 0
    for row in rows:
        texts = [_text(cell) for cell in row]
        cells += len(texts)
        characters += sum(map(len, texts))
        _check_size(cells, characters)
        yield texts


def _check_size(cells: int, characters: int = 0) -> None:
    if cells > MOST_CELLS or characters > MOST_CHARACTERS:
        raise InputError(
            f"has more than {MOST_CELLS:,} cells or {MOST_CHARACTERS:,} characters: save it "
            "as CSV, or fewer columns of it"
        )


def _by(library: str) -> Callable[[Path], tuple[list[str], list[list[str]]]]:
    def read(path: Path) -> tuple[list[str], list[list[str]]]:
        suffix, module = path.suffix.lower(), import_module(library)
        if suffix == ".parquet":
            _check_size(_parquet_cells(library, path))
        return _columns(getattr(module, FRAMES[suffix])(path))

    return read


def _parquet_cells(library: str, path: Path) -> int:
    """Return how many cells a Parquet file says it has: a run of one value takes a few bytes."""
    if library == "polars":
        polars: Any = import_module("polars")
        lazy = polars.scan_parquet(path)
        return int(lazy.select(polars.len()).collect().item()) * len(lazy.collect_schema())
    stored: Any = import_module("pyarrow.parquet").read_metadata(path)
    return int(stored.num_rows) * int(stored.num_columns)


def _columns(frame: Any) -> tuple[list[str], list[list[str]]]:
    """Return the names and the texts of a data frame's columns."""
    names = [str(name).strip() for name in frame.columns]
    columns, cells, characters = [], 0, 0
    for name in frame.columns:
        shown: dict[str, str] = {}  # a long text may stand in every row: once is enough
        texts = []
        for cell in _cells(frame[name]):
            text = _text(cell)
            if text not in shown:
                shown[text] = text
                characters += len(text)
                _check_size(cells, characters)
            texts.append(shown[text])
        cells += len(texts)
        _check_size(cells, characters)
        columns.append(texts)
    return names, columns


def _cells(column: Any) -> Iterator[Any]:
    """Yield the cells of a column, some at a time: as Python's own, a text is a copy each time."""
    part = PART
    if (
        str(column.dtype) == "String"
    ):  # of polars, where a text that stands in each row is kept once
        longest = int(column.str.len_bytes().max() or 0)
        _check_size(0, longest)
        part = max(1, min(PART, COPIED // max(1, longest)))
    for start in range(0, len(column), part):
        yield from column[start : start + part].to_list()


def is_frame(source: Any) -> bool:
    """Return whether something is a data frame, of pandas or polars."""
    return hasattr(source, "columns") and hasattr(source, "__getitem__") and hasattr(source, "head")


def values_of_frame(frame: Any) -> Values:
    """Return the values of a data frame as a file of it would have them."""
    if len({*frame.columns}) < len(frame.columns):
        raise InputError("two columns of the data frame have the same name")
    names, columns = _columns(frame)
    check_names(names, "the data frame", None)
    return Values(dict(zip(names, columns, strict=True)), len(frame))


_READERS = {
    ".parquet": (_by("polars"), _by("pandas")),
    ".xlsx": (_by_openpyxl, _by("pandas"), _by("polars")),
    ".xls": (_by("pandas"), _by("polars")),
}
"""Who can read what, the lightest first."""
NEEDED = {
    ".parquet": "pip install 'hornlens[tables]', or pandas and pyarrow",
    ".xlsx": "pip install 'hornlens[tables]'",
    ".xls": "pip install pandas xlrd, or save it as .xlsx",
}


def _text(cell: Any) -> str:
    """Return a cell as text; what is missing is nothing, and 3.0 is 3, as in a CSV file."""
    if cell is None or _is_missing(cell):
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _is_missing(cell: Any) -> bool:
    """Return whether a cell is NaN, NaT, or the NA of pandas, which is neither true nor false."""
    try:
        return bool(cell != cell)
    except TypeError:
        return True


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
