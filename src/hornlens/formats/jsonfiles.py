"""JSON files: whatever is wrong with one that is read is said in a line; a rule is a line.

JSON has no infinite numbers. They are written as 1e999, a number too large to hold, which readers
take as infinite: Python's, JavaScript's and our own. There is no way to write NaN: it is null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.files import read_text
from hornlens.formats.plain import BEYOND_ASCII

_NESTING = (dict, list, tuple)
_ON_A_LINE = 2
"""What is nested no deeper than this stands on one line: a rule, an answer, some settings."""
_SPACED, _COMPACT = (", ", ": "), (",", ":")
_STRICT, _LENIENT = (
    {
        separators: json.JSONEncoder(
            ensure_ascii=False, allow_nan=allow_nan, separators=separators
        ).encode
        for separators in (_SPACED, _COMPACT)
    }
    for allow_nan in (False, True)
)
_NOT_FINITE = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN')
_IN_JSON = {"Infinity": "1e999", "-Infinity": "-1e999", "NaN": "null"}
_OBEYED = re.compile(f"[{BEYOND_ASCII}]")


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
    return _spread(content, encoded, "\n") + "\n"


def encoded(content: Any, compact: bool = False) -> str:
    """Return JSON in one line that a terminal can show: what it would obey is escaped."""
    separators = _COMPACT if compact else _SPACED
    try:
        text = _STRICT[separators](content)
    except ValueError:  # an infinite number
        text = _LENIENT[separators](content)
        text = _NOT_FINITE.sub(lambda match: _IN_JSON.get(match[0], match[0]), text)
    return text if text.isascii() and "\x7f" not in text else _OBEYED.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


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
