"""Hashes of large files, which a model's identity is made of: kept while a file is the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from hornlens.store.seals import checksum

_SETTLED = 2.0
"""Seconds: a file touched later than this may change again without its times showing it."""
State: TypeAlias = tuple[str, int, int, int]
"""A file's path, size, and times of change, of its content and of anything about it."""


def kept_hash(
    path: Path,
    compute: Callable[[Path], str],
    recall: Callable[[State], tuple[str, str] | None],
    remember: Callable[[State, str, str], None],
) -> str:
    """Return a file's hash: computed, or recalled if the file has not changed since.

    `recall` returns what was remembered of a state: the hash and its checksum, damaged perhaps.
    """
    before = path.stat()
    state = (str(path.resolve()), before.st_size, before.st_mtime_ns, before.st_ctime_ns)
    kept = recall(state)
    if kept is not None and kept[1] == checksum(*state, str(kept[0])):
        return str(kept[0])
    digest = compute(path)
    if time.time() - max(before.st_mtime, before.st_ctime) > _SETTLED:
        remember(state, digest, checksum(*state, digest))
    return digest
