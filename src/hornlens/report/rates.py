"""Rates and flips in sentences: the same words for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Mapping

from hornlens.counts import plural
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.rates import AttributeRates, Spread
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.sifting import CHOSEN

SHOWN = 10
"""How many attributes the terminal shows; the files have all of them."""


def show_rates(terminal: Terminal, extraction: Findings) -> None:
    """Print a line for each attribute: how far its values are apart, and how often it flips."""
    if not extraction.has_rates:
        terminal.say(f"No rates: {CHOSEN}.")
        return
    told = [each for each in extraction.rates.attributes if each.values]
    if not told:
        return
    words = words_for(extraction)
    silent = any(each.silence for each in told)
    of = "all that was asked" if silent else "the answers"
    shares = f"shares of {of}{condition_of(extraction)}"
    terminal.say(f"Rates ({shares}) and flips (changing only this attribute):")
    for each in told[:SHOWN]:
        terminal.say(f"  {each.attribute}: {spread_in_words(each, words)}{flips_in_words(each)}.")
    if len(told) > SHOWN:
        terminal.say(f"  … and {plural(len(told) - SHOWN, 'attribute')} more: rates.csv")


def words_for(extraction: Findings) -> Mapping[str, str]:
    """Return the words that stand for labels: their names, where each way of asking has its own."""
    return {} if extraction.worlds else extraction.question.words


def condition_of(extraction: Findings) -> str:
    """Return under what the answers are answers, after a comma; "" if they are the target's own."""
    said = ""
    if extraction.policy.calibration != "none":
        said += ", each more than the model’s own baseline"
    if extraction.question.averaged:
        said += f", on average over {len(extraction.question.templates)} phrasings"
    if extraction.worlds:
        said += f", over {len(extraction.worlds)} {extraction.noun}s"
    return said


def spread_in_words(rates: AttributeRates, words: Mapping[str, str]) -> str:
    """Return how far the values of an attribute are apart, before a semicolon; "" if unknown.

    Where answers are missing, shares are those of all that was asked, and so is what is missing.
    """
    spread, silence = rates.widest, rates.silence
    if spread is None:
        return ""
    label = words.get(spread.label, spread.label)
    parts = [_apart(f"“{label}”", spread)]
    if silence is not None:
        parts.append(_apart(silence.label, silence))
    return f"{', '.join(parts)}; "


def _apart(what: str, spread: Spread) -> str:
    if not spread.difference:
        return f"{what} in {percent(spread.high)} for every value"
    low, high = percent(spread.low), percent(spread.high)
    return f"{what} from {low} ({spread.lowest}) to {high} ({spread.highest})"


def flips_in_words(rates: AttributeRates) -> str:
    """Return how often changing only an attribute changes the answer, and what is not known."""
    if not rates.pairs:
        return "no two asked cells differ in it only"
    asked = plural(rates.pairs, "pair")
    if rates.possible is None or rates.possible > rates.pairs:
        every = "" if rates.possible is None else f" of {rates.possible:,}"
        asked += f" asked{every}"
    if rates.undecided == rates.pairs and not rates.half_answered:
        return f"no flips to count: none of {asked} has two answers"
    if rates.undecided:
        asked = f"{rates.compared:,} of {asked} with two answers"
    text = f"{rates.flips:,} flips in {asked}" if rates.flips != 1 else f"1 flip in {asked}"
    if rates.half_answered:
        text += f"; {plural(rates.half_answered, 'pair')} with one answer"
    if rates.unanswered:
        text += f"; {plural(rates.unanswered, 'pair')} with none"
    return text


def percent(share: float) -> str:
    """Return a share as people write it; what is not all or nothing is not said to be."""
    text = f"{100 * share:.0f}%"
    if text == "0%" and share > 0:
        return "<1%"
    return ">99%" if text == "100%" and share < 1 else text
