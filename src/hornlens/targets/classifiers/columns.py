"""Tables of rows as classifiers take them: arrays, pandas and polars frames, by columns and back.

No library of frames is imported: what comes in is asked what it is, and what goes to the classifier
is made by the class that came in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError, InputError

Column: TypeAlias = NDArray[Any]
Kind = Literal["number", "whole", "boolean", "category", "ordered"]
MISSING = (None, "", "nan", "NaN", "<NA>")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns with their names and kinds; `rebuild` makes of columns what the classifier takes."""

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    kinds: tuple[Kind, ...]
    levels: tuple[tuple[Any, ...], ...]
    """For categories, the values that are known beforehand, in order; else empty."""
    rebuild: Callable[[Sequence[Column]], Any]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.columns[0]) if self.columns else 0

    def first(self, count: int) -> Table:
        """Return the first so many rows."""
        return replace(self, columns=tuple(column[:count] for column in self.columns))

    def where(self, chosen: NDArray[np.bool_]) -> Table:
        """Return some of the rows."""
        return replace(self, columns=tuple(column[chosen] for column in self.columns))

    def like(self, rows: Any) -> Table:
        """Return other rows with the same columns; rows that do not have them are an InputError."""
        other = read_table(rows, self.names)
        missing = [name for name in self.names if name not in other.names]
        if missing or len(other.names) != len(self.names):
            extra = [name for name in other.names if name not in self.names]
            raise InputError(_differ(missing, extra, len(self.names), len(other.names)))
        order = [other.names.index(name) for name in self.names]
        return Table(
            self.names,
            tuple(other.columns[place] for place in order),
            tuple(other.kinds[place] for place in order),
            tuple(other.levels[place] for place in order),
            self.rebuild,
        )


def _differ(missing: Sequence[str], extra: Sequence[str], wanted: int, given: int) -> str:
    parts = []
    if missing:
        parts.append(f"there is no column {', '.join(map(repr, missing[:3]))}")
    if extra:
        parts.append(f"{', '.join(map(repr, extra[:3]))} was not there before")
    return "; ".join(parts) or f"there are {given} columns, not {wanted}"


