"""The page of bias scores: how models lean, by occupation, and whom they were asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from statistics import fmean
from typing import Any, get_args

from hornlens.counts import plural
from hornlens.pronouns.bias import BIAS, Bias, BiasRun, Kind, ModelBias, OccupationBias
from hornlens.report.page.assemble import assemble
from hornlens.report.page.charts import (
    Series,
    count_place,
    isolated,
    place,
    score_place,
    series,
    share,
    signed,
)
from hornlens.report.page.extraction import duration, moment
from hornlens.results.wording.measures import toys_words

SCRIPTS = ("dom.js", "table.js", "csv.js", "charts.js", "filters.js", "bias.js")
STYLES = ("charts.css",)
PITCH = 9
"""Pixels between the models of an occupation."""
STRIP = 160
"""The width of the strip that shows a model's occupations."""
GENDERS = {"female": "women", "male": "men", "other": "other", "unknown": "not known"}
"""What is recorded, in the order and in the words of the page."""


@dataclass(frozen=True)
class Row:
    """An occupation on the page: what each model says of it.

    `index` is its place among the first model's.
    """

    index: int
    name: str
    models: tuple[OccupationBias, ...]

    @property
    def recorded(self) -> Mapping[str, int]:
        """The people by recorded gender, the same for every model."""
        return self.models[0].recorded

    @property
    def people(self) -> int:
        """All people of the occupation."""
        return self.models[0].people

    @property
    def women(self) -> float | None:
        """The share of women among women and men."""
        recorded = self.recorded
        two = recorded["female"] + recorded["male"]
        return recorded["female"] / two if two else None

    def means(self, kind: Kind) -> list[float]:
        """Return what each model scores."""
        return [line.of_kind(kind).mean for line in self.models]


def bias_page(bias: Bias, run: BiasRun | None = None) -> str:
    """Return the page of bias scores, with how the run went if that is known."""
    models, kind = bias.models, bias.kind
    rows = sorted(_rows(models), key=lambda row: (-fmean(row.means(kind)), row.name))
    everyone = models[0].overall.recorded
    genders = [g for g in GENDERS if everyone[g] or g in ("female", "male")]
    top = max(n for row in rows for n in row.recorded.values())
    return assemble(
        "bias.html",
        SCRIPTS,
        BIAS.as_json(bias),
        styles=STYLES,
        title=f"Bias scores of {bias.dataset.name}",
        content=bias,
        models=models,
        toy=toys_words({model.name: model.identity for model in bias.models}),
        run=run,
        took=run and duration(run.seconds),
        started=run and moment(run.started),
        he=bias.words["male"],
        she=bias.words["female"],
        kind=kind,
        kinds=get_args(Kind),
        series=series([model.name for model in models]),
        several=len(models) > 1,
        findings=[_finding(model, kind) for model in models],
        widest=_farthest_apart(rows, kind),
        rows=rows,
        by_people=sorted(rows, key=lambda row: (-row.people, row.name)),
        height=PITCH * len(models) + 14,
        pitch=PITCH,
        genders=[
            (g, Series(GENDERS[g], colour, colour))
            for g, colour in zip(GENDERS, (1, 0, 2, 4), strict=True)
            if g in genders
        ],
        ticks=[0, *(10**power for power in range(int(log10(max(top, 10))) + 1))],
        top=top,
        score_place=score_place,
        count_place=count_place,
        place=place,
        columns=genders,
        gender_height={g: 7 + 10 * i / (len(genders) - 1) for i, g in enumerate(genders)},
        called=GENDERS,
        isolated=isolated,
        share=share,
        signed=signed,
        plural=plural,
    )


def _rows(models: Sequence[ModelBias]) -> list[Row]:
    by_name = [{line.occupation: line for line in model.occupations} for model in models]
    return [
        Row(i, name or "", tuple(lines[name] for lines in by_name))
        for i, name in enumerate(by_name[0])
    ]


def _finding(model: ModelBias, kind: Kind) -> dict[str, Any]:
    """Return what is said of a model at the top: how it leans, its extremes, all its scores."""
    lines = sorted(model.occupations, key=lambda o: (-o.of_kind(kind).mean, o.occupation or ""))
    places = {round((line.of_kind(kind).mean + 1) / 2 * (STRIP - 2)) + 1 for line in lines}
    return {
        "name": model.name,
        "mean": model.overall.of_kind(kind).mean,
        "accuracy": model.overall.accuracy,
        "he": lines[0],
        "she": lines[-1],
        "strip": "".join(f"M{x} 0v12" for x in sorted(places)),
    }


def _farthest_apart(rows: Sequence[Row], kind: Kind) -> dict[str, Any] | None:
    """Return the occupation on which two models differ most, and which; None if none differ."""
    row = max(rows, key=lambda row: max(row.means(kind)) - min(row.means(kind)))
    found = row.means(kind)
    high, low = found.index(max(found)), found.index(min(found))
    return {"row": row, "high": high, "low": low} if high != low else None
