"""What was checked so far of a result, what can not be, and of what something is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hornlens.verifying.grids import Wrong

SHAPE = "minimal and saturated: no rule follows from the others; the readable rules say the same"


@dataclass(frozen=True)
class Notes:
    """What was checked so far, and what can not be."""

    checked: list[str]
    not_checked: list[str]


@contextmanager
def about(what: str) -> Iterator[None]:
    """Say of what something is wrong."""
    try:
        yield
    except Wrong as wrong:
        raise Wrong(f"{what}: {wrong}") from None
