"""The two readings of what is known, as labelled spaces: what may be accepted, and what is."""

from __future__ import annotations

from hornlens.exact.grid import LabelledSpace
from hornlens.logic.knowledge import Knowledge


def reading(knowledge: Knowledge, may: bool = True) -> LabelledSpace:
    """Label a space by what is accepted or, with `may`, by what may be.

    A rule that holds of all that may be holds whatever the answers would be. And no other does: of
    a cell that was not asked, each label may be the one. What breaks the background is outside.
    """
    space = knowledge.space
    cells = list(space.cells())
    lines = knowledge.lines(cells, may)
    if not space.granted:
        return LabelledSpace(space, lines.reshape(-1))
    accepted = set(knowledge.interpretations(cells, lines))
    return LabelledSpace.of(space, accepted.__contains__)
