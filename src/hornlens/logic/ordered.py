"""Ordered attributes: intervals, whose meet is their hull."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite, isqrt
from typing import Any, ClassVar

import numpy as np

from hornlens.errors import InputError
from hornlens.logic.attributes import Places
from hornlens.logic.numbers import exact_number
from hornlens.logic.rule import Rule


@dataclass(frozen=True)
class Ordered:
    """An interval of ordered values: levels from low to high, or numbers cut into bins.

    Between neighbouring values lies a cut, with two variables: above it, below it. An interval says
    that it is above some cuts and below others; the whole range says nothing.

    >>> size = Ordered("size", ("small", "medium", "large"))
    >>> size.variables
    ('size ≥ medium', 'size ≥ large', 'size ≤ small', 'size ≤ medium')
    >>> size.describe(0b1001)
    'size = medium'
    >>> Ordered.cut("age", ("30", "60")).describe(0b1001)
    '30 ≤ age < 60'

    A cut is shown by its text; `at` has its exact number, from which on a value lies above it.
    `after` has the places of the cuts whose texts name the last number below, and not the first
    one above: the thresholds of trees are written so.

    >>> Ordered.cut("age", ("22.5",), at=(22.50000095367432,), after=(0,)).variables
    ('age > 22.5', 'age ≤ 22.5')

    With `missing`, there may be no value, which is a value of its own: whatever has an interval is
    known.

    >>> Ordered.cut("age", ("30",), missing=True).variables
    ('age ≥ 30', 'age < 30', 'age is known', 'age is missing')
    """

    describes_itself: ClassVar[bool] = True
    name: str
    levels: tuple[str, ...]
    cuts: tuple[str, ...] | None = None
    at: tuple[float, ...] | None = None
    after: tuple[int, ...] = ()
    missing: bool = False

    @classmethod
    def cut(
        cls,
        name: str,
        cuts: Sequence[str],
        *,
        at: Sequence[float] | None = None,
        after: Iterable[int] = (),
        missing: bool = False,
    ) -> Ordered:
        """Return a number's attribute: its values are the bins between the cuts.

        The numbers in `at` give the order; without them, the texts of the cuts do.
        """
        behind = tuple(sorted(set(after)))
        below = [f"{'≤' if place in behind else '<'} {cut}" for place, cut in enumerate(cuts)]
        last = f"{'>' if len(cuts) - 1 in behind else '≥'} {cuts[-1]}" if cuts else ""
        exact = None if at is None else tuple(map(exact_number, at))
        return cls(name, (*below, last), tuple(cuts), exact, behind, missing)

    def __post_init__(self) -> None:
        """Refuse what has no order."""
        if self.cuts is not None:
            self._check_cuts(self.cuts)
        if len(self.levels) < 2 or len(set(self.levels)) < len(self.levels):
            raise InputError(f"attribute {self.name!r} needs two ordered values or more, all apart")

    def _check_cuts(self, cuts: tuple[str, ...]) -> None:
        try:
            numbers = tuple(float(cut) for cut in cuts)
        except ValueError:
            raise InputError(f"attribute {self.name!r}: a cut that is no number") from None
        if self.at is not None:
            if len(self.at) != len(cuts):
                raise InputError(f"attribute {self.name!r} needs a number for each of its cuts")
            numbers = self.at
        if (
            not numbers
            or not all(map(isfinite, numbers))
            or any(not a < b for a, b in pairwise(numbers))
        ):
            raise InputError(f"attribute {self.name!r} needs one cut or more, from low to high")
        if not all(place in range(len(cuts)) for place in self.after):
            raise InputError(f"attribute {self.name!r} has no cut at one of the places in 'after'")

    @property
    def _cuts(self) -> int:
        return len(self.levels) - 1

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables: "above" for each cut, then "below" for each cut; known, missing."""
        either = (f"{self.name} is known", f"{self.name} is missing") if self.missing else ()
        if self.cuts is not None:
            return (
                *(f"{self.name} {self._signs(i)[1]} {cut}" for i, cut in enumerate(self.cuts)),
                *(f"{self.name} {self._signs(i)[0]} {cut}" for i, cut in enumerate(self.cuts)),
                *either,
            )
        return (
            *(f"{self.name} ≥ {level}" for level in self.levels[1:]),
            *(f"{self.name} ≤ {level}" for level in self.levels[:-1]),
            *either,
        )

    def _signs(self, place: int) -> tuple[str, str]:
        """Return how values below a cut and above it compare with its text."""
        return ("≤", ">") if place in self.after else ("<", "≥")

    @property
    def _known(self) -> int:
        """What says that there is a value: nothing, where there always is one."""
        return 1 << 2 * self._cuts if self.missing else 0

    @property
    def _absent(self) -> int:
        """What says that there is none."""
        return 2 << 2 * self._cuts

    @property
    def _intervals(self) -> int:
        return len(self.levels) * (len(self.levels) + 1) // 2

    @property
    def count(self) -> int:
        """How many choices there are: the intervals, the whole range among them.

        The whole range says nothing, and so is unset; unless something may be missing.
        """
        return self._intervals + 2 * self.missing

    def choice(self, place: int) -> int:
        """Return an interval by its place: the widest first, and of one width from low to high.

        With missing values, unset stands before the intervals, and "missing" behind them.
        """
        if self.missing:
            if place in (0, self.count - 1):
                return self._absent if place else 0
            place -= 1
        shorter, low = _shape(place)
        return self.interval(low, low + self._cuts - shorter)

    def place(self, choice: int) -> int:
        """Return the place of a choice: the way back from `choice`; a KeyError if it is none."""
        return self._places[choice]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {choice: place for place, choice in enumerate(self.choices)}

    def interval(self, low: int, high: int) -> int:
        """Return the interval from one value to another, by their places among the levels."""
        above, below = (1 << low) - 1, (1 << (self._cuts - high)) - 1
        return above | below << (self._cuts + high) | self._known

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """All choices as masks of the attribute's own variables, in an order that goes up."""
        return tuple(self.choice(place) for place in range(self.count))

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The choices that leave nothing open: the single values, from low to high; missing."""
        values = tuple(self.interval(place, place) for place in range(len(self.levels)))
        return (*values, self._absent) if self.missing else values

    @property
    def rules_of_leaves(self) -> tuple[Rule, ...]:
        """The rules that every leaf obeys, beside those of all choices."""
        return ()

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that every choice obeys: above a cut, above all lower ones."""
        m = self._cuts
        above = [Rule(1 << b, 1 << a) for a, b in pairwise(range(m))]
        below = [Rule(1 << a, 1 << b) for a, b in pairwise(range(m, 2 * m))]
        known = [Rule(1 << i, self._known) for i in (0, 2 * m - 1)] if self.missing else []
        return (*above, *below, *known)

    @cached_property
    def exclusive(self) -> tuple[int, ...]:
        """Groups of variables of which every choice has at most one: above and below a cut."""
        either = (self._known | self._absent,) if self.missing else ()
        return (*(1 << i | 1 << (i + self._cuts) for i in range(self._cuts)), *either)

    def covers(self) -> Iterator[tuple[int, Places]]:
        """Yield, from the top down, each place that has others right above it, and these."""
        for shorter in reversed(range(self._cuts)):
            first = shorter * (shorter + 1) // 2 + self.missing
            for place in range(first, first + shorter + 1):
                yield place, slice(place + shorter + 1, place + shorter + 3)
        if self.missing:
            yield 0, np.array([1, self.count - 1])

    def above(self, place: int) -> Places:
        """Return the places of all choices that say at least what this one says."""
        if place == 0:
            return slice(None)
        if self.missing and place == self.count - 1:
            return slice(place, None)
        shorter, low = _shape(place - self.missing)
        inside = [
            np.arange(s * (s + 1) // 2 + low, s * (s + 1) // 2 + low + s - shorter + 1)
            for s in range(shorter, len(self.levels))
        ]
        return np.concatenate(inside) + int(self.missing)

    def describe(self, mask: int) -> str:
        """Return what a choice (not unset) says, as one condition."""
        m = self._cuts
        if self.missing:
            if mask & self._absent:
                return self.variables[-1]
            mask &= ~self._known  # which follows from an interval
            if not mask:
                return self.variables[-2]
        low = (
            mask & ((1 << m) - 1)
        ).bit_length()  # what lower cuts say follows, and may be left out
        high = ((mask >> m) & -(mask >> m)).bit_length() - 1 if mask >> m else m
        if self.cuts is not None:
            if low and high < m:
                first = "<" if low - 1 in self.after else "≤"
                return (
                    f"{self.cuts[low - 1]} {first} {self.name} "
                    f"{self._signs(high)[0]} {self.cuts[high]}"
                )
            return self.variables[low - 1] if low else self.variables[m + high]
        if low == high:
            return f"{self.name} = {self.levels[low]}"
        if low and high < m:
            return f"{self.levels[low]} ≤ {self.name} ≤ {self.levels[high]}"
        return self.variables[low - 1] if low else self.variables[m + high]

    def spans(self) -> list[list[int]]:
        """Return each choice's first and last value: one says another if it lies within it."""
        last = self._cuts
        spans = [
            [low, low + last - shorter] for shorter in range(last + 1) for low in range(shorter + 1)
        ]
        return [[0, last + 1], *spans, [last + 1, last + 1]] if self.missing else spans

    def as_json(self) -> dict[str, Any]:
        """Return the attribute as files have it."""
        either = {"missing": True} if self.missing else {}
        if self.cuts is None:
            return {"name": self.name, "levels": list(self.levels), **either}
        exact = {} if self.at is None else {"at": list(self.at)}
        after = {"after": list(self.after)} if self.after else {}
        return {"name": self.name, "cuts": list(self.cuts), **exact, **after, **either}


def _shape(place: int) -> tuple[int, int]:
    """Return by how much an interval is shorter than the whole range, and where it begins."""
    shorter = (isqrt(8 * place + 1) - 1) // 2
    return shorter, place - shorter * (shorter + 1) // 2
