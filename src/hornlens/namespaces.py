"""Public namespaces: modules that hold the promised names of many others, imported when used.

A namespace lists its names twice: for type checkers, as imports, and for `lazy_names`, by module. A
test holds the two lists together, and another one that the documentation teaches no other names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

NAMESPACES = (
    "hornlens",
    "hornlens.certificates",
    "hornlens.formats",
    "hornlens.learning",
    "hornlens.logging",
    "hornlens.models",
    "hornlens.sealing",
    "hornlens.sklearn",
    "hornlens.store",
    "hornlens.studies",
    "hornlens.targets",
    "hornlens.testing",
    "hornlens.theory",
)
"""Every module whose `__all__` is promised: see CONTRIBUTING.md."""


def lazy_names(
    namespace: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a namespace.

    Args:
        namespace: The module's own name.
        homes: For each module under `hornlens.` the names that it holds, with spaces between them.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}
    names = sorted(modules)

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {namespace!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"hornlens.{modules[name]}"), name)
        setattr(sys.modules[namespace], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[namespace]), *names})

    return names, get, list_names
