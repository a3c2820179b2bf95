"""Figures for papers, as SVG and PNG: sized for a page, told apart by shape as well as colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, PercentFormatter
from matplotlib.transforms import Affine2D

from hornlens.formats.files import write_file
from hornlens.pronouns.bias import ModelBias, shared_kind
from hornlens.pronouns.intervals import Score
from hornlens.report.labels import short_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 6.3
"""Inches: the text width of A4 with margins of 25 mm; letter has a little more."""
PAGE = 9.0
"""Inches: the text height of letter; A4 has room for a caption as well."""
FRAME = 1.1
"""Inches for what is above and below the occupations."""
LEGEND = 0.51
"""Inches that a figure keeps free for its legend: the note and two lines."""
ROW = 0.125
"""Inches for an occupation: 60 of them fit a page."""
LANE, NARROW = 0.032, 0.018
"""Inches for a model in an occupation's row: where there is room, and at the least."""
STEP = 0.018
"""How far models stand apart at a budget, as a share of the axis."""
SERIES = (
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "^"),
    ("#CC79A7", "D"),
    ("#000000", "v"),
    ("#E69F00", "P"),
    ("#56B4E9", "X"),
)
"""Okabe and Ito's colours, which the colour-blind can tell apart, each with a marker."""
GENDERS = {
    "female": ("women", *SERIES[1]),
    "male": ("men", *SERIES[0]),
    "other": ("other", *SERIES[2]),
    "unknown": ("not known", *SERIES[4]),
}
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "grid.color": "#cccccc",
    "grid.linewidth": 0.5,
    "ytick.major.size": 0,
    "text.parse_math": False,  # a name with dollar signs is not a formula
    "svg.fonttype": "none",
    "svg.hashsalt": "hornlens",
    "savefig.dpi": 300,
}


@contextmanager
def _style() -> Iterator[None]:
    """Use our settings, whatever the user's own are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def save(figure: Figure, base: Path) -> None:
    """Write `base`.svg and `base`.png; the same figure gives the same bytes."""
    nameless: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": "hornlens"},
        "png": {"Software": "hornlens"},
    }
    for form, metadata in nameless.items():
        out = BytesIO()
        with _style():
            figure.savefig(out, format=form, metadata=metadata)
        write_file(base.with_name(f"{base.name}.{form}"), out.getvalue())


def people(recorded: Mapping[str, Mapping[str, int]], note: str = "") -> Figure:
    """Return the people of each occupation by recorded gender, most people first.

    Counts stand side by side on a logarithmic axis that goes down to 0, as they span five orders
    of magnitude; stacked bars would lie there. Shares have an axis of their own.
    """
    names = sorted(recorded, key=lambda name: (-sum(recorded[name].values()), name))
    with _style():
        figure, (counts, shares) = _rows(len(names), ROW, [2.6, 1])
        for gender, (label, colour, marker) in GENDERS.items():
            here = [
                (y, recorded[name][gender])
                for y, name in enumerate(names)
                if recorded[name][gender] or gender in ("female", "male")
            ]
            if any(n for _, n in here):
                counts.plot(
                    [n for _, n in here],
                    [y for y, _ in here],
                    **_dots(colour, marker),
                    label=label,
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
            shares.plot(list(share.values()), list(share), **_dots(colour, marker))
        shares.set_xlim(-0.04, 1.04)
        shares.set_xticks([0, 0.5, 1])
        shares.xaxis.set_major_formatter(PercentFormatter(1))
        shares.set_xlabel("women among\nwomen and men")
        _legend(figure, counts.get_legend_handles_labels()[0], note)
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
    with _style():
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
        notes = ["mean over people and 95 % interval", cut(models, limit)]
        if any(lines[name].low is None for lines in found for name in names):
            notes.append("hollow: no interval")
        keys = [
            Line2D([], [], label=text, **_dots(*_series(i)))
            for i, text in enumerate(short_labels([model.name for model in models]))
        ]
        _legend(figure, keys, "; ".join(filter(None, notes)))
    return figure


def _estimates(axes: Axes, scores: Sequence[tuple[Score, float]], index: int) -> None:
    """Draw a model's scores at their heights; a hollow marker is a mean without an interval."""
    colour, marker = _series(index)
    sure = [(s.mean, s.low, s.high, y) for s, y in scores if s.low is not None]
    if sure:
        means, lows, highs, heights = zip(*sure, strict=True)
        axes.hlines(heights, lows, highs, color=colour, linewidth=0.9)
        axes.plot(means, heights, **_dots(colour, marker))
    bare = [(s.mean, y) for s, y in scores if s.low is None]
    if bare:
        means, heights = zip(*bare, strict=True)
        hollow = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.9}
        axes.plot(means, heights, **_dots(colour, marker) | hollow)


