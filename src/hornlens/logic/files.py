"""Reading text and JSON files so that whatever is wrong with one is said in a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hornlens.errors import InputError


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file; anything that prevents it is an InputError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("is a directory, not a file", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise InputError("is a binary file, not text", path, line)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError("is not UTF-8 text; save it as UTF-8", path, line) from None
    if not text.strip():
        raise InputError("is empty", path)
    return text


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; anything that prevents it is an InputError."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", path, error.lineno) from None
    except (ValueError, RecursionError):
        raise InputError("is JSON of numbers too long or nesting too deep", path) from None
