"""Python functions as targets: what is set in a cell goes in, a label or a yes comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hornlens.errors import HornlensError
from hornlens.logic.decisions import NO, YES, Decision, Policy, agreed, decide
from hornlens.logic.space import Space
from hornlens.targets.protocol import Target

FunctionAnswer: TypeAlias = "str | bool | Mapping[str, float] | None"
"""A label's name, yes or no where the space has no label, scores by label; None: no answer."""


@dataclass(frozen=True)
class FunctionTarget:
    """Asks `call(names)` of each cell, with the names of what is set in it, in order.

    Its answers cannot be told from another function's, so none is kept, unless it is given an
    `identity`: then two functions of one identity must give the same answers.
    """

    call: Callable[[tuple[str, ...]], FunctionAnswer]
    space: Space
    name: str = "function"
    given_identity: str | None = None
    margin: float = 0.0
    """By how much the best score has to lead, where the function gives scores."""

    def identity(self) -> str | None:
        """Return the given identity."""
        return None if self.given_identity is None else f"function:{self.given_identity}"

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Call the function, cell by cell."""
        return [self._decision(self.call(self.space.vocabulary.names_of(cell))) for cell in cells]

    def _decision(self, said: FunctionAnswer) -> Decision:
        label = self.space.label
        if said is None:
            return Decision(None, abstained="none")
        if label is None and isinstance(said, bool):
            return Decision(YES if said else NO)
        if label is not None and isinstance(said, Mapping) and set(said) == set(label.variables):
            scores = [float(said[name]) for name in label.variables]
            return decide(Policy(margin=self.margin), scores)
        if label is not None and said in label.variables:
            return Decision(label.variables.index(str(said)))
        wanted = "True or False" if label is None else f"one of {', '.join(label.variables)}"
        raise HornlensError(f"{self.name} said {said!r}; a target of this space says {wanted}")

    def show(self, cell: int) -> tuple[str, ...]:
        """Return what is set in a cell, as a row."""
        return (row_of(self.space, cell),)


@dataclass(frozen=True)
class RepeatedTarget:
    """A noisy target, asked several times about each cell: what more than half say is decided.

    Where no label has that many, it abstains. Repeats of a target that always answers alike say
    nothing new: this is for those that do not.
    """

    target: Target
    repeats: int

    def __post_init__(self) -> None:
        """Refuse no repeats at all."""
        if self.repeats < 1:
            raise HornlensError(f"repeats must be 1 or more, not {self.repeats!r}")

    @property
    def name(self) -> str:
        """The target's name."""
        return self.target.name

    @property
    def space(self) -> Space:
        """The target's space."""
        return self.target.space

    def identity(self) -> str | None:
        """Return the target's identity and how often it is asked."""
        inner = self.target.identity()
        return None if inner is None else f"{inner}:{self.repeats} times"

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Ask about all cells, again and again."""
        label = self.space.label
        labels = 2 if label is None else len(label.variables)
        rounds = [self.target.decide(cells) for _ in range(self.repeats)]
        return [agreed(decisions, labels) for decisions in zip(*rounds, strict=True)]

    def show(self, cell: int) -> tuple[str, ...]:
        """Return how the target shows a cell."""
        return self.target.show(cell)


def row_of(space: Space, cell: int) -> str:
    """Return what a cell says, as a row for people."""
    return ", ".join(space.conditions(cell)) or "nothing set"
