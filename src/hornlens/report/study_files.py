"""The files of a study: its two documents, tables in three formats, a figure, pages.

The figure is left out where it cannot be drawn (`drawing.can_draw`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.files import write_files
from hornlens.report.drawing import can_draw
from hornlens.report.page.extraction import extraction_page
from hornlens.report.page.study import study_page
from hornlens.report.study_tables import study_tables, times_table
from hornlens.report.tables import Table, in_markdown
from hornlens.studies.documents import STUDY, TIMES, Study, StudyTimes
from hornlens.studies.plan import Plan
from hornlens.studies.published import Published
from hornlens.studies.runs import ModelRuns
from hornlens.studies.summary import summarise, times_of

FORMS = {".md": Table.markdown, ".tex": Table.latex, ".csv": Table.csv}
FIGURE = "recall-precision"


def write_study(
    plan: Plan, found: Sequence[ModelRuns], out: Path, published: Published | None = None
) -> Study:
    """Write everything that a study found under a folder, or nothing; return its document."""
    study, times = summarise(plan, found, published), times_of(plan, found, published)
    files: dict[Path, str | bytes] = {
        out / "exact" / each.folder / "report.html": extraction_page(each.exact)
        for each in found
        if each.exact is not None
    }
    texts = study_texts(study, times)
    files |= {out / name: text for name, text in texts.items()}
    files |= _figure_files(study, out)
    earlier = _earlier(out)
    write_files(files)
    for path in earlier - files.keys():
        path.unlink(missing_ok=True)
    return study


def study_texts(study: Study, times: StudyTimes) -> dict[str, str]:
    """Return the files of a study by name, all but its figure and the runs'."""
    texts: dict[str, str] = {}
    tables = study_tables(study)
    for table in tables:
        texts |= _table_files("tables/", table)
    texts |= _table_files("", times_table(times))
    texts["times.json"] = TIMES.text(times)
    plan = study.study
    texts["study.md"] = in_markdown(f"Study: {plan.name}", plan.description, tables)
    texts["study.json"] = STUDY.text(study)
    texts["report.html"] = study_page(study, times)
    return texts


def _figure_files(study: Study, out: Path) -> dict[Path, bytes]:
    """Return the figure of recall and precision, if a model has rules to find."""
    spread = {
        model.model: {
            part.budget: [(m.recall, m.precision) for run in part.runs if (m := run.measures)]
            for part in model.budgets
        }
        for model in study.models
        if model.exact is not None and model.exact.rules
    }
    if not spread or not can_draw():
        return {}
    from hornlens.report.figures import drawn
    from hornlens.report.study_figures import recall_precision

    rest = [model.model for model in study.models if model.model not in spread]
    return drawn(recall_precision(spread, rest), out / FIGURE)


def _earlier(out: Path) -> set[Path]:
    """Return the tables and the figure of an earlier study in this folder, and nothing else."""
    try:
        tables = study_tables(STUDY.read(out / "study.json"))
    except InputError:
        return set()
    figure = {out / f"{FIGURE}{suffix}" for suffix in (".svg", ".png")}
    return figure | {out / "tables" / f"{t.name}{suffix}" for t in tables for suffix in FORMS}


def _table_files(folder: str, table: Table) -> dict[str, str]:
    return {f"{folder}{table.name}{suffix}": form(table) for suffix, form in FORMS.items()}
