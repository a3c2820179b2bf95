"""`hornlens study`: models × budgets × runs, and what they agree on."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import json_text
from hornlens.models.protocol import ModelOptions
from hornlens.report.figures import recall_precision, save
from hornlens.report.page import page
from hornlens.report.study_tables import study_tables, times_table
from hornlens.report.tables import Table, in_markdown, shown
from hornlens.report.terminal import Terminal, plural
from hornlens.store.sqlite import AnswerCache, default_path
from hornlens.studies.plan import Plan, load_plan
from hornlens.studies.runs import ModelRuns, run_study
from hornlens.studies.summary import study_as_json, times_as_json

FORMS = {".md": Table.markdown, ".tex": Table.latex, ".csv": Table.csv}


@dataclass(frozen=True)
class StudyOptions:
    """What the options of `hornlens study` say."""

    study: str
    models: Sequence[str]
    out: Path
    cache: Path | None
    jobs: int
    model_options: ModelOptions
    form: str
    quiet: bool


def study_command(options: StudyOptions) -> None:
    """Run a study, or go on with it; write its tables; show what it found."""
    terminal = Terminal(options.quiet)
    plan = load_plan(options.study)
    if options.models:
        plan = plan.with_models(tuple(options.models))
    options.out.mkdir(parents=True, exist_ok=True)  # or fail before anything is asked
    runs = len(plan.models) * len(plan.budgets) * len(plan.seeds)
    prompts = len(plan.models) * plan.probe.prompt_count if plan.enumerable else None
    with (
        closing(AnswerCache(options.cache or default_path(), terminal.warn)) as cache,
        terminal.bars(("Asking", prompts, "prompts"), ("Learning", runs, "runs")) as (ask, learn),
    ):
        found = run_study(
            plan,
            options.out,
            cache,
            options=options.model_options,
            jobs=options.jobs,
            on_prompts=ask,
            on_runs=learn,
        )
    content = _write(plan, found, options.out)
    if options.form == "json":
        sys.stdout.write(json_text(content))
    else:
        _show(terminal, plan, content, options.out)


def _write(plan: Plan, found: Sequence[ModelRuns], out: Path) -> dict[str, Any]:
    """Write everything; return the contents of study.json."""
    for each in found:
        if each.exact is not None:
            text = page("envelope.json", each.exact_content, each.exact_record)
            write_file(out / "exact" / each.folder / "report.html", text)
    content, times = study_as_json(plan, found), times_as_json(plan, found)
    _remove_earlier(out)
    tables = study_tables(content)
    for table in tables:
        _write_table(out / "tables", table)
    _write_table(out, times_table(times))
    write_file(out / "times.json", json_text(times))
    write_file(out / "study.md", in_markdown(f"Study: {plan.name}", plan.description, tables))
    if plan.enumerable:
        spread = {
            model["model"]: {
                part["budget"]: [(run["recall"], run["precision"]) for run in part["runs"]]
                for part in model["budgets"]
            }
            for model in content["models"]
            if model["exact"]["rules"]
        }
        if spread:
            rest = [model["model"] for model in content["models"] if model["model"] not in spread]
            save(recall_precision(spread, rest), out / "recall-precision")
    write_file(out / "study.json", json_text(content))
    write_file(out / "report.html", page("study.json", content, times))
    return content


def _remove_earlier(out: Path) -> None:
    """Remove the tables and the plot of an earlier study in this folder, and nothing else."""
    try:
        earlier = study_tables(json.loads((out / "study.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return
    for table in earlier:
        for suffix in FORMS:
            (out / "tables" / f"{table.name}{suffix}").unlink(missing_ok=True)
    for suffix in (".svg", ".png"):
        (out / f"recall-precision{suffix}").unlink(missing_ok=True)


def _write_table(folder: Path, table: Table) -> None:
    for suffix, form in FORMS.items():
        write_file(folder / f"{table.name}{suffix}", form(table))


def _show(terminal: Terminal, plan: Plan, content: dict[str, Any], out: Path) -> None:
    runs = len(plan.seeds)
    terminal.say(
        f"{plan.name}: {plural(len(plan.models), 'model')}, {plural(runs, 'run')} each with a "
        f"budget of {', '.join(map(str, plan.budgets))} equivalence queries.",
        "bold",
    )
    for model in content["models"]:
        if model["exact"] is not None:
            rules, calls = len(model["exact"]["rules"]), model["exact"]["model_calls"]
            wanted = model["exact"]["to_find"]
            own = f" ({wanted} of them say something of their own)" if wanted < rules else ""
            terminal.say(
                f"  • {model['model']}: {plural(rules, 'rule')}, exactly{own}; "
                f"{plural(calls, 'prompt')} asked for it."
            )
        else:
            terminal.say(
                f"  • {model['model']}: too many prompts for an exact envelope; runs only."
            )
    terminal.say()
    for table in study_tables(content):
        if table.name in ("recall-precision", "intersection"):
            terminal.say(f"{table.title}:" if table.rows else f"{table.title}: none.")
            if table.rows:
                terminal.table(table.columns, [[shown(c) for c in row] for row in table.rows])
            terminal.say()
    for model in content["models"]:
        for part in model["budgets"]:
            stable = [rule for rule in part["rules"] if rule["found"] >= plan.stable]
            false = sum(rule["true"] is False for rule in stable)
            terminal.say(
                f"{model['model']}, budget {part['budget']}: {plural(len(stable), 'rule')} found "
                f"in {plan.stable} of {runs} runs or more"
                + (f", {false} of them not true." if false else ".")
            )
    terminal.say(f"Tables: {out / 'study.md'} (also in LaTeX and CSV under {out / 'tables'})")
    terminal.say(f"Report: {out / 'report.html'}")
