"""Documents on disk: frozen dataclasses as JSON and back, with the number of their format.

A field stands under its name, or under its metadata's `key`; what is as by default is left out.
The fields of an INLINE value stand in its owner's line: {"if": …, "then": …, "found": …}. What a
class names in `ALSO_WRITTEN` follows from its fields: it is written for readers, and not read.
Other keys are ignored in reading. A document may refuse what is at odds in it, by a ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from hornlens import __version__
from hornlens.errors import InputError
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text, read_json

FORMAT = 1
"""The version of our JSON files: raised when an older reader would misread a newer file."""
RESULT_FORMAT = 2
"""That of results: since 2, a certificate is given by its properties, and each rule's warrant."""
INLINE = {"inline": True}
"""The metadata of a field whose own fields stand in its owner's line."""
_KINDS: dict[Any, tuple[Any, str]] = {
    str: (str, "a text"),
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    tuple: (list, "a list"),
}
"""What each type is in JSON, and what it is called; all others are objects."""
T = TypeVar("T")


def check_format(content: Mapping[str, Any], path: Path, newest: int = FORMAT) -> None:
    """Refuse a file that a newer hornlens has written; one without a number is of 0.1."""
    found = content.get("format", 0)
    if not isinstance(found, int):
        raise InputError("its format is not a number: it is not a result of hornlens", path)
    if found > newest:
        raise InputError(
            f"was written by a newer hornlens (format {found}; this one reads up to {newest}): "
            "upgrade hornlens",
            path,
        )


@dataclass(frozen=True)
class Codec(Generic[T]):
    """Writes and reads the documents of one kind of file: `parse` gives back what was written."""

    shape: type[T]
    file_name: str
    format: int = FORMAT

    def as_json(self, value: T) -> dict[str, Any]:
        """Return what stands in the file."""
        return with_digest({"hornlens": __version__, "format": self.format, **as_plain(value)})

    def text(self, value: T) -> str:
        """Return the file's text."""
        return json_text(self.as_json(value))

    def read(self, path: Path) -> T:
        """Read a file; whatever is wrong with it is an InputError."""
        return self.parse(read_json(path), path)

    def parse(self, content: Any, path: Path) -> T:
        """Return the document that a file's contents describe; `path` is for errors."""
        if isinstance(content, dict):
            check_format(content, path, self.format)
        try:
            value: T = _decoded(self.shape, content, "")
        except _Misfit as misfit:
            raise InputError(
                f"is no {self.file_name} of hornlens, or of another version: {misfit}", path
            ) from None
        return value


LARGEST = 10**4000
"""No count is as large: cells of hundreds of columns have hundreds of digits."""


class _Misfit(Exception):
    """What is wrong, and in which field."""

    def __init__(self, where: str, what: str):
        super().__init__(f"{where.lstrip('.') or 'it'} {what}")


@cache
def fields_of(shape: type) -> tuple[tuple[str, Field[Any], Any], ...]:
    """Return the fields of a dataclass: the key of each, itself, and its type."""
    hints = get_type_hints(shape)
    return tuple((f.metadata.get("key", f.name), f, hints[f.name]) for f in fields(shape))


def as_plain(value: Any) -> Any:
    """Return a document, or a part of one, as JSON."""
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        found: dict[str, Any] = {}
        for key, each, _ in fields_of(type(value)):
            item = getattr(value, each.name)
            if each.default is not MISSING and item == each.default:
                continue
            found |= as_plain(item) if "inline" in each.metadata else {key: as_plain(item)}
        also = getattr(value, "ALSO_WRITTEN", ())
        return found | {name: as_plain(getattr(value, name)) for name in also}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return {key: as_plain(item) for key, item in value.items()}


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return what a type is, and of what: (tuple, (int, ...)) of tuple[int, ...]."""
    return get_origin(hint) or hint, get_args(hint)


def _decoded(hint: Any, value: Any, where: str) -> Any:
    if type(value) is int and not -LARGEST < value < LARGEST:
        raise _Misfit(where, "is larger than anything that is counted")
    if type(value) is hint:
        return value
    kind, arguments = _parts(hint)
    if kind is Any or (value is None and NoneType in arguments):
        return value
    if kind is UnionType:  # all of ours are: something, or None
        return _decoded(arguments[0], value, where)
    if kind is Literal:
        if value not in arguments:
            raise _Misfit(where, f"is none of {', '.join(map(repr, arguments))}")
        return value
    expected, called = _KINDS.get(kind, (dict, "an object"))
    if not isinstance(value, expected) or (isinstance(value, bool) and kind is not bool):
        raise _Misfit(where, f"is not {called}")
    if kind is tuple:
        return tuple(_decoded(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if kind is Mapping:
        return {key: _decoded(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    return _document(kind, value, where) if is_dataclass(kind) else value


def _document(shape: Any, line: dict[str, Any], where: str) -> Any:
    values: dict[str, Any] = {}
    for key, each, hint in fields_of(shape):
        if "inline" in each.metadata:
            inner = (*get_args(hint), hint)[0]
            if each.default is MISSING or any(own in line for own, *_ in fields_of(inner)):
                values[each.name] = _decoded(inner, line, where)
        elif key in line:
            values[each.name] = _decoded(hint, line[key], f"{where}.{key}")
        elif each.default is MISSING:
            raise _Misfit(f"{where}.{key}", "is missing")
    try:
        return shape(**values)
    except ValueError as error:
        raise _Misfit(where, str(error)) from None
