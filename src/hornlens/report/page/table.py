"""The page of a table: that of its rules, with its concept lattice if that can be read."""

from __future__ import annotations

from pathlib import Path

from hornlens.report.page.unlabelled import unlabelled_page
from hornlens.results.documents.saving import worked_out
from hornlens.results.documents.tables import TableResult


def table_page(result: TableResult, path: Path = Path("table.json")) -> str:
    """Return the page of a table; what is wrong with its envelope is an InputError about `path`."""
    return unlabelled_page(worked_out(result.envelope, path, result), file=path.name)
