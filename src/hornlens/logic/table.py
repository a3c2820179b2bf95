"""Tables of positive examples."""

from __future__ import annotations

from dataclasses import dataclass

from hornlens.logic.vocabulary import Vocabulary


@dataclass(frozen=True)
class Table:
    """Positive examples over a vocabulary; `lines` says where in the file each one stood."""

    vocabulary: Vocabulary
    rows: tuple[int, ...]
    lines: tuple[int, ...] = ()
