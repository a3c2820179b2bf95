"""The schemas of the YAML files that people write, from the models that read them."""

from __future__ import annotations

from pydantic import BaseModel

from hornlens.exploring.variables import VariablesFile
from hornlens.probes.schema import ProbeFile
from hornlens.results.documents.requirements_file import RequirementsFile
from hornlens.studies.plan import StudyFile
from tools.schemas.documents import DIALECT, Schema


def probe_schema() -> Schema:
    """Return the schema of probes."""
    return _or_text(_or_text(_of(ProbeFile), "ValueFile", "name"), "WordingFile", "text")


def variables_schema() -> Schema:
    """Return the schema of variables to explore."""
    return _or_text(_of(VariablesFile), "VariableFile", "name")


def study_schema() -> Schema:
    """Return the schema of a study's plan."""
    return _of(StudyFile)


def requirements_schema() -> Schema:
    """Return the schema of requirements: what is invariant may be names, a part, or several."""
    schema = _or_text(_of(RequirementsFile), "RuleFile")
    several = schema["properties"]["invariant"]
    one, names = several["items"], {"type": "array", "items": {"type": "string"}, "minItems": 1}
    described = several.pop("description")
    several.pop("title")
    schema["properties"]["invariant"] = {
        "title": "Invariant",
        "description": described,
        "anyOf": [names, one, several],
    }
    return schema


def _of(model: type[BaseModel]) -> Schema:
    return {**model.model_json_schema(by_alias=True), "$schema": DIALECT}


def _or_text(schema: Schema, name: str, *required: str) -> Schema:
    """Return a schema in which a plain text may stand for a part; else, what must be there."""
    part = schema["$defs"][name]
    if required:
        part["required"] = [*required]
    either = [{"type": "string", "minLength": 1}, part]
    schema["$defs"][name] = {"title": part["title"], "anyOf": either}
    return schema
