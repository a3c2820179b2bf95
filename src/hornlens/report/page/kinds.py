"""The kinds of results that have a page, and where on disk they are found.

A kind is recognised by what a file holds, whatever it is called. A new kind is a function here, a
line in KINDS, a module that makes the page of its document, and a template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import read_json
from hornlens.results.documents.tables import is_table

Json = dict[str, Any]
GENERATOR = b'<meta name="generator" content="Hornlens '
"""By this a page of ours is known."""
HEAD = 4_096
"""It stands among so many bytes at the start."""


def _result(content: Json, run: Json | None, file: Path) -> str:
    from hornlens.report.page.result import result_page
    from hornlens.results.analysis.review import agreement_beside
    from hornlens.results.documents.explanations import is_of_classifier
    from hornlens.results.documents.reading import extraction_from_json
    from hornlens.results.documents.record import RUN
    from hornlens.results.documents.saving import worked_out

    if is_of_classifier(content):
        return _explanation(content, run, file)
    went = None if run is None else RUN.parse(run, file.with_name(RUN.file_name)).record
    if "probe" in content:
        # Older files hold less than the page shows: it is worked out again.
        extraction = extraction_from_json(content, file, went)
        review = agreement_beside(file.parent, extraction)
        return result_page(extraction, file=file.name, review=review)
    if "cnf" in content and "rules" not in content:
        raise InputError("is a formula that was learned via an encoding: it has no rules", file)
    findings = worked_out(content, file)
    findings = replace(findings, record=went or findings.record)
    return result_page(findings, content, _name(file), file.name)


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


@dataclass(frozen=True)
class Kind:
    """A kind of result: what makes its page, by what it is known, and what its run is kept in."""

    make: Callable[[Json, Json | None, Path], str]
    holds: Callable[[Mapping[str, Any]], bool]
    run: str = "run.json"


KINDS: dict[str, Kind] = {
    "envelope.json": Kind(_result, lambda c: "certificate" in c and "variables" in c),
    "comparison.json": Kind(_comparison, lambda c: "comparisons" in c and "results" in c),
    "study.json": Kind(_study, lambda c: "study" in c and "intersection" in c, "times.json"),
    "bias.json": Kind(_bias, lambda c: "dataset" in c and "words" in c and "models" in c),
    "table.json": Kind(_table, is_table),
    "explanation.json": Kind(_explanation, lambda c: c.get("kind") == "classifier"),
}
"""By the name that its file has in a folder of results, each kind."""


def page(name: str, content: Json, run: Json | None = None) -> str:
    """Return the page of a result: `name` is its file's, `content` the file's, `run` run.json's."""
    return KINDS[name].make(content, run, Path(name))


def read_page(path: Path) -> tuple[Path, str]:
    """Return the page of a result on disk, after where it is written by default.

    `path` is a folder, whose page is its report.html; or any file that holds a result: the page of
    out.json is out.html, unless it has the name that it has in a folder.
    """
    file = _find(path)
    content = _read(file)
    known = file.name in KINDS
    kind = next((k for k in KINDS.values() if k.holds(content)), KINDS.get(file.name))
    if kind is None:
        raise InputError("has no page: it is not a result of hornlens", file)
    run = file.with_name(kind.run)
    about = _read(run) if known and run.is_file() else None
    written = file.with_name("report.html") if known else file.with_suffix(".html")
    return written, kind.make(content, about, file)


def write_page(path: Path, text: str) -> None:
    """Write a page, unless that would overwrite something that is no page of ours."""
    if path.is_dir():
        raise InputError("is a directory, not a file", path)
    if path.exists():
        try:
            with path.open("rb") as opened:
                ours = GENERATOR in opened.read(HEAD)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", path) from None
        if not ours:
            raise InputError(
                "is there already, and is no page of hornlens: name another file by --out", path
            )
    write_file(path, text)


def _find(path: Path) -> Path:
    if not path.is_dir():
        return path
    known = ", ".join(KINDS)
    files = [path / name for name in KINDS if (path / name).is_file()]
    if not files:
        raise InputError(f"has no results to report on (there would be: {known})", path)
    if len(files) > 1:
        both = " and ".join(file.name for file in files)
        raise InputError(f"has {both}: name the file that is meant", path)
    return files[0]


def _name(file: Path) -> str:
    """Return what people call a result that does not say so: its folder, or its file."""
    if file.name not in KINDS:
        return file.name
    return "" if file.parent == Path() else file.resolve().parent.name


def _read(file: Path) -> Json:
    content = read_json(file)
    if not isinstance(content, dict):
        raise InputError("is not a result of hornlens", file)
    return content
