"""The record of a sift: what was asked in which order, what was drawn for which rules, and why.

It has all that a claim rests on, beside the answers: whoever reads it can draw the same cells again
from the seed, and count again what each rule was tried on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hornlens.logic.rule import Rule
from hornlens.logic.warrants import Warrant

MOST_OPEN = 1_000
"""So many open rules are kept, the broadest ones; all are counted."""


class Draw(NamedTuple):
    """A cell that was drawn: its place in the order of asking, its family, and its base there."""

    at: int
    family: int
    base: int


@dataclass(frozen=True)
class Base:
    """What cells were drawn from: all that a member can be broken by, or all with conditions.

    `member` is a place in the family; -1: the cells that have all of `conditions`, a mask.
    """

    member: int = -1
    conditions: int = 0


@dataclass(frozen=True)
class FixedRules:
    """A family of rules, fixed after `at` cells were asked; `delta` is its share of δ.

    `purpose`: "list" what passes the test, bound each ("bounds"), test rules that have exceptions
    ("almost"), or count how often a rare label is given ("rates").
    """

    at: int
    delta: float
    rules: tuple[Rule, ...]
    bases: tuple[Base, ...]
    purpose: str = "list"
    epsilon: float = 0.05
    """The share of its cells that may break a rule which passes."""


@dataclass(frozen=True)
class AlmostShown:
    """A rule with exceptions: `tested` draws inside it, of which `broken` broke it.

    But for the probability that all listed rules share, at most `bound` of its cells break it.
    `exceptions` are all cells on record that do; it stands for the narrower rules in it.
    """

    rule: Rule
    tested: int
    broken: int
    bound: float
    exceptions: tuple[int, ...]


@dataclass(frozen=True)
class MoreOften:
    """Where a rare label is given more often: of `tested` draws with the `conditions`, `given` so.

    But for the probability that all claims share, it is given in `at_least` such a share of the
    cells with these conditions, and in at most `overall` of all cells.
    """

    conditions: int
    label: int
    tested: int
    given: int
    at_least: float
    overall: float

    @property
    def times(self) -> float:
        """How many times as often, at least."""
        return self.at_least / self.overall


@dataclass(frozen=True)
class SiftRecord:
    """How a sift went. `order` has every cell in the order of asking.

    `conditions` is the most on attributes; `candidates` counts the rules there can be, `live` those
    that no answer breaks. `spare` is what is left of δ, for bounds of the last family.
    """

    conditions: int
    epsilon: float
    delta: float
    seed: int
    candidates: int
    live: int
    order: tuple[int, ...] = ()
    draws: tuple[Draw, ...] = ()
    families: tuple[FixedRules, ...] = ()
    spare: float = 0.0
    varies: bool = False
    curve: tuple[tuple[int, int], ...] = ()
    """After so many questions, so many candidates were alive."""
    needs: tuple[int, ...] = ()
    """For each open rule how many clean draws it would take to list it."""
    almost: tuple[AlmostShown, ...] = ()
    """Rules with exceptions, each in the place of narrower ones: they are no Horn consequences."""
    more_often: tuple[MoreOften, ...] = ()
    """Where labels that are rare everywhere are given more often."""
    classes: bool = False
    """Whether only rules that say which label is always given were candidates."""


@dataclass(frozen=True)
class Sifted:
    """What a sift comes to: rules with their warrants, the open ones, and the record.

    Of `open_count` open rules, the broadest are there.
    """

    listed: tuple[tuple[Rule, Warrant], ...]
    open: tuple[Rule, ...]
    open_count: int
    record: SiftRecord
    done: bool = True
    """Whether it came to its end: every candidate is dead, listed, or cannot be shown."""
