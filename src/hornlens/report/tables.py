"""Tables for papers, pages and spreadsheets: one table, three ways of writing it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, TypeAlias

from hornlens.formats.writers import latex_conjunction, latex_text


@dataclass(frozen=True)
class RuleCell:
    """A rule as a cell; `then` is None for ⊥."""

    antecedent: tuple[str, ...]
    then: tuple[str, ...] | None

    @classmethod
    def of(cls, rule: dict[str, Any]) -> RuleCell:
        """Return the cell of a rule as JSON has it."""
        then = rule["then"]
        return cls(tuple(rule["if"]), None if then is None else tuple(then))

    def __str__(self) -> str:
        """Return the rule as people write it."""
        right = "⊥" if self.then is None else " ∧ ".join(self.then) or "⊤"
        return f"{' ∧ '.join(self.antecedent) or '⊤'} → {right}"

    def latex(self) -> str:
        """Return the rule as a formula."""
        right = r"\bot" if self.then is None else latex_conjunction(self.then)
        return rf"${latex_conjunction(self.antecedent)} \to {right}$"


Cell: TypeAlias = str | int | float | bool | RuleCell | None


@dataclass(frozen=True)
class Table:
    """A named table. A missing value is None; numbers are rounded for people, not for machines."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        """Return the table in Markdown, under its title."""
        numeric = [self._is_numeric(i) for i in range(len(self.columns))]
        lines = [
            f"**{_markdown(self.title)}**",
            "",
            "| " + " | ".join(map(_markdown, self.columns)) + " |",
            "|" + "|".join("---:" if right else "---" for right in numeric) + "|",
        ]
        lines += ["| " + " | ".join(_markdown(shown(c)) for c in row) + " |" for row in self.rows]
        if not self.rows:
            lines.append("| " + " | ".join(["none", *[""] * (len(self.columns) - 1)]) + " |")
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """Return the table as a LaTeX table with a caption."""
        form = "".join("r" if self._is_numeric(i) else "l" for i in range(len(self.columns)))
        lines = [
            "% needs \\usepackage{amsmath,booktabs}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{latex_text(self.title)}}}",
            rf"  \begin{{tabular}}{{{form}}}",
            r"    \toprule",
            "    " + " & ".join(map(latex_text, self.columns)) + r" \\",
            r"    \midrule",
        ]
        for row in self.rows:
            cells = [c.latex() if isinstance(c, RuleCell) else latex_text(shown(c)) for c in row]
            lines.append("    " + " & ".join(cells) + r" \\")
        if not self.rows:
            lines.append(rf"    \multicolumn{{{len(self.columns)}}}{{l}}{{none}} \\")
        lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return the table as CSV, numbers in full."""
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([_full(cell) for cell in row])
        return out.getvalue()

    def _is_numeric(self, column: int) -> bool:
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and all(
            isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells
        )


def shown(cell: Cell) -> str:
    """Return a cell for people: yes and no, – for nothing, two decimals."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:,.2f}" if isinstance(cell, float) else str(cell)


def in_markdown(title: str, introduction: str, tables: Sequence[Table]) -> str:
    """Return a Markdown page of tables."""
    parts = [f"# {_markdown(title)}\n", *([_markdown(introduction) + "\n"] if introduction else [])]
    return "\n".join([*parts, *(table.markdown() for table in tables)])


def _full(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return repr(cell)
    return shown(cell) if isinstance(cell, bool) else str(cell)


def _markdown(text: str) -> str:
    """Return text that Markdown leaves alone: no markup, no HTML, on one line."""
    plain = " ".join(text.split())
    for character in "\\`*_|[]<>":
        plain = plain.replace(character, "\\" + character)
    return plain.replace("&", "&amp;")
