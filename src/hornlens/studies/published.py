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
class PublishedModel:
    """What was published of a model: its rules, and the minutes that a run took, by budget."""

    rules: Mapping[int, tuple[PublishedRule, ...]]
    minutes: Mapping[int, float]


@dataclass(frozen=True)
class Published:
    """What was published, by the spec of the model.

    `intersection` has a budget and the rules that were found with it in every run of every model;
    it is given only if these are the models of the study.
    """

    models: Mapping[str, PublishedModel] = field(default_factory=dict)
    intersection: tuple[int, tuple[Rule, ...]] | None = None
