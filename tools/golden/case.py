"""A case: a key that never changes, and how its parts are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tools.golden.doors import Parts

COUNT = 300
"""How many random targets there are of each kind."""


class Case(NamedTuple):
    """One case; `made`, where given, identifies a target that other software made.

    A fitted model may be another one under another version of scikit-learn: then its rules are
    not compared.
    """

    key: str
    run: Callable[[], Parts]
    made: Callable[[], str] | None = None
