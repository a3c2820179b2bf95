"""The rates and flips of a page: bars, sentences and pairs, worked out for the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from hornlens.counts import plural
from hornlens.report.page.charts import place
from hornlens.report.rates import flips_in_words, spread_in_words, words_for
from hornlens.results.analysis.flips import FlippedCells
from hornlens.results.analysis.rates import AttributeRates, Spread, ValueRate
from hornlens.results.documents.findings import Findings

ENDS = 12
"""Of an attribute with more than twice so many values, those at both ends are shown."""
COLOURS = 7
"""How many colours of labels page.css has."""
MASK = "[MASK]"


@dataclass(frozen=True)
class Bar:
    """A value on the page; `parts` are (colour, from, width) of its labels, abstentions last."""

    rate: ValueRate
    parts: tuple[tuple[int, str, str], ...]
    said: str


@dataclass(frozen=True)
class Pair:
    """A flip on the page: which value became which, and both sides as they were answered."""

    values: tuple[str, str]
    sides: tuple[Markup, Markup]
    variant: str


@dataclass(frozen=True)
class Chart:
    """An attribute on the page."""

    rates: AttributeRates
    bars: tuple[Bar, ...]
    left_out: int
    spread: Spread | None
    spread_word: str
    abstentions: bool
    sentence: str
    pairs: tuple[Pair, ...]
    variants: tuple[tuple[str, str], ...]
    """Of each way of asking its name, and what is counted in it."""


def rate_charts(extraction: Findings) -> list[Chart]:
    """Return what the page shows of each attribute that was asked about; nothing of a sift."""
    if not extraction.has_rates:
        return []
    rates, words = extraction.rates, words_for(extraction)
    labels = [words.get(name, name) for name in rates.labels]
    charts = []
    for each in rates.attributes:
        if not each.values:
            continue
        shown = _ends(each, rates.labels)
        own = {name: one[each.attribute] for name, one in rates.worlds.items()}
        spread = each.widest
        charts.append(
            Chart(
                each,
                tuple(_bar(rate, labels) for rate in shown),
                len(each.values) - len(shown),
                spread,
                "" if spread is None else words.get(spread.label, spread.label),
                any(rate.abstained for rate in shown),
                _sentence(each, extraction.question.unit),
                tuple(_pair(extraction, flip) for flip in each.examples),
                tuple(
                    (name, spread_in_words(one, words) + flips_in_words(one))
                    for name, one in own.items()
                ),
            )
        )
    return charts


def _ends(rates: AttributeRates, labels: Sequence[str]) -> Sequence[ValueRate]:
    """Return the values in their order; of too many, those with the highest and lowest shares."""
    spread = rates.widest
    if len(rates.values) <= 2 * ENDS or spread is None:
        return rates.values[: 2 * ENDS]
    at = labels.index(spread.label)
    order = sorted(
        (rate for rate in rates.values if rate.shares), key=lambda r: -(r.shares or ())[at]
    )
    return order if len(order) <= 2 * ENDS else [*order[:ENDS], *order[-ENDS:]]


def _bar(rate: ValueRate, labels: Sequence[str]) -> Bar:
    total, start, parts, said = rate.answered + rate.abstained, 0, [], []
    for i, (label, count) in enumerate(zip(labels, rate.counts, strict=True)):
        said.append(f"{label} {count:,}")
        if count:
            parts.append((i % COLOURS, place(start / total), place(count / total)))
        start += count
    if rate.abstained:
        said.append(f"no answer {rate.abstained:,}")
    return Bar(rate, tuple(parts), f"{rate.value}: {', '.join(said)}")


def _sentence(rates: AttributeRates, unit: str) -> str:
    """Return how often changing only this attribute changed the answer."""
    if not rates.pairs:
        return f"No two {unit}s that were asked differ in it only."
    pairs = f"{rates.pairs:,} {'pair' if rates.pairs == 1 else 'pairs'} of {unit}s"
    if not rates.compared:
        text = f"Of {pairs} that differ in it only, none has an answer on both sides"
    else:
        if rates.undecided:
            pairs = f"{plural(rates.compared, 'pair')} of {unit}s with two answers"
        if rates.flips:
            text = f"Changing only this changed the answer in {rates.flips:,} of {pairs}"
        else:
            text = f"Changing only this never changed the answer, in {pairs}"
    whole = f"all {plural(rates.pairs, 'pair')}"
    if rates.half_answered:
        text += (
            f". In {rates.half_answered:,} of {whole} it decided whether there was an answer at all"
        )
    if rates.unanswered and rates.compared:
        text += f". In {rates.unanswered:,} of {whole} neither side got an answer"
    if rates.possible is None:
        text += "; not all pairs were asked"
    elif rates.possible > rates.pairs:
        text += f"; there are {rates.possible:,}, of the others at least one side was not asked"
    return f"{text}."


def _pair(extraction: Findings, flip: FlippedCells) -> Pair:
    world = extraction.each[flip.world]
    one, other = (
        _answered(world.show(cell), world.question.words.get(label, label), world)
        for cell, label in zip(flip.cells, flip.labels, strict=True)
    )
    return Pair(flip.values, (one, other), world.world)


def _answered(shown: Sequence[str], word: str, world: Findings) -> Markup:
    """Return a cell with its answer: in the blank only where it is the answer to that sentence."""
    if len(shown) == 1 and world.question.templates and MASK in shown[0]:
        filled = Markup("<mark><bdi>{}</bdi></mark>").format(word)
        return Markup("<bdi class=prompt>{}</bdi>").format(filled.join(shown[0].split(MASK)))
    lines = Markup("").join(
        Markup("<bdi class=prompt>{}</bdi>").format(text.replace(MASK, "▁▁▁")) for text in shown
    )
    average = f"on average over {len(shown)} phrasings: " if len(shown) > 1 else ""
    return lines + Markup("{}<mark><bdi>{}</bdi></mark>").format(average, word)
