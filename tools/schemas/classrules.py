"""The schema of a classifier's rules as `export --format json-rules` writes them."""

from __future__ import annotations

from hornlens.formats.decisions.rulesjson import FORMAT
from tools.schemas.documents import DIALECT, Schema

VALUE: Schema = {"type": ["string", "number", "boolean"]}
CONDITION: Schema = {
    "type": "object",
    "description": "what one column must be: missing; or there, and within what is given",
    "properties": {
        "column": {"type": "string"},
        "missing": {"type": "boolean"},
        "at_least": {"type": "number", "description": "the value is as much, or more"},
        "below": {"type": "number", "description": "the value is less"},
        "in": {"type": "array", "items": VALUE, "minItems": 1},
    },
    "required": ["column", "missing"],
}
COLUMN: Schema = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["number", "whole", "boolean", "category", "ordered"]},
        "missing": {"type": "boolean", "description": "whether rules know a missing value"},
        "values": {"type": "array", "items": VALUE, "description": "all that rules know"},
    },
    "required": ["name", "kind", "missing"],
}
RULE: Schema = {
    "type": "object",
    "properties": {
        "if": {"type": "array", "items": CONDITION, "description": "all of them must hold"},
        "then": {**VALUE, "description": "the class"},
        "text": {"type": "string", "description": "the rule as people read it"},
        "support": {"type": "integer", "minimum": 0, "description": "the rows of X it covers"},
        "warrant": {"enum": ["proved", "tested", "open"]},
    },
    "required": ["if", "then", "text", "support", "warrant"],
}


def class_rules_schema() -> Schema:
    """Return the schema: the first rule that applies decides, else `otherwise` (null: no class)."""
    properties: Schema = {
        "kind": {"const": "class rules"},
        "format": {"const": FORMAT, "description": "the version of the file's format"},
        "model": {"type": "string"},
        "label": {"type": "string", "description": "what is predicted"},
        "claim": {"type": "string", "description": "what may be claimed of the rules"},
        "classes": {"type": "array", "items": VALUE},
        "columns": {"type": "array", "items": COLUMN},
        "rules": {
            "type": "array",
            "items": RULE,
            "description": "in order: the first that applies decides a row",
        },
        "otherwise": {
            "type": [*VALUE["type"], "null"],
            "description": "the class where no rule decides, or a value is not known",
        },
    }
    return {
        "$schema": DIALECT,
        "title": "json-rules",
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }
