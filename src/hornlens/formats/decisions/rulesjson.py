"""A decision list as JSON: columns, rules in order with exact bounds, and what holds otherwise."""

from __future__ import annotations

from typing import Any

from hornlens.formats.decisions.lists import DecisionList, ListColumn, ListCondition
from hornlens.formats.jsonfiles import json_text

FORMAT = 1
"""It counts up when a reader of the format before would misread a file."""


def write_rules_json(rules: DecisionList) -> str:
    """Return the rules as JSON; its fields are described under "Rules that decide" in the docs."""
    content = {
        "kind": "class rules",
        "format": FORMAT,
        "model": rules.model,
        "label": rules.target,
        "claim": rules.claim,
        "classes": list(rules.classes),
        "columns": [_column(column) for column in rules.columns],
        "rules": [
            {
                "if": [_condition(rules.columns[one.column], one) for one in rule.conditions],
                "then": rule.label,
                "text": rule.text,
                "support": rule.support,
                "warrant": rule.warrant,
            }
            for rule in rules.rules
        ],
        "otherwise": rules.otherwise,
    }
    return json_text(content)


def _column(column: ListColumn) -> dict[str, Any]:
    values = {} if column.is_number else {"values": list(column.values)}
    return {"name": column.name, "kind": column.kind, "missing": column.missing, **values}


def _condition(column: ListColumn, condition: ListCondition) -> dict[str, Any]:
    given: dict[str, Any] = {"column": column.name, "missing": condition.missing}
    if condition.at_least is not None:
        given["at_least"] = condition.at_least
    if condition.below is not None:
        given["below"] = condition.below
    if condition.values:
        given["in"] = list(condition.values)
    return given
