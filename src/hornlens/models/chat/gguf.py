"""What a GGUF file says of itself, read from its beginning: whether it is a chat model at all."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

TEMPLATE = "tokenizer.chat_template"
"""What a file of a chat model has: how its messages are written."""
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""How many bytes a number of a kind has."""
_STRING, _ARRAY = 8, 9
_MOST_NAMES = 1 << 16


def has_chat_template(path: Path) -> bool | None:
    """Say whether a file has a chat template; None: it cannot be read as GGUF.

    Without one, llama.cpp writes messages in another model's way, and answers all the same.
    """
    try:
        with path.open("rb") as file:
            # Some have several, each with a name of its own behind that.
            return any(name.startswith(TEMPLATE) for name in _names(file))
    except (OSError, ValueError, struct.error, MemoryError):
        return None


def _names(file: IO[bytes]) -> Iterator[str]:
    """Yield the names of all that a file says of itself."""
    magic, version = struct.unpack("<4sI", _bytes(file, 8))
    if magic != b"GGUF" or version < 2:
        raise ValueError("no GGUF")
    _, count = struct.unpack("<QQ", _bytes(file, 16))
    if count > _MOST_NAMES:
        raise ValueError("too much")
    for _ in range(count):
        yield _bytes(file, _number(file, "<Q")).decode("utf-8", "replace")
        _skip(file, _number(file, "<I"))


def _skip(file: IO[bytes], kind: int) -> None:
    if kind == _STRING:
        file.seek(_number(file, "<Q"), 1)
    elif kind == _ARRAY:
        inner, count = _number(file, "<I"), _number(file, "<Q")
        if inner in _SIZES:
            file.seek(_SIZES[inner] * count, 1)
            return
        for _ in range(count):
            _skip(file, inner)
    elif kind in _SIZES:
        file.seek(_SIZES[kind], 1)
    else:
        raise ValueError("no kind")


def _number(file: IO[bytes], form: str) -> int:
    (value,) = struct.unpack(form, _bytes(file, struct.calcsize(form)))
    return int(value)


def _bytes(file: IO[bytes], count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise ValueError("too short")
    return data
