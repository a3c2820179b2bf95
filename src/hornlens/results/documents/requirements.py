"""What a result must and must not obey: requirements, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from hornlens.logic.certificates import Level
from hornlens.logic.named import NamedRule

Scope = Literal["every variant", "any variant"]
"""Where a rule is looked for: what holds in all ways of asking at once, or in one of them."""
Allowance = Literal["open", "surrogate"]
"""What a file may let pass by name: forbidden rules of which nothing is known; rules that hold of a
stand-in for the model only."""
ANSWERED = 0.95
"""The share of questions that must have got an answer, if a file gives no other."""


@dataclass(frozen=True)
class RuleRequirement:
    """A rule that must hold (`require`), or must be broken by an answer (`forbid`).

    Forbidden in any variant, none may have it; in every variant, not all may. `line` is where it
    stands in its file. With a `confidence`, it counts if it holds in such a share of what it speaks
    of; without, only a rule without exceptions does. With `at_most`, a required rule need not be
    proved: a bound will do that so small a share of its cases break it.
    """

    kind: Literal["forbid", "require"]
    rule: NamedRule
    scope: Scope = "every variant"
    because: str = ""
    line: int | None = None
    confidence: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class Invariance:
    """Cells that differ only in these attributes are answered alike.

    `tolerance` is the share of such pairs that may differ in their answers.
    """

    attributes: tuple[str, ...]
    tolerance: float = 0.0
    scope: Scope = "every variant"
    because: str = ""
    line: int | None = None


@dataclass(frozen=True)
class CertaintyRequirement:
    """The certificate meets this level."""

    at_least: Level
    line: int | None = None


@dataclass(frozen=True)
class RuleCount:
    """How many rules there may be; None: no limit."""

    at_least: int | None = None
    at_most: int | None = None
    line: int | None = None


@dataclass(frozen=True)
class AnsweredShare:
    """At least such a share of the questions got an answer; `named`: the file asks for it."""

    share: float = ANSWERED
    named: bool = False
    line: int | None = None


Requirement: TypeAlias = (
    RuleRequirement | Invariance | CertaintyRequirement | RuleCount | AnsweredShare
)


@dataclass(frozen=True)
class Requirements:
    """All that is required of a result; `path` is the file that says so.

    `allow` names what passes although it is not known of the target itself.
    """

    each: tuple[Requirement, ...]
    path: str = ""
    allow: frozenset[Allowance] = frozenset()
