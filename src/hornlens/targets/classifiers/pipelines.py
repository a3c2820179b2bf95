"""What stands before the trees: the steps of a Pipeline, where each column comes from one column.

Scalers keep the order of a column, so each threshold of a tree has one place in the column itself:
the least number that goes to the right. It is found by bisecting the numbers that a computer has,
with the pipeline's own arithmetic, so that it is exact to the last bit, conversion to single
precision included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.logic.cuts import Cuts, number_text
from hornlens.logic.numbers import exact_number
from hornlens.targets.classifiers.columns import Column, Table, is_missing
from hornlens.targets.classifiers.ensembles.readers import read_trees
from hornlens.targets.classifiers.ensembles.trees import Trees

SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"}
"""Steps that give a column for each column, and keep the order of its values."""
ENCODERS = {"OneHotEncoder", "OrdinalEncoder"}

PREPARE = "explain what is behind it, with rows as it makes them"
"""What to do about a step that cannot be looked into."""

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
    replaced: Mapping[int, frozenset[float]] = field(default_factory=dict)
    """For columns of X, numbers in place of which the trees see another one."""
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    """For columns of X, the categories that their encoder knows, whether X has them or not."""

    def seen(self, table: Table, columns: Sequence[Column]) -> NDArray[Any]:
        """Return the values that the trees compare, of rows given by columns."""
        try:
            made = np.asarray(self.prepare(table.rebuild(columns)))
            return made.astype(np.float32 if self.trees.single else np.float64)
        except HornlensError:
            raise
        except Exception as error:  # whatever a step does not accept
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise HornlensError(f"the model does not accept these rows: {reason}") from error


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the steps before the trees make of rows."""

    steps: tuple[Any, ...]

    def __call__(self, rows: Any) -> NDArray[Any]:
        """Return the values that the trees are given."""
        for step in self.steps:
            rows = step.transform(rows)
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


class Untraceable(Exception):
    """Trees whose columns cannot be traced back to those of X: why, and what to do about it."""


def read_tree_model(clf: Any, table: Table) -> TreeModel | None:
    """Return the trees of an estimator or Pipeline; None if there are none that can be read.

    If there are, and their columns can't be traced back to those of X, raise Untraceable.
    """
    steps = [step for _, step in clf.steps] if hasattr(clf, "steps") else [clf]
    *before, last = steps
    trees = read_trees(last)
    if trees is None:
        return None
    if type(last).__name__ == "HistGradientBoostingClassifier" and last._preprocessor is not None:
        before.append(last._preprocessor)
    source: list[int] = list(range(len(table.names)))
    names: list[str] | None = list(table.names)
    trace = _Trace(table)
    for step in before:
        source, names = trace.through(step, source, names)
    chain = tuple(step for step in before if step is not None and step != "passthrough")
    direct = frozenset(range(len(table.names))) - trace.changed - trace.encoded
    model = TreeModel(
        *(trees, Prepared(chain), tuple(source), frozenset(trace.encoded), direct),
        {place: frozenset(values) for place, values in trace.replaced.items()},
        trace.categories,
    )
    if chain and model.seen(table, table.first(1).columns).shape[1] != len(source):
        raise Untraceable(f"its steps make other columns than expected; {PREPARE}")
    return model


