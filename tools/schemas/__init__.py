"""JSON Schemas of our files, those that people write and those that commands write.

`python -m tools.schemas` writes them to docs/schemas/; a test says when they are no longer current.
They allow fields that they do not name: a later version may add some within the same format.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hornlens.exploring.session import FILE
from hornlens.pronouns.bias import BIAS
from hornlens.results.analysis.comparison import COMPARISON
from hornlens.results.documents.checks import CHECKS
from hornlens.results.documents.explanations import EXPLANATION
from hornlens.results.documents.record import RUN
from hornlens.results.documents.tables import TABLE
from hornlens.studies.documents import STUDY
from tools.schemas.classrules import class_rules_schema
from tools.schemas.documents import schema_of
from tools.schemas.envelope import envelope_schema
from tools.schemas.yamlfiles import (
    probe_schema,
    requirements_schema,
    study_schema,
    variables_schema,
)

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"
WRITTEN_BY_PEOPLE = {
    "probe": ("A probe", "what `extract` asks"),
    "requirements": ("Requirements", "what `check` holds results against"),
    "study-plan": ("A study's plan", "what `study` runs"),
    "variables": ("Variables", "what `explore` asks about"),
}
"""YAML files: what each is called, and what it is for."""
WRITTEN_BY_US = {
    "envelope": (
        "envelope.json",
        "the result of `extract`, and what `envelope` and `explore` print with `--format json`",
    ),
    "run": ("run.json", "how an extraction went, and what may differ in the next one"),
    "explanation": ("explanation.json", "a classifier's rules, from `explain --out`"),
    "class-rules": (
        "json-rules",
        "a classifier's rules in the order in which they decide, from `export --format json-rules`",
    ),
    "study": ("study.json", "the runs of a study, and what is stable in them"),
    "comparison": ("comparison.json", "results held against each other, from `compare --out`"),
    "bias": ("bias.json", "scores of people by occupation, from `bias`"),
    "table": ("table.json", "the rules and concepts of a table, from `envelope --out`"),
    "check": ("The result of a check", "what `check --format json` prints"),
    "exploration": ("X.exploration.json", "the answers that were given to `explore`"),
}
"""JSON files: likewise."""


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each kind of file."""
    return {
        "probe": probe_schema(),
        "requirements": requirements_schema(),
        "study-plan": study_schema(),
        "variables": variables_schema(),
        "envelope": envelope_schema(),
        "run": schema_of(RUN),
        "explanation": schema_of(EXPLANATION),
        "class-rules": class_rules_schema(),
        "study": schema_of(STUDY),
        "comparison": schema_of(COMPARISON),
        "bias": schema_of(BIAS),
        "table": schema_of(TABLE),
        "check": schema_of(CHECKS),
        "exploration": schema_of(FILE),
    }


def path_of(name: str) -> Path:
    """Return where a schema is published."""
    return FOLDER / f"{name}.schema.json"


def text_of(schema: dict[str, Any]) -> str:
    """Return a schema as it is published."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
