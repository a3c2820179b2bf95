"""YAML files without their dangers, checked by a pydantic model; errors say line and field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from hornlens.errors import InputError
from hornlens.formats.plain import visible

MAX_SIZE = 1_000_000
LONG = 50_000
"""A text with more characters is read by the faster parser."""
Shape = TypeVar("Shape", bound=BaseModel)


def builtin_documents(package: str) -> list[str]:
    """Return the names of the YAML files that a package has built in."""
    folder = resources.files(package) / "builtin"
    return sorted(
        f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")
    )


class Document(NamedTuple, Generic[Shape]):
    """A file that was read: its content, and where each field of it stands.

    What came from no file has neither a path nor a node.
    """

    content: Shape
    path: Path | str | None = None
    node: yaml.Node | None = None

    def line(self, *where: int | str) -> int | None:
        """Return the line of a field, or of the nearest thing around it that exists."""
        return None if self.node is None else _line(self.node, where)

    def refuse(self, message: str, *where: int | str) -> InputError:
        """Return an error about a field, for mistakes that only a later check can see."""
        return InputError(f"{_dotted(where)}: {message}", self.path, self.line(*where))


def parse_yaml(text: str, path: Path | str, shape: type[Shape]) -> Document[Shape]:
    """Return the document that YAML text holds; every mistake is an InputError with its line."""
    node, data = _safe_yaml(text, path)
    return parse_data(data, shape, path, node)


def parse_data(
    data: Any, shape: type[Shape], path: Path | str | None = None, node: yaml.Node | None = None
) -> Document[Shape]:
    """Return the document that plain values hold; every mistake is an InputError."""
    try:
        if unwritable := next(_unwritable(data), None):
            where, character = unwritable
            raise InputError(
                f"{_dotted(where)}: has the character {visible(character)}, which no text can hold",
                path,
                None if node is None else _line(node, where),
            )
        return Document(shape.model_validate(data), path, node)
    except ValidationError as error:
        first = error.errors()[0]
        more = len(error.errors()) - 1
        where = _dotted(first["loc"])
        message = f"{where}: {_plain(first)}" if where else _plain(first)
        if more:
            message += f" (and {more} more {'mistake' if more == 1 else 'mistakes'})"
        line = None if node is None else _line(node, first["loc"])
        raise InputError(message, path, line) from None
    except RecursionError:
        raise InputError("is nested too deeply", path) from None


def _unwritable(data: Any, where: tuple[int | str, ...] = ()) -> Iterator[Any]:
    """Yield where a text has what no UTF-8 text can hold, and what that is."""
    if isinstance(data, str):
        if match := re.search("[\0\ud800-\udfff]", data):
            yield where, match[0]
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _unwritable(key, where)
            yield from _unwritable(value, (*where, key))
    elif isinstance(data, list | tuple):
        for i, value in enumerate(data):
            yield from _unwritable(value, (*where, i))


class _Plain(yaml.composer.Composer):
    """Composes nothing but mappings, lists and scalars."""

    path: Path | str

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[attr-defined]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise InputError("anchors and aliases are not allowed", self.path, line)
        if getattr(event, "tag", None):
            raise InputError(f"the tag {event.tag!r} is not allowed", self.path, line)
        return super().compose_node(parent, index)


class _PlainLoader(_Plain, yaml.SafeLoader):
    """Reads YAML, and says best what is wrong with it."""


def _loader(text: str) -> Any:
    """Return what reads a text: of a long one, the parser in C, if it is there."""
    if len(text) > LONG and yaml.__with_libyaml__:
        from yaml._yaml import CParser

        class _FastLoader(
            _Plain, CParser, yaml.constructor.SafeConstructor, yaml.resolver.Resolver
        ):
            """The same with the parser in C, which is several times as fast."""

            def __init__(self, text: str):
                CParser.__init__(self, text)
                yaml.composer.Composer.__init__(self)
                yaml.constructor.SafeConstructor.__init__(self)
                yaml.resolver.Resolver.__init__(self)

        return _FastLoader(text)
    return _PlainLoader(text)


def _safe_yaml(text: str, path: Path | str) -> tuple[yaml.Node, Any]:
    """Parse YAML, refusing what we have no use for: tags, anchors, aliases, repeated keys."""
    if len(text) > MAX_SIZE:
        raise InputError(f"is larger than {MAX_SIZE:,} characters: no such file is", path)
    try:
        loader = _loader(text)
        loader.path = path
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
    except (ValueError, OverflowError) as error:  # such as a date with a 13th month
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
            entry = next((pair for pair in node.value if pair[0].value == part), None)
            if entry is None:
                break
            line, node = entry[0].start_mark.line + 1, entry[1]
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


def _short_repr(value: Any) -> str:
    try:
        return repr(value)[:100]
    except ValueError:  # Python writes no integers of more than 4,300 digits
        return "so long a number"


def _plain(error: Any) -> str:
    """Return pydantic's message in our words."""
    match error["type"]:
        case "missing":
            return "this field is required"
        case "extra_forbidden":
            return "there is no such field"
        case "string_type":
            return f"must be text, not {_short_repr(error['input'])}: put it in quotes"
        case "string_too_short":
            return "must not be empty"
        case "model_type" | "dict_type":
            return "must be fields with values"
        case "too_short":
            return f"needs at least {error['ctx']['min_length']}"
    message: str = error["msg"]
    return message[0].lower() + message[1:]
