"""Periods of birth: bounds that cut the years, and how a period is named and said."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import inf

from hornlens.errors import InputError

DEFAULT_PERIODS = 5


@dataclass(frozen=True)
class Periods:
    """Periods between increasing bounds; a year on a bound belongs to the later period.

    Years are numbered as ISO 8601 does it: 1 BC is the year 0, 44 BC the year -43.

    >>> periods = Periods((1875, 1925))
    >>> periods.names
    ('before 1875', '1875-1925', 'after 1925')
    >>> periods.texts[1], periods.of(1875), periods.of(None)
    ('between 1875 and 1925', '1875-1925', '')
    """

    bounds: tuple[int, ...]
    method: str = "given"

    def __post_init__(self) -> None:
        """Refuse bounds that do not increase, and none at all."""
        if not self.bounds:
            raise InputError("periods need at least one bound")
        for before, after in pairwise(self.bounds):
            if before >= after:
                raise InputError(
                    f"the bounds of periods must increase, but {after} comes after {before}"
                )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The periods' names in rules, earliest first."""
        return self._between("{}-{}")

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """How the periods are said in a sentence."""
        return self._between("between {} and {}")

    def _between(self, form: str) -> tuple[str, ...]:
        years = [year_text(year) for year in self.bounds]
        inner = (form.format(*pair) for pair in pairwise(years))
        return (f"before {years[0]}", *inner, f"after {years[-1]}")

    def of(self, year: int | None) -> str:
        """Return the name of the period that a year falls in; empty for an unknown year."""
        return "" if year is None else self.names[bisect_right(self.bounds, year)]


def year_text(year: int) -> str:
    """Return a year as people write it.

    >>> year_text(1875), year_text(0), year_text(-43)
    ('1875', '1 BC', '44 BC')
    """
    return str(year) if year > 0 else f"{1 - year} BC"


def equal_frequency(years: Mapping[int, int], count: int) -> Periods:
    """Return `count` periods with as equal numbers of people as whole years allow.

    `years` gives the number of people born in each. Of all bounds, those are taken whose numbers of
    people born before them differ least, in sum, from the wanted k/count of all; the earliest such
    bounds if several do. Every bound is a year in which someone was born, and no period is empty.
    """
    if count < 2:
        raise InputError(f"at least 2 periods are needed, not {count}")
    born = sorted(year for year, people in years.items() if people)
    if len(born) < count:
        raise InputError(
            f"{len(born)} distinct birth years cannot be cut into {count} periods: "
            "ask for fewer with --periods, or give the bounds with --bounds"
        )
    people_before = [0, *accumulate(years[year] for year in born)]
    everyone = people_before[-1]

    def cost(k: int, j: int) -> int:
        return abs(people_before[j] * count - k * everyone)

    # least[k][j]: the least cost of the bounds k, k + 1, … where bound k is born[j] or later.
    least: list[list[float]] = [[0.0] * (len(born) + 1) for _ in range(count + 1)]
    for k in range(count - 1, 0, -1):
        least[k][-1] = inf
        for j in range(len(born) - 1, 0, -1):
            least[k][j] = min(least[k][j + 1], cost(k, j) + least[k + 1][j + 1])
    bounds, j = [], 1
    for k in range(1, count):
        while cost(k, j) + least[k + 1][j + 1] > least[k][j]:
            j += 1
        bounds.append(born[j])
        j += 1
    return Periods(tuple(bounds), "equal frequency")
