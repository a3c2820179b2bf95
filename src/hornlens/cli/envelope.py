"""`hornlens envelope`: the exact envelope of a file, or its short rules."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornlens.api import envelope
from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.exact.bases import Basis, in_basis
from hornlens.exact.envelopes import with_support
from hornlens.exact.ranking import EXPLAINED, ranked
from hornlens.formats.csvfiles import csv_text
from hornlens.formats.digests import with_digest
from hornlens.formats.fca import without_bottom
from hornlens.formats.files import check_writable
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.formats.plain import visible
from hornlens.formats.writers import WRITERS
from hornlens.limits import ended_by_ctrl_c
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.report.chance import show_table_chance
from hornlens.report.summaries import show_almost, show_claim_only, show_level
from hornlens.report.terminal import Terminal, show_envelope
from hornlens.result import Result
from hornlens.results.documents.rules import COLUMNS, Rules
from hornlens.results.documents.saving import result_as_json
from hornlens.results.documents.settings import Settings
from hornlens.targets.formulas import FormulaTarget, TableTarget
from hornlens.targets.opening import errors_about, open_source

if TYPE_CHECKING:
    from hornlens.cli.commands.formal import EnvelopeOptions


def envelope_command(options: EnvelopeOptions) -> int:
    """Read the file by its ending, compute, print; return the exit code."""
    settings = options.passed_to(Settings, rank=Settings.rank)  # rows have ranks of their own
    path, form, limits = options.file, options.format, options.limits
    terminal = Terminal(options.quiet)
    if options.out is not None:
        check_writable(options.out)
        _spare_answers(options.out)
    with (
        ended_by_ctrl_c(limits),
        terminal.searching(f"Envelope of {path.name}") as progress,
    ):
        target = open_source(path, options.background, options.scale or (), options.label)
        table = target.table if isinstance(target, TableTarget) else None
        if table is None and options.rank is not None:
            raise InputError("a formula has no rows: --rank is for tables", path)
        with errors_about(path):
            made = envelope(
                target, settings=settings, limits=limits, progress=progress, chance=options.chance
            )
            result = made.envelope
    with errors_about(path):
        shown = in_basis(result, options.basis, table)
    if options.closed_top:
        shown = replace(
            shown, basis=without_bottom(shown.basis), readable=without_bottom(shown.readable)
        )
        shown = shown if table is None else with_support(shown, table)
    if options.rank is not None and table is not None and form != "json":
        shown = ranked(shown, table, options.rank)
    if options.out is not None:
        made.save(options.out, **_other_basis(result, shown, options.basis))
    if form == "text":
        terminal.say(f"{path.name}: {plural(len(result.vocabulary), 'variable')}, {_size(target)}.")
        if isinstance(target, TableTarget) and target.notes:
            terminal.say(f"Columns: {'; '.join(target.notes)}.")
        if result.levels is not None and result.levels.chosen is not None:
            show_claim_only(terminal, result)
            show_level(terminal, result)
        else:
            if options.rank is not None and len(shown.basis) > 1:
                terminal.say(f"In order: {EXPLAINED[options.rank]}.")
            show_envelope(terminal, shown, _p_values(made, shown))
        show_almost(terminal, result)
        if made.table_chance is not None:
            show_table_chance(terminal, made.table_chance)
        if options.out is not None:
            terminal.written(options.out / "report.html", "envelope.json", "rules.csv")
    elif form == "json":
        if options.rank is not None:
            terminal.warn("json has the rules in canonical order, whatever --rank says")
        # The concepts of a table may take longer than its rules: they go into files.
        printed = made if options.out is not None else replace(made, context=None)
        content = result_as_json(printed)
        other = _other_basis(result, shown, options.basis)
        sys.stdout.write(json_text(with_digest({**content, **other})))
    else:
        if result.almost is not None:
            terminal.warn(f"{form} has the exact rules only: almost-rules are in text and json")
        if form == "csv":
            chance = made.table_chance if shown is result else None
            listed = replace(made, envelope=shown, table_chance=chance)
            places = range(len(shown.readable)) if options.rank is not None else listed.order
            lines = Rules([listed.row(place) for place in places]).lines
            shown_lines = ([visible(str(cell)) for cell in line] for line in lines)
            sys.stdout.write(csv_text(COLUMNS, shown_lines))
        else:
            sys.stdout.write(WRITERS[form](shown))
    return options.exit_code


def _p_values(made: Result, shown: Envelope) -> dict[Rule, str]:
    """Return what stands beside each rule: its p-value, and a star if it is more than chance."""
    chance = made.table_chance
    if chance is None:
        return {}
    known = dict(zip(made.envelope.readable, range(len(chance.p_values)), strict=True))
    words = {}
    for rule in shown.readable:
        place = known.get(rule)
        p_value = None if place is None else chance.p_values[place]
        if place is not None and p_value is not None:
            words[rule] = f"{p_value:.3f}{' *' if chance.is_marked(place) else ''}"
    return words


def _size(target: FormulaTarget | TableTarget) -> str:
    """Return how large a formula or a table is, in words."""
    if isinstance(target, FormulaTarget):
        return plural(len(target.formula.clauses), "clause")
    return plural(len(target.table.rows), "positive example")


def _spare_answers(out: Path) -> None:
    """Reject a folder whose envelope.json holds answers of a model: they would be lost."""
    file = out / "envelope.json"
    if not file.is_file():
        return
    try:
        kept = read_json(file)
    except InputError:
        return
    if isinstance(kept, dict) and kept.get("answers"):
        raise InputError("holds the answers of a model: give another --out", file)


def _other_basis(result: Envelope, shown: Envelope, basis: Basis) -> dict[str, Any]:
    """Return the rules in another form, for envelope.json: `rules` stay what they are promised."""
    if shown is result:
        return {}
    rules = [NamedRule.of(rule, shown.vocabulary).as_json() for rule in shown.readable]
    return {"basis": {"kind": basis, "rules": rules}}
