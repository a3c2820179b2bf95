"""The files of a study: study.json, what it found, and times.json, how long that took.

Nothing in study.json depends on when, in how many processes or in how many attempts the study was
run; the times stand in a document of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hornlens.logic.named import NamedRule
from hornlens.results.documents.codec import INLINE, Codec


@dataclass(frozen=True)
class Measures:
    """Recall, precision and agreement with the exact envelope; None where there is nothing to say.

    Of a run, or the means over runs.
    """

    recall: float | None
    precision: float | None
    agreement: float | None

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        for value in (self.recall, self.precision, self.agreement):
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"has a share of {value:g}")

    def get(self, measure: str) -> float | None:
        """Return the measure of this name."""
        value: float | None = getattr(self, measure)
        return value


@dataclass(frozen=True)
class RuleStability:
    """A rule over repeated runs: how many found it, and how many entail it.

    `true` says whether the exact envelope entails it; None where that is not known. `published`, of
    a rule that was published, is in how many runs it was found there.
    """

    rule: NamedRule = field(metadata=INLINE)
    found: int
    entailed: int
    true: bool | None
    published: int | None = None


@dataclass(frozen=True)
class RunFindings:
    """A run: how many rules it found, what it may claim, what it asked, and how good it is.

    `measures` is None where the exact envelope is not known.
    """

    seed: int
    folder: str
    rules: int
    certificate: str
    statistics: Mapping[str, float]
    measures: Measures | None = field(default=None, metadata=INLINE)

    def __post_init__(self) -> None:
        """Refuse a run that does not say what it asked."""
        for key in ("equivalence_queries", "membership_queries", "model_calls"):
            if key not in self.statistics:
                raise ValueError(f"has no {key} among its statistics")


@dataclass(frozen=True)
class BudgetFindings:
    """The runs of a model with a budget, and every rule that one of them found.

    `published` are the rules that were published of the same model and budget; None if the model
    was not in what was published.
    """

    budget: int
    runs: tuple[RunFindings, ...]
    rules: tuple[RuleStability, ...]
    mean: Measures | None = None
    published: tuple[RuleStability, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a budget that nobody ran."""
        if not self.runs:
            raise ValueError("has no runs")

    def measured(self, measure: str) -> list[tuple[int, float]]:
        """Return a measure of every run that has it, with the run's place."""
        return [
            (i, value)
            for i, run in enumerate(self.runs)
            if run.measures is not None and (value := run.measures.get(measure)) is not None
        ]

    def spread(self, measure: str) -> tuple[float, float] | None:
        """Return the least and the most of a measure over the runs; None if no run has it."""
        values = [value for _, value in self.measured(measure)]
        return (min(values), max(values)) if values else None

    def stable(self, least: int) -> list[RuleStability]:
        """Return the rules that so many runs found."""
        return [rule for rule in self.rules if rule.found >= least]

    def beside_published(self, least: int) -> list[RuleStability]:
        """Return the rules that were published, then those that are stable here only."""
        theirs = self.published or ()
        known = {line.rule for line in theirs}
        return [*theirs, *(line for line in self.stable(least) if line.rule not in known)]


@dataclass(frozen=True)
class ExactRule:
    """An exact rule, its evidence, and by budget how many runs entail it."""

    rule: NamedRule = field(metadata=INLINE)
    support: int
    mean_margin: float | None
    entailed: Mapping[str, int]


@dataclass(frozen=True)
class ExactFindings:
    """A model's exact rules; `to_find` of them say something of their own."""

    folder: str
    rules: tuple[ExactRule, ...]
    to_find: int
    non_horn: int | None
    model_calls: int

    def strongest_first(self) -> list[ExactRule]:
        """Return the rules, those of most support and then of the widest margin first."""
        return sorted(self.rules, key=lambda line: (-line.support, -(line.mean_margin or 0.0)))


@dataclass(frozen=True)
class ModelFindings:
    """All that was found of a model; `exact` is None if its prompts are too many."""

    model: str
    identity: str
    exact: ExactFindings | None
    budgets: tuple[BudgetFindings, ...]


@dataclass(frozen=True)
class SharedRule:
    """A rule, and by model how many runs found it."""

    rule: NamedRule = field(metadata=INLINE)
    found: Mapping[str, int]


@dataclass(frozen=True)
class SharedRules:
    """The rules that all models share with a budget."""

    budget: int
    rules: tuple[SharedRule, ...]


@dataclass(frozen=True)
class RuleInModels:
    """A rule of some model, and in which models it holds, by their exact envelopes.

    `vacuous_in`: it holds there, but only because of answers that are never, or always, given.
    """

    rule: NamedRule = field(metadata=INLINE)
    holds_in: tuple[str, ...]
    vacuous_in: tuple[str, ...] = ()


@dataclass(frozen=True)
class CommonRules:
    """What holds in every model, exactly: the envelope of what some model accepts.

    `survival` has every rule of any model, those that hold in most of them first.
    """

    rules: tuple[NamedRule, ...]
    survival: tuple[RuleInModels, ...]


@dataclass(frozen=True)
class StudyPlan:
    """What a study did: `stable` is in how many runs a stable rule is found."""

    name: str
    description: str
    probe: str
    models: tuple[str, ...]
    budgets: tuple[int, ...]
    seeds: tuple[int, ...]
    stable: int
    settings: Mapping[str, Any]
    policy: Mapping[str, Any]


@dataclass(frozen=True)
class Study:
    """study.json: stability, recall, precision, queries; every model has all budgets in order."""

    study: StudyPlan
    variables: tuple[str, ...]
    models: tuple[ModelFindings, ...]
    intersection: tuple[SharedRules, ...]
    published_intersection: SharedRules | None = None
    common: CommonRules | None = None

    def __post_init__(self) -> None:
        """Refuse what no study can have found."""
        if not (self.models and self.study.budgets and self.study.seeds):
            raise ValueError("has no models, no budgets or no runs")
        for model in self.models:
            if tuple(part.budget for part in model.budgets) != self.study.budgets:
                raise ValueError("has a model without a part for each budget")
            if model.exact is None:
                continue
            wanted = {str(budget) for budget in self.study.budgets}
            if any(line.entailed.keys() != wanted for line in model.exact.rules):
                raise ValueError("has an exact rule without a count for each budget")
            if not all(part.mean and all(r.measures for r in part.runs) for part in model.budgets):
                raise ValueError("has exact rules, and runs that were not measured by them")


@dataclass(frozen=True)
class ExactTimes:
    """How long it took to ask everything, and how many prompts the model had to answer."""

    seconds: float
    asked_the_model: int
    answered_from_cache: int


@dataclass(frozen=True)
class BudgetTimes:
    """By run, the seconds and the prompts that the model had to answer; what was published."""

    budget: int
    seconds: tuple[float, ...]
    asked_the_model: tuple[int, ...]
    published_minutes: float | None

    def __post_init__(self) -> None:
        """Refuse a budget that nobody ran."""
        if not self.seconds:
            raise ValueError("has no seconds of any run")


@dataclass(frozen=True)
class ModelTimes:
    """The times of a model's runs."""

    model: str
    exact: ExactTimes | None
    budgets: tuple[BudgetTimes, ...]


@dataclass(frozen=True)
class StudyTimes:
    """times.json: how long each run took, and what it asked the model."""

    study: str
    models: tuple[ModelTimes, ...]


STUDY = Codec(Study, "study.json")
TIMES = Codec(StudyTimes, "times.json")
