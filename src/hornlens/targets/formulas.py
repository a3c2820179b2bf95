"""Formulas and tables as targets: they say yes or no to every interpretation."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hornlens.logic.batch import pack
from hornlens.logic.cnf import Cnf
from hornlens.logic.decisions import NO, YES, Decision
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.targets.functions import row_of


@dataclass(frozen=True)
class FormulaTarget:
    r"""Accepts what satisfies a formula. It is known inside out: `exact` engines are faster.

    >>> from hornlens import extract
    >>> from hornlens.formats import parse_dimacs
    >>> formula = parse_dimacs("c 1 nurse\nc 2 he\np cnf 2 1\n-1 -2 0\n")
    >>> print(extract(FormulaTarget(formula)).rules)
    nurse ∧ he → ⊥
    """

    formula: Cnf
    name: str = "formula"

    @cached_property
    def space(self) -> Space:
        """Every combination of the formula's variables."""
        return Space.of_variables(self.formula.vocabulary)

    def identity(self) -> str | None:
        """Return the hash of the formula."""
        return f"formula:{hashlib.sha256(repr(self.formula).encode()).hexdigest()}"

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Evaluate the formula."""
        accepted = self.formula.accepts(pack(cells, self.formula.width)).tolist()
        return [Decision(YES if yes else NO) for yes in accepted]

    def show(self, cell: int) -> tuple[str, ...]:
        """Return the true variables."""
        return (row_of(self.space, cell),)


@dataclass(frozen=True)
class TableTarget:
    """Accepts the rows of a table, and nothing else.

    >>> from hornlens import extract
    >>> from hornlens.theory import Table, Vocabulary
    >>> rows = Table(Vocabulary(("bird", "flies")), (0b01, 0b11))
    >>> print(extract(TableTarget(rows)).rules)
    ⊤ → bird
    """

    table: Table
    name: str = "table"

    @cached_property
    def space(self) -> Space:
        """Every combination of the table's columns."""
        return Space.of_variables(self.table.vocabulary)

    @cached_property
    def _rows(self) -> frozenset[int]:
        return frozenset(self.table.rows)

    def identity(self) -> str | None:
        """Return the hash of the rows."""
        content = repr((self.table.vocabulary, sorted(self._rows)))
        return f"rows:{hashlib.sha256(content.encode()).hexdigest()}"

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Look each cell up."""
        return [Decision(YES if cell in self._rows else NO) for cell in cells]

    def show(self, cell: int) -> tuple[str, ...]:
        """Return the columns that are set."""
        return (row_of(self.space, cell),)
