"""Rates with intervals, and those of intersections, in the terminal."""

from __future__ import annotations

from hornlens.report.rates import SHOWN, words_for
from hornlens.report.terminal import Terminal
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.disparities import (
    basis_in_words,
    difference_in_words,
    rate_in_words,
    widest_of,
)

COMBINATIONS = 20
"""How many combinations of values the terminal shows; disparities.csv has all of them."""


def show_disparities(terminal: Terminal, result: Findings) -> None:
    """Print whether rates are exact, how far values are apart, and the intersections asked for."""
    if not result.has_rates or not any(each.values for each in result.rates.attributes):
        return
    words, unit = words_for(result), result.question.unit
    single = result.all_disparities[: len(result.space.attributes)]
    if single:
        terminal.say(basis_in_words(single[0].basis, single[0].level, unit))
    for each in single[:SHOWN]:
        widest = widest_of(each)
        if widest is not None and each.is_estimated:
            line = difference_in_words(widest, words, unit, each.level)
            terminal.say(f"  {each.name}: {line}.")
    for each in result.all_disparities[len(single) :]:
        terminal.say(f"Rates of {each.name} together:")
        label = each.labels[-1] if len(each.labels) == 2 else None
        rates = [rate for rate in each.rates if label is None or rate.label == label]
        for rate in rates[:COMBINATIONS]:
            word = words.get(rate.label, rate.label)
            terminal.say(f"  {rate.value}: “{word}” in {rate_in_words(rate)}")
        if len(rates) > COMBINATIONS:
            terminal.say(f"  … and {len(rates) - COMBINATIONS:,} more: disparities.csv")
        if (widest := widest_of(each)) is not None:
            terminal.say(f"  Widest: {difference_in_words(widest, words, unit, each.level)}.")
