"""A result for other tools, as text: whatever it is of, and whether it is new or was loaded."""

from __future__ import annotations

from collections.abc import Iterable

from hornlens.errors import HornlensError
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.plain import visible
from hornlens.formats.writers import WRITERS
from hornlens.results.documents.envelope import envelope_as_json
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.writing import extraction_as_json


def exported_text(extraction: Findings, form: str) -> str:
    """Return a result as text of a format: `text`, `json`, or one of WRITERS.

    JSON is all of envelope.json, and CSV is rules.csv; the others have the readable rules.
    """
    if form == "text":
        return rules_text(row.rule for row in extraction.rules)
    if form == "json":
        asked = extraction.asked
        content = extraction_as_json(extraction) if asked else envelope_as_json(extraction.envelope)
        return json_text(content)
    if form == "csv" and extraction.asked:
        return extraction.rules.csv()
    if form not in WRITERS:
        there = ", ".join(("text", "json", *WRITERS))
        raise HornlensError(f"there is no format {form!r} to export to (there are: {there})")
    return WRITERS[form](extraction.envelope)


def rules_text(rules: Iterable[object]) -> str:
    """Return rules as people write them, one a line."""
    return "".join(visible(str(rule)) + "\n" for rule in rules)
