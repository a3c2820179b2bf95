"""Cuts: where a column of numbers is cut into bins, and how an interval of bins is said.

A number lies above a cut if it is the cut's value or more. So bins are [30, 60), and n cuts make
n + 1 of them. What is shown of a cut is a text of its own: the value, or the number before it where
people expect "30 < age ≤ 60", as the thresholds of decision trees are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from math import ceil, floor, inf, isfinite

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.logic.numbers import LARGEST_EXACT, exact_number
from hornlens.logic.ordered import Ordered

Numbers = NDArray[np.float64]
ROUNDED = 1e-6
"""By which share of a threshold its text may be off, where no row tells the two apart."""


@dataclass(frozen=True)
class Cuts:
    """The cuts of a column, from low to high, and their texts.

    `after` has the places of cuts whose texts name the last number below, and not the first above.

    >>> cuts = Cuts.at([30, 60])
    >>> cuts.places([29, 30, 59.5, 60]).tolist()
    [0, 1, 1, 2]
    >>> [cuts.say("age", 0, 0), cuts.say("age", 1, 1), cuts.say("age", 1, 2)]
    ['age < 30', '30 ≤ age < 60', 'age ≥ 30']
    """

    values: tuple[float, ...]
    texts: tuple[str, ...]
    after: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        """Refuse what is no row of numbers that goes up."""
        if not all(map(isfinite, self.values)) or any(a >= b for a, b in pairwise(self.values)):
            raise InputError(f"cuts must be numbers from low to high, not {list(self.values)}")
        if len(self.texts) != len(self.values):
            raise InputError("every cut needs a text")

    @classmethod
    def at(cls, values: Iterable[float]) -> Cuts:
        """Return cuts shown as they are: below 30, from 30 on. Equal ones are one."""
        chosen = tuple(sorted({exact_number(value) for value in values}))
        return cls(chosen, tuple(map(number_text, chosen)))

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.values) + 1

    def places(self, numbers: Iterable[float] | Numbers) -> NDArray[np.intp]:
        """Return the place of the bin that each number lies in; NaN lies in none (see caller).

        Whole numbers are compared as such, where a cut is more than a float can hold.
        """
        given = np.asarray(numbers)
        if given.dtype.kind in "iu" and any(abs(v) > LARGEST_EXACT for v in self.values):
            exact = np.array([ceil(value) for value in self.values], dtype=object)
            if given.dtype != np.uint64 and all(abs(value) < 1 << 63 for value in exact):
                exact = exact.astype(np.int64)
            return np.searchsorted(exact, given.astype(exact.dtype), side="right")
        floats = np.array(self.values, dtype=np.float64)
        return np.searchsorted(floats, given.astype(np.float64), side="right")

    def say(self, name: str, low: int, high: int) -> str:
        """Return the interval from one bin to another (both in it) as one condition."""
        first = self.texts[low - 1] if low else None
        last = self.texts[high] if high < len(self.values) else None
        below = "≤" if high in self.after else "<"
        if first is None and last is None:
            return f"{name} is any number"
        if first is None:
            return f"{name} {below} {last}"
        if last is None:
            return f"{name} {'>' if low - 1 in self.after else '≥'} {first}"
        return f"{first} {'<' if low - 1 in self.after else '≤'} {name} {below} {last}"

    def with_cuts(self, more: Cuts) -> Cuts:
        """Return the cuts of both; of two at one place, or that are shown alike, this one's."""
        own = {(text, place in self.after) for place, text in enumerate(self.texts)}
        new = [i for i, t in enumerate(more.texts) if (t, i in more.after) not in own]
        more = Cuts(
            tuple(more.values[i] for i in new),
            tuple(more.texts[i] for i in new),
            frozenset(at for at, i in enumerate(new) if i in more.after),
        )
        shown = {v: (t, i in c.after) for c in (more, self) for i, (v, t) in enumerate(c.pairs)}
        values = tuple(sorted(shown))
        after = frozenset(place for place, value in enumerate(values) if shown[value][1])
        return Cuts(values, tuple(shown[value][0] for value in values), after)

    @classmethod
    def merged(cls, every: Iterable[Cuts]) -> Cuts:
        """Return the cuts of all: each bin lies in one bin of each.

        Two that are shown alike, and are not the same, are shown in all digits.
        """
        cuts: dict[float, tuple[str, bool]] = {}
        for each in every:
            for place, (value, text) in enumerate(each.pairs):
                cuts.setdefault(value, (text, place in each.after))
        values = sorted(cuts)
        texts = Counter(cuts.values())
        apart = [
            cuts[value] if texts[cuts[value]] == 1 else (number_text(value), False)
            for value in values
        ]
        after = frozenset(place for place, (_, is_after) in enumerate(apart) if is_after)
        return cls(tuple(values), tuple(text for text, _ in apart), after)

    @property
    def rounded(self) -> bool:
        """Whether a text is not the number that it stands for, in single or full precision."""
        rows = enumerate(zip(self.values, self.texts, strict=True))
        return not all(_is_exact(value, text, place in self.after) for place, (value, text) in rows)

    @property
    def pairs(self) -> list[tuple[float, str]]:
        """The cuts with their texts."""
        return list(zip(self.values, self.texts, strict=True))

    def ordered(self, name: str, missing: bool = False) -> Ordered:
        """Return the attribute of a space whose intervals are those of these bins."""
        return Ordered.cut(name, self.texts, at=self.values, after=self.after, missing=missing)


