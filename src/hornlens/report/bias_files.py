"""The files of bias scores: the document, two tables, two figures, the page."""

from __future__ import annotations

from pathlib import Path

from hornlens.formats.files import write_files
from hornlens.pronouns.bias import BIAS, BIAS_RUN, Bias, BiasRun
from hornlens.pronouns.bias_tables import bias_csv, confusion_csv
from hornlens.report.page.bias import bias_page


def write_bias(bias: Bias, run: BiasRun, out: Path, limit: int) -> None:
    """Write everything under a folder, or nothing; figures show at most so many occupations."""
    from hornlens.report.bias_figures import cut, people, scores, strongest
    from hornlens.report.figures import drawn

    files: dict[Path, str | bytes] = {
        out / "bias.json": BIAS.text(bias),
        out / "bias.csv": bias_csv(bias.models),
        out / "confusion.csv": confusion_csv(bias.models),
    }
    chosen = set(strongest(bias.models, limit))
    recorded = {
        line.occupation or "": line.recorded
        for line in bias.models[0].occupations
        if line.occupation in chosen
    }
    words = bias.words["male"], bias.words["female"]
    for name, figure in (
        ("people", people(recorded, cut(bias.models, limit))),
        ("scores", scores(bias.models, limit, words)),
    ):
        files |= drawn(figure, out / name)
    files[out / "run.json"] = BIAS_RUN.text(run)
    files[out / "report.html"] = bias_page(bias, run)
    write_files(files)
