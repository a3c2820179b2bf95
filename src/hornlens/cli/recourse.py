"""`hornlens recourse`: what would have to change in a row, for a classifier in a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from hornlens.classifiers.recourse import recourses
from hornlens.errors import InputError
from hornlens.formats.jsonfiles import json_text
from hornlens.limits import ended_by_ctrl_c
from hornlens.report.terminal import Terminal
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.deciding import bands_in
from hornlens.targets.classifiers.files import open_classifier

if TYPE_CHECKING:
    from hornlens.cli.commands.models import RecourseOptions


def recourse_command(given: RecourseOptions) -> int:
    """Print the smallest change of each row that was named; return the exit code."""
    model, table = open_classifier(given.model, given.data, given.label, given.trust or ())
    late = next((number for number in given.row if number > len(table)), None)
    if late is not None:
        raise InputError(f"there is no row {late}: there are {len(table):,}", given.data)
    places = np.array(given.row) - 1
    rows = Table(
        table.names,
        tuple(column[places] for column in table.columns),
        table.kinds,
        table.levels,
        table.rebuild,
    )
    limits, terminal = given.limits, Terminal(given.quiet)
    with ended_by_ctrl_c(limits):
        answers = recourses(
            model,
            rows,
            given.to,
            table,
            fixed=given.fixed or (),
            only_up=given.only_up or (),
            only_down=given.only_down or (),
            most=given.most,
            limit=given.limit,
            label=given.label or "class",
            threshold=given.threshold,
            bands=bands_in(given.bands),
            background=tuple(given.background or ()),
            limits=limits,
        )
    if given.format == "json":
        lines = [
            {"row": number, **answer.as_json()}
            for number, answer in zip(given.row, answers, strict=True)
        ]
        sys.stdout.write(json_text({"recourse": lines}))
        return given.exit_code
    for number, answer in zip(given.row, answers, strict=True):
        terminal.say(f"Row {number}: {answer.sentence}")
    return given.exit_code
