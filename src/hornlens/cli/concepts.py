"""`hornlens concepts`: count, list or draw the concepts of a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.formats.anytables import open_table
from hornlens.formats.csvfiles import csv_text
from hornlens.formats.jsonfiles import json_text
from hornlens.limits import ended_by_ctrl_c
from hornlens.report.lattice import lattice_svg
from hornlens.report.terminal import Terminal
from hornlens.results.documents.tables import (
    DRAWN,
    concept_rows,
    count_concepts,
    lattice_of,
)

if TYPE_CHECKING:
    from hornlens.cli.commands.formal import ConceptsOptions


def concepts_command(options: ConceptsOptions) -> int:
    """Print the concepts of a table; return the exit code."""
    path, limits, terminal = options.file, options.limits, Terminal()
    table = open_table(path, options.scale or (), options.label).table
    with ended_by_ctrl_c(limits):
        if options.count:
            found, at_least = count_concepts(table, limits=limits)
            total = f"at least {at_least:,}" if found is None else f"{found:,}"
            if options.format == "json":
                sys.stdout.write(json_text({"concepts": found, "at_least": found or at_least}))
            else:
                terminal.say(f"{path.name}: {total} concepts.")
            return options.exit_code
        if options.format == "svg":
            nodes = lattice_of(table)
            if not nodes:
                raise InputError(
                    f"has more than {DRAWN} concepts: a drawing of them could not be read", path
                )
            sys.stdout.write(lattice_svg(nodes, standalone=True) + "\n")
            return 0
        listed = list(concept_rows(table, limits))
    complete = limits.reason is None
    if options.format == "json":
        rows = [{"variables": list(names), "rows": n} for names, n in listed]
        sys.stdout.write(json_text({"complete": complete, "concepts": rows}))
    elif options.format == "csv":
        sys.stdout.write(csv_text(("rows", "variables"), ([n, "; ".join(v)] for v, n in listed)))
    else:
        more = "" if complete else "; ended early, there may be more"
        terminal.say(f"{path.name}: {plural(len(listed), 'concept')}{more}.")
        terminal.table(["rows", "variables"], [[str(n), ", ".join(v)] for v, n in listed])
    return options.exit_code