def strongest(models: Sequence[ModelBias], limit: int) -> list[str]:
    """Return the occupations whose mean scores over the models are farthest from zero."""
    kind = shared_kind(models)
    scores: dict[str, list[float]] = {}
    for line in (line for model in models for line in model.occupations):
        scores.setdefault(line.occupation or "", []).append(line.of_kind(kind).mean)
    means = {name: abs(fmean(found)) for name, found in scores.items()}
    return sorted(means, key=lambda name: (-means[name], name))[:limit]


def cut(models: Sequence[ModelBias], limit: int) -> str:
    """Return what a figure says when it does not show every occupation."""
    there = len(models[0].occupations)
    return f"the {limit} most biased of {there} occupations" if there > limit else ""


def recall_precision(
    models: Mapping[str, Mapping[int, Sequence[tuple[float | None, float | None]]]],
    left_out: Sequence[str] = (),
) -> Figure:
    """Return recall and precision by budget of equivalence queries, a line for each model.

    `models` has the (recall, precision) of each run, by model and budget; a run without rules has
    no precision. Shown: the median over the runs, and from the least to the most. `left_out` names
    the models that have no rules to find, hence neither recall nor precision; the figure says so.
    """
    budgets = sorted({budget for runs in models.values() for budget in runs})
    labels = short_labels([*models, *left_out])
    with _style():
        figure = Figure(figsize=(WIDTH, 2.7), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, 2, sharey=True)
        for which, (axes, title) in enumerate(zip(panels, ("recall", "precision"), strict=True)):
            axes.set_title(title)
            axes.set_xlabel("equivalence queries")
            step = min(STEP, _place(axes, budgets) / max(len(models) - 1, 1))
            for i, runs in enumerate(models.values()):
                points = [
                    (budget, [run[which] for run in runs[budget] if run[which] is not None])
                    for budget in budgets
                    if budget in runs
                ]
                points = [(budget, values) for budget, values in points if values]
                if points:
                    _spread(axes, i, (i - (len(models) - 1) / 2) * step, labels[i], points)
            axes.set_ylim(-0.03, 1.03)
            axes.yaxis.set_major_formatter(PercentFormatter(1))
            axes.tick_params(labelleft=True)
            axes.grid(axis="y")
        keys = panels[0].get_legend_handles_labels()[0]
        notes = ["median over runs; bars from the least to the most"]
        if left_out:
            notes.append(_without_rules(labels[len(models) :]))
        _legend(figure, keys, "\n".join(notes))
        figure.draw_without_rendering()
        for axes in panels:
            _thin(axes)
    return figure


def _without_rules(names: Sequence[str]) -> str:
    """Return a line that names the models without rules, as many as it has room for."""
    fit = sum(len(", ".join(names[:n])) <= 60 for n in range(1, len(names) + 1))
    shown = list(names[: max(fit, 1)])
    if len(shown) < len(names):
        return f"{', '.join(shown)} and {len(names) - len(shown)} more have no rules"
    *firsts, last = shown
    return f"{', '.join(firsts)} and {last} have no rules" if firsts else f"{last} has no rules"


