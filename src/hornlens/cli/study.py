"""`hornlens study`: models × budgets × runs, and what they agree on."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from hornlens.cli.asking import Doing
from hornlens.cli.costs import show_costs
from hornlens.counts import plural
from hornlens.formats.files import check_writable
from hornlens.models.registry import open_model
from hornlens.pronouns.published import published_for
from hornlens.report.drawing import NOT_DRAWN, can_draw
from hornlens.report.study_files import write_study
from hornlens.report.study_tables import study_tables
from hornlens.report.tables import shown
from hornlens.report.terminal import Terminal
from hornlens.results.wording.measures import toys_words
from hornlens.store.opening import open_store
from hornlens.studies.documents import STUDY, Study
from hornlens.studies.plan import load_plan
from hornlens.studies.runs import run_study

if TYPE_CHECKING:
    from hornlens.cli.commands.models import StudyOptions


def study_command(options: StudyOptions) -> None:
    """Run a study, or go on with it; write its tables; show what it found."""
    terminal = Terminal(options.quiet)
    plan = load_plan(options.study)
    if options.model:
        plan = plan.with_models(tuple(options.model))
    model_options = options.how.options
    if options.dry_run:
        for spec in plan.models:
            show_costs(terminal, plan.probe, open_model(spec, model_options))
        return
    check_writable(options.out)  # before anything is asked
    runs = len(plan.models) * len(plan.budgets) * len(plan.seeds)
    prompts = len(plan.models) * plan.probe.prompt_count if plan.enumerable else None
    with (
        closing(options.where.open(options.jobs, terminal.warn)) as executor,
        closing(open_store(options.cache, terminal.warn)) as cache,
        terminal.bars(
            (Doing("Asking", executor), prompts, "prompts"),
            (Doing("Learning", executor), runs, "runs"),
        ) as (ask, learn),
    ):
        found = run_study(
            plan,
            options.out,
            cache,
            options=model_options,
            executor=executor,
            on_prompts=ask,
            on_runs=learn,
        )
    if note := model_options.limits.note:
        terminal.warn(note)
    study = write_study(plan, found, options.out, published_for(plan))
    if options.format == "json":
        sys.stdout.write(STUDY.text(study))
    else:
        _show(terminal, study, options.out)


def _show(terminal: Terminal, study: Study, out: Path) -> None:
    plan = study.study
    runs = len(plan.seeds)
    terminal.say(
        f"{plan.name}: {plural(len(plan.models), 'model')}, {plural(runs, 'run')} each with a "
        f"budget of {', '.join(map(str, plan.budgets))} equivalence queries.",
        "bold",
    )
    if toy := toys_words({model.model: model.identity for model in study.models}):
        terminal.say(f"Note: {toy}", "yellow")
    for model in study.models:
        if model.exact is not None:
            rules, wanted = len(model.exact.rules), model.exact.to_find
            own = f" ({wanted} of them say something of their own)" if wanted < rules else ""
            terminal.say(
                f"  • {model.model}: {plural(rules, 'rule')}, exactly{own}; "
                f"{plural(model.exact.model_calls, 'prompt')} asked for it."
            )
        else:
            terminal.say(f"  • {model.model}: too many prompts for an exact envelope; runs only.")
    terminal.say()
    for table in study_tables(study):
        if table.name in ("recall-precision", "intersection"):
            terminal.say(f"{table.title}:" if table.rows else f"{table.title}: none.")
            if table.rows:
                terminal.table(table.columns, [[shown(c) for c in row] for row in table.rows])
            terminal.say()
    for model in study.models:
        for part in model.budgets:
            stable = part.stable(plan.stable)
            false = sum(line.true is False for line in stable)
            terminal.say(
                f"{model.model}, budget {part.budget}: {plural(len(stable), 'rule')} found "
                f"in {plan.stable} of {runs} runs or more"
                + (f", {false} of them not true." if false else ".")
            )
    if study.common is not None:
        terminal.say(
            f"In every model, exactly: {plural(len(study.common.rules), 'rule')} "
            "(models-in-common has what becomes of each model's own)."
        )
    terminal.say(f"Tables: {out / 'study.md'} (also in LaTeX and CSV under {out / 'tables'})")
    terminal.written(out / "report.html")
    if not can_draw():
        terminal.say(NOT_DRAWN)
