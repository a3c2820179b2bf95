"""Formulas and tables as targets: they say yes or no to every interpretation.

Both can be looked into: `engine` works out their rules, whatever their size, and asks nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hornlens.logic.batch import pack
from hornlens.logic.cnf import Cnf
from hornlens.logic.decisions import NO, YES, Decision
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.targets.functions import row_of

if TYPE_CHECKING:
    from hornlens.results.documents.settings import Settings
    from hornlens.results.documents.tables import TableDocument
    from hornlens.targets.protocol import RuleEngine

DECIMAL = 14_000
"""Up to so many variables, Python writes a set of them as a decimal number."""


@dataclass(frozen=True)
class FormulaTarget:
    r"""Accepts what satisfies a formula. Its rules are worked out, and it is not asked.

    Args:
        formula: The formula.
        name: What people call it.
        background: Rules that are taken for granted: what breaks them does not occur.

    >>> from hornlens import extract
    >>> from hornlens.formats import parse_dimacs
    >>> formula = parse_dimacs("c 1 nurse\nc 2 he\np cnf 2 1\n-1 -2 0\n")
    >>> print(extract(FormulaTarget(formula)).rules)
    nurse ∧ he → ⊥
    """

    formula: Cnf
    name: str = "formula"
    background: Theory | None = None

    @cached_property
    def space(self) -> Space:
        """Every combination of the formula's variables that obeys the background."""
        return Space.of_variables(self.formula.vocabulary, tuple(self.background or ()))

    def identity(self) -> str | None:
        """Return the hash of the formula."""
        formula = self.formula
        if formula.width <= DECIMAL:
            return f"formula:{_hash(formula)}"
        clauses = [(hex(each.antecedent), hex(each.consequent)) for each in formula.clauses]
        return f"formula:{_hash((formula.vocabulary, clauses))}"

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Evaluate the formula."""
        accepted = self.formula.accepts(pack(cells, self.formula.width)).tolist()
        return [Decision(YES if yes else NO) for yes in accepted]

    def show(self, cell: int) -> tuple[str, ...]:
        """Return the true variables."""
        return (row_of(self.space, cell),)

    def engine(self, settings: Settings) -> RuleEngine | None:
        """Return what works out its rules; None if support is wanted: that is counted in cells."""
        if settings.min_support is not None:
            return None
        from hornlens.targets.engines import formula_engine

        return formula_engine(self.formula, self.background, settings)


@dataclass(frozen=True)
class TableTarget:
    """Accepts the rows of a table, and nothing else. Its rules are worked out of the rows.

    Args:
        table: The table.
        name: What people call it.
        background: Rules that are taken for granted; no row may break one.
        columns: What the table's variables say, where values were scaled: an attribute for each
            column, and perhaps a label, whose values are then variables like others.
        notes: How each column was read, in words.

    >>> from hornlens import extract
    >>> from hornlens.theory import Table, Vocabulary
    >>> rows = Table(Vocabulary(("bird", "flies")), (0b01, 0b11))
    >>> print(extract(TableTarget(rows)).rules)
    ⊤ → bird
    """

    table: Table
    name: str = "table"
    background: Theory | None = None
    columns: Space | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def space(self) -> Space:
        """Every combination of what the columns say that obeys the background."""
        assumed = tuple(self.background or ())
        if self.columns is None:
            return Space.of_variables(self.table.vocabulary, assumed)
        return replace(self.columns.unlabelled, assumed=assumed)

    @cached_property
    def _rows(self) -> frozenset[int]:
        return frozenset(self.table.rows)

    def identity(self) -> str | None:
        """Return the hash of the rows."""
        names, rows = self.table.vocabulary, sorted(self._rows)
        return f"rows:{_hash((names, rows if len(names) <= DECIMAL else list(map(hex, rows))))}"

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Look each cell up."""
        return [Decision(YES if cell in self._rows else NO) for cell in cells]

    def show(self, cell: int) -> tuple[str, ...]:
        """Return the columns that are set."""
        return (row_of(self.space, cell),)

    def engine(self, settings: Settings) -> RuleEngine | None:
        """Return what works out its rules; support is counted in rows."""
        from hornlens.targets.engines import table_engine

        return table_engine(self.table, self.background, self.columns, settings)

    def tabled(self) -> TableDocument:
        """Return its concepts, and what became of its columns."""
        from hornlens.results.documents.tables import table_document

        return table_document(self.table, self.notes)


def _hash(content: object) -> str:
    """Return the hash of what something is written as."""
    return hashlib.sha256(repr(content).encode()).hexdigest()
