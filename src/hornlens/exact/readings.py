"""The two readings of what is known, as labelled spaces: what may be accepted, and what is."""

from __future__ import annotations

import numpy as np

from hornlens.exact.grid import LabelledSpace, Labels, cell_index
from hornlens.logic.knowledge import Knowledge
from hornlens.logic.space import Space


def reading(knowledge: Knowledge, may: bool = True) -> LabelledSpace:
    """Label a space by what is accepted or, with `may`, by what may be.

    A rule that holds of all that may be holds whatever the answers would be. And no other does: of
    a cell that was not asked, each label may be the one. What breaks the background is outside.
    """
    space = knowledge.space
    cells = list(space.cells())
    lines = knowledge.lines(cells, may)
    if space.assumed:
        accepted = set(knowledge.interpretations(cells, lines))
        return LabelledSpace.of(space, accepted.__contains__)
    if space.complete:
        lines = _among_all_choices(space, lines)
    return LabelledSpace(space, lines.reshape(-1))


def _among_all_choices(space: Space, lines: Labels) -> Labels:
    """Return what is accepted, by cell and label, in the grid of all that can be said."""
    accepted = np.zeros(space.shape, dtype=np.bool_)
    where = cell_index(space)
    labelled = lines if space.label is None else lines[:, 1:]
    accepted[where] = labelled.reshape(accepted[where].shape)
    return accepted
