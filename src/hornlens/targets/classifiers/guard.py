"""The guard: what is read of a model is held against the model before anything is claimed of it.

Rows, uniform inputs, and some of them a second time. A difference means that the cells are those of
a stand-in, whatever the bins promise; so "every input" is never said of a model that was misread,
nor of one that was not measured to the end. What the model accepts and no level stands for (missing
values, new categories) is asked for, and named: see `unlike`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.exact.boxes.cells import OPEN, GridCells, Levels, ListedCells, distinct_cells
from hornlens.limits import Stopped
from hornlens.logic.scopes import Agreement, Of, Scope
from hornlens.targets.classifiers.columns import Column, Table, is_missing
from hornlens.targets.classifiers.measured import Measured, counts_of
from hornlens.targets.classifiers.metering import Decide, Meter
from hornlens.targets.classifiers.points import Binned

DRAWN = 10_000
"""How many uniform inputs the agreement is measured by."""
TWICE = 200
"""How many inputs are asked a second time."""
NEW = "a new value"
"""Stands for a category that nobody has seen."""


class Inputs(NamedTuple):
    """Inputs in columns, and the cell that each lies in."""

    cells: Levels
    columns: list[Column]

    def some(self, which: NDArray[Any] | slice) -> Inputs:
        """Return some of them."""
        return Inputs(self.cells[which], [column[which] for column in self.columns])


def uniform_inputs(binned: Binned, count: int, rng: np.random.Generator) -> Inputs:
    """Draw inputs: numbers uniform between the least and the largest of X."""
    drawn = [feature.draw_uniform(count, rng) for feature in binned.every]
    table = replace(binned.classifier.table, columns=tuple(drawn))
    return Inputs(binned.places(table), drawn)


def measured_by(
    binned: Binned,
    rows: Levels,
    said: Levels,
    seed: int,
    known: GridCells | ListedCells | None = None,
    meter: Meter | None = None,
    only_known: bool = False,
    inputs: Inputs | None = None,
) -> Measured:
    """Compare a classifier with what it says of the points that stand for cells.

    `rows` are the cells of its table's rows, `said` its classes; `known` are cells that were
    asked: all of a grid, or some. With `only_known`, no other cell is asked: inputs are drawn
    inside these (unless `inputs` are given), and of the rows those are compared that lie in one.
    Limits end it, too, with what was compared by then.
    """
    classifier, table = binned.classifier, binned.classifier.table
    decide: Decide = classifier.decide
    if meter is not None:
        own = meter

        def decide(columns: Sequence[Column]) -> Levels:
            return own.measured(classifier.decide, columns)

    rng = np.random.default_rng(seed)
    if inputs is None and only_known:
        assert known is not None
        inputs = _inside(binned, known, rng)
    elif inputs is None:
        inputs = uniform_inputs(binned, DRAWN, rng)
    answers = decide(inputs.columns)
    uniform, drawn = inputs.some(slice(len(answers)))
    # Inputs and rows alike: a model may vary on what it knows and not on what it does not.
    half = TWICE // 2
    columns = [
        np.concatenate([column[:half], own_[:half]])
        for column, own_ in zip(table.columns, drawn, strict=True)
    ]
    first = np.concatenate([said[:half], answers[:half]])
    again = decide(columns)
    cells, where, _ = distinct_cells(np.concatenate([rows, uniform]), binned.shape)
    if known is not None and (only_known or (isinstance(known, GridCells) and binned.shape)):
        points = known.at(cells)
    else:
        points = np.full(len(cells), OPEN, dtype=np.intp)
        if known is not None and binned.shape:
            points[:] = known.at(cells)
        new = np.flatnonzero(points < 0)
        asked = decide(binned.columns(cells[new]))
        points[new[: len(asked)]] = asked
    classes, count = len(classifier.classes), len(rows)
    return Measured(
        cells,
        points,
        counts_of(where[:count], said, len(cells), classes),
        counts_of(where[count:], answers, len(cells), classes),
        first[: len(again)],
        again,
    )


def _inside(binned: Binned, known: GridCells | ListedCells, rng: np.random.Generator) -> Inputs:
    """Draw inputs in cells that were asked."""
    cells = known.asked
    count = DRAWN if len(cells) else 0
    cells = cells[rng.integers(0, max(1, len(cells)), count)]
    drawn = [feature.draw_uniform(count, rng) for feature in binned.every]
    for axis, place in enumerate(binned.telling):
        drawn[place] = binned.every[place].draw(cells[:, axis], rng)
    return Inputs(cells, drawn)


def scope_of(
    exact_bins: bool,
    how: str,
    agreement: Agreement,
    words: str = "",
    part: bool = False,
    assumed: bool = False,
    excluded: Callable[[], tuple[str, ...]] = tuple,
    kept: tuple[int, int] | None = None,
) -> Scope:
    """Return of what rules over the cells of a classifier speak.

    `exact_bins`: all inputs of a cell get one class, as far as the model was read; `part`: only
    some cells are meant; `assumed`: only what the background allows. What was measured decides.
    `excluded` returns what the model accepts and no level stands for; see `unlike`. `kept`: only
    what is plausible is meant, as so many of so many rows are.
    """
    if not (exact_bins and is_measured(agreement)):
        return Scope("surrogate", words, how, assumed, agreement, kept=kept)
    of: Of = "part" if part else "every input" if kept is None else "plausible"
    return Scope(of, words, how, assumed, agreement, excluded(), kept)


def is_measured(agreement: Agreement) -> bool:
    """Return whether the agreement was measured to the end, and no difference was seen."""
    return agreement.whole and agreement.drawn >= DRAWN


# --- what no level stands for ---


def unlike(binned: Binned) -> tuple[str, ...]:
    """Return what the model accepts and no level stands for, in words: the model itself is asked.

    Missing values, where X has none, and categories that X does not have. Rows that the model
    rejects with an error are no inputs.
    """
    table = binned.classifier.table
    found = []
    for what, probes in (
        ("missing values", [_missing(table, place) for place in range(len(table.names))]),
        ("new values", [_new(table, place, binned) for place in range(len(table.names))]),
    ):
        accepted = _accepted(binned, probes)
        if accepted:
            all_of_them = what == "missing values" and len(accepted) == len(table.names) > 1
            names = "" if all_of_them else f" in {_listed([table.names[at] for at in accepted])}"
            found.append(f"{what}{names}")
    return tuple(found)


def _missing(table: Table, place: int) -> list[Any]:
    """Return missing values that a column has not; none if it has, or cannot have any."""
    column = table.columns[place]
    if is_missing(column).any() or column.dtype.kind in "biu":
        return []
    return [np.nan] if column.dtype.kind == "f" else [None, np.nan]


def _new(table: Table, place: int, binned: Binned) -> list[Any]:
    """Return values that a column has not; none for numbers, and where all are declared."""
    feature = binned.every[place]
    if feature.cuts is not None or table.levels[place]:
        return []
    values = feature.values
    if feature.kind == "boolean":
        return [value for value in (False, True) if value not in values]
    if values and all(isinstance(value, int | float) for value in values):
        return [max(values) + 1]
    names = {str(value) for value in values}
    new = next(text for text in (f"{NEW}{'?' * n}" for n in range(99)) if text not in names)
    return [new, *(value for value in _known_to(binned.classifier.ask) if value not in names)][:9]


def _known_to(ask: Any) -> list[str]:
    """Return the texts that the encoders of a fitted pipeline know."""
    waiting, seen, found = [getattr(ask, "__self__", None)], set[int](), dict[str, None]()
    while waiting and len(seen) < 1_000:
        part = waiting.pop()
        if part is None or isinstance(part, str | int | float | np.ndarray) or id(part) in seen:
            continue
        seen.add(id(part))
        for own in getattr(part, "categories_", None) or ():
            found |= dict.fromkeys(value for value in own if isinstance(value, str))
        for name in ("steps", "transformers_"):
            waiting += [inner for step in getattr(part, name, None) or () for inner in step]
        waiting.append(getattr(part, "estimator", None))
    return list(found)


def _accepted(binned: Binned, probes: Sequence[Sequence[Any]]) -> list[int]:
    """Return the columns in which the model accepts one of the values; all at once, if it can."""
    wanted = [(place, value) for place, values in enumerate(probes) for value in values]
    if not wanted:
        return []
    if _takes(binned, wanted):
        return sorted({place for place, _ in wanted})
    return sorted({place for place, value in wanted if _takes(binned, [(place, value)])})


def _takes(binned: Binned, wanted: Sequence[tuple[int, Any]]) -> bool:
    """Return whether the model says a class of rows that each have one other value.

    If no more calls may be made, that is not known, and counts as a yes: less is claimed.
    """
    table = binned.classifier.table
    columns = [column[np.zeros(len(wanted), dtype=np.intp)] for column in table.columns]
    for row, (place, value) in enumerate(wanted):
        columns[place][row] = value
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            binned.classifier.decide(columns)
    except HornlensError:
        return False
    except Stopped:
        if binned.meter is not None:
            binned.meter.out_of("max_calls")
    return True


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:3], *([f"{len(names) - 3} more columns"] if len(names) > 3 else [])]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
