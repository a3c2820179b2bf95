"""`hornlens learn`: print a learner's run on a formula, or a related learner's on a table, too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hornlens.cli.options import renamed_option
from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.extraction.formulas import LearnOutcome, LearnSettings, learn
from hornlens.extraction.related import RELATED, learn_related
from hornlens.formats.anytables import ENDINGS, open_table
from hornlens.formats.digests import with_digest
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.jsonfiles import json_text
from hornlens.learning.events import Conjectured, Event, Progress
from hornlens.learning.protocol import NotHorn
from hornlens.limits import ended_by_ctrl_c
from hornlens.logic.cnf import Cnf
from hornlens.logic.table import Table
from hornlens.report.terminal import Terminal, show_envelope, show_set
from hornlens.report.trace import trace_lines

if TYPE_CHECKING:
    from hornlens.cli.commands.formal import LearnOptions


def learn_command(options: LearnOptions) -> int:
    """Run the learner and print what happened; the exit code says whether it could."""
    goal = renamed_option(options.goal, options.target, "learn --target", "--goal")
    if options.algorithm not in RELATED:
        return _learn(options, options.passed_to(LearnSettings, goal=goal))
    if goal == "cnf" or options.via_encoding or options.speculate or options.equivalence != "exact":
        raise HornlensError(
            f"--algorithm {options.algorithm} learns the envelope in its own way: leave out "
            "--goal, --via-encoding, --equivalence and --speculate"
        )
    return _learn_related(options)


def _learn(options: LearnOptions, settings: LearnSettings) -> int:
    path, limits, terminal = options.file, options.limits, Terminal(options.quiet)
    formula = read_dimacs(path)
    events: list[Event] = []
    try:
        with (
            ended_by_ctrl_c(limits),
            terminal.searching(f"Learning {path.name}") as note,
        ):
            rules = 0  # of the last conjecture

            def watch(event: Event) -> None:
                nonlocal rules
                if options.trace:
                    events.append(event)
                if isinstance(event, Conjectured):
                    rules = len(event.theory)
                if isinstance(event, Progress):
                    asked = event.queries
                    note(
                        rules,
                        None,
                        f"{plural(asked.equivalence, 'equivalence query')}, "
                        f"{plural(asked.refinement, 'membership query')}",
                    )

            outcome = learn(formula, settings, watch, limits)
    except NotHorn as proof:
        names = formula.vocabulary
        accepted = " and ".join(show_set(names.names_of(x)) for x in proof.positives)
        terminal.complain(
            f"{path}: the target is not Horn: it accepts {accepted} but rejects their "
            f"intersection {show_set(names.names_of(proof.negative))}; use --algorithm envelope"
        )
        return 1
    lines = list(trace_lines(events, outcome.envelope.vocabulary)) if options.trace else None
    if options.format == "json":
        sys.stdout.write(json_text(with_digest(outcome.as_json(lines))))
    else:
        _show(terminal, path, outcome, lines)
    return options.exit_code


def _learn_related(options: LearnOptions) -> int:
    path, limits, terminal = options.file, options.limits, Terminal(options.quiet)
    known: Cnf | Table
    if path.suffix.lower() in ENDINGS:
        known = open_table(path).table
        what = plural(len(known.rows), "row")
    else:
        known = read_dimacs(path)
        what = plural(len(known.clauses), "clause")
    events: list[Event] = []
    chosen = options.algorithm, options.epsilon, options.delta, options.seed
    try:
        with ended_by_ctrl_c(limits), terminal.progress(f"Learning {path.name}"):
            watch = events.append if options.trace else None
            outcome = learn_related(known, *chosen, watch, limits)
    except HornlensError as error:
        raise HornlensError(f"{path}: {error}") from None
    lines = list(trace_lines(events, known.vocabulary)) if options.trace else []
    if options.format == "json":
        content = outcome.as_json()
        sys.stdout.write(
            json_text(with_digest({**content, **({"trace": lines} if options.trace else {})}))
        )
        return options.exit_code
    variables = plural(len(known.vocabulary), "variable")
    terminal.say(f"{path.name}: {variables}, {what}; {options.algorithm} learner.")
    for line in ["", *lines, ""] if lines else []:
        terminal.say(line)
    show_envelope(terminal, outcome.envelope)
    terminal.say()
    rows = [
        [name, f"{count:,}", "-" if bound is None else f"{bound:,}"]
        for name, (count, bound) in outcome.counts.items()
    ]
    terminal.table(["queries", "asked", "proved bound"], rows)
    return options.exit_code


def _show(terminal: Terminal, path: Path, outcome: LearnOutcome, trace: list[str] | None) -> None:
    formula, settings, certificate = outcome.formula, outcome.settings, outcome.run.certificate
    terminal.say(
        f"{path.name}: {plural(formula.width, 'variable')}, "
        f"{plural(len(formula.clauses), 'clause')}; {settings.algorithm} learner."
    )
    for line in [] if trace is None else ["", *trace, ""]:
        terminal.say(line)
    if settings.via_encoding:
        learned = outcome.learned_formula()
        terminal.say(f"{certificate.title}. {certificate.sentence}", "bold")
        terminal.say(f"{plural(len(learned.clauses), 'clause')}, decoded:")
        for clause in learned.clauses:
            terminal.say(f"  {clause.show(formula.vocabulary)}")
    else:
        show_envelope(terminal, outcome.envelope)
        exact = certificate.all_rules
        if settings.goal == "cnf" and outcome.run.learned.non_horn and exact:
            terminal.say("Together with one quasi-Horn rule for each of them, that is the formula.")
    terminal.say()
    _show_queries(terminal, outcome)


def _show_queries(terminal: Terminal, outcome: LearnOutcome) -> None:
    queries, bounds = outcome.run.queries, outcome.bounds
    proved = (f"{bounds.equivalence:,}", f"{bounds.membership:,}") if bounds else ("-", "-")
    rows = [
        ["equivalence", f"{queries.equivalence}", proved[0]],
        ["membership: refinement", f"{queries.refinement}", proved[1]],
        ["membership: speculative", f"{queries.speculative}", "-"],
        ["membership: equivalence samples", f"{outcome.sampled}", "-"],
        ["distinct interpretations asked", f"{outcome.distinct}", "-"],
    ]
    terminal.table(["queries", "asked", "proved bound"], rows)
