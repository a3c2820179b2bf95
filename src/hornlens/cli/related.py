"""`hornlens learn --algorithm pac-basis|closure|characteristic`: print a related learner's run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from hornlens.cli.limits import exit_code
from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.extraction.related import learn_related
from hornlens.formats.anytables import ENDINGS, open_table
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.jsonfiles import json_text
from hornlens.learning.events import Event
from hornlens.limits import Limits, ended_by_ctrl_c
from hornlens.logic.cnf import Cnf
from hornlens.logic.table import Table
from hornlens.report.terminal import Terminal, show_envelope
from hornlens.report.trace import trace_lines


@dataclass(frozen=True)
class RelatedOptions:
    """What was asked for."""

    algorithm: str
    epsilon: float
    delta: float
    seed: int | None
    trace: bool
    form: str
    quiet: bool


def related_command(path: Path, options: RelatedOptions, limits: Limits) -> int:
    """Run the learner and print what happened."""
    known: Cnf | Table
    if path.suffix.lower() in ENDINGS:
        known = open_table(path).table
        what = plural(len(known.rows), "row")
    else:
        known = read_dimacs(path)
        what = plural(len(known.clauses), "clause")
    terminal = Terminal(options.quiet)
    events: list[Event] = []
    chosen = options.algorithm, options.epsilon, options.delta, options.seed
    try:
        with ended_by_ctrl_c(limits), terminal.progress(f"Learning {path.name}"):
            watch = events.append if options.trace else None
            outcome = learn_related(known, *chosen, watch, limits)
    except HornlensError as error:
        raise HornlensError(f"{path}: {error}") from None
    lines = list(trace_lines(events, known.vocabulary)) if options.trace else []
    if options.form == "json":
        content = outcome.as_json()
        sys.stdout.write(json_text({**content, **({"trace": lines} if options.trace else {})}))
        return exit_code(limits)
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
    return exit_code(limits)