def _is_exact(value: float, text: str, is_after: bool) -> bool:
    """Return whether a cut is the number that is shown, or the first one above that."""
    if text == number_text(value) and not is_after:
        return True
    number = float(text)
    if not is_after:
        single, before = np.float32(value), np.float32(np.nextafter(value, -inf))
        return str(single).removesuffix(".0") == text and bool(single > before)
    single = np.float32(number)
    if number == float(str(single)) and np.float32(value) > single:
        return bool(single >= np.float32(np.nextafter(value, -inf)))
    return bool(value == np.nextafter(number, inf))


def number_text(value: float) -> str:
    """Return a number in the fewest digits that read back as it: 30, 0.1, 1e+20."""
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if abs(value) < 1e16 and value == floor(value) else repr(float(value))


def rounded_text(
    value: float, numbers: Numbers, low: float = -inf, high: float = inf
) -> tuple[str, bool]:
    """Return a cut in the fewest digits that change nothing among `numbers`, from low to high.

    With it comes whether a number below the cut is shown: "x > 54". The number that is shown is
    itself decided as the text says. It lies between `low` and `high`, and is off by at most a
    millionth of the cut; none of the numbers lies between it and the cut. If no shorter text does
    so, all digits are shown.

    >>> numbers = np.array([18.0, 22.0, 23.0, 41.0])
    >>> rounded_text(22.499999701976776, numbers), rounded_text(22.999999999, numbers)
    (('22.5', False), ('23', False))
    >>> rounded_text(23.000000001, numbers), rounded_text(22.500000001, numbers)
    (('23', True), ('22.5', True))
    """
    below = np.searchsorted(numbers, value)
    for digits in range(1, 17):
        shown = float(f"{value:.{digits}g}")
        if abs(shown - value) > ROUNDED * abs(value) or not low < shown < high:
            continue
        if shown >= value and np.searchsorted(numbers, shown) == below:
            return number_text(shown), False
        if shown < value and np.searchsorted(numbers, shown, side="right") == below:
            return number_text(shown), True
    return number_text(value), False


def uniform_cuts(numbers: Sequence[float] | Numbers, bins: int) -> Cuts:
    """Return cuts that make so many bins of one width between the least and the largest number.

    They are said as shortly as they can be without a number changing its bin.
    """
    known = _known(numbers)
    if not len(known):
        return Cuts.at([])
    edges = np.linspace(known[0], known[-1], _checked(bins) + 1)[1:-1]
    return Cuts.at(_short(known, edges))


def quantile_cuts(numbers: Sequence[float] | Numbers, bins: int) -> Cuts:
    """Return cuts that put about as many of the numbers into each of at most so many bins.

    Where many numbers are equal there are fewer bins. If the least number is so common that it
    fills a bin, the cut is right above it. They are said as shortly as they can be without a number
    changing its bin.
    """
    known = _known(numbers)
    if not len(known):
        return Cuts.at([])
    edges = np.quantile(known, np.linspace(0, 1, _checked(bins) + 1)[1:-1])
    others = known[known > known[0]]
    if len(others):
        edges = np.where(edges == known[0], others[0], edges)
    return Cuts.at(_short(known, edges))


def _checked(bins: int) -> int:
    if not isinstance(bins, int | np.integer) or isinstance(bins, bool) or bins < 1:
        raise InputError(f"the number of bins must be 1 or more, not {bins!r}")
    return int(bins)


def _known(numbers: Sequence[float] | Numbers) -> Numbers:
    """Return the finite ones, from low to high."""
    given = np.asarray(numbers, dtype=np.float64)
    return np.sort(given[np.isfinite(given)])


def _short(known: Numbers, edges: Numbers) -> list[float]:
    """Return cuts in few digits that part the numbers as `edges` do; those that part none go."""
    cuts = []
    for edge in edges.tolist():
        place = int(np.searchsorted(known, edge, side="left"))
        if 0 < place < len(known):
            cuts.append(shortest_between(float(known[place - 1]), float(known[place])))
    return cuts


def shortest_between(low: float, high: float) -> float:
    """Return a number in few digits that is more than `low` and at most `high`.

    >>> shortest_between(4.8712, 5.21), shortest_between(29, 30), shortest_between(-3, 2)
    (5.0, 30.0, 0.0)
    """
    if low < 0 <= high:
        return 0.0
    top = Decimal(repr(high))  # as it is written: 5.1, and not 5.0999999999999996
    first = max(top.adjusted() if high else Decimal(low).adjusted(), Decimal(low).adjusted()) + 1
    for exponent in range(first, first - 19, -1):
        whole = top.scaleb(-exponent).to_integral_value(ROUND_FLOOR)
        candidate = float(whole.scaleb(exponent))
        if low < candidate <= high:
            return candidate
    return high