def _place(axes: Axes, budgets: Sequence[int]) -> float:
    """Put the budgets at their values, on a logarithmic axis if they crowd and it parts them.

    Return how wide the models of a budget may spread, as a share of the axis: not near the models
    of the next one, and not off the axis.
    """
    first, last = budgets[0], budgets[-1]
    span = last - first
    gap = min((b - a for a, b in pairwise(budgets)), default=1)
    if (
        first > 0
        and gap < span / 8
        and min(log(b / a) for a, b in pairwise(budgets)) / log(last / first) > gap / span
    ):
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xlim(first / (last / first) ** 0.1, last * (last / first) ** 0.1)
    else:
        reach = span / 10 or 1
        axes.set_xlim(first - reach, last + reach)
    axes.set_xticks(budgets, [f"{budget:,}" for budget in budgets])
    to_axis = axes.transScale + axes.transLimits
    places = [float(x) for x, _ in to_axis.transform([(budget, 0.5) for budget in budgets])]
    return min([2 * places[0], *(0.4 * (b - a) for a, b in pairwise(places))])


def _thin(axes: Axes) -> None:
    """Leave out labels that would touch others; the first, the last and round ones stay first."""
    texts = [label.get_text() for label in axes.get_xticklabels()]
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    room = 3 / 72 * axes.figure.dpi
    kept = [boxes[0], boxes[-1]]
    for i in sorted(range(1, len(texts) - 1), key=lambda i: -_zeros(texts[i])):
        if all(boxes[i].x0 - room >= box.x1 or boxes[i].x1 + room <= box.x0 for box in kept):
            kept.append(boxes[i])
        else:
            texts[i] = ""
    axes.set_xticks(axes.get_xticks(), texts)


def _zeros(number: str) -> int:
    """Return how many zeros a number ends with: how round it is."""
    digits = number.replace(",", "")
    return len(digits) - len(digits.rstrip("0"))


def _spread(
    axes: Axes, index: int, shift: float, label: str, points: Sequence[tuple[int, list[Any]]]
) -> None:
    """Draw a model's medians and ranges, shifted by a share of the axis."""
    colour, marker = _series(index)
    aside = Affine2D().translate(shift, 0)
    place = axes.transScale + axes.transLimits + aside + axes.transAxes
    budgets = [budget for budget, _ in points]
    axes.vlines(
        budgets,
        [min(values) for _, values in points],
        [max(values) for _, values in points],
        color=colour,
        linewidth=0.9,
        transform=place,
    )
    middles = [median(values) for _, values in points]
    style = _dots(colour, marker) | {"linestyle": "-", "linewidth": 0.9, "markersize": 4}
    axes.plot(budgets, middles, label=label, transform=place, **style)


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


def _legend(figure: Figure, keys: Sequence[Any], note: str) -> None:
    """Put the legend above the panels, in as many columns as fit; a high one gets more page."""
    for columns in range(min(len(keys), 5), 0, -1):
        legend = figure.legend(
            handles=keys,
            loc="outside upper center",
            ncols=columns,
            title=note,
            title_fontsize=7.5,
        )
        legend.get_title().set_multialignment("center")
        box = legend.get_window_extent()
        if columns == 1 or box.width <= figure.bbox.width:
            break
        legend.remove()
    height = figure.get_figheight()
    more = max(0.0, box.height / figure.dpi - LEGEND)
    figure.set_figheight(max(height, min(PAGE, height + more)))


def _dots(colour: str, marker: str) -> dict[str, Any]:
    """Return how a series is drawn: a thin white edge keeps neighbours apart."""
    return {
        "color": colour,
        "marker": marker,
        "markersize": 4,
        "markeredgecolor": "white",
        "markeredgewidth": 0.3,
        "linestyle": "none",
        "clip_on": False,
        "zorder": 3,
    }


def _series(index: int) -> tuple[str, str]:
    """Return a colour and a marker; the pairs differ for up to 49 series."""
    colour, _ = SERIES[index % len(SERIES)]
    _, marker = SERIES[(index + index // len(SERIES)) % len(SERIES)]
    return colour, marker


def _round(count: float) -> str:
    """Return a power of ten as an axis has room for it: 100, 10k, 1M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:g}{letter}"
    return f"{count:g}"
