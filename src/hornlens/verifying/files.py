"""What a formula or a table accepts: as a set of points, or, where it is wide, by closures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.verifying.attributes import Rule
from hornlens.verifying.grids import Grid, bits

DECIMAL = 14_000
"""Up to so many variables, a set of them is written as a decimal number."""


@dataclass(frozen=True)
class File:
    """A formula's clauses (variables that are false, or true), or a table's rows."""

    vocabulary: Any
    clauses: tuple[tuple[int, int], ...] | None
    rows: tuple[int, ...]
    objects: tuple[str, ...] = ()
    """The names of the rows, where the file has any."""
    written: str = ""
    """What a target's identity is the hash of."""
    notes: tuple[tuple[str, ...], ...] = ()
    """How each column was read: each in the wordings that are right."""
    left_out: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    """Where in the file each row stands."""

    @classmethod
    def read(cls, path: Path, content: Mapping[str, Any] | None = None) -> File:
        """Read a file by its ending; columns of values, as the attributes of a result say."""
        kind = path.suffix.lower()
        if kind in (".cnf", ".dimacs"):
            from hornlens.formats.dimacs import read_dimacs

            formula = read_dimacs(path)
            clauses = tuple((c.antecedent, c.consequent) for c in formula.clauses)
            written = repr(formula)
            if len(formula.vocabulary) > DECIMAL:
                written = repr((formula.vocabulary, [(hex(n), hex(p)) for n, p in clauses]))
            return cls(formula.vocabulary, clauses, (), written=f"formula:{written}")
        from hornlens.formats.contexts import READERS
        from hornlens.formats.values import FRAMES

        if kind in READERS:
            table = READERS[kind](path)
            rows = cls.of_rows(table.vocabulary, table.rows, table.objects)
            return replace(rows, lines=table.lines)
        if kind == ".csv" or kind in FRAMES:
            return cls._of_values(path, content or {})
        expected = ", ".join([".cnf", ".csv", *FRAMES, *READERS])
        raise InputError(f"unknown kind of file; expected {expected} or .exploration.json", path)

    @classmethod
    def _of_values(cls, path: Path, content: Mapping[str, Any]) -> File:
        from hornlens.formats.backgrounds import vocabulary_of
        from hornlens.formats.values import read_values
        from hornlens.verifying.columns import plain_attributes, read_columns

        values = read_values(path)
        variables = tuple(content.get("variables", values.columns))
        space = content.get("space")
        lines = plain_attributes(values, variables) if space is None else space["attributes"]
        columns = read_columns(values, lines)
        table = cls.of_rows(vocabulary_of(variables), columns.rows)
        return replace(table, notes=columns.notes, left_out=columns.left_out, lines=values.lines)

    @classmethod
    def of_rows(cls, vocabulary: Any, rows: tuple[int, ...], objects: tuple[str, ...] = ()) -> File:
        """Return a table as a file."""
        distinct = sorted(set(rows))
        shown = distinct if len(vocabulary) <= DECIMAL else list(map(hex, distinct))
        return cls(vocabulary, None, rows, objects, f"rows:{(vocabulary, shown)!r}")

    @property
    def identity(self) -> str:
        """What a result of this file has for an identity: the hash of what it says."""
        kind, _, text = self.written.partition(":")
        return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return tuple(self.vocabulary.names)

    def background(self, path: Path) -> set[Rule]:
        """Return the rules of a background file."""
        from hornlens.formats.backgrounds import read_background

        rules = read_background(path, self.vocabulary)
        return {
            (r.antecedent, None if r.is_negative else r.antecedent | r.consequent) for r in rules
        }

    def support(self, x: int) -> int:
        """Return how many rows have all of `x`."""
        return sum(x & ~row == 0 for row in self.rows)

    def positive(self, grid: Grid, inside: int) -> int:
        """Return the points that are accepted; `inside` are those that the background allows."""
        if self.clauses is None:
            return grid.set_of(map(grid.index, self.rows)) & inside
        for negative, positive in self.clauses:
            open_ = grid.having(negative)
            for v in bits(positive):
                open_ &= ~grid.columns[v]
            inside &= ~open_
        return inside

    def closures(self, background: list[Rule]) -> tuple[Callable[[int], int | None], Any]:
        """Return a function to what all accepted points above have in common, and one that rejects.

        Of a formula, a SAT solver is asked.
        """
        if self.clauses is None:
            rows = set(self.rows)

            def common(x: int) -> int | None:
                above = [row for row in rows if x & ~row == 0]
                return reduce(int.__and__, above) if above else None

            return common, lambda x: x not in rows
        from pysat.solvers import Solver

        clauses = [([-v - 1 for v in bits(n)], [v + 1 for v in bits(p)]) for n, p in self.clauses]
        for antecedent, both in background:
            left = [-v - 1 for v in bits(antecedent)]
            heads = [[]] if both is None else [[v + 1] for v in bits(both & ~antecedent)]
            clauses += [(left, head) for head in heads]
        solver = Solver("cadical153", bootstrap_with=[left + right for left, right in clauses])
        width = len(self.names)

        def solve(literals: list[int]) -> int | None:
            if not solver.solve(assumptions=literals):
                return None
            true = {v for v in solver.get_model() if v > 0}
            return sum(1 << v for v in range(width) if v + 1 in true)

        def shared(x: int) -> int | None:
            have = [v + 1 for v in bits(x)]
            found = solve(have)
            for v in bits((found or 0) & ~x):
                if found is not None and found >> v & 1:
                    other = solve([*have, -v - 1])
                    found = found if other is None else found & other
            return found

        def rejects(x: int) -> bool:
            return solve([v + 1 if x >> v & 1 else -v - 1 for v in range(width)]) is None

        return shared, rejects