def is_missing(values: Column) -> NDArray[np.bool_]:
    """Say of each value whether it is missing: NaN, None, or pandas' NA."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "biu":
        return np.zeros(len(values), dtype=np.bool_)
    return np.fromiter((_no_value(value) for value in values), np.bool_, len(values))


def _no_value(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and value != value


def read_table(rows: Any, names: Sequence[str] | None = None) -> Table:
    """Return rows by columns; what is no table is an InputError. `names` are for plain arrays."""
    if isinstance(rows, Table):
        return rows
    if hasattr(rows, "collect"):
        raise InputError("X is a lazy frame: give X.collect()")
    if hasattr(rows, "columns") and hasattr(rows, "dtypes") and hasattr(rows, "shape"):
        return _of_frame(rows)
    if hasattr(rows, "toarray"):  # sparse
        rows = rows.toarray()
    try:
        array = np.asarray(rows)
    except ValueError:  # the rows are not of one length
        raise InputError("X must have rows and columns; its rows have several lengths") from None
    if array.ndim != 2:
        shape = "one value" if array.ndim == 0 else f"an array of {array.ndim} dimension(s)"
        raise InputError(f"X must have rows and columns; it is {shape}")
    if names is None:
        names = [f"x{place}" for place in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise InputError(f"X has {array.shape[1]} columns, and there are {len(names)} names")
    columns = [array[:, place] for place in range(array.shape[1])]
    return _typed(names, columns, {}, ArrayRows(array.dtype))


@dataclass(frozen=True)
class ArrayRows:
    """Makes arrays of columns. (No closure: what is fitted can be copied and kept.)"""

    dtype: Any

    def __call__(self, columns: Sequence[Column]) -> Any:
        """Return columns side by side."""
        if self.dtype.kind == "O":
            made = np.empty((len(columns[0]), len(columns)), dtype=object)
            for place, column in enumerate(columns):
                made[:, place] = column
            return made
        return np.column_stack([_cast(column, self.dtype) for column in columns])


@dataclass(frozen=True)
class PandasRows:
    """Makes frames of pandas of columns."""

    columns: Any
    dtypes: tuple[Any, ...]

    def __call__(self, made: Sequence[Column]) -> Any:
        """Return columns as a frame."""
        pandas = sys.modules["pandas"]
        parts = {
            name: pandas.Series(_within(_cast(column, dtype), dtype)).astype(dtype)
            for name, column, dtype in zip(self.columns, made, self.dtypes, strict=True)
        }
        return pandas.DataFrame(parts, columns=self.columns)


@dataclass(frozen=True)
class PolarsRows:
    """Makes frames of polars of columns; `dtypes` also say whether a column has nulls."""

    names: tuple[str, ...]
    dtypes: tuple[tuple[Any, bool], ...]

    def __call__(self, made: Sequence[Column]) -> Any:
        """Return columns as a frame."""
        polars = sys.modules["polars"]
        parts = []
        for name, column, (dtype, nulls) in zip(self.names, made, self.dtypes, strict=True):
            values = _within(_cast(column, dtype.to_python()), dtype).tolist()
            if nulls:  # what was null is null again, and not NaN
                values = [None if _no_value(value) else value for value in values]
            parts.append(polars.Series(name, values, strict=False).cast(dtype))
        return polars.DataFrame(parts)


def _of_frame(frame: Any) -> Table:
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns have the name {twice!r}")
    levels: dict[int, tuple[bool, tuple[Any, ...]]] = {}
    if type(frame).__module__.split(".")[0] == "polars":
        series = [frame.get_column(name) for name in frame.columns]
        columns = [one.to_numpy() for one in series]
        for place, one in enumerate(series):
            if str(one.dtype).startswith(("Enum", "Categorical")):
                columns[place] = np.array(one.to_list(), dtype=object)
                if str(one.dtype).startswith("Enum"):
                    levels[place] = (True, tuple(one.dtype.categories.to_list()))
        kept = tuple((one.dtype, bool(one.null_count())) for one in series)
        return _typed(names, columns, levels, PolarsRows(tuple(names), kept))
    dtypes = list(frame.dtypes)
    columns = [np.asarray(frame.iloc[:, place]) for place in range(len(names))]
    for place, dtype in enumerate(dtypes):
        if hasattr(dtype, "categories"):
            levels[place] = (bool(dtype.ordered), tuple(dtype.categories))
            columns[place] = np.asarray(frame.iloc[:, place].astype(object))
    return _typed(names, columns, levels, PandasRows(frame.columns, tuple(dtypes)))


def _cast(column: Column, dtype: Any) -> Column:
    """Return a column as its type has it; whole numbers are rounded down, and never past a cut."""
    if isinstance(dtype, np.dtype):
        if dtype.kind in "iu" and column.dtype.kind == "f":
            column = np.floor(column)
        if dtype.kind in "iu" and column.dtype.kind in "iuf" and column.dtype != dtype:
            _check_fits(column, dtype)
        return column.astype(dtype, copy=False) if dtype.kind in "biuf" else column
    kind = getattr(dtype, "kind", "i" if dtype is int else "O")
    return np.floor(column) if kind in "iu" and column.dtype.kind == "f" else column


def _within(column: Column, dtype: Any) -> Column:
    """Return whole numbers of a column that may also have none, in what its type can hold.

    They stand in doubles. What is beyond the type is never asked but in search of a threshold.
    """
    name = str(dtype).split("[")[0]
    if column.dtype.kind != "f" or not name.startswith(("Int", "UInt", "int", "uint")):
        return column
    limits = np.iinfo(name.lower())
    last = float(limits.max)
    last = last if int(last) <= limits.max else float(np.nextafter(last, 0))
    return np.clip(column, float(limits.min), last)


def _check_fits(column: Column, dtype: np.dtype[Any]) -> None:
    """Refuse numbers that a column of whole numbers cannot have: they would become others."""
    limits = np.iinfo(dtype)
    ends = [column.min(), column.max()] if len(column) else []
    for end in ends:
        if not limits.min <= end <= limits.max or (column.dtype.kind == "f" and end >= 2.0**63):
            raise InputError(f"a column of {dtype} cannot have the number {end:g}")


def _typed(
    names: Sequence[str],
    columns: Sequence[Column],
    levels: Mapping[int, tuple[bool, tuple[Any, ...]]],
    rebuild: Callable[[Sequence[Column]], Any],
) -> Table:
    kinds: list[Kind] = []
    read: list[Column] = []
    values: list[tuple[Any, ...]] = []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        kind: Kind
        if place in levels:
            is_ordered, known = levels[place]
            kind = "ordered" if is_ordered and len(known) > 1 else "category"
            values.append(known)
            read.append(column.astype(object))
        else:
            kind, plain = _kind_of(str(name), column)
            values.append(())
            read.append(plain)
        kinds.append(kind)
    table = Table(tuple(map(str, names)), tuple(read), tuple(kinds), tuple(values), rebuild)
    if not len(table):
        raise InputError("X has no rows" if names else "X has no columns")
    return table


def _kind_of(name: str, column: Column) -> tuple[Kind, Column]:
    kind = column.dtype.kind
    if kind == "b":
        return "boolean", column
    if kind in "iu":
        return "whole", column
    if kind == "f":
        if np.isinf(column).any():
            raise InputError(f"column {name!r} has infinite numbers")
        return "number", column
    if kind in "mMc":
        what = "complex numbers" if kind == "c" else "dates or times"
        raise InputError(f"column {name!r} has {what}: make numbers or categories of them")
    known = column[~is_missing(column)]
    if len(known) and all(isinstance(value, bool | np.bool_) for value in known):
        return "boolean", column
    if len(known) and all(
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool | np.bool_)
        for value in known
    ):
        if len(known) == len(column) and all(isinstance(v, int | np.integer) for v in known):
            whole = np.array(known.tolist())
            if whole.dtype.kind in "iu":
                return "whole", whole
        numbers = np.array([np.nan if _no_value(v) else float(v) for v in column])
        return "number", numbers
    for value in known:
        try:
            hash(value)
        except TypeError:
            raise InputError(
                f"column {name!r} has values that are no categories: {type(value).__name__}"
            ) from None
    return "category", column.astype(object)


def column_of(table: Table, name: str) -> int:
    """Return the place of a column; a name that is not there is an error with those that are."""
    if name not in table.names:
        shown = ", ".join(table.names[:8]) + (", …" if len(table.names) > 8 else "")
        raise HornlensError(f"there is no column {name!r} (there are: {shown})")
    return table.names.index(name)
