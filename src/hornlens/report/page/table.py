"""The page of a table: its rules, and its concept lattice if it is small enough to be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from hornlens.counts import plural
from hornlens.logic.named import NamedRule
from hornlens.report.lattice import lattice_svg
from hornlens.report.page.assemble import assemble
from hornlens.results.documents.envelope import envelope_from_json
from hornlens.results.documents.tables import DRAWN, TABLE, TableResult

SCRIPTS = ("dom.js", "table.js", "tablepage.js", "lattice.js")


def table_page(result: TableResult, path: Path = Path("table.json")) -> str:
    """Return the page of a table; what is wrong with its envelope is an InputError about `path`."""
    envelope = envelope_from_json(result.envelope, path)
    names = envelope.vocabulary
    support: Sequence[int | None] = envelope.support or [None] * len(envelope.readable)
    pairs = zip(envelope.readable, support, strict=True)
    rules = [(NamedRule.of(rule, names), n) for rule, n in pairs]
    # All text in the drawing is escaped where it is put in.
    drawing = Markup(lattice_svg(result.lattice)) if result.lattice else None
    return assemble(
        "table.html",
        SCRIPTS,
        TABLE.as_json(result),
        styles=("lattice.css",),
        title=f"Rules of {result.name}",
        content=result,
        rules=rules,
        variables=len(names),
        certificate=envelope.certificate,
        drawing=drawing,
        numbered=any(row.isdigit() for each in result.lattice for row in each.own_rows),
        most=DRAWN,
        plural=plural,
    )
