"""Attributes: what can be said of one thing, as sets of variables that are closed under meets.

An attribute is a finite meet-semilattice. Its elements are its *choices*: what can be said of it,
from nothing (unset) upwards; a choice that says more has more variables. What two choices have in
common, their intersection, is again a choice:

- *nominal*: one of its values, or unset: two values have nothing in common;
- *ordered*: an interval, and the meet of two is their hull: so one interval is one condition, "at
  least 30" beside "below 60", and not a heap of bins;
- *taxonomy*: a node of a tree with all above it, and the meet of two is their common ancestor: what
  holds of Germany and of France may hold of Europe.

Each costs what it is: variables, rules and groups are linear in the number of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.logic.bits import bits
from hornlens.logic.rule import Rule

Places: TypeAlias = slice | NDArray[np.intp]
"""Some choices, by their places in the order of `choices`."""


@dataclass(frozen=True)
class Nominal:
    """At most one of its values, which are its variables. With one value: a plain variable.

    >>> work = Nominal("work", ("nurse", "priest"))
    >>> work.choices, work.exclusive
    ((0, 1, 2), (3,))
    """

    name: str
    variables: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many choices there are, unset among them."""
        return len(self.variables) + 1

    def choice(self, place: int) -> int:
        """Return a choice by its place: unset first, then the values in order."""
        return 1 << place >> 1

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """All choices as masks of the attribute's own variables, in an order that goes up."""
        return tuple(self.choice(place) for place in range(self.count))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that every choice obeys, beside `exclusive`."""
        return ()

    @cached_property
    def exclusive(self) -> tuple[int, ...]:
        """Groups of variables of which every choice has at most one."""
        return ((1 << len(self.variables)) - 1,) if len(self.variables) > 1 else ()

    def covers(self) -> Iterator[tuple[int, Places]]:
        """Yield, from the top down, each place that has others right above it, and these."""
        if self.variables:
            yield 0, slice(1, None)

    def above(self, place: int) -> Places:
        """Return the places of all choices that say at least what this one says."""
        return slice(place, place + 1) if place else slice(None)

    def describe(self, mask: int) -> str:
        """Return what a choice (not unset) says, as one condition."""
        return " ∧ ".join(self.variables[i] for i in bits(mask))


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
    """

    name: str
    levels: tuple[str, ...]
    cuts: tuple[str, ...] | None = None

    @classmethod
    def cut(cls, name: str, cuts: Sequence[str]) -> Ordered:
        """Return a number's attribute: its values are the bins between the cuts."""
        return cls(name, (*(f"< {cut}" for cut in cuts), f"≥ {cuts[-1]}"), tuple(cuts))

    def __post_init__(self) -> None:
        """Refuse what has no order."""
        if len(self.levels) < 2:
            raise InputError(f"attribute {self.name!r} needs two ordered values or more")

    @property
    def _cuts(self) -> int:
        return len(self.levels) - 1

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables: "above" for each cut, then "below" for each cut."""
        if self.cuts is not None:
            return (
                *(f"{self.name} ≥ {cut}" for cut in self.cuts),
                *(f"{self.name} < {cut}" for cut in self.cuts),
            )
        return (
            *(f"{self.name} ≥ {level}" for level in self.levels[1:]),
            *(f"{self.name} ≤ {level}" for level in self.levels[:-1]),
        )

    @property
    def count(self) -> int:
        """How many intervals there are, the whole range among them."""
        return len(self.levels) * (len(self.levels) + 1) // 2

    def choice(self, place: int) -> int:
        """Return an interval by its place: the widest first, and of one width from low to high."""
        shorter = (isqrt(8 * place + 1) - 1) // 2
        low = place - shorter * (shorter + 1) // 2
        return self.interval(low, low + self._cuts - shorter)

    def interval(self, low: int, high: int) -> int:
        """Return the interval from one value to another, by their places among the levels."""
        above, below = (1 << low) - 1, (1 << (self._cuts - high)) - 1
        return above | below << (self._cuts + high)

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """All choices as masks of the attribute's own variables, in an order that goes up."""
        return tuple(self.choice(place) for place in range(self.count))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that every choice obeys: above a cut, above all lower ones."""
        m = self._cuts
        above = [Rule(1 << b, 1 << a) for a, b in pairwise(range(m))]
        return (*above, *(Rule(1 << a, 1 << b) for a, b in pairwise(range(m, 2 * m))))

    @cached_property
    def exclusive(self) -> tuple[int, ...]:
        """Groups of variables of which every choice has at most one: above and below a cut."""
        return tuple(1 << i | 1 << (i + self._cuts) for i in range(self._cuts))

    def covers(self) -> Iterator[tuple[int, Places]]:
        """Yield, from the top down, each place that has others right above it, and these."""
        for shorter in reversed(range(self._cuts)):
            first = shorter * (shorter + 1) // 2
            for place in range(first, first + shorter + 1):
                yield place, slice(place + shorter + 1, place + shorter + 3)

    def above(self, place: int) -> Places:
        """Return the places of all choices that say at least what this one says."""
        shorter = (isqrt(8 * place + 1) - 1) // 2
        low = place - shorter * (shorter + 1) // 2
        inside = [
            np.arange(s * (s + 1) // 2 + low, s * (s + 1) // 2 + low + s - shorter + 1)
            for s in range(shorter, len(self.levels))
        ]
        return slice(None) if place == 0 else np.concatenate(inside)

    def describe(self, mask: int) -> str:
        """Return what a choice (not unset) says, as one condition."""
        m = self._cuts
        low = (
            mask & ((1 << m) - 1)
        ).bit_length()  # what lower cuts say follows, and may be left out
        high = ((mask >> m) & -(mask >> m)).bit_length() - 1 if mask >> m else m
        if self.cuts is not None:
            if low and high < m:
                return f"{self.cuts[low - 1]} ≤ {self.name} < {self.cuts[high]}"
            return self.variables[low - 1] if low else self.variables[m + high]
        if low == high:
            return f"{self.name} = {self.levels[low]}"
        if low and high < m:
            return f"{self.levels[low]} ≤ {self.name} ≤ {self.levels[high]}"
        return self.variables[low - 1] if low else self.variables[m + high]


@dataclass(frozen=True)
class Taxonomy:
    """A node of a forest: what is said of it is said with all that stands above it.

    `parents` has for each value the one it stands under, or None; parents come before children.

    >>> place = Taxonomy("place", ("Europe", "Germany", "France", "Asia"), (None, 0, 0, None))
    >>> place.choices
    (0, 1, 3, 5, 8)
    >>> place.describe(0b0011)
    'Germany'
    """

    name: str
    variables: tuple[str, ...]
    parents: tuple[int | None, ...]

    @classmethod
    def of(cls, name: str, tree: Sequence[tuple[str, str | None]]) -> Taxonomy:
        """Return the taxonomy of (value, parent) pairs; parents come before their children."""
        place = {value: i for i, (value, _) in enumerate(tree)}
        for value, up in tree:
            if up is not None and up not in place:
                raise InputError(f"attribute {name!r}: {value!r} stands under no value, {up!r}")
        parents = tuple(None if up is None else place[up] for _, up in tree)
        return cls(name, tuple(value for value, _ in tree), parents)

    def __post_init__(self) -> None:
        """Refuse what is no forest."""
        if len(self.parents) != len(self.variables):
            raise InputError(f"attribute {self.name!r} needs a parent, or None, for each value")
        for i, parent in enumerate(self.parents):
            if parent is not None and not 0 <= parent < i:
                raise InputError(
                    f"attribute {self.name!r}: {self.variables[i]!r} stands before what is above it"
                )

    @property
    def count(self) -> int:
        """How many choices there are, unset among them."""
        return len(self.variables) + 1

    @cached_property
    def _children(self) -> dict[int | None, list[int]]:
        children: dict[int | None, list[int]] = {}
        for node, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(node)
        return children

    @cached_property
    def _preorder(self) -> tuple[list[int], dict[int, int]]:
        """The nodes so that what is under one follows it; and for each how many are in its part."""
        order: list[int] = []
        agenda = list(reversed(self._children.get(None, [])))
        while agenda:
            node = agenda.pop()
            order.append(node)
            agenda += reversed(self._children.get(node, []))
        size = dict.fromkeys(order, 1)
        for node in reversed(order):
            parent = self.parents[node]
            if parent is not None:
                size[parent] += size[node]
        return order, size

    def choice(self, place: int) -> int:
        """Return a choice by its place: unset first, then the nodes in preorder."""
        return self.choices[place]

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """All choices as masks of the attribute's own variables, in an order that goes up."""
        masks: dict[int | None, int] = {None: 0}
        for node in self._preorder[0]:
            masks[node] = masks[self.parents[node]] | 1 << node
        return tuple(masks.values())

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that every choice obeys: each value implies the one above it."""
        return tuple(
            Rule(1 << node, 1 << parent)
            for node, parent in enumerate(self.parents)
            if parent is not None
        )

    @cached_property
    def exclusive(self) -> tuple[int, ...]:
        """Groups of variables of which every choice has at most one: those side by side."""
        groups = (sum(1 << node for node in side) for side in self._children.values())
        return tuple(group for group in groups if group & (group - 1))

    def covers(self) -> Iterator[tuple[int, Places]]:
        """Yield, from the top down, each place that has others right above it, and these."""
        order, _ = self._preorder
        place_of: dict[int | None, int] = {node: i for i, node in enumerate(order, start=1)}
        place_of[None] = 0
        for node in (*reversed(order), None):
            if under := self._children.get(node):
                yield place_of[node], np.array([place_of[child] for child in under])

    def above(self, place: int) -> Places:
        """Return the places of all choices that say at least what this one says."""
        if place == 0:
            return slice(None)
        order, size = self._preorder
        return slice(place, place + size[order[place - 1]])

    def describe(self, mask: int) -> str:
        """Return what a choice (not unset) says, as one condition: its most special value."""
        return self.variables[mask.bit_length() - 1]


Attribute: TypeAlias = Nominal | Ordered | Taxonomy
