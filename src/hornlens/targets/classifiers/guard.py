"""The guard: what is read of a model is held against the model before anything is claimed of it.

Rows, uniform inputs, and some of them a second time. A difference means that the cells are those of
a stand-in, whatever the bins promise; so "every input" is never said of a model that was misread.
"""

from __future__ import annotations

import numpy as np

from hornlens.exact.boxes.cells import Labels, Levels, distinct_cells
from hornlens.logic.scopes import Agreement, Scope
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.points import Binned

DRAWN = 10_000
"""How many uniform inputs the agreement is measured by."""
TWICE = 200
"""How many inputs are asked a second time."""


def measured_agreement(
    binned: Binned, rows: Levels, said: Levels, seed: int, grid: Labels | None = None
) -> Agreement:
    """Compare a classifier with what it says of the points that stand for cells.

    `rows` are the cells of its table's rows, `said` its classes; `grid` those of all cells, if
    known.
    """
    classifier, table = binned.classifier, binned.classifier.table
    rng = np.random.default_rng(seed)
    drawn = [feature.draw_uniform(DRAWN, rng) for feature in binned.every]
    inputs = Table(table.names, tuple(drawn), table.kinds, table.levels, table.rebuild)
    uniform = binned.places(inputs)
    answers = classifier.decide(drawn)
    # Inputs and rows alike: a model may vary on what it knows and not on what it does not.
    half = TWICE // 2
    columns = [
        np.concatenate([column[:half], own[:half]])
        for column, own in zip(table.columns, drawn, strict=True)
    ]
    first = np.concatenate([said[:half], answers[:half]])
    varied = int(np.count_nonzero(classifier.decide(columns) != first))
    cells, where, _ = distinct_cells(np.concatenate([rows, uniform]), binned.shape)
    known = grid is not None and grid.ndim
    points = (grid[tuple(cells.T)] if grid is not None and known else binned.ask(cells))[where]
    right = points == np.concatenate([said, answers])
    return Agreement(
        float(right[: len(rows)].mean()),
        float(right[len(rows) :].mean()),
        DRAWN,
        len(cells),
        len(np.unique(where[~right])),
        len(first),
        varied,
    )


def scope_of(
    exact_bins: bool,
    how: str,
    agreement: Agreement,
    words: str = "",
    part: bool = False,
    assumed: bool = False,
) -> Scope:
    """Return of what rules over the cells of a classifier speak.

    `exact_bins`: all inputs of a cell get one class, as far as the model was read; `part`: only
    some cells are meant; `granted`: only what the background allows. What was measured decides.
    """
    if not (exact_bins and agreement.whole):
        return Scope("surrogate", words, how, assumed, agreement)
    return Scope("part" if part else "every input", words, how, assumed, agreement)
