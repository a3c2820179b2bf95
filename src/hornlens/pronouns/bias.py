"""Bias scores: which pronoun a model expects of the people of a data set, by occupation."""

from __future__ import annotations

import csv
import math
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from statistics import NormalDist
from typing import Any

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.logic.decisions import Policy
from hornlens.models.protocol import Answer, Model
from hornlens.probes.probe import Probe
from hornlens.pronouns.dataset import Dataset, Group
from hornlens.store.sqlite import AnswerCache
from hornlens.targets.answers import Answers
from hornlens.targets.prompted import ProbeMembership

RECORDED = ("male", "female", "other", "unknown")
"""The genders that a data set records; "unknown" stands for none."""
ABSTAINED = "abstained"
TOO_LIKELY = 1e-4
"""How far above 1 rounding may lift the probability of the two words together."""
SMALL_T = (12.706205, 4.302653, 3.182446, 2.776445, 2.570582)
"""The 0.975 quantile of Student's t for one to five degrees of freedom."""


@dataclass(frozen=True)
class Score:
    """A mean over people, with its 95 % interval; None where there is nothing to estimate from."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class OccupationBias:
    """How a model speaks of the people of an occupation.

    `confusion` counts people, by predicted and then by recorded gender. `ppbs` is None if the
    model's scores are no probabilities.
    """

    occupation: str
    people: int
    sentences: int
    ppbs: Score | None
    normalised: Score
    confusion: Mapping[str, Mapping[str, int]]

    @property
    def score(self) -> Score:
        """The paper's score where there is one, else the normalised one."""
        return self.ppbs or self.normalised

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
    """What was measured of one model: its occupations by name, and all people together."""

    name: str
    identity: str
    occupations: tuple[OccupationBias, ...]
    overall: OccupationBias
    prompts: int
    asked: int
    reused: int

    def strongest_first(self) -> list[OccupationBias]:
        """Return the occupations, the farthest from zero first."""
        return sorted(self.occupations, key=lambda o: (-abs(o.score.mean), o.occupation))


def with_enough_people(dataset: Dataset, least: int) -> tuple[Group, ...]:
    """Return the groups of the occupations that have at least so many people."""
    people: Counter[str] = Counter()
    for group in dataset.groups:
        people[group.occupation] += group.people
    kept = tuple(g for g in dataset.groups if g.people and people[g.occupation] >= least)
    if not kept:
        most = max(people.values(), default=0)
        raise HornlensError(
            f"data set {dataset.name}: no occupation has {least:,} people or more "
            f"(the most there are is {most:,}): lower --min-people"
        )
    return kept


def prompt_count(dataset: Dataset, groups: Iterable[Group], policy: Policy) -> int:
    """Return how many distinct prompts these people take."""
    cells = {dataset.cell(group) for group in groups}
    if policy.calibration == "neutral":
        cells.add(0)
    return len(cells) * len(dataset.probe.templates)


def measure(
    model: Model,
    dataset: Dataset,
    groups: Sequence[Group] | None = None,
    *,
    policy: Policy | None = None,
    cache: AnswerCache | None = None,
    progress: Callable[[int], None] | None = None,
) -> ModelBias:
    """Return a model's bias scores over the people of a data set, or of some of its groups.

    Each distinct sentence is asked once and counts as often as there are people it describes.
    """
    probe = dataset.probe
    male, female = roles(probe)
    chosen = with_enough_people(dataset, 1) if groups is None else groups
    answers = Answers(model, probe.label.words, cache)
    answers.prepare()
    membership = ProbeMembership(probe, policy or probe.policy, answers, progress)
    cells = sorted({dataset.cell(group) for group in chosen})
    winners = {
        cell: ABSTAINED if d.winner is None else probe.label.values[d.winner].name
        for cell, d in zip(cells, membership.decide(cells), strict=True)
    }
    said = {cell: [answers.known[prompt] for prompt in probe.render(cell)] for cell in cells}
    probable = all(
        math.exp(min(a.scores[male], 1.0)) + math.exp(min(a.scores[female], 1.0)) <= 1 + TOO_LIKELY
        for group in said.values()
        for a in group
    )
    ppbs = {c: _average(_difference, said[c], male, female) for c in cells} if probable else None
    normalised = {c: _average(_normalised, said[c], male, female) for c in cells}
    predicted = (*(value.name for value in probe.label.values), ABSTAINED)

    def describe(occupation: str, groups: Iterable[Group]) -> OccupationBias:
        people: Counter[int] = Counter()
        confusion = {name: dict.fromkeys(RECORDED, 0) for name in predicted}
        for group in groups:
            cell = dataset.cell(group)
            people[cell] += group.people
            confusion[winners[cell]][group.gender or "unknown"] += group.people
        return OccupationBias(
            occupation,
            people.total(),
            len(people),
            None if ppbs is None else mean_score([(ppbs[c], n) for c, n in people.items()]),
            mean_score([(normalised[c], n) for c, n in people.items()]),
            confusion,
        )

    by_occupation: dict[str, list[Group]] = {}
    for group in chosen:
        by_occupation.setdefault(group.occupation, []).append(group)
    return ModelBias(
        model.name,
        answers.identity,
        tuple(describe(name, by_occupation[name]) for name in sorted(by_occupation)),
        describe("", chosen),
        len(answers.known),
        answers.asked,
        answers.reused,
    )


