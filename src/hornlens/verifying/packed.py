"""The packed numbers of a classifier's result: as many as its counts say, or it cannot be read."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.packing import inflated


def check_packed(content: Any, path: Path) -> None:
    """Raise an InputError if the cells or rows of a classifier cannot be unpacked.

    Nothing is read beyond what the counts say. Documents of another kind have nothing packed.
    """
    if not isinstance(content, Mapping):
        return
    section = content if content.get("kind") == "classifier" else content.get("classifier")
    if section is None:
        return
    try:
        cells, rows = section["cells"], section["rows"]
        sizes = [feature["levels"] for feature in section["features"]]
        if cells["kind"] == "grid":
            numbers_in(cells["labels"], "b", prod(sizes))
        else:
            numbers_in(cells["labels"], "b", cells["count"])
            numbers_in(cells["cells"], "H", cells["count"] * len(sizes))
        numbers_in(rows["said"], "b", rows["count"])
        numbers_in(rows["cells"], "H", rows["count"] * len(sizes))
    except InputError as error:
        raise InputError(error.message, path) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise InputError("has cells or rows that cannot be read", path) from None


def numbers_in(text: str, code: str, count: int) -> tuple[int, ...]:
    """Unpack so many numbers of a format of `struct`; an InputError if they are not there."""
    size = count * struct.calcsize(f"<{code}")
    try:
        raw = inflated(text, size)
    except ValueError as error:
        raise InputError(str(error)) from None
    if len(raw) != size:
        raise InputError(f"has other numbers than the {count:,} that belong there")
    return struct.unpack(f"<{count}{code}", raw)
