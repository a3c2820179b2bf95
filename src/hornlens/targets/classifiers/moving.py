"""What moving one column never does: "income up never turns yes into no where age < 30"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.targets.classifiers.conditions import Both, Expression, Not
from hornlens.targets.classifiers.grammar import Words, parse_expression
from hornlens.targets.classifiers.provers import Prover

_MOTION = re.compile(
    r"\s*(?P<column>.+?)(?:\s+(?P<way>up|down))?\s+never\s+"
    r"(?:turns\s+(?P<first>.+?)\s+into\s+(?P<then>.+?)"
    r"|changes(?:\s+(?:the\s+)?(?:class|decision|answer|prediction))?)"
    r"(?:\s+where\s+(?P<where>.+?))?\s*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Motion:
    """A column that is moved, and what that never does: turn one class into another.

    `up` is None if it may go either way. Without classes, no change of the class is meant.
    """

    column: str
    up: bool | None
    first: Expression | None
    then: Expression | None
    where: Expression

    def pairs(self, first: int, then: int, every: int) -> list[tuple[int, int]]:
        """Return the classes before and after that must not occur together, as bits."""
        if self.first is not None:
            return [(first, then)]
        places = range(every.bit_length())
        return [(1 << place, every & ~(1 << place)) for place in places]

    def __str__(self) -> str:
        """Return it as it is read back."""
        way = {True: " up", False: " down", None: ""}[self.up]
        what = "changes the class"
        if self.first is not None:
            what = f"turns {self.first} into {self.then}"
        where = "" if self.where == Both() else f" where {self.where}"
        return f"{self.column}{way} never {what}{where}"


def parse_motion(text: str, words: Words) -> Motion | None:
    """Return what a text says of moving a column; None if it is no such text."""
    match = _MOTION.fullmatch(text)
    if match is None:
        return None
    column = match["column"].strip()
    if column[:1] in "\"'" and column[:1] == column[-1:]:
        column = column[1:-1]
    if column not in words.names:
        if re.search(r"->|→|=>", text):
            return None
        known = ", ".join(words.names[:8])
        raise InputError(f"{column!r} names no column (there are: {known})")
    up = None if match["way"] is None else match["way"].lower() == "up"
    first = then = None
    if match["first"] is not None:
        first = parse_expression(match["first"], words, is_right=True)
        another = match["then"].strip().lower() in ("another", "another class", "anything else")
        then = Not(first) if another else parse_expression(match["then"], words, is_right=True)
    where = parse_expression(match["where"] or "", words)
    return Motion(column, up, first, then, where)


def within(prover: Prover, box: Sequence[int]) -> Prover:
    """Return a model over the cells of a box, as sets of levels: no other cell occurs."""
    whole = [(1 << feature.size) - 1 for feature in prover.features]
    outside = [
        (*whole[:axis], whole[axis] & ~levels, *whole[axis + 1 :])
        for axis, levels in enumerate(box)
        if whole[axis] & ~levels
    ]
    # A cell that lies in few forbidden boxes may occur: one that lies outside occurs by no means.
    forbidden = (*prover.forbidden, *(prover.most_broken + 1) * outside)
    return replace(prover.asked_by(prover.binned), forbidden=forbidden)


def flags_of(bits: int, size: int | None = None) -> NDArray[np.bool_]:
    """Say of each level whether it is one of a set of levels, given as bits.

    >>> flags_of(5, 4).tolist()
    [True, False, True, False]
    """
    count = bits.bit_length() if size is None else size
    return np.array([bool(bits >> level & 1) for level in range(count)], dtype=np.bool_)
