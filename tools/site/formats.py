"""The site's page of file formats: the fields of every kind of file, from its schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tools.schemas import WRITTEN_BY_PEOPLE, WRITTEN_BY_US, path_of, schemas

KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "object": "an object",
}
"""What the types of JSON Schema are called."""


def formats_page() -> str:
    """Return the fields of all files, from their schemas."""
    found = schemas()
    parts = [
        "# File formats\n\nThe fields of all files, with their JSON Schemas. In our JSON files, "
        "`format` is the number of the format: a newer one than a version knows is refused, an "
        "older one is read. Within a format, later versions may add fields. What the files mean is "
        "told in [reading the result](../reading-the-result.md).\n"
    ]
    for heading, titles in {
        "What people write": WRITTEN_BY_PEOPLE,
        "What the commands write": WRITTEN_BY_US,
    }.items():
        parts.append(f"## {heading}\n")
        for name, (title, about) in titles.items():
            link = f"[{path_of(name).name}](../schemas/{path_of(name).name})"
            said = about[0].upper() + about[1:]
            parts.append(f"### {title}\n\n{said}. The whole schema: {link}.\n")
            parts += _fields_of(found[name])
    return "\n".join(parts)


def _fields_of(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the fields of a file, and of the parts that it has, as tables."""
    for part, content in {"The file": schema, **schema.get("$defs", {})}.items():
        for each in (content, *content.get("anyOf", ())):
            fields = each.get("properties")
            if not fields:
                continue
            about = _plain(each.get("description", ""))
            yield f"**{part}.** {about}\n\n| field | what it is | must be there |\n|---|---|---|"
            needed = each.get("required", ())
            for field, of in fields.items():
                said = _plain(of.get("description", "")) or _kind_of(of)
                yield f"| `{field}` | {said} | {'yes' if field in needed else ''} |"
            yield ""


def _kind_of(field: dict[str, Any]) -> str:
    """Return what a field holds, in a word or two."""
    if "$ref" in field:
        return field["$ref"].rsplit("/", 1)[1]
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    for several in ("anyOf", "oneOf"):
        if several in field:
            return " or ".join(_kind_of(each) for each in field[several])
    if field.get("type") == "array":
        return f"a list: {_kind_of(field.get('items', {}))}"
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"by name: {_kind_of(field['additionalProperties'])}"
    kinds = field.get("type", "")
    if isinstance(kinds, list):
        return " or ".join(KINDS.get(kind, "anything") for kind in kinds)
    return KINDS.get(kinds, "anything")


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is, but for what stands in backticks."""
    said = " ".join(text.split()).replace("|", "\\|")
    parts = said.split("`")
    parts[::2] = [re.sub(r"([{}*_<>])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)
