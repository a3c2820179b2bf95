"""Conditions about one column, and what "and", "or" and "not" make of them.

A comparison is never met by a missing value; `Not` is what is left, missing values included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from hornlens.errors import InputError
from hornlens.logic.numbers import LARGEST_EXACT, exact_number

Sign = Literal["<", "≤", ">", "≥", "="]
TURNED: dict[Sign, Sign] = {"<": ">", "≤": "≥", ">": "<", "≥": "≤", "=": "="}
_WHOLE = re.compile(r"[-+]?\d+")
_PLAIN = re.compile(r"[^\W\d][\w.]*|-?\d[\w.+-]*")
KEYWORDS = frozenset({"and", "or", "not", "in", "is", "true", "false", "where"})


@dataclass(frozen=True)
class Condition:
    """What is asked of one column: a comparison, or that it is missing or known."""

    name: str
    sign: Sign | Literal["missing", "known"]
    value: str = ""

    @property
    def number(self) -> float:
        """The value as a number; a text that is none is an InputError.

        A whole number that no float holds is an `int`.
        """
        try:
            number = float(self.value)
            if abs(number) >= LARGEST_EXACT and _WHOLE.fullmatch(self.value.strip()):
                return exact_number(int(self.value))
        except ValueError:
            number = np.nan
        if not np.isfinite(number):
            raise InputError(f"column {self.name!r} has numbers, and {self.value!r} is none")
        return number

    def __str__(self) -> str:
        """Return it as it is read back."""
        name = quoted(self.name)
        if self.sign in ("missing", "known"):
            return f"{name} is {self.sign}"
        return f"{name} {self.sign} {quoted(self.value)}"


@dataclass(frozen=True)
class OfClass:
    """That the model's class is this one."""

    label: str

    def __str__(self) -> str:
        """Return it as it is read back."""
        return quoted(self.label)


@dataclass(frozen=True)
class OfValue:
    """That the number which the model predicts meets a comparison."""

    condition: Condition

    def __str__(self) -> str:
        """Return it as it is read back."""
        return str(self.condition)


@dataclass(frozen=True)
class Not:
    """That something is not so."""

    inner: Expression

    def __str__(self) -> str:
        """Return it as it is read back."""
        return f"not ({self.inner})"


@dataclass(frozen=True)
class Both:
    """That all parts are so; without parts, it always is."""

    parts: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        """Return it as it is read back."""
        return _joined(self.parts, " ∧ ", "⊤")


@dataclass(frozen=True)
class Either:
    """That some part is so; without parts, it never is."""

    parts: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        """Return it as it is read back."""
        return _joined(self.parts, " or ", "⊥")


Expression: TypeAlias = Condition | OfClass | OfValue | Not | Both | Either


@dataclass(frozen=True)
class ParsedRule:
    """What is given, and what follows from it; `Either()` follows where it never occurs."""

    given: Expression
    follows: Expression

    @property
    def exceptions(self) -> Expression:
        """What breaks the rule."""
        return Both((self.given, Not(self.follows)))

    def __str__(self) -> str:
        """Return it as it is read back."""
        return f"{self.given} → {self.follows}"


def atoms(expression: Expression) -> Iterator[Condition | OfClass | OfValue]:
    """Yield the conditions and classes that an expression is made of."""
    if isinstance(expression, Not):
        yield from atoms(expression.inner)
    elif isinstance(expression, Both | Either):
        for part in expression.parts:
            yield from atoms(part)
    else:
        yield expression


def conditions_in(*expressions: Expression) -> tuple[Condition, ...]:
    """Return the conditions about columns that expressions are made of."""
    every = (atom for expression in expressions for atom in atoms(expression))
    return tuple(atom for atom in every if isinstance(atom, Condition))


def replaced(expression: Expression, change: Callable[[Condition], Expression]) -> Expression:
    """Return an expression in which each condition is what `change` makes of it."""
    if isinstance(expression, Not):
        return Not(replaced(expression.inner, change))
    if isinstance(expression, Both | Either):
        return type(expression)(tuple(replaced(part, change) for part in expression.parts))
    return change(expression) if isinstance(expression, Condition) else expression


def quoted(text: str) -> str:
    """Return a name or a value as text has it: in quotes, unless it is one plain word."""
    if _PLAIN.fullmatch(text) and text.lower() not in KEYWORDS:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _joined(parts: tuple[Expression, ...], sign: str, empty: str) -> str:
    if not parts:
        return empty
    if len(parts) == 1:
        return str(parts[0])
    texts = (f"({p})" if isinstance(p, Both | Either) and p.parts else str(p) for p in parts)
    return sign.join(texts)
