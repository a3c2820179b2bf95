"""What chance would give: the section `chance` of a result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hornlens.results.documents.codec import Codec

LEVEL = 0.05
"""The family-wise level at which rules are marked."""


@dataclass(frozen=True)
class ChanceCount:
    """How many rules with so many conditions there are, and how many chance would give.

    Rules are counted by left sides from which something follows that follows from no part of them.
    """

    conditions: int | None
    """How many attributes the left side speaks of, the label among them; None: any number."""
    rules: int
    mean: float
    """The mean over the permutations."""
    high: int
    """At most so many in 95 % of the permutations."""


@dataclass(frozen=True)
class Chance:
    """What a target that answers at random, with the same rates of labels, would give.

    The recorded answers are permuted among the cells that were asked, no answers among them, and in
    every way of asking by itself.

    >>> from hornlens import extract
    >>> def black_box(prompt, words):
    ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
    >>> chance = extract(black_box, cache=False).chance()
    >>> chance.marked, chance.p_values[0], chance.total.rules, chance.total.high
    ((0, 1), 0.001, 2, 194)
    """

    permutations: int
    seed: int
    level: float
    total: ChanceCount
    counts: tuple[ChanceCount, ...]
    """By number of conditions, those with any rule."""
    p_values: tuple[float | None, ...]
    """For each readable rule, the share of permutations with a rule as unlikely as this, the
    recorded answers among them; None where nothing could break it. They hold for all rules at
    once."""
    permuted: str = "answers"
    """What was permuted: the answers, the label's column, or every column."""

    @property
    def marked(self) -> tuple[int, ...]:
        """The places of the readable rules that chance would hardly give."""
        return tuple(place for place in range(len(self.p_values)) if self.is_marked(place))

    def is_marked(self, place: int) -> bool:
        """Return whether chance would hardly give a readable rule."""
        p_value = self.p_values[place]
        return p_value is not None and p_value <= self.level

    def as_json(self) -> dict[str, Any]:
        """Return the section of envelope.json."""
        content = asdict(self)
        return {**content, "counts": list(content["counts"]), "p_values": list(self.p_values)}


CHANCE = Codec(Chance, "envelope.json")
