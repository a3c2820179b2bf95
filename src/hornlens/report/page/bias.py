"""The page of bias scores: how models lean, by occupation, and whom they were asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from statistics import fmean
from typing import Any

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
from hornlens.report.terminal import plural

SCRIPTS = ("dom.js", "table.js", "csv.js", "charts.js", "filters.js", "bias.js")
STYLES = ("charts.css",)
KINDS = ("ppbs", "normalised")
PITCH = 9
"""Pixels between the models of an occupation."""
STRIP = 160
"""The width of the strip that shows a model's occupations."""
GENDERS = {"female": "women", "male": "men", "other": "other", "unknown": "not known"}
"""What is recorded, in the order and in the words of the page."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """An occupation on the page: what each model says of it, and its people by recorded gender.

    `index` is its place among the first model's.
    """

    index: int
    name: str
    models: tuple[Json, ...]
    recorded: Mapping[str, int]

    @property
    def people(self) -> int:
        """All people of the occupation."""
        return int(self.models[0]["people"])

    @property
    def women(self) -> float | None:
        """The share of women among women and men."""
        two = self.recorded["female"] + self.recorded["male"]
        return self.recorded["female"] / two if two else None

    def score(self, kind: str) -> float:
        """Return the mean over the models that have the score."""
        return fmean(line[kind]["mean"] for line in self.models if line[kind])


def bias_page(content: dict[str, Any], run: Mapping[str, Any]) -> str:
    """Return the page of a bias.json."""
    models = content["models"]
    kind = "ppbs" if all(model["overall"]["ppbs"] for model in models) else "normalised"
    rows = sorted(_rows(models), key=lambda row: (-row.score(kind), row.name))
    everyone = _recorded(models[0]["overall"])
    genders = [g for g in GENDERS if everyone[g] or g in ("female", "male")]
    top = max((n for row in rows for n in row.recorded.values()), default=0)
    return assemble(
        "bias.html",
        SCRIPTS,
        content,
        styles=STYLES,
        title=f"Bias scores of {content['dataset']['name']}",
        content=content,
        models=models,
        run=run,
        took=duration(run.get("seconds")),
        started=moment(run),
        he=content["words"]["male"],
        she=content["words"]["female"],
        kind=kind,
        kinds=KINDS,
        series=series([model["name"] for model in models]),
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
        recorded=_recorded,
        columns=genders,
        gender_height={g: 7 + 10 * i / (len(genders) - 1) for i, g in enumerate(genders)},
        called=GENDERS,
        isolated=isolated,
        share=share,
        signed=signed,
        plural=plural,
    )


def _rows(models: Sequence[Json]) -> list[Row]:
    by_name = [{line["occupation"]: line for line in model["occupations"]} for model in models]
    return [
        Row(i, name, tuple(lines[name] for lines in by_name), _recorded(line))
        for i, (name, line) in enumerate(by_name[0].items())
    ]


def _recorded(line: Json) -> dict[str, int]:
    """Return people by recorded gender."""
    return {g: sum(row[g] for row in line["confusion"].values()) for g in GENDERS}


def _finding(model: Json, kind: str) -> dict[str, Any]:
    """Return what is said of a model at the top: how it leans, its extremes, all its scores."""
    lines = sorted(model["occupations"], key=lambda o: (-o[kind]["mean"], o["occupation"]))
    places = {round((line[kind]["mean"] + 1) / 2 * (STRIP - 2)) + 1 for line in lines}
    return {
        "name": model["name"],
        "mean": model["overall"][kind]["mean"],
        "accuracy": model["overall"]["accuracy"],
        "he": lines[0],
        "she": lines[-1],
        "strip": "".join(f"M{x} 0v12" for x in sorted(places)),
    }


def _farthest_apart(rows: Sequence[Row], kind: str) -> dict[str, Any] | None:
    """Return the occupation on which two models differ most, and their scores."""
    if not rows or len(rows[0].models) < 2:
        return None

    def scores(row: Row) -> list[float]:
        return [line[kind]["mean"] for line in row.models]

    row = max(rows, key=lambda row: max(scores(row)) - min(scores(row)))
    found = scores(row)
    high, low = found.index(max(found)), found.index(min(found))
    return {"row": row, "high": high, "low": low} if high != low else None
