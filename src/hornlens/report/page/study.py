"""The page of a study: what its runs find, what they agree on, and what of it is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from statistics import fmean
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from hornlens.counts import plural
from hornlens.logic.named import NamedRule
from hornlens.report.page.assemble import assemble
from hornlens.report.page.charts import budget_places, isolated, series, share
from hornlens.report.page.marking import marked
from hornlens.report.study_tables import study_tables, times_table
from hornlens.report.tables import shown
from hornlens.results.wording.measures import toys_words
from hornlens.results.wording.sentences import together
from hornlens.studies.documents import (
    STUDY,
    BudgetFindings,
    ModelFindings,
    RuleStability,
    Study,
    StudyPlan,
    StudyTimes,
)

SCRIPTS = ("dom.js", "table.js", "csv.js", "charts.js", "filters.js", "study.js")
STYLES = ("charts.css",)
BEST = 6
"""How many of the most stable rules stand at the top."""
MOST_ROWS = 20_000
"""A page that would have more rows of rules than this has the stable ones only."""
HEIGHT = 240
"""The height of a chart, from 0 % to 100 %."""
ASIDE = 13
"""How far the models stand beside each other on a chart, so that none hides another."""


@dataclass(frozen=True)
class Line:
    """A rule as the runs of a model with a budget have it; the numbers are places in the study."""

    model: int
    budget: int
    found: RuleStability
    stable: bool


@dataclass(frozen=True)
class Stable:
    """A rule at the top of the page: its reading, and for each model how many runs found it."""

    rule: NamedRule
    reading: Markup
    models: tuple[StableIn, ...]


@dataclass(frozen=True)
class StableIn:
    """How often the runs of a model found a rule, by budget, and whether it is true."""

    name: str
    found: tuple[int, ...]
    true: bool | None


@dataclass(frozen=True)
class Point:
    """The runs of a model with a budget on a chart; heights in pixels, a place in per cent."""

    budget: int
    x: str
    mean: float
    low: float
    high: float
    runs: tuple[tuple[int, float], ...]
    label: str


@dataclass(frozen=True)
class Chart:
    """A measure by budget: the points of each model that has any, by its place in the study."""

    key: str
    points: tuple[tuple[int, float, tuple[Point, ...]], ...]


def study_page(study: Study, times: StudyTimes | None = None) -> str:
    """Return the page of a study, with its times if they are known."""
    plan, models = study.study, study.models
    tables = {table.name: table for table in study_tables(study)}
    lines = list(_lines(study))
    everything = len(lines) <= MOST_ROWS
    marks = series([model.model for model in models])
    charts = [_chart(study, measure) for measure in ("recall", "precision")]
    return assemble(
        "study.html",
        SCRIPTS,
        STUDY.as_json(study),
        styles=STYLES,
        title=f"Study {plan.name}",
        content=study,
        study=plan,
        models=models,
        series=marks,
        drawn=[marks[model] for model, *_ in charts[0].points],
        toy=toys_words({model.model: model.identity for model in models}),
        runs=len(plan.seeds),
        several=len(models) > 1,
        judged=[model for model in models if model.exact is not None],
        links=[_link(model) for model in models],
        sentences=[_sentence(model, plan) for model in models],
        best=_most_stable(study),
        charts=charts,
        places=budget_places(plan.budgets),
        height=HEIGHT,
        measured=[(i, part) for i, model in enumerate(models) for part in model.budgets],
        lines=lines if everything else [line for line in lines if line.stable],
        everything=everything,
        smallest=plan.budgets.index(min(plan.budgets)),
        largest=plan.budgets.index(max(plan.budgets)),
        exact=[
            (i, line)
            for i, model in enumerate(models)
            if model.exact is not None
            for line in model.exact.strongest_first()
        ],
        published=list(_published(study)),
        queries=tables["queries"],
        times=None if times is None else times_table(times),
        step=lambda found: ceil(4 * found / len(plan.seeds)),
        mean=fmean,
        share=share,
        shown=shown,
        plural=plural,
    )


def _link(model: ModelFindings) -> str | None:
    """Return where the exact extraction's page is, from the study's; None if there is none."""
    return None if model.exact is None else f"./{quote(model.exact.folder)}/report.html"


def _sentence(model: ModelFindings, plan: StudyPlan) -> dict[str, Any]:
    """Return what is said of a model at the top: a sentence of one kind, and its numbers."""
    parts = model.budgets
    stable = [part.stable(plan.stable) for part in parts]
    said = {"model": model.model, "parts": parts, "stable": [len(lines) for lines in stable]}
    if model.exact is None:
        return said | {"kind": "unjudged"}
    if model.exact.to_find == 0:
        runs = [run for part in parts for run in part.runs]
        return said | {
            "kind": "empty",
            "untold": len(model.exact.rules),
            "claims": sum(run.rules > 0 for run in runs),
            "runs": len(runs),
        }
    false = [sum(line.true is False for line in lines) for lines in stable]
    return said | {"kind": "judged", "rules": model.exact.to_find, "false": false}


def _most_stable(study: Study) -> list[Stable]:
    """Return the rules that are stable somewhere, those of most models and most runs first."""
    found: dict[NamedRule, dict[int, dict[int, RuleStability]]] = {}
    for line in _lines(study):
        by_model = found.setdefault(line.found.rule, {})
        by_model.setdefault(line.model, {})[line.budget] = line.found
    best = []
    for rule, by_model in found.items():
        stable = tuple(
            StableIn(
                study.models[m].model,
                tuple(lines[b].found if b in lines else 0 for b in range(len(study.study.budgets))),
                next(iter(lines.values())).true,
            )
            for m, lines in sorted(by_model.items())
            if max(line.found for line in lines.values()) >= study.study.stable
        )
        if stable:
            best.append(Stable(rule, _reading(rule), stable))
    best.sort(key=lambda item: (-len(item.models), -sum(sum(one.found) for one in item.models)))
    return best[:BEST]


def _reading(rule: NamedRule) -> Markup:
    """Return a rule in plain words."""
    return marked(together(rule))


def _chart(study: Study, measure: str) -> Chart:
    """Return a chart of the models that have rules to find."""
    drawn = [i for i, model in enumerate(study.models) if model.exact and model.exact.rules]
    x = budget_places(study.study.budgets)
    lines = []
    for nth, i in enumerate(drawn):
        model = study.models[i]
        points = [_point(model.model, measure, b, x[b], p) for b, p in enumerate(model.budgets)]
        known = tuple(point for point in points if point is not None)
        if known:
            lines.append((i, (nth - (len(drawn) - 1) / 2) * ASIDE, known))
    return Chart(measure, tuple(lines))


def _point(name: str, measure: str, budget: int, x: str, part: BudgetFindings) -> Point | None:
    """Return the point of a budget; None if no run has the measure."""
    values, spread = part.measured(measure), part.spread(measure)
    mean = None if part.mean is None else part.mean.get(measure)
    if mean is None or spread is None:
        return None
    low, high = spread
    return Point(
        budget,
        x,
        _height(mean),
        _height(low),
        _height(high),
        # Runs of the same value would hide each other; they step aside by turns.
        tuple((2 * (i % 5 - 2), _height(value)) for i, value in values),
        f"{isolated(name)}, {plural(part.budget, 'query')}: {measure} {share(mean)} on average, "
        f"{share(low)} to {share(high)} over {plural(len(values), 'run')}",
    )


def _height(value: float) -> float:
    return round((1 - value) * HEIGHT, 2)


def _lines(study: Study) -> Iterator[Line]:
    """Yield every rule that a run found, by budget and model."""
    for b in range(len(study.study.budgets)):
        for m, model in enumerate(study.models):
            for line in model.budgets[b].rules:
                yield Line(m, b, line, line.found >= study.study.stable)


def _published(study: Study) -> Iterator[Line]:
    """Yield the paper's rules beside ours, and then ours that the paper does not have."""
    for b in range(len(study.study.budgets)):
        parts = [(m, model.budgets[b]) for m, model in enumerate(study.models)]
        if any(part.published for _, part in parts):
            for m, part in parts:
                if part.published is not None:
                    lines = part.beside_published(study.study.stable)
                    yield from (Line(m, b, line, True) for line in lines)
