"""A decision list: the rules of a classifier in order, each with exact bounds; the first decides.

It is what all formats of rules for classes are written from. An input that has no place among the
levels of a column (a value missing that never was, a category that is not known) is decided by no
rule: then, and where no rule applies, the answer is `otherwise`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Literal, TypeAlias

from hornlens.errors import HornlensError

Scalar: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class ListColumn:
    """A column that the rules look at; `values` are those of categories, in order.

    `missing`: whether a missing value is one that the rules know.
    """

    name: str
    kind: Literal["number", "whole", "boolean", "category", "ordered"]
    values: tuple[Scalar, ...] = ()
    missing: bool = False

    @property
    def is_number(self) -> bool:
        """Whether conditions on it are bounds."""
        return self.kind in ("number", "whole")


@dataclass(frozen=True)
class ListCondition:
    """What a rule asks of one column: that it is missing, or known and within what is given.

    A number is `at_least` one bound, and `below` the other (whole numbers that no float holds are
    whole numbers); a category is among `values`. Where
    nothing is given, every value that is not missing will do.
    """

    column: int
    missing: bool = False
    at_least: float | None = None
    below: float | None = None
    values: tuple[Scalar, ...] = ()


@dataclass(frozen=True)
class ListRule:
    """Conditions, all of which must hold, and the class; `text` is the rule in words.

    `support` counts the rows of X that it speaks of, and `right` those that are of its class.
    """

    conditions: tuple[ListCondition, ...]
    label: Scalar
    text: str
    support: int
    right: int
    warrant: str


@dataclass(frozen=True)
class DecisionList:
    """The rules in the order in which they decide; `otherwise` (None: no class) where none does.

    `target` is the name of what is predicted, and `claim` what may be claimed of the rules.
    """

    model: str
    target: str
    claim: str
    classes: tuple[Scalar, ...]
    columns: tuple[ListColumn, ...]
    rules: tuple[ListRule, ...]
    otherwise: Scalar | None = None

    def __post_init__(self) -> None:
        """Refuse values that no format can write."""
        for column in self.columns:
            for text in (column.name, *column.values):
                _check(text, f"column {column.name!r}")
        for label in (self.target, *self.classes):
            _check(label, "the class")

    @cached_property
    def guarded(self) -> tuple[int, ...]:
        """The columns that have values of which the rules do not know: any, but for all there are.

        Of numbers, that is a missing one; of the others, also a value that is not among those.
        """
        return tuple(
            place
            for place, column in enumerate(self.columns)
            if not (column.is_number and column.missing)
        )


def _check(value: object, where: str) -> None:
    if not isinstance(value, str | int | float | bool):
        kind = type(value).__name__
        raise HornlensError(
            f"{where} has values of type {kind}, which cannot be exported: use text or numbers"
        )
    if isinstance(value, float) and not isfinite(value):
        raise HornlensError(f"{where} has the value {value}, which cannot be exported")
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise HornlensError(f"{where} has half of a character in {value!r}: no file can hold that")
