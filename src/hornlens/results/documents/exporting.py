"""A result for other tools, as text: whatever it is of, and whether it is new or was loaded."""

from __future__ import annotations

from collections.abc import Iterable

from hornlens.errors import HornlensError
from hornlens.formats.plain import visible
from hornlens.formats.writers import WRITERS
from hornlens.results.documents.findings import Findings


def exported_text(result: Findings, form: str) -> str:
    """Return the rules of a result as text of a format: `text`, `csv`, or one of WRITERS.

    CSV is rules.csv; the others have the readable rules, in variables.
    """
    if form == "text":
        return rules_text(result.rules)
    if form == "csv":
        return result.rules.csv()
    if form not in WRITERS:
        there = ", ".join(("text", "json", *WRITERS))
        raise HornlensError(f"there is no format {form!r} to export to (there are: {there})")
    return WRITERS[form](result.envelope)


def rules_text(rules: Iterable[object]) -> str:
    """Return rules as people write them, one a line."""
    return "".join(visible(str(rule)) + "\n" for rule in rules)
