"""Files on disk: what is written is whole or not there; what cannot be read is said in a line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from hornlens.errors import InputError

UNENCODABLE = "backslashreplace"
"""What becomes of half a character, as paths may hold, in UTF-8: it is shown, as \\udc80."""


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


def lines_of(text: str) -> list[str]:
    """Return the lines of a text; what ends lines in some other place, as U+2028, does not here."""
    *lines, last = re.split(r"\r\n|\r|\n", text)
    return [*lines, last] if last else lines


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name, then rename it; folders are made as needed."""
    write_files({path: content})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write several files, all or none: all under temporary names first, then they are renamed.

    So what can go wrong, a full disk above all, does so while nothing has changed yet.
    """
    written: dict[Path, Path] = {}
    path = Path()
    try:
        for path, content in contents.items():
            _remove_leftovers(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise InputError("cannot be written: is a directory", path)
            temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            written[path] = temporary
            data = content.encode("utf-8", UNENCODABLE) if isinstance(content, str) else content
            temporary.write_bytes(data)
        for path, temporary in written.items():
            temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path) from None
    finally:
        for temporary in written.values():
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def check_writable(folder: Path) -> None:
    """Refuse a folder in which no file could be made, before there is work to lose.

    Nothing is left behind: a folder that is not there yet is not made.
    """
    nearest = folder
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    try:
        with TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", folder) from None


def _remove_leftovers(path: Path) -> None:
    """Remove what processes that were killed while they wrote this very file have left."""
    start = f".{path.name}."
    with suppress(OSError):
        for leftover in path.parent.iterdir():
            if not (leftover.name.startswith(start) and leftover.name.endswith(".tmp")):
                continue
            process = leftover.name[len(start) : -len(".tmp")]
            if process.isdigit() and not _is_alive(int(process)):
                leftover.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if os.name != "posix" or process == os.getpid():  # elsewhere, asking would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
