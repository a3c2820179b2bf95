"""Hornlens asks a black-box model questions and gives back the Horn rules it obeys."""

from typing import Any

__version__ = "0.1.0"

_LAZY = {
    "extract": "hornlens.extraction.extract",
    "Settings": "hornlens.extraction.extract",
    "Policy": "hornlens.logic.decisions",
    "load_probe": "hornlens.probes.loading",
}


def __getattr__(name: str) -> Any:
    """Import the short names of the library when they are asked for, and not before."""
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'hornlens' has no attribute {name!r}")
