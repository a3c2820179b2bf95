"""Members: rules of which something is to be shown, one by one, and not all candidates at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from hornlens.learning.sifting.axes import Box
from hornlens.learning.sifting.candidates import MOST_ROOM
from hornlens.learning.sifting.tally import Tally
from hornlens.logic.rule import Rule


class Member(Protocol):
    """A rule of which something is to be shown."""

    @property
    def rule(self) -> Rule:
        """What is said."""
        ...

    @property
    def statement(self) -> int:
        """The place of its statement."""
        ...

    @property
    def box(self) -> Box:
        """The cells that can break it."""
        ...

    @property
    def room(self) -> int:
        """How many there are."""
        ...

    @property
    def breadth(self) -> float:
        """The same, nearly."""
        ...

    @property
    def candidate(self) -> int:
        """Its place among the candidates; -1 for a rule that concludes a value."""
        ...

    @property
    def key(self) -> tuple[int, ...]:
        """What tells it from others."""
        ...


@dataclass(frozen=True, eq=False)
class ValueMember:
    """A rule that concludes a value."""

    rule: Rule
    statement: int
    box: Box
    room: int
    key: tuple[int, ...]
    candidate: int = -1

    @property
    def breadth(self) -> float:
        """How many cells can break it."""
        return float(min(self.room, MOST_ROOM))


class CandidateMember:
    """A candidate with a statement. There can be a million: what is not asked for is not made."""

    def __init__(self, tally: Tally, statement: int, candidate: int):
        """Keep where it is found."""
        self.tally, self.statement, self.candidate = tally, statement, candidate

    @property
    def key(self) -> tuple[int, ...]:
        """What tells it from others."""
        return self.statement, self.candidate

    @property
    def breadth(self) -> float:
        """How many cells it has, as a floating-point number."""
        return float(self.tally.candidates.rooms[self.candidate])

    @cached_property
    def rule(self) -> Rule:
        """What it says."""
        tally = self.tally
        return tally.candidates.rule(self.candidate, tally.statements[self.statement])

    @cached_property
    def box(self) -> Box:
        """Its cells."""
        return self.tally.candidates.box(self.candidate)

    @cached_property
    def room(self) -> int:
        """How many cells it has."""
        return self.tally.ground.room(self.box)
