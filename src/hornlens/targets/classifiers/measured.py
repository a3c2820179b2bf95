"""What an agreement is measured by: the cells of rows and of drawn inputs, and the model's classes.

For each cell in which a row or a drawn input lies: the class of the point that stands for it, and
how many inputs got which class. So the agreement can be counted again from a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.boxes.cells import Levels
from hornlens.logic.scopes import Agreement

Counts = NDArray[np.intp]
"""How many rows or inputs of each cell got which class: a row for each cell."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The cells in order, the class of each point (OPEN: not asked), and counts of classes.

    `first` is what the model said of the inputs that were asked twice, `again` the second time.
    """

    cells: Levels
    points: Levels
    rows: Counts
    inputs: Counts
    first: Levels
    again: Levels

    @cached_property
    def agreement(self) -> Agreement:
        """How often the model says of rows and inputs what it says of their points."""
        there = self.points >= 0
        rows, inputs = self.rows[there], self.inputs[there]
        own = np.arange(len(rows)), self.points[there]
        compared, drawn = int(rows.sum()), int(inputs.sum())
        same_rows, same_inputs = rows[own], inputs[own]
        differ = (same_rows < rows.sum(axis=1)) | (same_inputs < inputs.sum(axis=1))
        return Agreement(
            int(same_rows.sum()) / compared if compared else 0.0,
            int(same_inputs.sum()) / drawn if drawn else 0.0,
            drawn,
            int(np.count_nonzero(there)),
            int(np.count_nonzero(differ)),
            len(self.again),
            int(np.count_nonzero(self.again != self.first)),
            None if compared == int(self.rows.sum()) else compared,
        )


def counts_of(where: Levels, answers: Levels, cells: int, classes: int) -> Counts:
    """Return how often each class was given in each cell; `where` says in which cell each lies."""
    counts = np.zeros((cells, classes), dtype=np.intp)
    np.add.at(counts, (where, answers), 1)
    return counts
