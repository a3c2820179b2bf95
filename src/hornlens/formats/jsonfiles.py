"""JSON files: whatever is wrong with one that is read is said in a line; a rule is a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.files import read_text

_NESTING = (dict, list, tuple)
_ON_A_LINE = 2
"""What is nested no deeper than this stands on one line: a rule, an answer, some settings."""


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; anything that prevents it is an InputError."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", path, error.lineno) from None
    except (ValueError, RecursionError):
        raise InputError("is JSON of numbers too long or nesting too deep", path) from None


def json_text(content: Any) -> str:
    """Return JSON as all our files have it: a rule, or an answer, is a line.

    That is good to read and to compare, and the lines are written by the fast half of `json`.
    """
    return _spread(content, json.JSONEncoder(ensure_ascii=False).encode, "\n") + "\n"


def _spread(content: Any, encode: Callable[[Any], str], newline: str) -> str:
    if _within(content, _ON_A_LINE):
        return encode(content)
    inner = newline + " "
    if isinstance(content, dict):
        keys = [encode({key: 0})[1:-4] for key in content]  # whatever JSON makes of them
        parts = [
            f"{key}: {_spread(value, encode, inner)}"
            for key, value in zip(keys, content.values(), strict=True)
        ]
        return "{" + inner + f",{inner}".join(parts) + newline + "}"
    parts = [_spread(value, encode, inner) for value in content]
    return "[" + inner + f",{inner}".join(parts) + newline + "]"


def _within(content: Any, depth: int) -> bool:
    """Return whether what is nested in `content` is nested no deeper than `depth`."""
    if not isinstance(content, _NESTING):
        return True
    if depth == 0:
        return False
    for value in content.values() if isinstance(content, dict) else content:
        # Not a call for every number: a file has a million of them.
        if isinstance(value, _NESTING) and not _within(value, depth - 1):
            return False
    return True
