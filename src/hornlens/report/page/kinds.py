"""The kinds of results that have a page, and where on disk they are found.

A new kind is a function here, a line in KINDS, a module that makes the page of its document, and a
template.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.jsonfiles import read_json

Json = dict[str, Any]


def _extraction(content: Json, run: Json | None, file: Path) -> str:
    from hornlens.report.page.extraction import extraction_page
    from hornlens.results.documents.explanations import is_of_classifier
    from hornlens.results.documents.reading import extraction_from_json
    from hornlens.results.documents.record import RUN

    if is_of_classifier(content):
        return _explanation(content, run, file)
    went = None if run is None else RUN.parse(run, file.with_name(RUN.file_name)).record
    found = extraction_from_json(content, file, went)
    if found.space.label is None:
        raise InputError("is of a target without labels: there is no page for it", file)
    return extraction_page(found)


def _comparison(content: Json, run: Json | None, file: Path) -> str:
    from hornlens.report.page.comparison import comparison_page
    from hornlens.results.analysis.comparison import COMPARISON

    return comparison_page(COMPARISON.parse(content, file))


def _study(content: Json, times: Json | None, file: Path) -> str:
    from hornlens.report.page.study import study_page
    from hornlens.studies.documents import STUDY, TIMES

    took = None if times is None else TIMES.parse(times, file.with_name(TIMES.file_name))
    return study_page(STUDY.parse(content, file), took)


def _bias(content: Json, run: Json | None, file: Path) -> str:
    from hornlens.pronouns.bias import BIAS, BIAS_RUN
    from hornlens.report.page.bias import bias_page

    went = None if run is None else BIAS_RUN.parse(run, file.with_name(BIAS_RUN.file_name))
    return bias_page(BIAS.parse(content, file), went)


def _table(content: Json, run: Json | None, file: Path) -> str:
    from hornlens.report.page.table import table_page
    from hornlens.results.documents.tables import TABLE

    return table_page(TABLE.parse(content, file), file)


def _explanation(content: Json, run: Json | None, file: Path) -> str:
    from hornlens.report.page.explanation import explanation_page

    return explanation_page(content, file)


KINDS: dict[str, Callable[[Json, Json | None, Path], str]] = {
    "envelope.json": _extraction,
    "comparison.json": _comparison,
    "study.json": _study,
    "bias.json": _bias,
    "table.json": _table,
    "explanation.json": _explanation,
}
"""By file, what makes a page of its contents and of those of the file that tells of the run."""
RUNS = {"study.json": "times.json"}
"""Where a kind of result says how its run went, if not in run.json."""


def page(name: str, content: Json, run: Json | None = None) -> str:
    """Return the page of a result: `name` is its file's, `content` the file's, `run` run.json's."""
    return KINDS[name](content, run, Path(name))


def read_page(path: Path) -> tuple[Path, str]:
    """Return the folder of a result on disk and its page; `path` is the folder or the file."""
    file = _find(path)
    content = _read(file)
    run = file.with_name(RUNS.get(file.name, "run.json"))
    about = _read(run) if run.is_file() else None
    return file.parent, KINDS[file.name](content, about, file)


def _find(path: Path) -> Path:
    known = ", ".join(KINDS)
    if not path.is_dir():
        if path.exists() and path.name not in KINDS:
            raise InputError(f"has no page: give a folder, or a file named {known}", path)
        return path.with_name("table.json") if _is_of_table(path) else path
    found = [path / name for name in KINDS if (path / name).is_file()]
    if not found:
        raise InputError(f"has no results to report on (there would be: {known})", path)
    if _is_of_table(path / "envelope.json"):
        found.remove(path / "envelope.json")
    if len(found) > 1:
        both = " and ".join(file.name for file in found)
        raise InputError(f"has {both}: name the file that is meant", path)
    return found[0]


def _is_of_table(file: Path) -> bool:
    """Say whether an envelope.json is that of the table.json beside it, which has the page."""
    there = file.name == "envelope.json" and file.is_file()
    return there and file.with_name("table.json").is_file() and "probe" not in _read(file)


def _read(file: Path) -> Json:
    content = read_json(file)
    if not isinstance(content, dict):
        raise InputError("is not a result of hornlens", file)
    return content
