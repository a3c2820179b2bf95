"""A result for other tools, as text: whatever it is of, and whether it is new or was loaded."""

from __future__ import annotations

from collections.abc import Iterable

from hornlens.errors import HornlensError
from hornlens.formats.decisions.writers import CLASS_WRITERS
from hornlens.formats.plain import visible
from hornlens.formats.writers import WRITERS
from hornlens.results.documents.findings import Findings


def exported_text(result: Findings, form: str, otherwise: str | None = None) -> str:
    """Return the rules of a result as text of a format: `text`, `csv`, or one of the writers.

    CSV is rules.csv; WRITERS have the readable rules, in variables; CLASS_WRITERS rules that decide
    a row, and the class `otherwise` for what no rule decides.
    """
    if form in CLASS_WRITERS:
        return CLASS_WRITERS[form](result.decision_list(otherwise))
    if otherwise is not None:
        raise HornlensError(f"otherwise is for {', '.join(CLASS_WRITERS)}, and not for {form}")
    if form == "text":
        return rules_text(result.rules)
    if form == "csv":
        return result.rules.csv()
    if form not in WRITERS:
        there = ", ".join(("text", "json", *WRITERS, *CLASS_WRITERS))
        raise HornlensError(f"there is no format {form!r} to export to (there are: {there})")
    return WRITERS[form](result.envelope)


def rules_text(rules: Iterable[object]) -> str:
    """Return rules as people write them, one a line."""
    return "".join(visible(str(rule)) + "\n" for rule in rules)
