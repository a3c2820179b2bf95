"""Several ways of asking the same cells, as one target: what holds in all of them is a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hornlens.errors import HornlensError
from hornlens.logic.decisions import Decision, united
from hornlens.logic.space import Space
from hornlens.targets.protocol import Target


@dataclass(frozen=True)
class Worlds:
    """Targets over one space by their names: phrasings of a question, models, policies.

    `extract` accepts what *some* world accepts, so its rules are those that hold in every one, and
    gives each world's own rules beside them. As a target by itself it decides what all say.

    >>> from hornlens import FunctionTarget, Nominal, Space, extract
    >>> space = Space((Nominal("job", ("nurse", "pilot")),), Nominal("answer", ("yes", "no")))
    >>> def asks(*jobs):
    ...     return FunctionTarget(lambda names: "yes" if set(names) & set(jobs) else "no", space)
    >>> both = Worlds("two models", {"old": asks("nurse"), "new": asks("nurse", "pilot")})
    >>> print(extract(both).rules)
    nurse ∧ no → ⊥
    """

    name: str
    targets: Mapping[str, Target]
    noun: str = "phrasing"
    """What people call one of the worlds."""

    def __post_init__(self) -> None:
        """Refuse worlds that speak of different things."""
        if not self.targets:
            raise HornlensError(f"{self.name}: there is no {self.noun} to ask in")
        for name, target in self.targets.items():
            if target.space != self.space:
                first = next(iter(self.targets))
                raise HornlensError(f"{first} and {name} have different attributes or labels")

    @property
    def space(self) -> Space:
        """The space that all share."""
        return next(iter(self.targets.values())).space

    def identity(self) -> str | None:
        """Return what the decisions depend on: all that those of the worlds do."""
        each = {name: target.identity() for name, target in self.targets.items()}
        if None in each.values():
            return None
        distinct = dict.fromkeys(each.values())
        return " | ".join(str(identity) for identity in distinct)

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Return what all worlds say of each cell; where they disagree, nothing is decided."""
        rounds = [target.decide(cells) for target in self.targets.values()]
        labels = 2 if self.space.label is None else len(self.space.label.variables)
        return [united(decisions, labels) for decisions in zip(*rounds, strict=True)]

    def show(self, cell: int) -> tuple[str, ...]:
        """Return a cell as each world shows it."""
        return tuple(text for target in self.targets.values() for text in target.show(cell))
