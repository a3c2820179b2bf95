"""`hornlens envelope`: the exact envelope of a file, or its short rules."""

from __future__ import annotations

import sys
from pathlib import Path

from hornlens.cli.limits import exit_code
from hornlens.errors import InputError
from hornlens.exact.bounded import bounded_envelope_of_formula, bounded_envelope_of_table
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.exact.supported import only_supported
from hornlens.extraction.summing import summed_up_formula, summed_up_table
from hornlens.formats.backgrounds import read_background
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.tables import read_csv, read_cxt
from hornlens.formats.writers import WRITERS
from hornlens.limits import Limits, ended_by_ctrl_c
from hornlens.report.summaries import show_almost, show_claim_only, show_level
from hornlens.report.terminal import Terminal, plural, show_envelope
from hornlens.results.envelope import envelope_as_json
from hornlens.results.settings import Settings


def envelope_command(
    path: Path,
    form: str,
    background: Path | None,
    wanted: Settings,
    quiet: bool,
    limits: Limits,
) -> int:
    """Read the file by its ending, compute, print; return the exit code."""
    max_conditions, min_support = wanted.max_conditions, wanted.min_support
    terminal = Terminal(quiet)
    with (
        ended_by_ctrl_c(limits),
        terminal.searching(f"Envelope of {path.name}") as progress,
    ):
        suffix = path.suffix.lower()
        if suffix in (".cnf", ".dimacs"):
            formula = read_dimacs(path)
            granted = read_background(background, formula.vocabulary) if background else None
            if min_support is not None:
                raise InputError("a formula has no rows: --min-support is for tables", path)
            if max_conditions is None:
                result = envelope_of_formula(formula, granted, progress, limits)
            else:
                result = bounded_envelope_of_formula(
                    formula, max_conditions, granted, limits, progress
                )
            result = summed_up_formula(result, formula, wanted)
            what = plural(len(formula.clauses), "clause")
        elif suffix in (".csv", ".cxt"):
            table = read_csv(path) if suffix == ".csv" else read_cxt(path)
            granted = read_background(background, table.vocabulary) if background else None
            try:
                if max_conditions is None:
                    result = envelope_of_table(table, granted, progress, limits)
                    if min_support is not None:
                        result = only_supported(result, table, min_support)
                else:
                    result = bounded_envelope_of_table(
                        table, max_conditions, granted, min_support or 0, limits, progress
                    )
                result = summed_up_table(result, table, wanted)
            except InputError as error:
                raise InputError(error.message, path, error.line) from None
            what = plural(len(table.rows), "positive example")
        else:
            # Say first what is wrong with a file that does not exist at all.
            if not path.is_file():
                reason = "is a directory, not a file" if path.is_dir() else "no such file"
                raise InputError(reason, path)
            raise InputError("unknown kind of file; expected .cnf, .csv or .cxt", path)
    if form == "text":
        terminal.say(f"{path.name}: {plural(len(result.vocabulary), 'variable')}, {what}.")
        if result.levels is not None and result.levels.chosen is not None:
            show_claim_only(terminal, result)
            show_level(terminal, result)
        else:
            show_envelope(terminal, result)
        show_almost(terminal, result)
    else:
        if result.almost is not None and form != "json":
            terminal.warn(f"{form} has the exact rules only: almost-rules are in text and json")
        written = json_text(envelope_as_json(result)) if form == "json" else WRITERS[form](result)
        sys.stdout.write(written)
    return exit_code(limits)