def roles(probe: Probe) -> tuple[int, int]:
    """Return the positions of the two words to compare, among the candidates."""
    names = [value.name for value in probe.label.values]
    if not {"male", "female"} <= set(names):
        raise HornlensError(
            f"probe {probe.name}: bias scores need the label values 'male' and 'female'; "
            f"the label {probe.label.name!r} has: {', '.join(names)}"
        )
    return names.index("male"), names.index("female")


def _average(
    measured: Callable[[float, float], float], said: Sequence[Answer], male: int, female: int
) -> float:
    """Return the mean over the templates of one person's sentence."""
    return math.fsum(measured(a.scores[male], a.scores[female]) for a in said) / len(said)


def _difference(male: float, female: float) -> float:
    return math.exp(male) - math.exp(female)


def _normalised(male: float, female: float) -> float:
    """Return (p(He) − p(She)) / (p(He) + p(She)), which needs the log-odds only."""
    return 0.0 if male == female else math.tanh((male - female) / 2)


def mean_score(values: Sequence[tuple[float, int]]) -> Score:
    """Return the mean of values, each had by so many people, with Student's 95 % interval.

    Values lie between −1 and 1, so the interval is cut off there. Where everyone has the same
    sentence there is no spread to estimate from, and no interval.
    """
    people = sum(n for _, n in values)
    mean = math.fsum(value * n for value, n in values) / people
    if len(values) == 1:
        return Score(mean, None, None)
    variance = math.fsum(n * (value - mean) ** 2 for value, n in values) / (people - 1)
    reach = student(people - 1) * math.sqrt(variance / people)
    return Score(mean, max(-1.0, mean - reach), min(1.0, mean + reach))


def student(freedom: int) -> float:
    """Return the 0.975 quantile of Student's t, within 0.01 %, for any degrees of freedom.

    It is the Cornish–Fisher expansion (Abramowitz and Stegun, 26.7.5), which needs a few degrees.
    """
    if freedom <= len(SMALL_T):
        return SMALL_T[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


def bias_as_json(
    dataset: Dataset, groups: Sequence[Group], models: Sequence[ModelBias], policy: Policy
) -> dict[str, Any]:
    """Return the contents of bias.json. Nothing here depends on when or how often it was run."""
    probe = dataset.probe
    kept = {group.occupation for group in groups}
    return {
        "hornlens": __version__,
        "dataset": {
            "name": dataset.name,
            "people": sum(group.people for group in groups),
            "left_out": sorted({g.occupation for g in dataset.groups} - kept),
            "transformation": dict(dataset.transformation),
        },
        "templates": list(probe.templates),
        "words": {value.name: value.word for value in probe.label.values},
        "policy": asdict(policy),
        "models": [
            {
                "name": model.name,
                "identity": model.identity,
                "occupations": [_occupation_as_json(o) for o in model.strongest_first()],
                "overall": {
                    key: value
                    for key, value in _occupation_as_json(model.overall).items()
                    if key != "occupation"
                },
            }
            for model in models
        ],
        "statistics": {
            "occupations": len(kept),
            "distinct_prompts": max(model.prompts for model in models),
        },
    }


def _occupation_as_json(line: OccupationBias) -> dict[str, Any]:
    return asdict(line) | {"accuracy": line.accuracy}


def bias_csv(models: Sequence[ModelBias]) -> str:
    """Return bias.csv: a line for each model and occupation, the strongest bias first."""
    scores = [f"{name}{end}" for name in ("ppbs", "normalised") for end in ("", "_low", "_high")]
    header = ["model", "occupation", "people", "sentences", *scores, "accuracy", *RECORDED]

    def cells(score: Score | None) -> list[str]:
        given = (None,) * 3 if score is None else (score.mean, score.low, score.high)
        return [_number(value) for value in given]

    return _csv(
        header,
        (
            [
                *(model.name, line.occupation, line.people, line.sentences),
                *cells(line.ppbs),
                *cells(line.normalised),
                _number(line.accuracy),
                *line.recorded.values(),
            ]
            for model in models
            for line in model.strongest_first()
        ),
    )


def confusion_csv(models: Sequence[ModelBias]) -> str:
    """Return confusion.csv: people by predicted (lines) and recorded (columns) gender."""
    return _csv(
        ["model", "occupation", "predicted", *RECORDED],
        (
            [model.name, line.occupation, predicted, *row.values()]
            for model in models
            for line in model.strongest_first()
            for predicted, row in line.confusion.items()
        ),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def bias_record(models: Sequence[ModelBias], seconds: float, started: str) -> dict[str, Any]:
    """Return the contents of run.json: how this run went, and what may differ in the next."""
    return {
        "hornlens": __version__,
        "python": platform.python_version(),
        "started": started,
        "seconds": round(seconds, 3),
        "models": [
            {"name": m.name, "asked_the_model": m.asked, "answered_from_cache": m.reused}
            for m in models
        ],
    }
