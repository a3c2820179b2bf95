"""The page of a study: what its runs find, what they agree on, and what of it is true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from hornlens.report.page.assemble import assemble
from hornlens.report.page.charts import budget_places, isolated, series, share
from hornlens.report.study_tables import study_tables, times_table
from hornlens.report.tables import RuleCell, shown
from hornlens.report.terminal import plural

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

Json = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A rule as the runs of a model with a budget have it; the numbers are places in the study."""

    model: int
    budget: int
    rule: Json
    stable: bool


@dataclass(frozen=True)
class Stable:
    """A rule at the top of the page: its reading, and for each model how many runs found it."""

    rule: RuleCell
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


def study_page(content: dict[str, Any], times: Mapping[str, Any]) -> str:
    """Return the page of a study.json, with the times of its times.json if there are any."""
    study, models = content["study"], content["models"]
    tables = {table.name: table for table in study_tables(content)}
    lines = list(_lines(content))
    everything = len(lines) <= MOST_ROWS
    marks = series([model["model"] for model in models])
    charts = [_chart(content, key) for key in ("recall", "precision")]
    judged = [model for model in models if model["exact"] is not None]
    return assemble(
        "study.html",
        SCRIPTS,
        content,
        styles=STYLES,
        title=f"Study {study['name']}",
        content=content,
        study=study,
        models=models,
        series=marks,
        drawn=[marks[model] for model, *_ in charts[0].points],
        runs=len(study["seeds"]),
        several=len(models) > 1,
        judged=judged,
        links=[_link(model) for model in models],
        sentences=[_sentence(model, study) for model in models],
        best=_most_stable(content),
        charts=charts,
        places=budget_places(study["budgets"]),
        height=HEIGHT,
        measured=[(i, part) for i, model in enumerate(models) for part in model["budgets"]],
        lines=lines if everything else [line for line in lines if line.stable],
        everything=everything,
        smallest=study["budgets"].index(min(study["budgets"])),
        largest=study["budgets"].index(max(study["budgets"])),
        exact=list(_exact(models)),
        published=list(_published(content)),
        queries=tables["queries"],
        times=times_table(dict(times)) if times else None,
        step=lambda found: ceil(4 * found / len(study["seeds"])),
        spread=_spread,
        mean=fmean,
        share=share,
        shown=shown,
        plural=plural,
    )


def _link(model: Json) -> str | None:
    """Return where the exact extraction's page is, from the study's; None if there is none."""
    exact = model["exact"]
    return None if exact is None else f"./{quote(exact['folder'])}/report.html"


def _sentence(model: Json, study: Json) -> dict[str, Any]:
    """Return what is said of a model at the top: a sentence of one kind, and its numbers."""
    parts = model["budgets"]
    stable = [sum(r["found"] >= study["stable"] for r in part["rules"]) for part in parts]
    said: dict[str, Any] = {"model": model["model"], "parts": parts, "stable": stable}
    if model["exact"] is None:
        return said | {"kind": "unjudged"}
    rules = model["exact"]["to_find"]
    if rules == 0:
        claims = [run for part in parts for run in part["runs"] if run["rules"]]
        runs = sum(len(part["runs"]) for part in parts)
        return said | {
            "kind": "empty",
            "untold": len(model["exact"]["rules"]),
            "claims": len(claims),
            "runs": runs,
        }
    false = [
        sum(r["found"] >= study["stable"] and r["true"] is False for r in part["rules"])
        for part in parts
    ]
    return said | {"kind": "judged", "rules": rules, "false": false}


def _most_stable(content: Json) -> list[Stable]:
    """Return the rules that are stable somewhere, those of most models and most runs first."""
    study, models = content["study"], content["models"]
    found: dict[RuleCell, dict[int, dict[int, Json]]] = {}
    for line in _lines(content):
        by_model = found.setdefault(RuleCell.of(line.rule), {})
        by_model.setdefault(line.model, {})[line.budget] = line.rule
    best = []
    for cell, by_model in found.items():
        stable = tuple(
            StableIn(
                models[m]["model"],
                tuple(rules[b]["found"] if b in rules else 0 for b in range(len(study["budgets"]))),
                next(iter(rules.values()))["true"],
            )
            for m, rules in sorted(by_model.items())
            if max(rule["found"] for rule in rules.values()) >= study["stable"]
        )
        if stable:
            best.append(Stable(cell, _reading(cell), stable))
    best.sort(key=lambda item: (-len(item.models), -sum(sum(one.found) for one in item.models)))
    return best[:BEST]


