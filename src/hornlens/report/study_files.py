"""The files of a study: its two documents, tables in three formats, a figure, pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.files import write_file
from hornlens.report.page.extraction import extraction_page
from hornlens.report.page.study import study_page
from hornlens.report.study_tables import study_tables, times_table
from hornlens.report.tables import Table, in_markdown
from hornlens.studies.documents import STUDY, TIMES, Study
from hornlens.studies.plan import Plan
from hornlens.studies.published import Published
from hornlens.studies.runs import ModelRuns
from hornlens.studies.summary import summarise, times_of

FORMS = {".md": Table.markdown, ".tex": Table.latex, ".csv": Table.csv}
FIGURE = "recall-precision"


def write_study(
    plan: Plan, found: Sequence[ModelRuns], out: Path, published: Published | None = None
) -> Study:
    """Write everything that a study found under a folder; return its document.

    study.json comes before its page and after everything else, so a folder that has it is whole.
    """
    for each in found:
        if each.exact is not None:
            page = out / "exact" / each.folder / "report.html"
            write_file(page, extraction_page(each.exact))
    study, times = summarise(plan, found, published), times_of(plan, found, published)
    _remove_earlier(out)
    tables = study_tables(study)
    for table in tables:
        _write_table(out / "tables", table)
    _write_table(out, times_table(times))
    write_file(out / "times.json", TIMES.text(times))
    write_file(out / "study.md", in_markdown(f"Study: {plan.name}", plan.description, tables))
    _draw(study, out)
    write_file(out / "study.json", STUDY.text(study))
    write_file(out / "report.html", study_page(study, times))
    return study


def _draw(study: Study, out: Path) -> None:
    """Draw recall and precision, if a model has rules to find."""
    spread = {
        model.model: {
            part.budget: [(m.recall, m.precision) for run in part.runs if (m := run.measures)]
            for part in model.budgets
        }
        for model in study.models
        if model.exact is not None and model.exact.rules
    }
    if spread:
        from hornlens.report.figures import save
        from hornlens.report.study_figures import recall_precision

        rest = [model.model for model in study.models if model.model not in spread]
        save(recall_precision(spread, rest), out / FIGURE)


def _remove_earlier(out: Path) -> None:
    """Remove the tables and the figure of an earlier study in this folder, and nothing else."""
    try:
        earlier = STUDY.read(out / "study.json")
    except InputError:
        return
    for table in study_tables(earlier):
        for suffix in FORMS:
            (out / "tables" / f"{table.name}{suffix}").unlink(missing_ok=True)
    for suffix in (".svg", ".png"):
        (out / f"{FIGURE}{suffix}").unlink(missing_ok=True)


def _write_table(folder: Path, table: Table) -> None:
    for suffix, form in FORMS.items():
        write_file(folder / f"{table.name}{suffix}", form(table))
