"""The schemas of documents that a codec writes, from the dataclasses that they hold."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hornlens.results.documents.codec import Codec, fields_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    Any: {},
}
HEAD: Schema = {
    "hornlens": {"type": "string", "description": "the version that wrote the file"},
    "format": {"type": "integer", "description": "the version of the file's format"},
}
"""What each of our JSON files begins with."""
TAIL: Schema = {
    "digest": {
        "type": "string",
        "pattern": "^sha256:[0-9a-f]{64}$",
        "description": "SHA-256 of the document as JSON without blanks and without this field",
    },
}
"""What each of them ends with, since 0.3."""


def schema_of(codec: Codec[Any]) -> Schema:
    """Return the schema of the files that a codec writes."""
    parts: Schema = {}
    whole = object_of(codec.shape, parts)
    return {
        "$schema": DIALECT,
        "title": codec.file_name,
        **whole,
        "properties": HEAD | whole["properties"] | TAIL,
        "required": [*HEAD, *whole["required"]],
        "$defs": parts,
    }


def object_of(shape: type, parts: Schema) -> Schema:
    """Return the schema of a dataclass; those that it holds are put into `parts`."""
    properties: Schema = {}
    required: list[str] = []
    about = arguments_of(shape)
    for key, field, hint in fields_of(shape):
        must = field.default is MISSING
        if "inline" in field.metadata:
            inner = object_of((*get_args(hint), hint)[0], parts)
            properties |= inner["properties"]
            required += inner["required"] if must else []
            continue
        properties[key] = typed(hint, parts)
        if field.name in about:
            properties[key] = {**properties[key], "description": about[field.name]}
        required += [key] if must else []
    for name in getattr(shape, "ALSO_WRITTEN", ()):
        returned = get_type_hints(getattr(shape, name).fget)["return"]
        properties[name] = typed(returned, parts)
        required.append(name)
    return {
        "type": "object",
        "description": description_of(shape),
        "properties": properties,
        "required": required,
    }


def typed(hint: Any, parts: Schema) -> Schema:
    """Return the schema of a type."""
    if hint in PLAIN:
        return dict(PLAIN[hint])
    kind, arguments = get_origin(hint) or hint, get_args(hint)
    if kind is UnionType:
        return {"anyOf": [typed(each, parts) for each in arguments]}
    if kind is Literal:
        return {"enum": list(arguments)}
    if kind in (tuple, list):
        return {"type": "array", "items": typed(arguments[0], parts)}
    if kind in (Mapping, dict):
        return {"type": "object", "additionalProperties": typed(arguments[1], parts)}
    assert is_dataclass(kind), hint
    name = kind.__name__
    if name not in parts:
        parts[name] = {}  # it may hold itself
        parts[name] = object_of(kind, parts)
    return {"$ref": f"#/$defs/{name}"}


def description_of(shape: type) -> str:
    """Return what a class is, without its examples and what it takes."""
    text = re.split(r">>>|^(?:Args|Raises):$", inspect.getdoc(shape) or "", flags=re.MULTILINE)[0]
    return " ".join(text.split())


def arguments_of(shape: type) -> dict[str, str]:
    """Return what the docstring of a class says of each of its arguments."""
    section = re.search(r"^Args:\n((?:    .*\n?)+)", inspect.getdoc(shape) or "", re.MULTILINE)
    parts = re.split(r"^    (\w+): ", section[1] if section else "", flags=re.MULTILINE)[1:]
    return {
        name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2], strict=True)
    }
