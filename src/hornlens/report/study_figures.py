"""The figure of a study: recall and precision by budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from statistics import median
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from matplotlib.transforms import Affine2D

from hornlens.report.figures import WIDTH, dots, legend, look, style
from hornlens.report.labels import short_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEP = 0.018
"""How far models stand apart at a budget, as a share of the axis."""


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
    with style():
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
        legend(figure, keys, "\n".join(notes))
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
    colour, marker = look(index)
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
    style = dots(colour, marker) | {"linestyle": "-", "linewidth": 0.9, "markersize": 4}
    axes.plot(budgets, middles, label=label, transform=place, **style)
