"""What was published of the same models, to stand beside the findings of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hornlens.logic.rule import Rule


@dataclass(frozen=True)
class PublishedRule:
    """A rule that was published, and in how many runs it was found."""

    rule: Rule
    runs: int


@dataclass(frozen=True)
class Published:
    """What was published of models: their rules, and the minutes of a run, by spec and budget.

    `intersection` has a budget and the rules that were found with it in every run of every model;
    it is given only if these are the models of the study.
    """

    rules: Mapping[str, Mapping[int, tuple[PublishedRule, ...]]] = field(default_factory=dict)
    minutes: Mapping[str, Mapping[int, float | None]] = field(default_factory=dict)
    intersection: tuple[int, tuple[Rule, ...]] | None = None
