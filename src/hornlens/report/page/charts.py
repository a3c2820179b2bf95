"""Charts that are drawn when the page is made: places are per cents, so they fit any width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log10

from hornlens.report.page.assemble import rounded

COLOURS = 7
"""How many colours and how many markers charts.css and charts.html have."""
EDGE = 0.08
"""What a chart leaves free at either side of the first and the last budget."""
BELOW_ONE = 0.4
"""How much room 0 to 1 has on a logarithmic axis that goes down to 0: so many powers of ten."""


@dataclass(frozen=True)
class Series:
    """What is told apart on a chart by colour and marker: a model, a gender."""

    name: str
    colour: int
    marker: int


def series(names: Sequence[str]) -> list[Series]:
    """Return a series for each name; the pairs of colour and marker differ for up to 49."""
    return [Series(name, i % COLOURS, (i + i // COLOURS) % COLOURS) for i, name in enumerate(names)]


def place(part: float) -> str:
    """Return a place between the left (0) and the right (1) end of a chart."""
    return f"{100 * part:.2f}".rstrip("0").rstrip(".") + "%"


def budget_places(budgets: Sequence[int]) -> list[str]:
    """Return where budgets stand: at their values, on a logarithmic axis if they would crowd."""
    values: list[float] = list(budgets)
    low, high = min(values), max(values)
    gaps = [b - a for a, b in pairwise(sorted(set(values)))]
    if low > 0 and gaps and min(gaps) < (high - low) / 8:
        values = [log(value) for value in values]
        low, high = min(values), max(values)
    if low == high:
        return [place(0.5)] * len(values)
    return [place(EDGE + (1 - 2 * EDGE) * (value - low) / (high - low)) for value in values]


def count_place(count: int, top: int) -> str:
    """Return where a count stands on a logarithmic axis from 0 to `top`."""
    return place((BELOW_ONE + log10(count)) / (BELOW_ONE + log10(max(top, 10))) if count else 0.0)


def score_place(score: float) -> str:
    """Return where a score between −1 and 1 stands."""
    return place((min(max(score, -1.0), 1.0) + 1) / 2)


def share(value: float | None) -> str:
    """Return a share as people read it; what is not all is not said to be all."""
    if value is None:
        return "–"
    if 0 < value < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= value < 1 else f"{rounded(100 * value, 0)}%"


def signed(value: float | None) -> str:
    """Return a score with its sign, and a real minus."""
    if value is None:
        return "–"
    text = rounded(abs(value), 3)
    return text if text == "0.000" else ("−" if value < 0 else "+") + text


def isolated(text: str) -> str:
    """Return a name from outside for a text without markup, so that its direction stays its own."""
    return f"\u2068{text}\u2069"
