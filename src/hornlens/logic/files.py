"""Reading text files so that whatever is wrong with one is said in a line."""

from __future__ import annotations

from pathlib import Path

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