@dataclass(frozen=True, eq=False)
class _Trace:
    """What the steps before the trees do to the columns of X."""

    table: Table
    encoded: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    replaced: dict[int, set[float]] = field(default_factory=dict)
    categories: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    def through(
        self, step: Any, source: list[int], names: list[str] | None
    ) -> tuple[list[int], list[str] | None]:
        """Return where the columns behind a step come from, and their names if they are known."""
        kind = type(step).__name__
        if step is None or step == "passthrough":
            return source, names
        if not type(step).__module__.startswith("sklearn."):
            raise Untraceable(f"{kind} is no step of scikit-learn; {PREPARE}")
        if kind == "FunctionTransformer":
            if step.func is not None:
                name = getattr(step.func, "__name__", "its function")
                raise Untraceable(f"FunctionTransformer calls {name}; {PREPARE}")
            return source, names
        if kind in SCALERS:
            self.changed.update(source)
            return source, None
        if kind == "SimpleImputer":
            return self._filled(step, source), None
        if kind == "MissingIndicator":
            self._replace(source, step.missing_values)
            self.changed.update(source)
            return [source[place] for place in step.features_], None
        if kind == "KNNImputer":
            return self._by_neighbours(step, source), None
        if kind in ENCODERS:
            for place, values in zip(source, step.categories_, strict=True):
                known = tuple(value for value in values.tolist() if not _is_empty(value))
                if place not in self.changed or self.table.kinds[place] == "category":
                    self.categories.setdefault(place, known)
            self.encoded.update(source)
            return _encoded(step, source, kind), None
        if kind == "Pipeline":
            for _, inner in step.steps:
                source, names = self.through(inner, source, names)
            return source, names
        if kind == "ColumnTransformer":
            return self._side_by_side(step, source, names), None
        raise Untraceable(f"{kind} makes columns of several, or in another order; {PREPARE}")

    def _filled(self, step: Any, source: Sequence[int]) -> list[int]:
        """Return the sources of what a SimpleImputer makes: it looks at one column at a time."""
        self._replace(source, step.missing_values)
        kept = list(range(len(source)))
        keeps = step.strategy == "constant" or getattr(step, "keep_empty_features", False)
        if not keeps:  # a column that was all missing is left out
            kept = [place for place in kept if not _is_empty(step.statistics_[place])]
        made = [source[place] for place in kept]
        if step.indicator_ is not None:
            made += [source[place] for place in step.indicator_.features_]
        self.changed.update(source)
        return made

    def _by_neighbours(self, step: Any, source: list[int]) -> list[int]:
        """Return the same columns, if none of them is missing in X: others decide what it gets."""
        gaps = any(is_missing(self.table.columns[place]).any() for place in source)
        if gaps or step.add_indicator or not _is_empty(step.missing_values):
            raise Untraceable("KNNImputer fills a column by others; use SimpleImputer")
        self.changed.update(source)
        return source

    def _replace(self, source: Sequence[int], value: Any) -> None:
        """Note the number in place of which the trees see another one."""
        is_number = isinstance(value, int | float | np.number) and not _is_empty(value)
        for place in source if is_number else ():
            if self.table.kinds[place] not in ("number", "whole") or place in self.encoded:
                continue
            if place in self.changed:
                raise Untraceable(f"{value!r} is replaced behind another step; impute first")
            column = self.table.columns[place]
            own = column.dtype.type(value) if column.dtype.kind == "f" else value
            self.replaced.setdefault(place, set()).add(exact_number(own))

    def _side_by_side(self, step: Any, source: list[int], names: list[str] | None) -> list[int]:
        made: dict[int, list[int]] = {}
        for name, inner, columns in step.transformers_:
            where = step.output_indices_[name]
            if where.stop == where.start:
                continue
            places = _places(columns, names, len(source))
            if places is None:
                raise Untraceable(f"{name!r} names columns that have no names; give their places")
            own = [source[place] for place in places]
            if not isinstance(inner, str):
                own_names = None if names is None else [names[place] for place in places]
                own, _ = self.through(inner, own, own_names)
            if len(own) != where.stop - where.start:
                raise Untraceable(f"{name!r} makes other columns than expected; {PREPARE}")
            made[where.start] = own
        return [place for start in sorted(made) for place in made[start]]


def _is_empty(value: Any) -> bool:
    """Say whether a value stands for what is missing."""
    return bool(is_missing(np.array([value], dtype=object))[0])


def _encoded(step: Any, source: Sequence[int], kind: str) -> list[int]:
    if kind == "OrdinalEncoder":
        return list(source)
    if getattr(step, "_infrequent_enabled", False):
        raise Untraceable("OneHotEncoder joins rare values; leave min_frequency out")
    kept: list[int] = []
    dropped = step.drop_idx_ if getattr(step, "drop_idx_", None) is not None else None
    for at, (place, values) in enumerate(zip(source, step.categories_, strict=True)):
        gone = dropped is not None and dropped[at] is not None
        kept += [place] * (len(values) - gone)
    return kept


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
    for (place, _, value), first in zip(wanted, firsts, strict=True):
        if np.isfinite(first):
            as_seen = place in model.direct and table.kinds[place] != "whole"
            text = model.trees.text(value) if as_seen else (number_text(first), False)
            texts.setdefault(place, {}).setdefault(first, text)
    for place, values in model.replaced.items():
        for value in values:
            for first, text in _just(value, table.kinds[place] == "whole"):
                texts.setdefault(place, {})[first] = text
    return {place: _cuts(own) for place, own in texts.items()}


