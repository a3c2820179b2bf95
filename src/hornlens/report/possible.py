"""Rules that are possible where answers vary, for the terminal."""

from __future__ import annotations

from hornlens.counts import plural
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.possible import maybe, possible_rules, undecided_of
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.pages import OTHERS_POSSIBLE, all_decided

SHOWN = 8
"""How many possible rules are printed."""


def show_possible(terminal: Terminal, result: Findings) -> None:
    """Say which rules are possible beside the certain ones, and what would settle them."""
    if result.possible is None:
        return
    lines = [line for line in possible_rules(result) if line.undecided]
    left, unit = undecided_of(result), result.question.unit
    if not left:
        terminal.say(all_decided(unit, result.asked_all))
        terminal.say()
        return
    settling = {pair for line in lines for pair in line.undecided}
    terminal.say(
        f"Undecided: {plural(len(left), unit)}. Possible beside the certain rules: "
        f"{plural(len(lines), 'rule')}"
        + (
            f", which {plural(len(settling), unit)} would settle (--settle N asks more of them)."
            if lines
            else "."
        )
        + ("" if result.asked_all else f" {OTHERS_POSSIBLE.format(unit=unit)}")
    )
    for line in lines[:SHOWN]:
        many = plural(len(line.undecided), f"undecided {unit}")
        first, world = line.undecided[0]
        shown = next(iter(result.each[world].show(first)), "")
        terminal.say(f"  ? {maybe(result, line.rule)} ({many}; the first: {shown})")
    if len(lines) > SHOWN:
        terminal.say(f"… and {len(lines) - SHOWN:,} more, under possible in envelope.json")
    terminal.say()
