"""Deprecated names and spellings: one warning for all of them, which says what to use instead.

CONTRIBUTING.md states how long they keep working. A test finds every use of this module and checks
its versions, and that the changelog lists it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])
_PACKAGE = str(Path(__file__).parent) + os.sep


class HornlensDeprecationWarning(DeprecationWarning):
    """A name or spelling of Hornlens that will be removed; the message says what to use instead."""


def deprecated(old: str, new: str, *, since: str, removal: str) -> None:
    """Warn that `old` is deprecated.

    The warning names the first line outside this package, so that it shows whose code to change.

    Args:
        old: What was used, as its user writes it.
        new: What to use instead.
        since: The first version that warns.
        removal: The first version without it.
    """
    warnings.warn(
        f"{old} is deprecated since {since} and will be removed in {removal}: use {new}",
        HornlensDeprecationWarning,
        stacklevel=_stacklevel(),
    )


def renamed_argument(old: str, new: str, *, since: str, removal: str) -> Callable[[F], F]:
    """Return a decorator that accepts a keyword argument under its old name as well.

    It decorates a function, or a class whose constructor it is. Type checkers see the new name.

    Args:
        old: The name that is deprecated.
        new: The name of the parameter.
        since: The first version that warns.
        removal: The first version without the old name.
    """

    def decorate(decorated: F) -> F:
        is_class = isinstance(decorated, type)
        inner: Callable[..., object] = vars(decorated)["__init__"] if is_class else decorated
        shown = decorated.__qualname__

        @wraps(inner)
        def call(*args: object, **given: object) -> object:
            if old in given:
                if new in given:
                    raise TypeError(f"{shown}() takes {new}; {old} is its old name: give one")
                deprecated(f"{shown}({old}=…)", f"{new}=…", since=since, removal=removal)
                given[new] = given.pop(old)
            return inner(*args, **given)

        if isinstance(decorated, type):
            decorated.__init__ = call  # type: ignore[misc]
            return decorated
        return cast("F", call)

    return decorate


def _stacklevel() -> int:
    """Return the `stacklevel` by which `deprecated` names the first frame outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
