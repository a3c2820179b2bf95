"""CSV: tables, and rules in two cells."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from hornlens.logic.named import NamedRule


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def named_cells(rule: NamedRule) -> tuple[str, str]:
    """Return the two sides of a rule as they stand in CSV files."""
    right = "FALSE" if rule.consequent is None else "; ".join(rule.consequent)
    return "; ".join(rule.antecedent), right
