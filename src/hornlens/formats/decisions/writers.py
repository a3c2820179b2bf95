"""The formats of rules for classes, by name."""

from __future__ import annotations

from collections.abc import Callable

from hornlens.formats.decisions.lists import DecisionList
from hornlens.formats.decisions.pmml import write_pmml
from hornlens.formats.decisions.python import write_python
from hornlens.formats.decisions.rulesjson import write_rules_json
from hornlens.formats.decisions.sql import write_sql

CLASS_WRITERS: dict[str, Callable[[DecisionList], str]] = {
    "sql": write_sql,
    "python": write_python,
    "pmml": write_pmml,
    "json-rules": write_rules_json,
}
