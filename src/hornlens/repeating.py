"""Documents about results, made again: comparisons, checks, studies, bias scores, learners' runs.

A document that names the files that it rests on can be made again from these, by the code that
made it. What comes out is compared field by field, and the files beside it byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hornlens.api import compare, load
from hornlens.errors import HornlensError, InputError
from hornlens.formats.files import read_text
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.limits import Limits
from hornlens.results.analysis.checking import check_requirements
from hornlens.results.documents.checks import CHECKS, Checks
from hornlens.results.documents.codec import as_plain
from hornlens.results.documents.requirements_file import read_requirements
from hornlens.results.documents.saving import digest_at
from hornlens.rewriting import Rewriting, changed_fields, is_of_this_version
from hornlens.verifying.comparisons import digest_of_text, named_file


def check_files(
    results: Sequence[Path],
    rules: Path,
    names: Sequence[str] = (),
    path: str = "",
    verified: Sequence[str] = (),
) -> Checks:
    """Hold saved results against a file of requirements.

    Args:
        results: The folders or files of the results.
        rules: The file of requirements.
        names: What to call the results; their paths, if that is left out.
        path: What to call the file of requirements; its path, if that is left out.
        verified: How far each result was verified before.
    """
    requirements = read_requirements(rules)
    called = path or str(rules)
    if path:
        requirements = replace(requirements, path=path)
    called_so = names or [str(each) for each in results]
    lines = zip(results, called_so, verified or [""] * len(results), strict=True)
    return Checks(
        called,
        tuple(
            replace(
                check_requirements(load(each), requirements, name),
                digest=digest_at(each),
                verified=status,
            )
            for each, name, status in lines
        ),
        digest_of_text(rules),
    )


def repeat(kind: str, content: Mapping[str, Any], path: Path) -> Rewriting | None:
    """Make a document again, and the files beside it; None where what it rests on is not there."""
    return _REPEATED[kind](content, path)


def _compared(content: Mapping[str, Any], files: Mapping[str, str], path: Path) -> Rewriting:
    """Compare a document, which is the first of some files, and those that stand beside it."""
    (name, text), *others = files.items()
    difference = next(changed_fields(dict(content), json.loads(text)), None)
    if difference is not None:
        return Rewriting(difference)
    if path.name != name:
        return Rewriting(None, missing=tuple(other for other, _ in others))
    same, missing = [], []
    for other, wanted in others:
        beside = path.parent / other
        if not beside.is_file():
            missing.append(other)
        elif read_text(beside) != wanted:
            return Rewriting(f"{other}: not what this document gives")
        else:
            same.append(other)
    return Rewriting(None, tuple(same), tuple(missing))


def _check_again(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    names = [line["name"] for line in content["results"]]
    results = [named_file(name, path) for name in names]
    rules = named_file(content["requirements"], path)
    there = [each for each in results if each is not None]
    if rules is None or len(there) < len(results):
        return _compared(content, {"check.json": CHECKS.text(CHECKS.parse(content, path))}, path)
    verified = [line.get("verified", "") for line in content["results"]]
    checks = check_files(there, rules, names, content["requirements"], verified)
    return _compared(content, {"check.json": CHECKS.text(checks)}, path)


def _comparison_again(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    from hornlens.report.page.comparison import comparison_page
    from hornlens.results.analysis.comparison import COMPARISON

    stored = COMPARISON.parse(content, path)
    files = [named_file(each.path, path) for each in stored.results]
    there = [each for each in files if each is not None]
    again = stored
    if len(there) == len(files):
        again = compare(there, [each.name for each in stored.results])
        lines = zip(again.results, stored.results, strict=True)
        again = replace(again, results=tuple(replace(own, path=each.path) for own, each in lines))
    texts = {"comparison.json": COMPARISON.text(again), "report.html": comparison_page(again)}
    return _compared(content, texts, path)


def _bias_again(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    from hornlens.pronouns.bias import BIAS, BIAS_RUN
    from hornlens.report.bias_files import bias_texts

    run = path.with_name("run.json")
    went = BIAS_RUN.read(run) if path.name == "bias.json" and run.is_file() else None
    return _compared(content, bias_texts(BIAS.parse(content, path), went), path)


def _study_again(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    from hornlens.probes.loading import load_probe
    from hornlens.pronouns.published import PROBE, published_of
    from hornlens.report.study_files import study_texts
    from hornlens.studies.documents import STUDY
    from hornlens.studies.summary import summary_of, times_of

    stored = STUDY.parse(content, path)
    runs = _runs_of(stored, path.parent)
    if runs is None:
        return _compared(content, {"study.json": STUDY.text(stored)}, path)
    plan = stored.study
    papers = plan.probe == PROBE
    published = published_of(load_probe(PROBE), plan.models, plan.budgets) if papers else None
    study = summary_of(plan, runs, published)
    texts = study_texts(study, times_of(plan, runs, published))
    first = {"study.json": texts.pop("study.json")}
    return _compared(content, {**first, **texts}, path)


def _runs_of(study: Any, folder: Path) -> list[Any] | None:
    """Return the runs of a study from their files; None if one is not there."""
    from hornlens.results.documents.envelope import envelope_from_json
    from hornlens.results.documents.record import RUN
    from hornlens.results.documents.saving import read_result
    from hornlens.studies.runs import ModelRuns, Run

    models = []
    for spec, line in zip(study.study.models, study.models, strict=True):
        runs = []
        for part in line.budgets:
            for own in part.runs:
                file, record = (folder / own.folder / n for n in ("envelope.json", "run.json"))
                if not (file.is_file() and record.is_file()):
                    return None
                envelope = envelope_from_json(read_json(file), file).learned
                runs.append(Run(part.budget, own.seed, own.folder, envelope, RUN.read(record)))
        exact, place = None, ""
        if line.exact is not None:
            if not (folder / line.exact.folder / "envelope.json").is_file():
                return None
            exact = read_result(folder / line.exact.folder)
            place = line.exact.folder.removeprefix("exact/")
        models.append(ModelRuns(spec, line.model, line.identity, place, exact, runs))
    return models


def _times_again(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    from hornlens.studies.documents import TIMES

    return _compared(content, {"times.json": TIMES.text(TIMES.parse(content, path))}, path)


def _session_again(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    from hornlens.exploring.session import FILE

    return _compared(content, {path.name: FILE.text(FILE.parse(content, path))}, path)


def _run_again(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    from hornlens.results.documents.record import RUN

    return _compared(content, {"run.json": RUN.text(RUN.parse(content, path))}, path)


def _bias_run_again(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    from hornlens.pronouns.bias import BIAS_RUN

    return _compared(content, {"run.json": BIAS_RUN.text(BIAS_RUN.parse(content, path))}, path)


def _nothing(content: Mapping[str, Any], path: Path) -> Rewriting | None:
    return None


_REPEATED: Mapping[str, Callable[[Mapping[str, Any], Path], Rewriting | None]] = {
    "study": _study_again,
    "times": _times_again,
    "bias": _bias_again,
    "comparison": _comparison_again,
    "check": _check_again,
    "session": _session_again,
    "run": _run_again,
    "bias run": _bias_run_again,
    "review": _nothing,
}
"""By kind, what makes a document again."""


# --- rules of a file ---

MOST_PERMUTATIONS = 1_000_000
"""So many permutations are made again at most."""
PATIENCE = 60.0
"""So many seconds a learner may take to run again; what it counted is not checked otherwise."""


def differs_from_file(content: Any, against: Path) -> str | None:
    """Return what comes out otherwise when a result is made again from its file: None if nothing.

    What chance would give is worked out again by the same permutations, and a learner runs again.
    """
    if not is_of_this_version(content) or against.suffix.lower() == ".json":
        return None
    if "chance" in content:
        return _chance_differs(content, against)
    if "settings" in content:
        return _learner_differs(content, against)
    return None


def _chance_differs(content: Mapping[str, Any], against: Path) -> str | None:
    from hornlens.logic.table import Table
    from hornlens.results.analysis.chance_rows import chance_of_table
    from hornlens.results.documents.chance import CHANCE
    from hornlens.results.documents.envelope import envelope_from_json
    from hornlens.verifying.files import File

    stated, file = CHANCE.parse(content["chance"], against), File.read(against, content)
    if not 1 <= stated.permutations <= MOST_PERMUTATIONS:
        raise InputError(f"has {stated.permutations:,} permutations, too many to make again")
    envelope = envelope_from_json(content, against)
    table = Table(envelope.vocabulary, file.rows)
    labelled = stated.permuted == "label"
    again = chance_of_table(
        table, envelope.space, labelled, envelope, stated.permutations, stated.seed
    )
    return next(changed_fields(content["chance"], as_plain(again), "chance"), None)


def _learner_differs(content: Mapping[str, Any], against: Path) -> str | None:
    from hornlens.extraction.formulas import LearnSettings, learn
    from hornlens.formats.dimacs import read_dimacs
    from hornlens.learning.events import Event
    from hornlens.report.trace import trace_lines

    settings = {key: value for key, value in content["settings"].items() if key != "target"}
    ended = content["certificate"].get("ended") or {}
    if len(settings) == 1 or ended.get("reason", "max_equivalence_queries") != (
        "max_equivalence_queries"
    ):
        return None  # a related learner, which keeps no settings; or one that a limit ended
    events: list[Event] = []
    try:
        chosen = LearnSettings(**settings)
    except (TypeError, HornlensError):
        return "settings: not those of a learner"
    limits = Limits(time_limit=PATIENCE)
    outcome = learn(read_dimacs(against), chosen, events.append, limits)
    if outcome.run.certificate.stopped not in (None, "max_equivalence_queries"):
        return None
    traced = "trace" in content
    lines = list(trace_lines(events, outcome.envelope.vocabulary)) if traced else None
    return next(changed_fields(dict(content), json.loads(json_text(outcome.as_json(lines)))), None)
