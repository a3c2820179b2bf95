"""Where trees part the columns of X: each of their breaks, traced back to the last bit.

Scalers keep the order of a column, so each break has one place in the column itself: the least
number that is seen as it, or above. It is found by bisecting the numbers that a computer has, with
the pipeline's own arithmetic, so that it is exact, conversion to single precision included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.cuts import Cuts, number_text, rounded_text
from hornlens.logic.numbers import exact_number
from hornlens.targets.classifiers.columns import Column, Table, is_missing
from hornlens.targets.classifiers.pipelines import TreeModel

PARTS = np.uint64(16)
"""Into how many parts numbers are parted at a time, in search of a threshold."""


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
    for place, own in texts.items():
        if place not in model.direct and table.kinds[place] != "whole":
            texts[place] = _rounded(own, table.columns[place])
    for place, values in model.replaced.items():
        for value in values:
            for first, text in _just(value, table.kinds[place] == "whole"):
                texts.setdefault(place, {})[first] = text
    return {place: _cuts(own) for place, own in texts.items()}


def _rounded(values: Iterable[float], column: Column) -> dict[float, tuple[str, bool]]:
    """Return texts in few digits for cuts of a column that the trees see through other steps.

    Such cuts have all digits of a double: what scaling adds and rounds off, nobody wants to read.
    """
    values = sorted(values)
    numbers = np.sort(column[~is_missing(column)].astype(np.float64))
    ends = [-np.inf, *((low + high) / 2 for low, high in pairwise(values)), np.inf]
    return {
        value: rounded_text(value, numbers, low, high)
        for value, (low, high) in zip(values, pairwise(ends), strict=True)
    }


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
    wide = frozenset[int]() if model.trees.single else model.direct
    numbers_of = {
        place: _Numbers.of(table.columns[place], place in wide) for place in set(places.tolist())
    }
    slot = _slots(places)  # columns do not mix: each row has a probe in all of them
    depth = int(slot.max()) + 1

    def is_beyond(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say it of numbers in rows, a column for each that is wanted."""
        columns: list[Column] = []
        for place, value in enumerate(base):
            column = np.full((len(keys), depth), value, dtype=table.columns[place].dtype)
            if place in numbers_of:
                numbers, own = numbers_of[place], places == place
                probes = keys[:, own]
                for special in numbers.keys_of(model.replaced.get(place, frozenset())):
                    probes = np.where(probes == special, probes + 1, probes)
                column = column.astype(numbers.kind)
                column[:, slot[own]] = numbers.at(probes)
            columns.append(column.ravel())
        with np.errstate(over="ignore"):
            every = model.seen(table, columns)
        values = every.reshape(len(keys), depth, -1)[:, slot, seen].astype(np.float64)
        return np.asarray(values >= breaks)

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


def _slots(places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return of each place how many like it come before."""
    order = np.argsort(places, kind="stable")
    _, starts, counts = np.unique(places[order], return_index=True, return_counts=True)
    slots = np.empty(len(places), dtype=np.intp)
    slots[order] = np.arange(len(places)) - np.repeat(starts, counts)
    return slots


@dataclass(frozen=True)
class _Numbers:
    """The numbers that a column can have, as whole numbers in their order, without a gap: keys."""

    kind: np.dtype[Any]
    largest: float

    @classmethod
    def of(cls, column: Column, is_wide: bool) -> _Numbers:
        """Return those of a column of X; beyond single precision only if `is_wide`."""
        is_whole = column.dtype.kind in "iu"
        largest = float(np.finfo(np.float64 if is_wide else np.float32).max)
        return cls(column.dtype if is_whole else np.dtype(np.float64), largest)

    @property
    def bounds(self) -> tuple[int, int]:
        """The keys of the least and of the largest number."""
        if self.kind.kind in "iu":
            info = np.iinfo(self.kind)
            below = self._below
            return int(info.min) - below, int(info.max) - below
        low, high = _key(np.array([-self.largest, self.largest])).tolist()
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
