"""Levels of detail: a few rules that explain most of what a target rejects, and then more."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from hornlens.errors import HornlensError
from hornlens.logic.rule import Rule


@dataclass(frozen=True)
class Detail:
    """How much people want to see: so many rules, or as many as explain a share of the rejections,
    or the best choice of so many; nothing of these: the exact rules.
    """

    rules: int | None = None
    share: float | None = None
    best: int | None = None


@dataclass(frozen=True)
class Step:
    """One rule more than the level before.

    `explained` counts all rejections that the rules so far explain, `exceptions` are the accepted
    interpretations that this rule rejects and no rule before it does. No other choice of as many
    candidates explains more than `at_most`.
    """

    rule: Rule
    explained: int
    exceptions: tuple[int, ...]
    at_most: int


@dataclass(frozen=True)
class Levels:
    """The curve from one rule to many: level n has the first n rules.

    Candidates are rules with at most `max_conditions` conditions and a confidence of
    `min_confidence` or more, `candidates` many; each step takes the one with the most newly
    explained rejections, less `exception_cost` for each new exception. The target rejects
    `rejections` interpretations, of which its `exact_rules` exact rules explain `by_exact`.
    `optimal`: the rules were not chosen one after another, but are the best of so many.
    """

    min_confidence: float
    max_conditions: int
    exception_cost: float
    candidates: int
    rejections: int
    exact_rules: int
    by_exact: int
    steps: tuple[Step, ...] = ()
    chosen: int | None = None
    """The level that was asked for: how many rules; None: all exact rules."""
    optimal: bool = False

    def exceptions(self, level: int) -> int:
        """Return how many exceptions a level has."""
        return sum(len(step.exceptions) for step in self.steps[:level])

    def explained(self, level: int) -> int:
        """Return how many rejections a level explains."""
        return self.steps[level - 1].explained if level else 0

    @property
    def guarantee(self) -> str:
        """What is promised of the choice, where something is."""
        if self.optimal:
            return (
                f"No {len(self.steps):,} of {self.candidates:,} candidates do better: found by "
                "MaxSAT."
            )
        if self.exception_cost == 0:
            return (
                "Each level explains at least 63% (1 − 1/e) of what the best choice of as many "
                "candidates explains: exceptions cost nothing here."
            )
        return ""

    def at(self, detail: Detail) -> Levels:
        """Return the same with a level chosen, which must be of this curve."""
        return replace(self, chosen=self._level(detail))

    def _level(self, detail: Detail) -> int | None:
        if detail.rules is not None:
            return min(detail.rules, len(self.steps))
        wanted = detail.share
        if wanted is None:
            return None
        for level in range(len(self.steps) + 1):
            if self.explained(level) >= wanted * self.rejections:
                return level
        most = self.explained(len(self.steps)) / max(1, self.rejections)
        raise HornlensError(
            f"rules with at most {self.max_conditions} conditions explain {most:.1%} of the "
            f"rejections, not {100 * wanted:g}%: ask for less, or allow --max-conditions "
            f"{self.max_conditions + 1} or more exceptions (--min-confidence)"
        )


def parse_detail(text: str) -> Detail:
    """Return what "5", "90%", "best:5" or "exact" asks for; anything else is a HornlensError."""
    if text == "exact":
        return Detail()
    if match := re.fullmatch(r"(best:)?([0-9]{1,9})", text, re.ASCII):
        rules = int(match[2])
        return Detail(best=rules) if match[1] else Detail(rules=rules)
    if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?%", text, re.ASCII) and float(text[:-1]) <= 100:
        return Detail(share=float(Fraction(text[:-1]) / 100))
    raise HornlensError(
        "--detail must be a number of rules (5), a share of the rejections (90%), the best choice "
        f"of so many rules (best:5), or exact, not {text!r}"
    )