def _just(value: float, is_whole: bool) -> list[tuple[float, tuple[str, bool]]]:
    """Return cuts with their texts, so that a number is alone between the two."""
    if not is_whole:
        text = number_text(value)
        return [(value, (text, False)), (float(np.nextafter(value, np.inf)), (text, True))]
    if value != int(value):
        return []
    both = (exact_number(int(value)), exact_number(int(value) + 1))
    return [(own, (number_text(own), False)) for own in both]


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
) -> list[float]:
    """Return for each (column, column seen, break) the least number that is seen as it, or above.

    Infinite where none is, or all are. Numbers are parted in the order that their bits have, into
    many parts at once: what comes before the trees takes as long for one row as for hundreds.
    A number that is replaced by another one is seen as the next number is: it is cut off anyway.
    """
    if not wanted:
        return []
    places = np.array([one[0] for one in wanted])
    seen = np.array([one[1] for one in wanted])
    breaks = np.array([one[2] for one in wanted])
    base = [_first_known(column) for column in table.columns]
    numbers_of = {place: _Numbers.of(table.columns[place]) for place in set(places.tolist())}

    def is_beyond(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say it of numbers in rows, a column for each that is wanted."""
        columns: list[Column] = []
        for place, value in enumerate(base):
            column = np.full(keys.shape, value, dtype=table.columns[place].dtype)
            if place in numbers_of:
                numbers, own = numbers_of[place], places == place
                probes = keys[:, own]
                for special in numbers.keys_of(model.replaced.get(place, frozenset())):
                    probes = np.where(probes == special, probes + 1, probes)
                column = column.astype(numbers.kind)
                column[:, own] = numbers.at(probes)
            columns.append(column.ravel())
        with np.errstate(over="ignore"):
            every = model.seen(table, columns)
        values = every[np.arange(keys.size), np.tile(seen, len(keys))].astype(np.float64)
        return np.asarray(values.reshape(keys.shape) >= breaks)

    low, high = np.array([numbers_of[place].bounds for place in places.tolist()]).T
    always, right = is_beyond(np.stack([low, high]))
    never = ~right
    parts = np.arange(1, PARTS, dtype=np.uint64)[:, None]
    while (low < high).any():
        width = high.view(np.uint64) - low.view(np.uint64)  # more than a signed number holds
        step = width // PARTS * parts + width % PARTS * parts // PARTS
        probes = (low.view(np.uint64) + step).view(np.int64)
        left = np.count_nonzero(~is_beyond(probes), axis=0)
        every = np.concatenate([low[None, :] - 1, probes, high[None, :]])
        low, high = (np.take_along_axis(every, (left + k)[None, :], 0)[0] for k in (0, 1))
        low = np.minimum(low + 1, high)
    return [
        np.inf if none else -np.inf if every else numbers_of[place].number(key)
        for place, key, none, every in zip(places.tolist(), high, never, always, strict=True)
    ]


@dataclass(frozen=True)
class _Numbers:
    """The numbers that a column can have, as whole numbers in their order, without a gap: keys."""

    kind: np.dtype[Any]

    @classmethod
    def of(cls, column: Column) -> _Numbers:
        """Return those of a column of X."""
        is_whole = column.dtype.kind in "iu"
        return cls(column.dtype if is_whole else np.dtype(np.float64))

    @property
    def bounds(self) -> tuple[int, int]:
        """The keys of the least and of the largest number."""
        if self.kind.kind in "iu":
            info = np.iinfo(self.kind)
            below = self._below
            return int(info.min) - below, int(info.max) - below
        largest = float(np.finfo(np.float32).max)
        low, high = _key(np.array([-largest, largest])).tolist()
        return low, high

    @property
    def _below(self) -> int:
        """How much more a number is than its key: what unsigned numbers of 64 bits need."""
        return 1 << 63 if self.kind == np.uint64 else 0

    def at(self, keys: NDArray[np.int64]) -> Column:
        """Return the numbers that have these keys."""
        if self.kind == np.uint64:
            return keys.view(np.uint64) ^ np.uint64(1 << 63)
        return keys.astype(self.kind) if self.kind.kind in "iu" else _number(keys)

    def number(self, key: np.int64) -> float:
        """Return one of them, exactly."""
        if self.kind.kind in "iu":
            return exact_number(int(key) + self._below)
        return float(_number(np.array([key]))[0])

    def keys_of(self, values: frozenset[float]) -> list[int]:
        """Return the keys of some numbers, as far as a column can have them."""
        if self.kind.kind in "iu":
            keys = [int(value) - self._below for value in values if value == int(value)]
        else:
            keys = _key(np.array(sorted(values), dtype=np.float64)).tolist()
        low, high = self.bounds
        return [key for key in keys if low <= key < high]


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
