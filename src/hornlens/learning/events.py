"""Events: what a run does, as it does it. Runs, traces, progress bars and views are folds of them.

Folding `RuleAdded`, `RuleChanged` and `RuleRetired` by position gives the hypothesis as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from hornlens.logic.certificates import Certificate
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory


@dataclass(frozen=True, slots=True)
class Queries:
    """How many queries a learner asked. `speculative`: in a batch, beyond the first no.

    `cells` counts what was put to a target where no learner is at work.
    """

    equivalence: int = 0
    refinement: int = 0
    speculative: int = 0
    entailment: int = 0
    cells: int = 0


@dataclass(frozen=True, slots=True)
class Conjectured:
    """The driver is about to ask the number-th equivalence query (from 1), about `theory`."""

    number: int
    theory: Theory


@dataclass(frozen=True, slots=True)
class Asked:
    """Membership queries were answered; the learner needed the first `needed` answers."""

    batch: tuple[int, ...]
    answers: tuple[bool, ...]
    needed: int


@dataclass(frozen=True, slots=True)
class Progress:
    """So many queries were asked so far. Comes after every question."""

    queries: Queries


@dataclass(frozen=True, slots=True)
class Sifting:
    """So many cells were asked, and so many of all candidates are alive; `to_go`: about so many."""

    asked: int
    live: int
    candidates: int
    to_go: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event: a conjecture was accepted, or the run ended; this may be claimed of it."""

    certificate: Certificate


@dataclass(frozen=True, slots=True)
class CounterexampleTaken:
    """The learner got its number-th counterexample (from 1): does the target accept it?"""

    number: int
    example: int
    positive: bool


@dataclass(frozen=True, slots=True)
class NegativeSet:
    """`after` stands now at a position of E⁻ (from 0): refined from `before`; None: appended."""

    position: int
    before: int | None
    after: int


@dataclass(frozen=True, slots=True)
class RuleAdded:
    """A rule is new in H, at a position of its own."""

    position: int
    rule: Rule


@dataclass(frozen=True, slots=True)
class RuleChanged:
    """A rule of H has another antecedent or consequent."""

    position: int
    before: Rule
    after: Rule


@dataclass(frozen=True, slots=True)
class RuleRetired:
    """The negative at a position is an intersection of positives: it moves to E^nh.

    Its rule leaves H, if one stood there already.
    """

    position: int
    antecedent: int


LearnerEvent: TypeAlias = CounterexampleTaken | NegativeSet | RuleAdded | RuleChanged | RuleRetired
"""What learners yield beside their questions."""
Event: TypeAlias = LearnerEvent | Conjectured | Asked | Progress | Sifting | Ended
