"""Tables for papers, pages and spreadsheets: one table, three ways of writing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hornlens.formats.csvfiles import csv_text
from hornlens.formats.latex import latex_rule, latex_text
from hornlens.formats.plain import one_line
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import in_signs

Cell: TypeAlias = str | int | float | bool | NamedRule | None


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
            lines.append("    " + " & ".join(map(_latex, row)) + r" \\")
        if not self.rows:
            lines.append(rf"    \multicolumn{{{len(self.columns)}}}{{l}}{{none}} \\")
        lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return the table as CSV, numbers in full."""
        return csv_text(self.columns, ([_full(cell) for cell in row] for row in self.rows))

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
    if isinstance(cell, NamedRule):
        return rule_text(cell)
    return f"{cell:,.2f}" if isinstance(cell, float) else str(cell)


def rule_text(rule: NamedRule) -> str:
    """Return a rule as people read it: names are not quoted, as no one has to parse it."""
    return in_signs(rule.antecedent, rule.consequent)


def in_markdown(title: str, introduction: str, tables: Sequence[Table]) -> str:
    """Return a Markdown page of tables."""
    parts = [f"# {_markdown(title)}\n", *([_markdown(introduction) + "\n"] if introduction else [])]
    return "\n".join([*parts, *(table.markdown() for table in tables)])


def _full(cell: Cell) -> str:
    if cell is None:
        return ""
    return repr(cell) if isinstance(cell, float) else shown(cell)


def _latex(cell: Cell) -> str:
    return latex_rule(cell) if isinstance(cell, NamedRule) else latex_text(shown(cell))


def _markdown(text: str) -> str:
    """Return text that Markdown leaves alone: no markup, no HTML, on one line."""
    plain = one_line(text)
    for character in "\\`*_|[]<>":
        plain = plain.replace(character, "\\" + character)
    return plain.replace("&", "&amp;")
