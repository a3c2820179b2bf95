"""The figures of bias scores: an occupation's people, and what models score of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, PercentFormatter

from hornlens.pronouns.bias import ModelBias, shared_kind
from hornlens.pronouns.intervals import Score
from hornlens.report.figures import PAGE, SERIES, WIDTH, dots, legend, look, style
from hornlens.report.labels import short_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FRAME = 1.1
"""Inches for what is above and below the occupations."""
ROW = 0.125
"""Inches for an occupation: 60 of them fit a page."""
LANE, NARROW = 0.032, 0.018
"""Inches for a model in an occupation's row: where there is room, and at the least."""
GENDERS = {
    "female": ("women", *SERIES[1]),
    "male": ("men", *SERIES[0]),
    "other": ("other", *SERIES[2]),
    "unknown": ("not known", *SERIES[4]),
}


def people(recorded: Mapping[str, Mapping[str, int]], note: str = "") -> Figure:
    """Return the people of each occupation by recorded gender, most people first.

    Counts stand side by side on a logarithmic axis that goes down to 0, as they span five orders
    of magnitude; stacked bars would lie there. Shares have an axis of their own.
    """
    names = sorted(recorded, key=lambda name: (-sum(recorded[name].values()), name))
    with style():
        figure, (counts, shares) = _rows(len(names), ROW, [2.6, 1])
        for gender, (label, colour, marker) in GENDERS.items():
            here = [
                (y, recorded[name][gender])
                for y, name in enumerate(names)
                if recorded[name][gender] or gender in ("female", "male")
            ]
            if any(n for _, n in here):
                counts.plot(
                    [n for _, n in here], [y for y, _ in here], **dots(colour, marker), label=label
                )
        counts.set_xscale("symlog", linthresh=1, linscale=0.4)
        top = max(max(recorded[name].values()) for name in names)
        ticks = [0, *(10**power for power in range(len(str(top)) + 1))]
        counts.set_xlim(-0.25, max(top * 1.5, 12))
        counts.set_xticks([tick for tick in ticks if tick <= max(top * 1.5, 12)])
        counts.xaxis.set_major_formatter(FuncFormatter(lambda n, _: _round(n)))
        counts.set_xlabel("people (logarithmic from 1)")
        totals = [f"{sum(recorded[name].values()):,}" for name in names]
        rows = [f"{text} ({n})" for text, n in zip(short_labels(names), totals, strict=True)]
        counts.set_yticks(range(len(names)), rows)
        share = {
            y: recorded[name]["female"] / two
            for y, name in enumerate(names)
            if (two := recorded[name]["female"] + recorded[name]["male"])
        }
        _, colour, marker = GENDERS["female"]
        if share:
            shares.hlines(list(share), 0, list(share.values()), color=colour, linewidth=0.8)
            shares.plot(list(share.values()), list(share), **dots(colour, marker))
        shares.set_xlim(-0.04, 1.04)
        shares.set_xticks([0, 0.5, 1])
        shares.xaxis.set_major_formatter(PercentFormatter(1))
        shares.set_xlabel("women among\nwomen and men")
        legend(figure, counts.get_legend_handles_labels()[0], note)
    return figure


def scores(
    models: Sequence[ModelBias], limit: int = 60, words: tuple[str, str] = ("He", "She")
) -> Figure:
    """Return the bias scores of occupations, models side by side, with their intervals.

    Sorted by the mean over the models; of more occupations than the limit, the strongest are shown,
    and the figure says so. If a model has no `ppbs`, all are shown by their normalised scores.
    """
    kind = shared_kind(models)
    found = [{o.occupation or "": o.of_kind(kind) for o in m.occupations} for m in models]
    shown = strongest(models, limit)
    names = sorted(shown, key=lambda name: (-fmean(lines[name].mean for lines in found), name))
    with style():
        fits = min(LANE * len(models), (PAGE - FRAME) / len(names))
        figure, (axes,) = _rows(len(names), max(ROW, fits, NARROW * len(models)), [1])
        axes.axvline(0, color="#555555", linewidth=0.8, zorder=1)
        for i, lines in enumerate(found):
            shift = (i - (len(models) - 1) / 2) * 0.8 / len(models)
            _estimates(axes, [(lines[name], y + shift) for y, name in enumerate(names)], i)
        axes.set_yticks(range(len(names)), short_labels(names))
        axes.set_xlim(-1.03, 1.03)
        axes.set_xticks([-1, -0.5, 0, 0.5, 1])
        axes.tick_params(top=True, labeltop=True)
        he, she = words
        formula = f"p({he}) − p({she})"
        if kind == "normalised":
            formula = f"({formula}) / (p({he}) + p({she}))"
        axes.set_xlabel(f"← {she}      {formula}      {he} →")
        notes = ["mean over people and 95 % interval", limit_note(models, limit)]
        if any(lines[name].low is None for lines in found for name in names):
            notes.append("hollow: no interval")
        keys = [
            Line2D([], [], label=text, **dots(*look(i)))
            for i, text in enumerate(short_labels([model.name for model in models]))
        ]
        legend(figure, keys, "; ".join(filter(None, notes)))
    return figure


def _estimates(axes: Axes, scores: Sequence[tuple[Score, float]], index: int) -> None:
    """Draw a model's scores at their heights; a hollow marker is a mean without an interval."""
    colour, marker = look(index)
    sure = [(s.mean, s.low, s.high, y) for s, y in scores if s.low is not None]
    if sure:
        means, lows, highs, heights = zip(*sure, strict=True)
        axes.hlines(heights, lows, highs, color=colour, linewidth=0.9)
        axes.plot(means, heights, **dots(colour, marker))
    bare = [(s.mean, y) for s, y in scores if s.low is None]
    if bare:
        means, heights = zip(*bare, strict=True)
        hollow = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.9}
        axes.plot(means, heights, **dots(colour, marker) | hollow)


def strongest(models: Sequence[ModelBias], limit: int) -> list[str]:
    """Return the occupations whose mean scores over the models are farthest from zero."""
    kind = shared_kind(models)
    scores: dict[str, list[float]] = {}
    for line in (line for model in models for line in model.occupations):
        scores.setdefault(line.occupation or "", []).append(line.of_kind(kind).mean)
    means = {name: abs(fmean(found)) for name, found in scores.items()}
    return sorted(means, key=lambda name: (-means[name], name))[:limit]


def limit_note(models: Sequence[ModelBias], limit: int) -> str:
    """Return what a figure says when it does not show every occupation."""
    there = len(models[0].occupations)
    return f"the {limit} most biased of {there} occupations" if there > limit else ""


def _rows(count: int, pitch: float, widths: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels beside each other that share a row for each occupation."""
    figure = Figure(figsize=(WIDTH, round(FRAME + pitch * count, 3)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)[0]
    for axes in panels:
        axes.grid(axis="x")
        for y in range(0, count, 2):
            axes.axhspan(y - 0.5, y + 0.5, color="#f2f2f2", linewidth=0, zorder=0)
        axes.tick_params(axis="y", length=0)
    panels[0].set_ylim(count - 0.5, -0.5)
    return figure, list(panels)


def _round(count: float) -> str:
    """Return a power of ten as an axis has room for it: 100, 10k, 1M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:g}{letter}"
    return f"{count:g}"
