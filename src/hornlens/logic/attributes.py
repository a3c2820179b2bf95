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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.logic.bits import bits
from hornlens.logic.rule import Rule

if TYPE_CHECKING:
    from hornlens.logic.ordered import Ordered
    from hornlens.logic.taxonomy import Taxonomy

Attribute: TypeAlias = "Nominal | Ordered | Taxonomy"
Places: TypeAlias = slice | NDArray[np.intp]
"""Some choices, by their places in the order of `choices`."""


@dataclass(frozen=True)
class Nominal:
    """At most one of its values, which are its variables. With one value: a plain variable.

    >>> work = Nominal("work", ("nurse", "priest"))
    >>> work.choices, work.exclusive
    ((0, 1, 2), (3,))
    """

    describes_itself: ClassVar[bool] = False
    """Whether `describe` names the attribute as well."""
    name: str
    variables: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a text in the place of a list of values."""
        if isinstance(self.variables, str):
            raise InputError(f"attribute {self.name!r} needs a list of values, not one text")

    @property
    def count(self) -> int:
        """How many choices there are, unset among them."""
        return len(self.variables) + 1

    def choice(self, place: int) -> int:
        """Return a choice by its place: unset first, then the values in order."""
        return 1 << place >> 1

    def place(self, choice: int) -> int:
        """Return the place of a choice: the way back from `choice`; a KeyError if it is none."""
        if choice & (choice - 1) or choice >> len(self.variables):
            raise KeyError(choice)
        return choice.bit_length()

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """All choices as masks of the attribute's own variables, in an order that goes up."""
        return tuple(self.choice(place) for place in range(self.count))

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The choices that leave nothing open: the values; with one value, that it is not so, too.

        A cell of a complete space has one of them.
        """
        return self.choices[1:] if len(self.variables) > 1 else self.choices

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that every choice obeys, beside `exclusive`."""
        return ()

    @property
    def rules_of_leaves(self) -> tuple[Rule, ...]:
        """The rules that every leaf obeys, beside those of all choices."""
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

    def spans(self) -> None:
        """Return nothing: each choice stands alone, and says itself only."""

    def as_json(self) -> dict[str, Any]:
        """Return the attribute as files have it."""
        return {"name": self.name, "values": list(self.variables)}
