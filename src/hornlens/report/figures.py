"""What all figures share: a page's size, colours and shapes, the legend, the two files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from hornlens.formats.files import write_files

WIDTH = 6.3
"""Inches: the text width of A4 with margins of 25 mm; letter has a little more."""
PAGE = 9.0
"""Inches: the text height of letter; A4 has room for a caption as well."""
LEGEND = 0.51
"""Inches that a figure keeps free for its legend: the note and two lines."""
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
STYLE: dict[Any, Any] = {
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
def style() -> Iterator[None]:
    """Use our settings, whatever the user's own are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def save(figure: Figure, base: Path) -> None:
    """Write `base`.svg and `base`.png; the same figure gives the same bytes."""
    write_files(drawn(figure, base))


def drawn(figure: Figure, base: Path) -> dict[Path, bytes]:
    """Return the contents of `base`.svg and `base`.png; the same figure gives the same bytes."""
    files: dict[Path, bytes] = {}
    nameless: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": "hornlens"},
        "png": {"Software": "hornlens"},
    }
    for form, metadata in nameless.items():
        out = BytesIO()
        with style():
            figure.savefig(out, format=form, metadata=metadata)
        files[base.with_name(f"{base.name}.{form}")] = out.getvalue()
    return files


def legend(figure: Figure, keys: Sequence[Any], note: str) -> None:
    """Put the legend above the panels, in as many columns as fit; a high one gets more page."""
    for columns in range(min(len(keys), 5), 0, -1):
        legend = figure.legend(
            handles=keys, loc="outside upper center", ncols=columns, title=note, title_fontsize=7.5
        )
        legend.get_title().set_multialignment("center")
        box = legend.get_window_extent()
        if columns == 1 or box.width <= figure.bbox.width:
            break
        legend.remove()
    height = figure.get_figheight()
    more = max(0.0, box.height / figure.dpi - LEGEND)
    figure.set_figheight(max(height, min(PAGE, height + more)))


def dots(colour: str, marker: str) -> dict[str, Any]:
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


def look(index: int) -> tuple[str, str]:
    """Return a colour and a marker; the pairs differ for up to 49 series."""
    colour, _ = SERIES[index % len(SERIES)]
    _, marker = SERIES[(index + index // len(SERIES)) % len(SERIES)]
    return colour, marker
