"""Files on disk: each is whole or not there at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hornlens.errors import InputError


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name, then rename it; folders are made as needed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
