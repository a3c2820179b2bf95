"""What trying an endpoint out has found, kept: a run whose answers are all known sends nothing."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from hornlens.errors import HornlensError
from hornlens.formats.files import write_file
from hornlens.models.protocol import ELICITATIONS

_methods: dict[str, str] = {}
"""In this process."""


def recall(endpoint: str) -> str:
    """Return the method that was found for an endpoint; empty: none yet."""
    if endpoint not in _methods:
        method = _read().get(endpoint, "")
        _methods[endpoint] = method if method in ELICITATIONS else ""
    return _methods[endpoint]


def remember(endpoint: str, method: str) -> None:
    """Keep it; where nothing can be written, only as long as this process runs."""
    _methods[endpoint] = method
    _write({**_read(), endpoint: method})


def forget(endpoint: str) -> None:
    """Let go of what has turned out to be so no more."""
    _methods.pop(endpoint, None)
    known = _read()
    if known.pop(endpoint, None):
        _write(known)


def _file() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("hornlens") / "endpoints.json"


def _read() -> dict[str, str]:
    with suppress(OSError, ValueError):
        content = json.loads(_file().read_text(encoding="utf-8"))
        if isinstance(content, dict):
            return {str(key): str(value) for key, value in content.items()}
    return {}


def _write(content: dict[str, str]) -> None:
    with suppress(OSError, HornlensError):
        write_file(_file(), json.dumps(content, indent=1, sort_keys=True) + "\n")
