"""Measuring bias: people's sentences are put to a model, and what it says becomes scores."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from hornlens.errors import HornlensError
from hornlens.logic.decisions import Policy
from hornlens.models.protocol import Model, ModelError
from hornlens.probes.probe import Probe
from hornlens.pronouns.bias import (
    RECORDED,
    Bias,
    BiasRun,
    BiasStatistics,
    MeasuredPeople,
    ModelBias,
    ModelUse,
    OccupationBias,
)
from hornlens.pronouns.dataset import Dataset, Group
from hornlens.pronouns.intervals import mean_score
from hornlens.store.protocol import AnswerStore
from hornlens.targets.prompted import PromptedModel

ABSTAINED = "abstained"
TOLERANCE = 1e-4
"""How far above 1 rounding may lift the probability of the two words together."""


@dataclass(frozen=True)
class Measurement(ModelBias):
    """A model's bias, its occupations by name, and how many prompts that took."""

    prompts: int
    asked: int
    reused: int


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
    if policy.calibration == "mean":
        cells.update(dataset.probe.space.cells())
    return len(cells) * len(dataset.probe.templates)


def measure(
    model: Model,
    dataset: Dataset,
    groups: Sequence[Group] | None = None,
    *,
    policy: Policy | None = None,
    cache: AnswerStore | None = None,
    progress: Callable[[int], None] | None = None,
    name: str = "",
) -> Measurement:
    """Return a model's bias scores over the people of a data set, or of some of its groups.

    Each distinct sentence is asked once and counts as often as there are people it describes.
    `name` is what the result calls the model; "": by its own.
    """
    probe = dataset.probe
    male, female = roles(probe)
    chosen = with_enough_people(dataset, 1) if groups is None else groups
    target = PromptedModel(probe, model, policy or probe.policy, cache, progress)
    _check_that_it_scores(target)
    cells = sorted({dataset.cell(group) for group in chosen})
    decided = target.decide(cells)
    winners = {
        cell: ABSTAINED if d.winner is None else probe.label.values[d.winner].name
        for cell, d in zip(cells, decided, strict=True)
    }
    if any(d.winner is not None and not d.scores for d in decided):
        raise _without_scores(model.name)
    if silent := [cell for cell, d in zip(cells, decided, strict=True) if not d.scores]:
        raise ModelError(
            f"{model.name} named none of the words in {len(silent):,} of {len(cells):,} sentences, "
            f"so there is no score of them; the first: {probe.render(silent[0])[0]}"
        )
    scores = target.scores
    raw = {
        cell: [
            [scores[wording.render(cell)][word] for word in wording.label.words]
            for wording in probe.wordings
        ]
        for cell in cells
    }
    probable = all(
        math.exp(min(a[male], 1.0)) + math.exp(min(a[female], 1.0)) <= 1 + TOLERANCE
        for group in raw.values()
        for a in group
    )
    ppbs = {c: _average(_difference, raw[c], male, female) for c in cells} if probable else None
    normalised = {c: _average(_normalised, raw[c], male, female) for c in cells}
    predicted = (*(value.name for value in probe.label.values), ABSTAINED)

    def describe(occupation: str | None, groups: Iterable[Group]) -> OccupationBias:
        people: Counter[int] = Counter()
        confusion = {name: dict.fromkeys(RECORDED, 0) for name in predicted}
        for group in groups:
            cell = dataset.cell(group)
            people[cell] += group.people
            confusion[winners[cell]][group.gender or "unknown"] += group.people
        return OccupationBias(
            people.total(),
            len(people),
            None if ppbs is None else mean_score([(ppbs[c], n) for c, n in people.items()]),
            mean_score([(normalised[c], n) for c, n in people.items()]),
            confusion,
            occupation=occupation,
        )

    by_occupation: dict[str, list[Group]] = {}
    for group in chosen:
        by_occupation.setdefault(group.occupation, []).append(group)
    return Measurement(
        name or model.name,
        target.identity() or f"function:{model.name}",
        tuple(describe(name, by_occupation[name]) for name in sorted(by_occupation)),
        describe(None, chosen),
        len(scores),
        target.asked,
        target.reused,
    )


def _check_that_it_scores(target: PromptedModel) -> None:
    """Refuse a model whose answers are samples: one of them says nothing of how probable it was."""
    for answers in target.answers[0]:
        if answers.sampled:
            raise _without_scores(target.name)


def _without_scores(name: str) -> HornlensError:
    return HornlensError(
        f"{name} gives no log-probabilities as it is asked, and bias scores are made of them: "
        "use --elicit choose or likelihood, where the endpoint can do that"
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
    measured: Callable[[float, float], float],
    raw: Sequence[Sequence[float]],
    male: int,
    female: int,
) -> float:
    """Return the mean over the templates of one person's sentence."""
    return math.fsum(measured(a[male], a[female]) for a in raw) / len(raw)


def _difference(male: float, female: float) -> float:
    return math.exp(male) - math.exp(female)


def _normalised(male: float, female: float) -> float:
    """Return (p(He) − p(She)) / (p(He) + p(She)), which needs the log-odds only."""
    return 0.0 if male == female else math.tanh((male - female) / 2)


def bias_document(
    dataset: Dataset, groups: Sequence[Group], models: Sequence[Measurement], policy: Policy
) -> Bias:
    """Return what was measured of some models over groups of a data set, as bias.json has it."""
    kept = {group.occupation for group in groups}
    return Bias(
        MeasuredPeople(
            dataset.name,
            sum(group.people for group in groups),
            tuple(sorted({group.occupation for group in dataset.groups} - kept)),
            dict(dataset.transformation),
        ),
        tuple(dataset.probe.templates),
        {value.name: value.word for value in dataset.probe.label.values},
        asdict(policy),
        tuple(ModelBias(m.name, m.identity, m.strongest_first(), m.overall) for m in models),
        BiasStatistics(len(kept), max(model.prompts for model in models)),
    )


def bias_run(models: Sequence[Measurement], seconds: float, started: str) -> BiasRun:
    """Return how a run went."""
    used = tuple(ModelUse(model.name, model.asked, model.reused) for model in models)
    return BiasRun(platform.python_version(), started, round(seconds, 3), used)
