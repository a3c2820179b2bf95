r"""DIMACS CNF files, with variable names kept in comments.

Names are written as ``c var 3 nurse``; one that a line cannot hold as it is, as JSON has it:
``c quoted 3 "a\u2028b"``. Read are those forms and the common ``c 3 nurse`` (one word, nothing
after it). Variables without a name are x1, x2, …
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.files import lines_of, read_text
from hornlens.formats.jsonfiles import encoded
from hornlens.formats.plain import visible
from hornlens.logic.cnf import Clause, Cnf, clause_of, literals
from hornlens.logic.vocabulary import Vocabulary

_NAMED = re.compile(r"c\s+var\s+(\d{1,9})\s+(\S.*?)\s*$")
_QUOTED = re.compile(r"c\s+quoted\s+(\d{1,9})\s+(\".*\")\s*$")
_BARE = re.compile(r"c\s+(\d{1,9})\s+(\S+)\s*$")
_HEADER = re.compile(r"p\s+cnf\s+(\d{1,9})\s+(\d{1,9})\s*$")
MAX_VARIABLES = 100_000


def read_dimacs(path: Path) -> Cnf:
    """Read a DIMACS file; every mistake in it is an InputError with its line."""
    return parse_dimacs(read_text(path), path)


def parse_dimacs(text: str, path: Path | str = "<text>") -> Cnf:
    """Return the formula that DIMACS text describes."""
    header: tuple[int, int] | None = None
    names: dict[int, tuple[str, int]] = {}
    bare: list[tuple[int, str]] = []
    clauses: list[Clause] = []
    open_clause: list[int] = []
    line = opened_at = 0
    for line, content in _lines(text):
        if content.startswith("c"):
            _collect_name(content, line, names, bare, path)
        elif content.startswith("p"):
            if header:
                raise InputError("a second 'p cnf' header", path, line)
            match = _HEADER.match(content)
            if not match:
                raise InputError(
                    "the header must read 'p cnf VARIABLES CLAUSES', with two numbers", path, line
                )
            header = int(match[1]), int(match[2])
            if header[0] > MAX_VARIABLES:
                raise InputError(f"more than {MAX_VARIABLES:,} variables", path, line)
        elif header is None:
            raise InputError("expected the header 'p cnf VARIABLES CLAUSES' first", path, line)
        else:
            for token in content.split():
                literal = _literal(token, header[0], path, line)
                if literal:
                    opened_at = opened_at or line
                    open_clause.append(literal)
                else:
                    clauses.append(clause_of(open_clause))
                    open_clause, opened_at = [], 0
    if header is None:
        raise InputError("has no header 'p cnf VARIABLES CLAUSES'", path)
    if open_clause:
        raise InputError("this clause does not end with 0", path, opened_at)
    if len(clauses) != header[1]:
        raise InputError(f"the header says {header[1]} clauses, found {len(clauses)}", path, line)
    return Cnf(_vocabulary(header[0], names, bare, path), tuple(clauses))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(lines_of(text), start=1):
        content = raw.strip()
        if content.startswith("%"):  # SATLIB's end mark
            return
        if content:
            yield number, content


def _literal(token: str, width: int, path: Path | str, line: int) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", token):
        raise InputError(f"{token[:40]!r} is not a literal (a whole number)", path, line)
    literal = int(token)
    if abs(literal) > width:
        raise InputError(
            f"literal {literal} is out of range: the header says {width} variables", path, line
        )
    return literal


def _collect_name(
    content: str,
    line: int,
    names: dict[int, tuple[str, int]],
    bare: list[tuple[int, str]],
    path: Path | str,
) -> None:
    if match := _NAMED.match(content) or _QUOTED.match(content):
        number, name = int(match[1]), match[2]
        if match.re is _QUOTED:
            name = _unquoted(name, path, line)
        if number in names and names[number][0] != name:
            raise InputError(f"a second name for variable {number}", path, line)
        names[number] = name, line
    elif match := _BARE.match(content):
        bare.append((int(match[1]), match[2]))


def _unquoted(name: str, path: Path | str, line: int) -> str:
    try:
        return str(json.loads(name))
    except ValueError:
        raise InputError(
            f"{name[:40]} is not a name in quotes, as JSON has it", path, line
        ) from None


def _vocabulary(
    width: int, names: dict[int, tuple[str, int]], bare: list[tuple[int, str]], path: Path | str
) -> Vocabulary:
    first: dict[str, int] = {}
    for number, (name, line) in sorted(names.items()):
        if not 1 <= number <= width:
            raise InputError(
                f"a name for variable {number}, but the header says {width} variables", path, line
            )
        if first.setdefault(name, number) != number:
            raise InputError(f"two variables have the name {name!r}", path, line)
    given = {number: name for number, (name, _) in names.items()}
    # A bare "c 3 word" may be a plain remark: it names a variable only if all such lines can.
    plausible = dict(bare)
    if (
        len(plausible) == len(bare) == len(set(plausible.values()))
        and all(1 <= number <= width for number in plausible)
        and not set(plausible.values()) & set(given.values())
    ):
        given = {**plausible, **given}
    try:
        return Vocabulary(tuple(given.get(i, f"x{i}") for i in range(1, width + 1)))
    except InputError as error:
        raise InputError(error.message, path) from None


def write_dimacs(formula: Cnf, remarks: tuple[str, ...] = ()) -> str:
    """Return the formula as DIMACS text, with its variables' names in comments."""
    lines = [f"c {remark}" for remark in remarks]
    for i, name in enumerate(formula.vocabulary.names, start=1):
        if name != f"x{i}":
            plain = name == name.strip() == visible(name)
            lines.append(f"c var {i} {name}" if plain else f"c quoted {i} {encoded(name)}")
    lines.append(f"p cnf {formula.width} {len(formula.clauses)}")
    lines += [" ".join(map(str, [*literals(clause), 0])) for clause in formula.clauses]
    return "\n".join(lines) + "\n"