def _reading(rule: RuleCell) -> Markup:
    """Return a rule in plain words."""
    if rule.then is None:
        match rule.antecedent:
            case ():
                return Markup("Nothing is accepted.")
            case (name,):
                return Markup("Never {}.").format(_names([name]))
            case _:
                return Markup("{} never go together.").format(_names(rule.antecedent))
    if not rule.antecedent:
        return Markup("Always {}.").format(_names(rule.then))
    return Markup("With {} always goes {}.").format(_names(rule.antecedent), _names(rule.then))


def _names(names: Sequence[str]) -> Markup:
    marked = [Markup("<b><bdi>{}</bdi></b>").format(name) for name in names]
    return Markup(" and ").join(filter(None, [Markup(", ").join(marked[:-1]), *marked[-1:]]))


def _chart(content: Json, key: str) -> Chart:
    """Return a chart of the models that have rules to find."""
    models = content["models"]
    drawn = [i for i, model in enumerate(models) if model["exact"] and model["exact"]["rules"]]
    x = budget_places(content["study"]["budgets"])
    lines = []
    for nth, i in enumerate(drawn):
        points = [
            _point(models[i]["model"], key, b, x[b], part)
            for b, part in enumerate(models[i]["budgets"])
            if part["mean"][key] is not None
        ]
        lines.append((i, (nth - (len(drawn) - 1) / 2) * ASIDE, tuple(points)))
    return Chart(key, tuple(line for line in lines if line[2]))


def _point(name: str, key: str, budget: int, x: str, part: Json) -> Point:
    values = [(i, run[key]) for i, run in enumerate(part["runs"]) if run[key] is not None]
    low, high = min(v for _, v in values), max(v for _, v in values)
    mean = part["mean"][key]
    return Point(
        budget,
        x,
        _height(mean),
        _height(low),
        _height(high),
        # Runs of the same value would hide each other; they step aside by turns.
        tuple((2 * (i % 5 - 2), _height(value)) for i, value in values),
        f"{isolated(name)}, {plural(part['budget'], 'query')}: {key} {share(mean)} on average, "
        f"{share(low)} to {share(high)} over {plural(len(values), 'run')}",
    )


def _height(value: float) -> float:
    return round((1 - value) * HEIGHT, 2)


def _lines(content: Json) -> Iterator[Line]:
    """Yield every rule that a run found, by budget and model."""
    for b in range(len(content["study"]["budgets"])):
        for m, model in enumerate(content["models"]):
            for rule in model["budgets"][b]["rules"]:
                yield Line(m, b, rule, rule["found"] >= content["study"]["stable"])


def _exact(models: Sequence[Json]) -> Iterator[tuple[int, Json]]:
    """Yield the exact rules of each model, strongest first."""
    for i, model in enumerate(models):
        rules = model["exact"]["rules"] if model["exact"] else []
        yield from (
            (i, rule)
            for rule in sorted(rules, key=lambda r: (-r["support"], -(r["mean_margin"] or 0.0)))
        )


def _published(content: Json) -> Iterator[Line]:
    """Yield the paper's rules beside ours, and then ours that the paper does not have."""
    for b in range(len(content["study"]["budgets"])):
        parts = [(m, model["budgets"][b]) for m, model in enumerate(content["models"])]
        if not any(part.get("published") for _, part in parts):
            continue
        for m, part in parts:
            theirs = part.get("published")
            if theirs is None:
                continue
            known = [RuleCell.of(rule) for rule in theirs]
            yield from (Line(m, b, rule, True) for rule in theirs)
            for rule in part["rules"]:
                if rule["found"] >= content["study"]["stable"] and RuleCell.of(rule) not in known:
                    yield Line(m, b, rule, True)


def _spread(part: Json, key: str) -> tuple[float, float] | None:
    """Return the least and the most over the runs; None if no run has the measure."""
    values = [run[key] for run in part["runs"] if run[key] is not None]
    return (min(values), max(values)) if values else None
