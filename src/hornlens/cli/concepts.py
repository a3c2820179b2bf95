"""`hornlens concepts`: count, list or draw the concepts of a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from hornlens.cli.limits import exit_code
from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.formats.anytables import open_table
from hornlens.formats.csvfiles import csv_text
from hornlens.formats.jsonfiles import json_text
from hornlens.limits import Limits, ended_by_ctrl_c
from hornlens.report.lattice import lattice_svg
from hornlens.report.terminal import Terminal
from hornlens.results.documents.tables import (
    DRAWN,
    concept_rows,
    count_concepts,
    lattice_of,
)


def concepts_command(
    path: Path,
    count: bool,
    form: str,
    scales: Sequence[str],
    label: str | None,
    limits: Limits,
) -> int:
    """Print the concepts of a table; return the exit code."""
    table = open_table(path, scales, label).table
    terminal = Terminal()
    with ended_by_ctrl_c(limits):
        if count:
            found, at_least = count_concepts(table, limits=limits)
            total = f"at least {at_least:,}" if found is None else f"{found:,}"
            if form == "json":
                sys.stdout.write(json_text({"concepts": found, "at_least": found or at_least}))
            else:
                terminal.say(f"{path.name}: {total} concepts.")
            return exit_code(limits)
        if form == "svg":
            nodes = lattice_of(table)
            if not nodes:
                raise InputError(
                    f"has more than {DRAWN} concepts: a drawing of them could not be read", path
                )
            sys.stdout.write(lattice_svg(nodes, standalone=True) + "\n")
            return 0
        listed = list(concept_rows(table, limits))
    complete = limits.reason is None
    if form == "json":
        rows = [{"variables": list(names), "rows": n} for names, n in listed]
        sys.stdout.write(json_text({"complete": complete, "concepts": rows}))
    elif form == "csv":
        sys.stdout.write(csv_text(("rows", "variables"), ([n, "; ".join(v)] for v, n in listed)))
    else:
        more = "" if complete else "; ended early, there may be more"
        terminal.say(f"{path.name}: {plural(len(listed), 'concept')}{more}.")
        terminal.table(["rows", "variables"], [[str(n), ", ".join(v)] for v, n in listed])
    return exit_code(limits)
