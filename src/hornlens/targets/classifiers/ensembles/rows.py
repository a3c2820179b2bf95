"""What the trees of a library compare: numbers, where categories are codes by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.targets.classifiers.columns import is_missing


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Makes numbers of rows, as a library does before its trees compare them.

    `codes` has the code of each name, for one column of categories after another, as they come in
    a frame. None: a frame's own codes are used. `is_new_missing`: a name without a code counts as
    missing; otherwise it is an error. `is_whole_single`: arrays of whole numbers are rounded to
    single precision. `missing`: the category that has this code in the rows, whatever its code is
    among `codes`, counts as missing. (No closure: what is fitted can be copied and kept.)
    """

    codes: tuple[Mapping[Any, int], ...] | None
    is_new_missing: bool
    is_whole_single: bool = False
    encoded: tuple[int, ...] = ()
    """The columns that are categories, whatever they look like."""
    missing: float = float("nan")

    def transform(self, rows: Any) -> NDArray[Any]:
        """Return the numbers that the trees compare."""
        if not hasattr(rows, "columns"):
            numbers = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
            if numbers.dtype.kind == "f":
                return numbers
            single = self.is_whole_single and numbers.dtype.kind in "biu"
            return numbers.astype(np.float32 if single else np.float64)
        columns = frame_columns(rows)
        named = [place for place, column in enumerate(columns) if is_category(column)]
        if self.codes is not None and len(named) != len(self.codes):
            raise InputError(
                f"X has {len(named)} columns of categories; the model was fitted with "
                f"{len(self.codes)}"
            )
        made = np.empty((len(rows), len(columns)))
        for place, column in enumerate(columns):
            if place not in named:
                made[:, place] = frame_numbers(column)
            else:
                known = None if self.codes is None else self.codes[named.index(place)]
                made[:, place] = self._coded(column, known)
        return made

    def _coded(self, column: Any, codes: Mapping[Any, int] | None) -> NDArray[np.float64]:
        values, own = frame_values(column), categories_of(column)
        if codes is None:
            codes = {name: code for code, name in enumerate(own)}
        absent = is_missing(values)
        if self.missing in range(len(own)):
            absent |= values == own[int(self.missing)]
        coded = np.full(len(values), np.nan)
        for row in np.flatnonzero(~absent).tolist():
            code = codes.get(values[row])
            if code is not None:
                coded[row] = code
            elif not self.is_new_missing:
                raise InputError(f"the model does not know the category {values[row]!r}")
        return coded


def frame_columns(frame: Any) -> list[Any]:
    """Return the columns of a frame of pandas or polars."""
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, place] for place in range(frame.shape[1])]
    return [frame.get_column(name) for name in frame.columns]


def is_category(column: Any) -> bool:
    """Return whether a column of a frame has a type of categories."""
    return hasattr(column.dtype, "categories") or str(column.dtype).startswith("Categorical")


def categories_of(column: Any) -> Sequence[Any]:
    """Return the categories of a column, in the order of their codes."""
    kept = column.cat.categories if hasattr(column, "iloc") else column.cat.get_categories()
    return list(kept)


def frame_values(column: Any) -> NDArray[Any]:
    """Return the values of a frame's column as they are."""
    values = column.astype(object) if hasattr(column, "iloc") else column.to_list()
    made = np.empty(len(column), dtype=object)
    made[:] = values
    return made


def frame_numbers(column: Any) -> NDArray[np.float64]:
    """Return the numbers of a frame's column; what is missing is NaN."""
    try:
        if hasattr(column, "iloc"):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy()).astype(np.float64)
    except (TypeError, ValueError) as error:
        text = f"column {str(column.name)!r} has values that are no numbers: {error}"
        raise InputError(text) from None
