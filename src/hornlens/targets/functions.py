"""Python functions as targets: what is set in a cell goes in, a label or a yes comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TypeAlias

import numpy as np

from hornlens.errors import HornlensError
from hornlens.logic.decisions import NO, YES, Decision, Policy, agreed, decide
from hornlens.logic.space import Space
from hornlens.targets.protocol import PromptTarget, Target, check_repeats

FunctionAnswer: TypeAlias = "str | bool | Mapping[str, float] | None"
"""A label's name, yes or no where the space has no label, scores by label; None: no answer."""


@dataclass(frozen=True)
class FunctionTarget:
    """Asks `call(names)` of each cell, with the names of what is set in it, in order.

    Its answers cannot be told from another function's, so none is kept, unless it is given an
    `identity`: then two functions of one identity must give the same answers.

    >>> from hornlens import Nominal, Space, extract
    >>> job, answer = Nominal("job", ("nurse", "pilot")), Nominal("answer", ("yes", "no"))
    >>> space = Space((job,), answer)
    >>> target = FunctionTarget(lambda names: "yes" if "nurse" in names else "no", space)
    >>> print(extract(target).rules)
    yes → nurse
    nurse ∧ no → ⊥
    """

    call: Callable[[tuple[str, ...]], FunctionAnswer]
    space: Space
    name: str = "function"
    given_identity: str | None = None
    policy: Policy = field(default_factory=Policy)
    """How scores become decisions, where the function gives scores."""
    varies: bool = False
    """Whether it may give another answer when it is asked again: then answers are sifted."""

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
        if label is None and isinstance(said, bool | np.bool_):
            return Decision(YES if said else NO)
        if label is not None and isinstance(said, str) and said in label.variables:
            return Decision(label.variables.index(said))
        if label is not None and isinstance(said, Mapping) and len(label.variables) > 1:
            scores = [said.get(name) for name in label.variables]
            if len(said) == len(scores) and all(_is_score(score) for score in scores):
                return decide(self.policy, [float(score) for score in scores if score is not None])
        wanted = "True or False"
        if label is not None:
            wanted = f"one of {', '.join(label.variables)}, or a score (a number) for each"
        raise HornlensError(f"{self.name} said {said!r}; a target of this space says {wanted}")

    def show(self, cell: int) -> tuple[str, ...]:
        """Return what is set in a cell, as a row."""
        return (row_of(self.space, cell),)


@dataclass(frozen=True)
class RepeatedTarget:
    """A noisy target, asked several times about each cell: what more than half say is decided.

    Where no label has that many, it abstains. Repeats of a target that always answers alike say
    nothing new: this is for those that do not.

    >>> from random import Random
    >>> from hornlens import Nominal, Space, extract
    >>> space = Space((Nominal("job", ("nurse",)),), Nominal("answer", ("yes", "no")))
    >>> rng = Random(0)
    >>> noisy = FunctionTarget(lambda names: "yes" if rng.random() < 0.9 else "no", space)
    >>> print(extract(RepeatedTarget(noisy, repeats=25)).rules)
    no → ⊥
    """

    target: Target
    repeats: int

    def __post_init__(self) -> None:
        """Refuse no repeats at all, and a model that repeats by itself."""
        check_repeats(self.repeats)
        if isinstance(self.target, PromptTarget):
            raise HornlensError("a prompted model asks again by itself: PromptedModel(repeats=…)")

    @property
    def name(self) -> str:
        """The target's name."""
        return self.target.name

    @property
    def policy(self) -> Policy:
        """The target's own policy, if it has one."""
        own: Policy | None = getattr(self.target, "policy", None)
        return own or Policy()

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


def _is_score(score: object) -> bool:
    if not isinstance(score, Real) or isinstance(score, bool):
        return False
    return not (math.isnan(score) or score == math.inf)


def row_of(space: Space, cell: int) -> str:
    """Return what a cell says, as a row for people."""
    return ", ".join(space.conditions(cell)) or "nothing set"
