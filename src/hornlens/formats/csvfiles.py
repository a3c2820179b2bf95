"""CSV: tables that read back and that no spreadsheet takes for formulas; rules in two cells.

A cell that begins with = + - @ or white space, and is no number, is a formula to spreadsheets, and
somebody else's formula can send a table away. It gets a ' before it, as OWASP advises; so does one
that begins with such signs behind a ', and readers take one away.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.jsonfiles import encoded
from hornlens.formats.plain import visible
from hornlens.logic.named import NamedRule

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")  # some spreadsheets take wide ones
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|inf)")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_SEPARATORS = {";": "semicolons", "\t": "tabs"}
_SEPARATOR = re.compile("[;\t]")
_COMMA = re.compile("[+-]?[0-9]+,[0-9]+", re.ASCII)
BOTTOM = "FALSE"
"""What stands for ⊥ in a cell."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV: what `csv_rows` reads back, every cell as a text."""
    lines: list[str] = []

    class Lines:
        """Takes rows that end in CR LF, the one way to have a CR in a cell quoted."""

        def write(self, row: str) -> None:
            lines.append(row[:-2] + "\n")

    writer = csv.writer(Lines(), lineterminator="\r\n")
    writer.writerow([_guarded(cell) for cell in header])
    writer.writerows([_guarded(cell) for cell in row] for row in rows)
    return "".join(lines)


def csv_rows(text: str, path: Path | str = "<text>") -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line it ends in; blank lines are left out.

    A line that is not well formed is an InputError.
    """
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    is_first = True
    try:
        for cells in reader:
            if cells:
                if is_first and len(cells) == 1 and (sign := _SEPARATOR.search(cells[0])):
                    raise InputError(
                        f"is separated by {_SEPARATORS[sign[0]]}: save it with commas, and with "
                        "points in numbers (1.5)",
                        path,
                        reader.line_num,
                    )
                is_first = False
                if "'" in "".join(cells):  # asked of a row, for it takes a quarter of the time
                    cells = [_unguarded(cell) for cell in cells]
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"not a well-formed CSV line: {error}", path, reader.line_num) from None


def check_points(name: str, cells: Iterable[str], path: Path | str) -> None:
    """Refuse a column of numbers with decimal commas, which would be read as names.

    >>> check_points("age", ["1,5", "2,0", ""], "t.csv")
    Traceback (most recent call last):
    hornlens.errors.InputError: t.csv: column 'age' has decimal commas (1,5): write 1.5
    """
    numbers = [cell for cell in cells if cell]
    if numbers and all(_COMMA.fullmatch(cell) for cell in numbers):
        shown = numbers[0]
        raise InputError(
            f"column {name!r} has decimal commas ({shown}): write {shown.replace(',', '.')}", path
        )


def _guarded(cell: object) -> object:
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return "'" + cell
    return cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def named_cells(rule: NamedRule) -> tuple[str, str]:
    """Return the two sides of a rule as they stand in CSV files: what `rule_of_cells` reads.

    Names are joined by "; ", and FALSE stands for ⊥. A name that could be taken for something else
    stands as JSON has it, in double quotes.
    """
    right = BOTTOM if rule.consequent is None else _side(rule.consequent)
    return _side(rule.antecedent), right


def rule_of_cells(left: str, right: str) -> NamedRule:
    """Return the rule of two cells; cells that hold none are an InputError."""
    return NamedRule(_names(left), None if right == BOTTOM else _names(right))


def _side(names: Sequence[str]) -> str:
    return "; ".join(name if _is_plain(name) else encoded(name) for name in names)


def _is_plain(name: str) -> bool:
    return (
        name not in ("", BOTTOM)
        and not name.startswith('"')
        and ";" not in name
        and name == name.strip() == visible(name)
    )


def _names(cell: str) -> tuple[str, ...]:
    names, at = [], 0
    while at < len(cell):
        quoted = _QUOTED.match(cell, at)
        end = quoted.end() if quoted else at + len(cell[at:].split("; ", 1)[0])
        if end < len(cell) and not cell.startswith("; ", end):
            raise InputError(f"not the names of a rule: {cell!r}")
        try:
            names.append(json.loads(quoted[0]) if quoted else cell[at:end])
        except ValueError:
            raise InputError(f"not the names of a rule: {cell!r}") from None
        at = end + 2
    return tuple(names)
