"""Rates and flips in files: in envelope.json, and flips.csv."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hornlens.formats.csvfiles import csv_text
from hornlens.results.analysis.rates import AttributeRates, Rates, flipped_cells
from hornlens.results.documents.findings import Findings

MOST_FLIPS = 5_000
"""How many flips of an attribute flips.csv has, at most, for each way of asking."""
Position = Callable[[int, int], int]
"""Returns where in `answers` a way of asking (by its place) has its answer to a cell."""


def rates_as_json(rates: Rates, position: Position) -> dict[str, Any]:
    """Return `rates` of envelope.json; examples of flips are pairs of positions in `answers`."""
    content: dict[str, Any] = {
        "labels": list(rates.labels),
        "attributes": [_attribute(each, rates.labels, position) for each in rates.attributes],
    }
    if rates.worlds:
        content["variants"] = [
            {
                "name": name,
                "attributes": [_attribute(each, one.labels, position) for each in one.attributes],
            }
            for name, one in rates.worlds.items()
        ]
    return content


def _attribute(
    rates: AttributeRates, labels: tuple[str, ...], position: Position
) -> dict[str, Any]:
    return {
        "attribute": rates.attribute,
        "values": [
            {
                "value": each.value,
                "counts": dict(zip(labels, each.counts, strict=True)),
                "abstained": each.abstained,
                "shares": each.shares and dict(zip(labels, each.shares, strict=True)),
            }
            for each in rates.values
        ],
        "spreads": [
            {**vars(spread), "difference": spread.difference, "ratio": spread.ratio}
            for spread in rates.spreads
        ],
        "flips": {
            "count": rates.flips,
            "pairs": rates.pairs,
            "undecided": rates.undecided,
            "half_answered": rates.half_answered,
            "possible": rates.possible,
            "examples": [
                [position(flip.world, cell) for cell in flip.cells] for flip in rates.examples
            ],
        },
    }


def flips_csv(extraction: Findings) -> str:
    """Return flips.csv: both sides of each flip, up to `MOST_FLIPS` of an attribute.

    The prompts of a cell that was asked in several are joined by " | ".
    """
    worlds = extraction.each
    columns = ["attribute", "from", "to", "answer_from", "answer_to", "shown_from", "shown_to"]
    named = bool(extraction.worlds)

    def lines() -> Iterator[list[str]]:
        for flip in flipped_cells(
            extraction.space, [each.decisions for each in worlds], MOST_FLIPS
        ):
            world = worlds[flip.world]
            shown = [" | ".join(world.show(cell)) for cell in flip.cells]
            line = [flip.attribute, *flip.values, *flip.labels, *shown]
            yield [world.world, *line] if named else line

    return csv_text(["variant", *columns] if named else columns, lines())
