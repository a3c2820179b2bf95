"""What a result must and must not obey: requirements, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from hornlens.logic.named import NamedRule

Scope = Literal["every variant", "any variant"]
"""Where a rule is looked for: what holds in all ways of asking at once, or in one of them."""
Certainty = Literal["exact", "pac"]


@dataclass(frozen=True)
class RuleRequirement:
    """A rule that must follow from those found (`require`), or must not (`forbid`).

    Forbidden in any variant, none may have it; in every variant, not all may. `line` is where it
    stands in its file. With a `confidence`, it counts if it holds in such a share of what it speaks
    of; without, only a rule without exceptions does.
    """

    kind: Literal["forbid", "require"]
    rule: NamedRule
    scope: Scope = "every variant"
    because: str = ""
    line: int | None = None
    confidence: float | None = None


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
    """The certificate is of this kind, or of a stronger one."""

    at_least: Certainty
    line: int | None = None


@dataclass(frozen=True)
class RuleCount:
    """How many rules there may be; None: no limit."""

    at_least: int | None = None
    at_most: int | None = None
    line: int | None = None


Requirement: TypeAlias = RuleRequirement | Invariance | CertaintyRequirement | RuleCount


@dataclass(frozen=True)
class Requirements:
    """All that is required of a result; `path` is the file that says so."""

    each: tuple[Requirement, ...]
    path: str = ""
