"""What stands before the trees: the steps of a Pipeline, where each column comes from one column.

Scalers keep the order of a column, so each threshold of a tree has one place in the column itself:
the least number that goes to the right. It is found by bisecting the numbers that a computer has,
with the pipeline's own arithmetic, so that it is exact to the last bit, conversion to single
precision included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.logic.cuts import Cuts, number_text
from hornlens.targets.classifiers.columns import Column, Table, is_missing
from hornlens.targets.classifiers.deciding import Banded, Thresholded
from hornlens.targets.classifiers.ensembles.readers import read_trees
from hornlens.targets.classifiers.ensembles.trees import Trees

ONE_TO_ONE = {
    *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"),
    *("SimpleImputer", "KNNImputer"),
}
"""Steps that give a column for each column. (An imputer only where nothing is missing.)"""
ENCODERS = {"OneHotEncoder", "OrdinalEncoder"}

PARTS = np.uint64(16)
"""Into how many parts numbers are parted at a time, in search of a threshold."""


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Trees, and how the columns that they see come from the columns of X."""

    trees: Trees
    prepare: Callable[[Any], NDArray[Any]]
    source: tuple[int, ...]
    """For each column that the trees see, the column of X that it comes from."""
    encoded: frozenset[int]
    """The columns of X that are categories to the classifier, whatever they look like."""
    direct: frozenset[int]
    """The columns of X that the trees see as they are."""

    def seen(self, table: Table, columns: Sequence[Column]) -> NDArray[Any]:
        """Return the values that the trees compare, of rows given by columns."""
        try:
            made = np.asarray(self.prepare(table.rebuild(columns)))
        except HornlensError:
            raise
        except Exception as error:  # whatever a step does not accept
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise HornlensError(f"the model does not accept these rows: {reason}") from error
        return made.astype(np.float32) if self.trees.single else made.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the steps before the trees make of rows."""

    steps: tuple[Any, ...]

    def __call__(self, rows: Any) -> NDArray[Any]:
        """Return the values that the trees are given."""
        for step in self.steps:
            rows = step.transform(rows)
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        array = np.asarray(rows)
        return array.astype(np.float64) if array.dtype.kind != "f" else array


def read_tree_model(clf: Any, table: Table) -> TreeModel | None:
    """Return the trees of an estimator or Pipeline; None where their columns can't be traced."""
    if isinstance(clf, Thresholded | Banded):
        inner = read_tree_model(clf.estimator, table)
        last = clf.estimator.steps[-1][1] if hasattr(clf.estimator, "steps") else clf.estimator
        return None if inner is None else replace(inner, trees=clf.over(inner.trees, last))
    steps = [step for _, step in clf.steps] if hasattr(clf, "steps") else [clf]
    *before, last = steps
    trees = read_trees(last)
    if trees is None:
        return None
    is_histogram = type(last).__name__.startswith("HistGradientBoosting")
    if is_histogram and last._preprocessor is not None:
        before.append(last._preprocessor)
    source: list[int] | None = list(range(len(table.names)))
    encoded: set[int] = set()
    changed: set[int] = set()
    names: list[str] | None = list(table.names)
    for step in before:
        if source is None:
            return None
        source, names = _through(step, source, names, encoded, changed, table)
    if source is None:
        return None
    chain = tuple(step for step in before if step is not None and step != "passthrough")
    prepare = Prepared(chain)
    direct = frozenset(range(len(table.names))) - changed - encoded
    return TreeModel(trees, prepare, tuple(source), frozenset(encoded), direct)


def _through(
    step: Any,
    source: list[int],
    names: list[str] | None,
    encoded: set[int],
    changed: set[int],
    table: Table,
) -> tuple[list[int] | None, list[str] | None]:
    """Return where the columns behind a step come from; None if that cannot be said."""
    kind = type(step).__name__
    if step is None or step == "passthrough" or _does_nothing(step):
        return source, names
    if not type(step).__module__.startswith("sklearn."):
        return None, None
    if kind in ONE_TO_ONE:
        gaps = "Imputer" in kind and any(table_has_gaps(table, place) for place in source)
        if gaps or getattr(step, "add_indicator", False):
            return None, None
        changed.update(source)
        return source, None
    if kind in ENCODERS:
        encoded.update(source)
        return _encoded(step, source, kind), None
    if kind == "Pipeline":
        found: list[int] | None = source
        for _, inner in step.steps:
            if found is None:
                return None, None
            found, names = _through(inner, found, names, encoded, changed, table)
        return found, names
    if kind == "ColumnTransformer":
        return _side_by_side(step, source, names, encoded, changed, table), None
    return None, None


def _does_nothing(step: Any) -> bool:
    if type(step).__name__ != "FunctionTransformer":
        return False
    inner = step.func
    return inner is None or getattr(inner, "__name__", "") == "identity"


def _encoded(step: Any, source: Sequence[int], kind: str) -> list[int] | None:
    if kind == "OrdinalEncoder":
        return list(source)
    if getattr(step, "_infrequent_enabled", False):
        return None
    kept: list[int] = []
    dropped = step.drop_idx_ if getattr(step, "drop_idx_", None) is not None else None
    for at, (place, values) in enumerate(zip(source, step.categories_, strict=True)):
        gone = dropped is not None and dropped[at] is not None
        kept += [place] * (len(values) - gone)
    return kept


