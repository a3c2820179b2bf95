"""`hornlens explain`: the rules of a classifier in a file, over the columns of a table."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from hornlens.classifiers.explain import explain_with
from hornlens.classifiers.progress import AskedModel
from hornlens.classifiers.saving import PLAUSIBLE_FILE, with_flips
from hornlens.cli.options import renamed_option
from hornlens.counts import plural
from hornlens.formats.files import check_writable
from hornlens.formats.jsonfiles import json_text
from hornlens.limits import ended_by_ctrl_c
from hornlens.logic.scopes import percent
from hornlens.report.terminal import Terminal
from hornlens.results.wording.classifiers import asked_of_model
from hornlens.results.wording.sifting import needed
from hornlens.targets.classifiers.answering import read_classifier
from hornlens.targets.classifiers.deciding import bands_in, label_of, with_decision
from hornlens.targets.classifiers.files import identity_of, open_classifier
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.options import Options
from hornlens.targets.classifiers.plausible import Plausible

if TYPE_CHECKING:
    from pathlib import Path

    from hornlens.classifiers.result import Explanation
    from hornlens.cli.commands.models import ExplainOptions

SHOWN = 30
"""How many rules are printed; all are in the files."""
OPEN = 10
"""How many open rules are printed."""


def explain_command(given: ExplainOptions) -> int:
    """Explain a classifier, print its rules, write them if a folder is given; return the exit code.

    A limit or the first Ctrl-C ends it with what is proved by then.
    """
    label = renamed_option(given.label, given.target, "explain --target", "--label")
    options = given.passed_to(
        Options,
        background=tuple(given.background or ()),
        rules="all" if given.all_rules else "cover",
        label=label or "class",
        plausible=None if given.plausible is None else Plausible.load(given.plausible),
    )
    limits = given.limits
    if given.out is not None:
        check_writable(given.out)
    model, table = open_classifier(given.model, given.data, label, given.trust or ())
    bands = bands_in(given.bands)
    model = with_decision(model, given.threshold, bands, options.label)
    if bands is not None:
        options = replace(options, label=label_of(options.label))
    identity = identity_of(given.model, given.threshold, bands)
    terminal, doing = Terminal(given.quiet), AskedModel(given.model.name)
    with ended_by_ctrl_c(limits), terminal.bar(doing, None, "rows") as advance:
        meter = Meter(limits, advance, watch=doing.hear)
        classifier = replace(read_classifier(model, table, limits), identity=identity)
        result = explain_with(model, classifier, options, meter)
        is_cut_off = result.labelled.open > 0
        basis = result.basis() if given.basis and not is_cut_off else None
        if given.out is not None or given.format == "json":
            result = with_flips(result, meter)
        if given.out is not None:
            result.save(given.out)
    if given.basis and is_cut_off:
        terminal.warn("no full basis: it needs every cell, and not all were asked")
    if given.format == "json":
        sys.stdout.write(json_text(result.as_json()))
        return given.exit_code
    rules, rows = plural(len(result.rules), "rule"), plural(len(table), "row")
    terminal.say(f"{given.model.name}: {rules} over {rows}")
    terminal.say(f"{result.certificate.title}: {result.certificate.sentence}")
    if result.plausible is not None:
        terminal.say(result.plausible.sentence)
    for note in result.notes:
        terminal.say(f"Note: {note}.")
    terminal.say(asked_of_model(result.envelope.statistics))
    _show_headline(terminal, result)
    _show_rules(terminal, result, given.out)
    if result.sifted is not None:
        _show_sifted(terminal, result, given.out)
    if basis is not None:
        terminal.say(f"The full basis: {plural(len(basis.basis), 'rule')}")
        for rule in basis.readable.rules:
            terminal.say(basis.space.show(rule))
    if given.out is not None:
        page = given.out / "report.html"
        usual = () if result.plausible is None else (PLAUSIBLE_FILE,)
        terminal.written(page, "envelope.json", "rules.csv", *usual)
    return given.exit_code


def _show_headline(terminal: Terminal, result: Explanation) -> None:
    """Print a short list of rules in order, where there are more of them."""
    headline = result.headline()
    if not headline.rules or len(result.rules) == len(headline.rules):
        return
    lines = [[str(line.rule), f"{line.new:,}", percent(line.share)] for line in headline.rules]
    if headline.left:
        lines.append([f"otherwise {headline.otherwise}", f"{headline.left:,}", ""])
    terminal.say("In this order, the first rule that applies decides:")
    terminal.table(["rule", "new rows", "so far"], lines)
    terminal.say(headline.sentence)
    terminal.say("All rules, those first that speak of most rows:")


def _show_rules(terminal: Terminal, result: Explanation, out: Path | None) -> None:
    """Print the first rules, with what stands behind each where they are not all proved."""
    proved = all(rule.warrant.proved for rule in result.rules)
    columns = ["rule", *([] if proved else ["warrant"]), "rows", "confidence"]
    lines = [
        [
            str(rule),
            *([] if proved else [rule.warrant.words]),
            f"{rule.support:,}",
            "–" if rule.confidence is None else f"{rule.confidence:.4g}",
        ]
        for rule in result.rules[:SHOWN]
    ]
    if lines:
        terminal.table(columns, lines)
    if len(result.rules) > SHOWN:
        rest = len(result.rules) - SHOWN
        where = "" if out is None else f": {out / 'rules.csv'}"
        terminal.say(f"… and {rest:,} more that speak of fewer rows{where}")


def _show_sifted(terminal: Terminal, result: Explanation, out: Path | None) -> None:
    """Print rules with exceptions, where rare classes are said more often, and the open rules."""
    for sentence in result.beside_rules:
        terminal.say(sentence)
    count = result.certificate.open
    if count:
        terminal.say(f"{plural(count, 'open rule')}: no answer breaks them, too few were asked")
        for rule in result.open[:OPEN]:
            takes = f" ({needed(rule.needs)})" if rule.needs else ""
            terminal.say(f"  ? {rule}{takes}")
        if count > OPEN:
            where = "" if out is None else f": {out / 'open.csv'}"
            terminal.say(f"  … and {count - OPEN:,} more{where}")
