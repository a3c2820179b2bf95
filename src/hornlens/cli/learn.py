"""`hornlens learn`: print a learner's run on a formula."""

from __future__ import annotations

import sys
from pathlib import Path

from hornlens.cli.limits import exit_code
from hornlens.counts import plural
from hornlens.extraction.formulas import LearnOutcome, LearnSettings, learn
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.jsonfiles import json_text
from hornlens.learning.events import Conjectured, Event, Progress
from hornlens.learning.protocol import NotHorn
from hornlens.limits import Limits, ended_by_ctrl_c
from hornlens.report.terminal import Terminal, show_envelope, show_set
from hornlens.report.trace import trace_lines


def learn_command(
    path: Path, settings: LearnSettings, trace: bool, form: str, quiet: bool, limits: Limits
) -> int:
    """Run the learner and print what happened; the exit code says whether it could."""
    formula = read_dimacs(path)
    terminal = Terminal(quiet)
    events: list[Event] = []
    try:
        with (
            ended_by_ctrl_c(limits),
            terminal.searching(f"Learning {path.name}") as note,
        ):
            rules = 0  # of the last conjecture

            def watch(event: Event) -> None:
                nonlocal rules
                if trace:
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
    lines = list(trace_lines(events, outcome.envelope.vocabulary)) if trace else None
    if form == "json":
        sys.stdout.write(json_text(outcome.as_json(lines)))
    else:
        _show(terminal, path, outcome, lines)
    return exit_code(limits)


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
