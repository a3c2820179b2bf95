"""The page of a table.json of version 0.2: that of its rules, with its concept lattice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hornlens.report.page.unlabelled import unlabelled_page
from hornlens.results.documents.saving import worked_out
from hornlens.results.documents.tables import TableResult


def table_page(result: TableResult, path: Path = Path("table.json")) -> str:
    """Return the page of a table; what is wrong with its envelope is an InputError about `path`."""
    findings = worked_out(result.envelope, path.with_name("envelope.json"), result.name)
    return unlabelled_page(replace(findings, table=result.document), name=result.name)
