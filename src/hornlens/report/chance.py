"""What chance would give, in the terminal."""

from __future__ import annotations

from hornlens.report.terminal import Terminal
from hornlens.results.documents.chance import Chance
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.chance import by_conditions, chance_sentences, sentences_of

MARKED = 8
"""How many of the rules that are more than chance are listed."""


def show_chance(terminal: Terminal, result: Findings) -> None:
    """Print how many rules chance would give, and how many of these it would hardly give."""
    if result.why_no_chance:
        if result.asked and len(result.envelope.readable):
            terminal.say(f"More than chance? Not known: {result.why_no_chance}.")
        return
    chance = result.chance()
    if chance.total.rules or chance.total.high:
        _show(terminal, chance_sentences(result, chance), chance)
    marked = [place for place in result.order if chance.is_marked(place)]
    for place in marked[:MARKED]:
        terminal.say(f"  * {result.space.show(result.envelope.readable.rules[place])}")
    if len(marked) > MARKED:
        terminal.say(f"  … and {len(marked) - MARKED:,} more: rules.csv, p_value")


def show_table_chance(terminal: Terminal, chance: Chance) -> None:
    """Print the same of the rules of a table."""
    _show(terminal, sentences_of(chance), chance)


def _show(terminal: Terminal, sentences: list[str], chance: Chance) -> None:
    for sentence in (*sentences, by_conditions(chance)):
        if sentence:
            terminal.say(sentence)