def _side_by_side(
    step: Any,
    source: list[int],
    names: list[str] | None,
    encoded: set[int],
    changed: set[int],
    table: Table,
) -> list[int] | None:
    made: dict[int, list[int]] = {}
    for name, inner, columns in step.transformers_:
        where = step.output_indices_[name]
        if where.stop == where.start:
            continue
        places = _places(columns, names, len(source))
        if places is None:
            return None
        own: list[int] | None = [source[place] for place in places]
        if not isinstance(inner, str):
            own_names = None if names is None else [names[place] for place in places]
            own, _ = _through(inner, own or [], own_names, encoded, changed, table)
        if own is None or len(own) != where.stop - where.start:
            return None
        made[where.start] = own
    return [place for start in sorted(made) for place in made[start]]


def _places(columns: Any, names: list[str] | None, count: int) -> list[int] | None:
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            return None
        return list(range(count))[columns]
    if isinstance(columns, str | int):
        columns = [columns]
    listed = list(columns)
    if listed and isinstance(listed[0], bool | np.bool_):
        return [place for place, taken in enumerate(listed) if taken]
    found = []
    for one in listed:
        if isinstance(one, str):
            if names is None or one not in names:
                return None
            found.append(names.index(one))
        else:
            found.append(int(one))
    return found


def table_has_gaps(table: Table, place: int) -> bool:
    """Say whether a column of X has missing values."""
    return bool(is_missing(table.columns[place]).any())


# --- where the trees part the columns of X ---


def exact_cuts(model: TreeModel, table: Table) -> dict[int, Cuts]:
    """Return for each column of numbers where the trees part it: exactly, for every number."""
    wanted: list[tuple[int, int, float]] = []
    for seen, breaks in model.trees.breaks().items():
        place = model.source[seen]
        if place not in model.encoded and table.kinds[place] in ("number", "whole"):
            wanted += [(place, seen, value) for value in breaks.tolist()]
    firsts = _first_from(model, table, wanted)
    texts: dict[int, dict[float, tuple[str, bool]]] = {}
    for (place, _, value), first in zip(wanted, firsts.tolist(), strict=True):
        if np.isfinite(first):
            is_whole = table.kinds[place] == "whole"
            first = float(np.ceil(first)) if is_whole else first
            as_seen = place in model.direct and not is_whole
            text = model.trees.text(value) if as_seen else (number_text(first), False)
            texts.setdefault(place, {}).setdefault(first, text)
    return {place: _cuts(own) for place, own in texts.items()}


def _cuts(texts: Mapping[float, tuple[str, bool]]) -> Cuts:
    """Return cuts; of two that are written alike, all digits are shown."""
    values = sorted(texts)
    counts = Counter(texts.values())
    shown = [
        texts[value] if counts[texts[value]] == 1 else (number_text(value), False)
        for value in values
    ]
    after = frozenset(place for place, (_, is_after) in enumerate(shown) if is_after)
    return Cuts(tuple(values), tuple(text for text, _ in shown), after)


def _first_from(
    model: TreeModel, table: Table, wanted: Sequence[tuple[int, int, float]]
) -> NDArray[np.float64]:
    """Return for each (column, column seen, break) the least number that is seen as it, or above.

    Infinite where none is, or all are. Numbers are parted in the order that their bits have, into
    many parts at once: what comes before the trees takes as long for one row as for hundreds.
    """
    if not wanted:
        return np.zeros(0)
    places = np.array([one[0] for one in wanted])
    seen = np.array([one[1] for one in wanted])
    breaks = np.array([one[2] for one in wanted])
    base = [_first_known(column) for column in table.columns]

    def is_beyond(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say it of numbers in rows, a column for each that is wanted."""
        columns: list[Column] = []
        for place, value in enumerate(base):
            column = np.full(numbers.shape, value, dtype=table.columns[place].dtype)
            own = places == place
            if own.any():
                column = column.astype(np.float64)
                column[:, own] = numbers[:, own]
            columns.append(column.ravel())
        with np.errstate(over="ignore"):
            every = model.seen(table, columns)
        values = every[np.arange(numbers.size), np.tile(seen, len(numbers))].astype(np.float64)
        return np.asarray(values.reshape(numbers.shape) >= breaks)

    bounds = np.array([_bounds(table.columns[place]) for place in places])
    low, high = _key(bounds[:, 0]), _key(bounds[:, 1])
    always, right = is_beyond(bounds.T)
    never = ~right
    parts = np.arange(1, PARTS, dtype=np.uint64)[:, None]
    while (low < high).any():
        width = high.view(np.uint64) - low.view(np.uint64)  # more than a signed number holds
        step = width // PARTS * parts + width % PARTS * parts // PARTS
        probes = (low.view(np.uint64) + step).view(np.int64)
        left = np.count_nonzero(~is_beyond(_number(probes)), axis=0)
        every = np.concatenate([low[None, :] - 1, probes, high[None, :]])
        low, high = (np.take_along_axis(every, (left + k)[None, :], 0)[0] for k in (0, 1))
        low = np.minimum(low + 1, high)
    found = _number(high)
    found[never] = np.inf
    found[always] = -np.inf
    return found


def _bounds(column: Column) -> tuple[float, float]:
    """Return the least and the largest number that a column can have."""
    if column.dtype.kind in "iu":
        info, most = np.iinfo(column.dtype), 2**53
        return float(max(info.min, -most)), float(min(info.max, most))
    largest = float(np.finfo(np.float32).max)
    return -largest, largest


def _first_known(column: Column) -> Any:
    known = column[~is_missing(column)]
    return known[0] if len(known) else column[0]


def _key(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return whole numbers in the order of the given ones, without a gap."""
    bits = (numbers + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


def _number(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    bits = np.where(keys >= 0, keys, np.int64(-(2**63)) - keys)
    return bits.view(np.float64).copy()
