"""Reading probe files: YAML without its dangers, and errors that say line and field."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from hornlens.errors import InputError
from hornlens.logic.files import read_text
from hornlens.probes.policy import Policy
from hornlens.probes.probe import (
    LABEL,
    MASK,
    SLOT,
    Label,
    LabelValue,
    Probe,
    ProbeAttribute,
    Value,
)
from hornlens.probes.schema import ProbeFile

MAX_SIZE = 1_000_000
DEFAULT = "gender-occupation"


def builtin_names() -> list[str]:
    """Return the names of the built-in probes."""
    folder = resources.files("hornlens.probes") / "builtin"
    return sorted(
        f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")
    )


def load_probe(name_or_path: str | Path) -> Probe:
    """Return a built-in probe by its name, or read one from a file."""
    if str(name_or_path) in builtin_names():
        return parse_probe(builtin_text(str(name_or_path)), str(name_or_path))
    path = Path(name_or_path)
    if not path.exists() and not path.suffix:
        known = ", ".join(builtin_names())
        raise InputError(f"no such file, nor a built-in probe (there are: {known})", path)
    return parse_probe(read_text(path), path)


def builtin_text(name: str) -> str:
    """Return the YAML of a built-in probe."""
    return (resources.files("hornlens.probes") / "builtin" / f"{name}.yaml").read_text("utf-8")


def parse_probe(text: str, path: Path | str = "<text>") -> Probe:
    """Return the probe that YAML text describes; every mistake is an InputError with its line."""
    node, data = _safe_yaml(text, path)
    try:
        content = ProbeFile.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        more = len(error.errors()) - 1
        where = _dotted(first["loc"])
        message = f"{where}: {_plain(first)}" if where else _plain(first)
        if more:
            message += f" (and {more} more {'mistake' if more == 1 else 'mistakes'})"
        raise InputError(message, path, _line(node, first["loc"])) from None
    return _build(content, node, path)


def _safe_yaml(text: str, path: Path | str) -> tuple[yaml.Node, Any]:
    """Parse YAML, refusing what a probe has no use for: tags, anchors, aliases, repeated keys."""
    if len(text) > MAX_SIZE:
        raise InputError(f"is larger than {MAX_SIZE:,} characters: no probe is", path)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise InputError("anchors and aliases are not allowed in a probe", path, line)
            if getattr(event, "tag", None):
                raise InputError(f"the tag {event.tag!r} is not allowed in a probe", path, line)
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise InputError("has no content", path)
        _refuse_repeated_keys(node, path)
        return node, loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise InputError(f"is not well-formed YAML: {error.problem}", path, line) from None
    except yaml.YAMLError as error:
        raise InputError(f"is not well-formed YAML: {str(error).splitlines()[0]}", path) from None
    except ValueError as error:  # such as a date with a 13th month
        raise InputError(f"has a value that YAML cannot read: {error}", path) from None
    except RecursionError:
        raise InputError("is nested too deeply", path) from None


def _refuse_repeated_keys(node: yaml.Node, path: Path | str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if key.value in seen if isinstance(key, yaml.ScalarNode) else False:
                line = key.start_mark.line + 1
                raise InputError(f"the field {key.value!r} stands twice", path, line)
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else None)
            _refuse_repeated_keys(value, path)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(item, path)


def _line(node: yaml.Node, where: Sequence[int | str]) -> int:
    """Return the line of a field, or of the nearest thing around it that exists."""
    line: int = node.start_mark.line + 1
    for part in where:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == part), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _dotted(where: Sequence[int | str]) -> str:
    text = ""
    for part in where:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _plain(error: Any) -> str:
    """Return pydantic's message in our words."""
    match error["type"]:
        case "missing":
            return "this field is required"
        case "extra_forbidden":
            return "there is no such field"
        case "string_type":
            return f"must be text, not {error['input']!r}: put it in quotes"
        case "string_too_short":
            return "must not be empty"
        case "too_short":
            return f"needs at least {error['ctx']['min_length']}"
    message: str = error["msg"]
    return message[0].lower() + message[1:]


def _build(content: ProbeFile, node: yaml.Node, path: Path | str) -> Probe:
    """Return the probe, after the checks that cross fields."""

    def refuse(message: str, *where: int | str) -> InputError:
        return InputError(f"{_dotted(where)}: {message}", path, _line(node, where))

    attributes = {a.name: a for a in content.attributes}
    names: set[str] = set()
    for i, attribute in enumerate(content.attributes):
        if attribute.name in (LABEL, content.label.name):
            raise refuse("this name is the label's", "attributes", i, "name")
        if attribute.name in [a.name for a in content.attributes[:i]]:
            raise refuse(f"a second attribute {attribute.name!r}", "attributes", i, "name")
        if set(attribute.name) & set("{}:"):
            raise refuse("a name must not contain braces or a colon", "attributes", i, "name")
        said: set[str] = {attribute.unset}
        for j, value in enumerate(attribute.values):
            if value.name in names:
                raise refuse(f"a second value {value.name!r}", "attributes", i, "values", j)
            if value.text in said:
                raise refuse(f"{value.text!r} is said twice", "attributes", i, "values", j)
            names.add(value.name)
            said.add(value.text)
    for j, label_value in enumerate(content.label.values):
        if label_value.name in names:
            raise refuse(f"a second value {label_value.name!r}", "label", "values", j)
        names.add(label_value.name)
        if label_value.word in [v.word for v in content.label.values[:j]]:
            raise refuse(f"a second candidate {label_value.word!r}", "label", "values", j)
    used: set[str] = set()
    for t, template in enumerate(content.templates):
        slots = [m for m in SLOT.finditer(template) if m[2]]
        rest = SLOT.sub("", template)
        if "{" in rest or "}" in rest:
            raise refuse("a brace that is no slot; write {{ or }}", "templates", t)
        if MASK in template:
            raise refuse(f"write {{{LABEL}}} where {MASK} should stand", "templates", t)
        if sum(m[2] == LABEL for m in slots) != 1:
            raise refuse(f"must have the slot {{{LABEL}}} exactly once", "templates", t)
        for m in slots:
            if m[2] != LABEL and m[2] not in attributes:
                known = ", ".join([LABEL, *attributes])
                raise refuse(f"unknown slot {m[0]} (there are: {known})", "templates", t)
            if m[2] == LABEL and m[1]:
                raise refuse("the label takes no article", "templates", t)
        used |= {m[2] for m in slots}
    for i, attribute in enumerate(content.attributes):
        if attribute.name not in used:
            raise refuse("no template has a slot for this attribute", "attributes", i)
    return Probe(
        name=content.name,
        description=content.description,
        templates=tuple(content.templates),
        attributes=tuple(
            ProbeAttribute(
                a.name,
                tuple(Value(v.name, v.text, v.article) for v in a.values),
                Value("", a.unset, a.unset_article),
            )
            for a in content.attributes
        ),
        label=Label(
            content.label.name, tuple(LabelValue(v.name, v.word) for v in content.label.values)
        ),
        policy=Policy(**content.policy.model_dump()),
        sample_label=content.sample_label,
    )
