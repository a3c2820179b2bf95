"""`hornlens compare`: two or more results, rule by rule."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hornlens.api import compare
from hornlens.errors import HornlensError
from hornlens.formats.files import check_writable, write_files
from hornlens.report.tables import rule_text
from hornlens.report.terminal import Terminal, show_set
from hornlens.results.analysis.comparison import (
    COMPARISON,
    VACUOUSLY,
    ComparedPair,
    Comparison,
    RuleOutcome,
)

if TYPE_CHECKING:
    from hornlens.cli.commands.results import CompareOptions

SHOWN = 25
"""How many rules of one outcome the terminal shows; the JSON has all of them."""
RATES = 10
"""How many rates that differ the terminal shows."""
OUTCOMES = {"contradicted": "broken", "unknown": "not known", "vacuous": "vacuous"}
"""What is listed of a pair, in this order, and in which word."""


def compare_command(options: CompareOptions) -> int:
    """Compare each result with each of the others; return the exit code."""
    if options.out is not None:
        check_writable(options.out)
    comparison = compare(options.results, options.name or ())
    terminal = Terminal()
    if comparison.disturbing and not options.ignore_differences:
        _object(terminal, comparison, options.fail_on_new)
    out = options.out
    if out is not None:
        from hornlens.report.page.comparison import comparison_page

        write_files(
            {
                out / "comparison.json": COMPARISON.text(comparison),
                out / "report.html": comparison_page(comparison),
            }
        )
    if options.format == "json":
        sys.stdout.write(COMPARISON.text(comparison))
    else:
        _show(terminal, comparison)
        if out is not None:
            terminal.say()
            terminal.written(out / "report.html", "comparison.json")
    return int(options.fail_on_new and bool(comparison.new))


def _object(terminal: Terminal, comparison: Comparison, refuse: bool) -> None:
    """Say that rules may differ for another reason than the model; as an error, if told to."""
    names = [result.name for result in comparison.results]
    first, *more = comparison.disturbing
    what = first.in_words(names) + (f" (and {len(more)} more)" if more else "")
    why = "rules may differ without any change of the model"
    if refuse:
        raise HornlensError(
            f"--fail-on-new: the results were not asked alike: {what}. So {why}; extract them "
            "alike, or go on with --ignore-differences"
        )
    terminal.warn(f"the results were not asked alike, so {why}: {what}")


def _show(terminal: Terminal, comparison: Comparison) -> None:
    names = [result.name for result in comparison.results]
    for result in comparison.results:
        of = f": {result.of}" if result.of else ""
        terminal.say(f"{result.name}{of} ({result.certificate.replace('_', ' ')})", "bold")
    terminal.say()
    if comparison.differences:
        terminal.say("What differs between them:")
        for each in comparison.differences:
            terminal.say(f"  {each.in_words(names)}")
    else:
        terminal.say("They were made under the same settings.")
    _show_rates(terminal, comparison, names)
    for pair in comparison.comparisons:
        _show_pair(terminal, pair)
    outcomes = [
        line.outcome
        for pair in comparison.comparisons
        for line in (*pair.rules_of_left_in_right, *pair.rules_of_right_in_left)
    ]
    terminal.say()
    if "vacuous" in outcomes:
        terminal.say(VACUOUSLY)
    terminal.say(comparison.in_common)
    for rule in comparison.common or ():
        terminal.say(f"  {rule_text(rule)}")


def _show_rates(terminal: Terminal, comparison: Comparison, names: Sequence[str]) -> None:
    """Print the rates that differ most."""
    if not comparison.in_rates:
        return
    terminal.say()
    terminal.say(comparison.in_rates, "bold")
    lines = comparison.rates or ()
    for line in lines[:RATES]:
        terminal.say(f"  {line.in_words(names)}")
    if len(lines) > RATES:
        terminal.say(f"  … and {len(lines) - RATES:,} more")


def _show_pair(terminal: Terminal, pair: ComparedPair) -> None:
    """Print both ways of a pair as lines, which can be read at any width."""
    both = (pair.rules_of_left_in_right, pair.rules_of_right_in_left)
    others = (pair.right, pair.left)
    for sentence, other, lines in zip(pair.sentences, others, both, strict=True):
        terminal.say()
        terminal.say(sentence, "bold")
        for outcome, word in OUTCOMES.items():
            found = [line for line in lines if line.outcome == outcome]
            for line in found[:SHOWN]:
                text = line.sentence.rstrip(".") or rule_text(line.rule)
                terminal.say(f"  {word}: {text}{_witness(line, other)}")
            if len(found) > SHOWN:
                terminal.say(f"  … and {len(found) - SHOWN:,} more that are {word}")


def _witness(line: RuleOutcome, other: str) -> str:
    if line.witness is None:
        return ""
    if line.witness.said:
        return f"; but {other} says {line.witness.said}: {line.witness.prompts[0]}"
    how = ", where it abstains" if line.witness.abstained else ""
    shown = next(iter(line.witness.prompts), "")
    return f"; but {other} accepts {show_set(line.witness.accepted)}{how}: {shown}"
