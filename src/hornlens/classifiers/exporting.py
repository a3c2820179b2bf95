"""The rules of a classifier for other tools, as text."""

from __future__ import annotations

from hornlens.classifiers.explanation import Explained
from hornlens.classifiers.saving import document_of
from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.formats.plain import visible
from hornlens.formats.writers import latex_table, prolog_program
from hornlens.logic.named import NamedRule
from hornlens.results.documents.explanations import EXPLANATION
from hornlens.results.documents.exporting import rules_text

FORMATS = ("text", "json", "csv", "latex", "prolog")
"""The formats that class rules can be exported to."""


def exported_rules(result: Explained, form: str) -> str:
    """Return class rules as text of a format: JSON is explanation.json, and CSV is rules.csv."""
    if form == "text":
        return rules_text(result.rules)
    if form == "json":
        return EXPLANATION.text(document_of(result))
    if form == "csv":
        return result.rules.csv()
    if form == "latex":
        return latex_table(_named(result))
    if form == "prolog":
        return prolog_program(
            _named(result),
            f"Class rules: {plural(len(result.rules), 'rule')}.",
            visible(f"{result.certificate.title}: {result.certificate.sentence}"),
            "Assert given(Condition) for each condition that a row meets, ask holds(Class).",
        )
    raise HornlensError(
        f"rules of a classifier cannot be exported as {form}: their conditions are ranges of "
        f"columns, and no variables (they can be as: {', '.join(FORMATS)})"
    )


def _named(result: Explained) -> list[NamedRule]:
    """Return the rules in names; a class that is called as a condition is, is told from it."""
    conditions = {condition for rule in result.rules for condition in rule.conditions}
    clash = any(rule.label in conditions for rule in result.rules)
    return [
        NamedRule(rule.conditions, (f"{result.target} = {rule.label}" if clash else rule.label,))
        for rule in result.rules
    ]
