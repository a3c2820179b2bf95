"""The files of bias scores: the document, two tables, two figures, the page.

The figures are left out where they cannot be drawn (`drawing.can_draw`).
"""

from __future__ import annotations

from pathlib import Path

from hornlens.formats.files import write_files
from hornlens.pronouns.bias import BIAS, BIAS_RUN, Bias, BiasRun
from hornlens.pronouns.bias_tables import bias_csv, confusion_csv
from hornlens.report.drawing import can_draw
from hornlens.report.page.bias import bias_page

FIGURES = ("people", "scores")


def write_bias(bias: Bias, run: BiasRun, out: Path, limit: int) -> None:
    """Write everything under a folder, or nothing; figures show at most so many occupations."""
    files: dict[Path, str | bytes] = {
        out / name: text for name, text in bias_texts(bias, run).items()
    }
    if can_draw():
        files |= _figure_files(bias, out, limit)
    files[out / "run.json"] = BIAS_RUN.text(run)
    write_files(files)
    for path in {out / f"{name}{suffix}" for name in FIGURES for suffix in (".svg", ".png")}:
        if path not in files:
            path.unlink(missing_ok=True)  # of another result


def bias_texts(bias: Bias, run: BiasRun | None) -> dict[str, str]:
    """Return the files by name, all but the figures and run.json."""
    return {
        "bias.json": BIAS.text(bias),
        "bias.csv": bias_csv(bias.models),
        "confusion.csv": confusion_csv(bias.models),
        "report.html": bias_page(bias, run),
    }


def _figure_files(bias: Bias, out: Path, limit: int) -> dict[Path, bytes]:
    """Return the two figures."""
    from hornlens.report.bias_figures import limit_note, people, scores, strongest
    from hornlens.report.figures import drawn

    files: dict[Path, bytes] = {}
    chosen = set(strongest(bias.models, limit))
    recorded = {
        line.occupation or "": line.recorded
        for line in bias.models[0].occupations
        if line.occupation in chosen
    }
    words = bias.words["male"], bias.words["female"]
    figures = people(recorded, limit_note(bias.models, limit)), scores(bias.models, limit, words)
    for name, figure in zip(FIGURES, figures, strict=True):
        files |= drawn(figure, out / name)
    return files
