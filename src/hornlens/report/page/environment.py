"""Where templates are compiled, and kept, so that only a first page has to wait for it."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from platformdirs import user_cache_path

from hornlens.errors import InputError
from hornlens.formats.files import write_file

OPTIONS: dict[str, Any] = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
"""How templates are compiled."""
DIGEST = hashlib.sha256().digest_size


def environment() -> Environment:
    """Return what makes pages of our templates; compiled ones are kept if they can be."""
    folder = _own_folder()
    return Environment(
        loader=PackageLoader("hornlens.report.page", "templates"),
        undefined=StrictUndefined,
        bytecode_cache=None if folder is None else _CompiledTemplates(folder),
        **OPTIONS,
    )


def _own_folder() -> Path | None:
    """Return a folder in the user's cache that nobody else can write to, if there can be one."""
    try:
        folder = user_cache_path("hornlens") / "templates"
        if not folder.is_absolute():
            return None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except (OSError, RuntimeError):  # such as: there is no home
        return None
    ours = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
    return folder if ours and stat.S_ISDIR(found.st_mode) else None


class _CompiledTemplates(BytecodeCache):
    """Compiled templates, kept as Python keeps compiled modules.

    Code is run from the folder, so it must be the user's own. A digest stands before each: what is
    damaged, or was compiled in another way, is not run either.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.way = f"{jinja2.__version__} {sorted(OPTIONS.items())}".encode()

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            data = (self.folder / bucket.key).read_bytes()
            if data[:DIGEST] == self._digest(data[DIGEST:]):
                bucket.bytecode_from_string(data[DIGEST:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        data = bucket.bytecode_to_string()
        with suppress(InputError):  # that is, it cannot be written
            write_file(self.folder / bucket.key, self._digest(data) + data)

    def _digest(self, data: bytes) -> bytes:
        return hashlib.sha256(self.way + data).digest()
