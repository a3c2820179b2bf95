"""Conditions about columns, as people write them: ``age < 25 and priors >= 3 -> recid``.

Read are < <= > >= = == is, chains (``30 <= age < 60``), ``in``-free plain names of Boolean columns,
``not name``, ``name is missing``; joined by and, &, ∧. What is shown of a rule is read back as it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hornlens.errors import InputError
from hornlens.logic.numbers import LARGEST_EXACT, exact_number

Sign = Literal["<", "≤", ">", "≥", "="]
SIGNS: dict[str, Sign] = {
    "<=": "≤",
    "≤": "≤",
    ">=": "≥",
    "≥": "≥",
    "==": "=",
    "=": "=",
    "<": "<",
    ">": ">",
}
TURNED: dict[Sign, Sign] = {"<": ">", "≤": "≥", ">": "<", "≥": "≤", "=": "="}
_SIGN = re.compile(r"\s*(<=|>=|==|≤|≥|<|>|=)\s*")
_WHOLE = re.compile(r"[-+]?\d+")
_ARROW = re.compile(r"->|→|=>")
_AND = re.compile(r"\s+and\s+|\s*&\s*|\s*∧\s*", re.IGNORECASE)


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
            found = float(self.value)
            if abs(found) >= LARGEST_EXACT and _WHOLE.fullmatch(self.value.strip()):
                return exact_number(int(self.value))
        except ValueError:
            found = np.nan
        if not np.isfinite(found):
            raise InputError(f"column {self.name!r} has numbers, and {self.value!r} is none")
        return found


@dataclass(frozen=True)
class ParsedRule:
    """Conditions and what follows: a class; with `negated`, that it is not this class.

    Without a class (None) the conditions never occur together.
    """

    conditions: tuple[Condition, ...]
    label: str | None
    negated: bool = False


def parse_rule(text: str, names: Sequence[str], target: str = "class") -> ParsedRule:
    """Return the rule that a text says of columns with these names."""
    sides = _ARROW.split(_protected(text, names))
    if len(sides) != 2 or not sides[1].strip():
        raise InputError(
            f'not a rule: {text!r}; write "age < 25 and priors >= 3 -> yes" with a class behind ->'
        )
    conditions = parse_conditions(sides[0], names)
    right = _back(sides[1].strip(), names)
    negated = False
    for begin in (f"{target} ", "class "):
        if right.lower().startswith(begin.lower()) and _SIGN.match(right[len(begin) - 1 :]):
            right = right[len(begin) - 1 :].strip()
            break
    if found := re.match(r"(?:≠|!=)\s*(.+)", right):
        negated, right = True, found[1]
    elif found := re.match(r"={1,2}\s*(.+)", right):
        right = found[1]
    elif found := re.match(r"not\s+(.+)", right):
        negated, right = True, found[1]
    if right.lower() in ("⊥", "false") and not negated:
        return ParsedRule(conditions, None if right == "⊥" else right)
    return ParsedRule(conditions, right.strip('"'), negated)


def parse_conditions(text: str, names: Sequence[str]) -> tuple[Condition, ...]:
    """Return the conditions that a text says, joined by "and"."""
    whole = _protected(text, names).strip()
    if whole.lower() in ("", "true", "⊤"):
        return ()
    return tuple(
        condition for part in _AND.split(whole) for condition in _parse_one(part, names, text)
    )


def _protected(text: str, names: Sequence[str]) -> str:
    """Return a text in which every name of a column stands as one word, for it may have signs."""
    places = sorted(range(len(names)), key=lambda place: -len(names[place]))
    for place in places:
        name = names[place]
        pattern = rf"(?<![\w\x00]){re.escape(name)}(?![\w\x01])"
        text = re.sub(pattern, f"\x00{place}\x01", text)
    return text


def _back(text: str, names: Sequence[str]) -> str:
    return re.sub(r"\x00(\d+)\x01", lambda found: names[int(found[1])], text)


def _parse_one(part: str, names: Sequence[str], text: str) -> list[Condition]:
    pieces = _SIGN.split(part.strip())
    shown = _back(part.strip(), names)
    if len(pieces) == 1:
        return [_plain(part.strip(), names, text)]
    if len(pieces) == 5:  # 30 <= age < 60
        low, first, name, second, high = pieces
        return [
            Condition(_name(name, names, shown), TURNED[SIGNS[first]], _back(low.strip(), names)),
            Condition(_name(name, names, shown), SIGNS[second], _back(high.strip(), names)),
        ]
    if len(pieces) != 3:
        raise InputError(f"not a condition: {shown!r}")
    left, sign, right = (piece.strip() for piece in pieces)
    if left.startswith("\x00"):
        return [Condition(_name(left, names, shown), SIGNS[sign], _back(right, names).strip("\"'"))]
    if right.startswith("\x00"):
        return [Condition(_name(right, names, shown), TURNED[SIGNS[sign]], _back(left, names))]
    _name(left, names, shown)
    raise InputError(f"not a condition: {shown!r}")


def _plain(part: str, names: Sequence[str], text: str) -> Condition:
    found = re.fullmatch(r"(not\s+)?(\x00\d+\x01)(?:\s+is\s+(missing|known))?", part)
    if found is None or (found[1] and found[3]):
        _name(part, names, _back(part, names))
        raise InputError(f"not a condition: {_back(part, names)!r} in {_back(text, names)!r}")
    name = _back(found[2], names)
    if found[3]:
        return Condition(name, "missing" if found[3] == "missing" else "known")
    return Condition(name, "=", "False" if found[1] else "True")


def _name(piece: str, names: Sequence[str], shown: str) -> str:
    if re.fullmatch(r"\x00\d+\x01", piece.strip()):
        return _back(piece.strip(), names)
    known = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    raise InputError(f"{shown!r} names no column (there are: {known})")
