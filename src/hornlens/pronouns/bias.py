"""Bias scores, as bias.json has them: which pronoun models expect of people, by occupation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from hornlens.pronouns.intervals import Score
from hornlens.results.documents.codec import Codec

RECORDED = ("male", "female", "other", "unknown")
"""The genders that a data set records; "unknown" stands for none."""
Kind = Literal["ppbs", "normalised"]


@dataclass(frozen=True)
class OccupationBias:
    """How a model speaks of the people of an occupation; of all people, if that is None.

    `confusion` counts people, by predicted and then by recorded gender. `ppbs` is None if the
    model's scores are no probabilities.
    """

    ALSO_WRITTEN: ClassVar = ("accuracy",)

    occupation: str | None = field(default=None, kw_only=True)
    people: int
    sentences: int
    ppbs: Score | None
    normalised: Score
    confusion: Mapping[str, Mapping[str, int]]

    def __post_init__(self) -> None:
        """Refuse predictions that leave out a gender, or are of less than nobody."""
        wanted = {"male", "female"} <= self.confusion.keys()
        if not (wanted and all(set(RECORDED) <= row.keys() for row in self.confusion.values())):
            raise ValueError("has a confusion without every gender")
        if any(people < 0 for row in self.confusion.values() for people in row.values()):
            raise ValueError("has fewer people than none")

    @property
    def score(self) -> Score:
        """The paper's score where there is one, else the normalised one."""
        return self.ppbs or self.normalised

    def of_kind(self, kind: Kind) -> Score:
        """Return the score of a kind, which has to be one that there is."""
        return self.normalised if kind == "normalised" else self.score

    @property
    def recorded(self) -> dict[str, int]:
        """The people, by recorded gender."""
        return {gender: sum(row[gender] for row in self.confusion.values()) for gender in RECORDED}

    @property
    def accuracy(self) -> float | None:
        """The share of people recorded male or female of whom the model predicts just that."""
        recorded = self.recorded
        people = recorded["male"] + recorded["female"]
        right = self.confusion["male"]["male"] + self.confusion["female"]["female"]
        return right / people if people else None


@dataclass(frozen=True)
class ModelBias:
    """What was measured of one model: its occupations, and all people together."""

    name: str
    identity: str
    occupations: tuple[OccupationBias, ...]
    overall: OccupationBias

    def __post_init__(self) -> None:
        """Refuse scores of one kind for some occupations and of another for the rest."""
        if len({each.ppbs is None for each in (*self.occupations, self.overall)}) > 1:
            raise ValueError("has a ppbs of some occupations only")

    def strongest_first(self) -> tuple[OccupationBias, ...]:
        """Return the occupations, the farthest from zero first."""
        return tuple(
            sorted(self.occupations, key=lambda o: (-abs(o.score.mean), o.occupation or ""))
        )


def shared_kind(models: Sequence[ModelBias]) -> Kind:
    """Return the kind of score that every one of some models has: ppbs, if it can be."""
    return "ppbs" if all(model.overall.ppbs for model in models) else "normalised"


@dataclass(frozen=True)
class MeasuredPeople:
    """Whom the models were asked about: how many, of which data set, and how that was made."""

    name: str
    people: int
    left_out: tuple[str, ...]
    transformation: Mapping[str, Any]


@dataclass(frozen=True)
class BiasStatistics:
    """How many occupations and distinct prompts there are."""

    occupations: int
    distinct_prompts: int


@dataclass(frozen=True)
class Bias:
    """bias.json: every model's scores over the same occupations, the strongest of each first.

    Nothing here depends on when or how often it was run.
    """

    dataset: MeasuredPeople
    templates: tuple[str, ...]
    words: Mapping[str, str]
    policy: Mapping[str, Any]
    models: tuple[ModelBias, ...]
    statistics: BiasStatistics

    def __post_init__(self) -> None:
        """Refuse models that cannot stand side by side."""
        if not (self.models and {"male", "female"} <= self.words.keys()):
            raise ValueError("has no models, or no words for them")
        first, *rest = ({o.occupation for o in model.occupations} for model in self.models)
        if not first or None in first or any(names != first for names in rest):
            raise ValueError("has models without the same occupations")

    @property
    def kind(self) -> Kind:
        """The kind of score that every model has."""
        return shared_kind(self.models)


@dataclass(frozen=True)
class ModelUse:
    """How many prompts a model had to answer, and how many the cache did."""

    name: str
    asked_the_model: int
    answered_from_cache: int


@dataclass(frozen=True)
class BiasRun:
    """run.json beside bias.json: how a run went, as far as it says."""

    python: str = ""
    started: str = ""
    seconds: float | None = None
    models: tuple[ModelUse, ...] = ()


BIAS = Codec(Bias, "bias.json")
BIAS_RUN = Codec(BiasRun, "run.json")
