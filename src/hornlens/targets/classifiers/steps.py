"""The steps before the trees: where each column behind them comes from, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hornlens.logic.numbers import exact_number
from hornlens.targets.classifiers.columns import Table, is_missing
from hornlens.targets.classifiers.ensembles.trees import NotExact

SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"}
"""Steps that give a column for each column, and keep the order of its values."""
ENCODERS = {"OneHotEncoder", "OrdinalEncoder"}
PREPARE = "explain what is behind it, with rows as it makes them"
"""What to do about a step that cannot be looked into."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What the steps before the trees do to the columns of X."""

    table: Table
    encoded: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    replaced: dict[int, set[float]] = field(default_factory=dict)
    categories: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    def copy(self) -> Trace:
        """Return the same, to go on with."""
        replaced = {place: set(values) for place, values in self.replaced.items()}
        known = set(self.encoded), set(self.changed), replaced, dict(self.categories)
        return Trace(self.table, *known)

    def through(
        self, step: Any, source: list[int], names: list[str] | None
    ) -> tuple[list[int], list[str] | None]:
        """Return where the columns behind a step come from, and their names if they are known."""
        kind = type(step).__name__
        if step is None or step == "passthrough":
            return source, names
        if not type(step).__module__.startswith("sklearn."):
            raise NotExact(f"{kind} is no step of scikit-learn; {PREPARE}")
        if kind == "FunctionTransformer":
            if step.func is not None and not _only_checks(step.func):
                name = getattr(step.func, "__name__", "its function")
                raise NotExact(f"FunctionTransformer calls {name}; {PREPARE}")
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
        if hasattr(step, "get_support"):  # it keeps some columns as they are
            kept = np.flatnonzero(step.get_support()).tolist()
            names = None if names is None else [names[place] for place in kept]
            return [source[place] for place in kept], names
        if kind == "Pipeline":
            for _, inner in step.steps:
                source, names = self.through(inner, source, names)
            return source, names
        if kind == "ColumnTransformer":
            return self._side_by_side(step, source, names), None
        raise NotExact(f"{kind} makes columns of several, or in another order; {PREPARE}")

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
            raise NotExact("KNNImputer fills a column by others; use SimpleImputer")
        self.changed.update(source)
        return source

    def _replace(self, source: Sequence[int], value: Any) -> None:
        """Note the number in place of which the trees see another one."""
        is_number = isinstance(value, int | float | np.number) and not _is_empty(value)
        for place in source if is_number else ():
            if self.table.kinds[place] not in ("number", "whole") or place in self.encoded:
                continue
            if place in self.changed:
                raise NotExact(f"{value!r} is replaced behind another step; impute first")
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
                raise NotExact(f"{name!r} names columns that have no names; give their places")
            own = [source[place] for place in places]
            if not isinstance(inner, str):
                own_names = None if names is None else [names[place] for place in places]
                own, _ = self.through(inner, own, own_names)
            if len(own) != where.stop - where.start:
                raise NotExact(f"{name!r} makes other columns than expected; {PREPARE}")
            made[where.start] = own
        return [place for start in sorted(made) for place in made[start]]


def _only_checks(function: Any) -> bool:
    """Return whether a function is what histogram boosting puts before numbers: it checks them."""
    from sklearn.utils import check_array

    inner, options = getattr(function, "func", None), getattr(function, "keywords", {})
    return inner is check_array and options.get("dtype") in (np.float64, [np.float64])


def _is_empty(value: Any) -> bool:
    """Say whether a value stands for what is missing."""
    return bool(is_missing(np.array([value], dtype=object))[0])


def _encoded(step: Any, source: Sequence[int], kind: str) -> list[int]:
    if kind == "OrdinalEncoder":
        return list(source)
    if getattr(step, "_infrequent_enabled", False):
        raise NotExact("OneHotEncoder joins rare values; leave min_frequency out")
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
