"""Which store a place names: a file, or the address of a database."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from hornlens.store.protocol import ManagedStore
from hornlens.store.sqlite import AnswerCache, default_path

_DATABASE = ("postgresql://", "postgres://")


def is_address(place: object) -> bool:
    """Say whether a place is the address of a database."""
    return str(place).startswith(_DATABASE)


def open_store(
    place: str | Path | None = None, warn: Callable[[str], None] = lambda message: None
) -> ManagedStore:
    """Open the store at a place, or make it: postgresql://…, or a file or folder.

    None: as HORNLENS_CACHE says, or else in the user's folder for caches.
    """
    chosen = place or os.environ.get("HORNLENS_CACHE") or default_path()
    if is_address(chosen):
        from hornlens.store.postgres import PostgresStore

        return PostgresStore(str(chosen), warn)
    return AnswerCache(Path(chosen), warn)
