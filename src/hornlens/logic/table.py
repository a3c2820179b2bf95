"""Tables of positive examples."""

from __future__ import annotations

from dataclasses import dataclass, field

from hornlens.logic.vocabulary import Vocabulary


@dataclass(frozen=True)
class Table:
    """Positive examples over a vocabulary; `lines` says where in the file each one stood.

    `objects` are the names of the rows, where the file has any.
    """

    vocabulary: Vocabulary
    rows: tuple[int, ...]
    lines: tuple[int, ...] = ()
    objects: tuple[str, ...] = field(default=(), compare=False)
