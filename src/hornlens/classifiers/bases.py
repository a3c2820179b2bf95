"""The full basis of a classifier's cells: all that holds of them, not what implies a class only.

The positives are the complete cells, each with its class. Of the features of a class it also says
what they have in common: "setosa → petal length ≤ 2.45".
"""

from __future__ import annotations

import numpy as np

from hornlens.classifiers.explanation import Explained
from hornlens.errors import HornlensError
from hornlens.exact.boxes.cells import OUTSIDE, GridCells, cells_at
from hornlens.exact.grid import MOST_POINTS, LabelledSpace, labels_of_positives
from hornlens.logic.certificates import Certificate
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.grounds import Complete


def basis_of(result: Explained) -> Envelope:
    """Return the DG basis of the cells of an explanation, with their classes."""
    if not isinstance(result.labelled, GridCells):
        raise HornlensError(
            f"the full basis needs every cell, and there are {result.binned.cell_count:,}: "
            "raise the limit, or take fewer bins"
        )
    space = result.space
    if space.count > MOST_POINTS:
        raise HornlensError(
            f"the full basis goes through {space.count:,} things that can be said, "
            f"{MOST_POINTS:,} at most: take fewer bins or columns"
        )
    labels = result.labelled.labels.ravel()
    cells = cells_at(np.arange(labels.size), result.labelled.labels.shape)
    positives = [
        space.with_label(sum(own[i] for own, i in zip(space.leaves, cell, strict=True)), place)
        for cell, place in zip(cells.tolist(), labels.tolist(), strict=True)
        if place != OUTSIDE
    ]
    labelled = LabelledSpace(space, labels_of_positives(space, positives))
    return Envelope.of(
        space,
        labelled.dg_basis(),
        certificate=Certificate(complete=Complete(every=True), scope=result.certificate.scope),
        non_horn=NonHorn.of(labelled.non_horn()),
        statistics={"cells": len(positives)},
    )
