"""Rates with intervals on a page: whether they are exact, differences, and intersections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hornlens.report.rates import words_for
from hornlens.results.analysis.disparities import Disparities
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.disparities import (
    basis_in_words,
    difference_in_words,
    rate_in_words,
    widest_of,
)

MOST_ROWS = 60
"""So many combinations of values are shown; disparities.csv has all of them."""


@dataclass(frozen=True)
class Combined:
    """The rates of all combinations of values of some attributes: a cell for each label."""

    name: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: int
    widest: str


@dataclass(frozen=True)
class DisparitiesPicture:
    """What the page says beside the rates."""

    basis: str
    labels: tuple[str, ...]
    sentences: Mapping[str, str]
    """For each attribute whose rates are estimated, how far its values are apart."""
    intervals: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    """For each such attribute, its values with a rate and its interval for each label."""
    combined: tuple[Combined, ...]


def disparities_picture(result: Findings) -> DisparitiesPicture | None:
    """Return what the page says beside rates; None where there are none."""
    if not result.asked or not result.has_rates or not result.all_disparities:
        return None
    words, unit = words_for(result), result.question.unit
    single = result.all_disparities[: len(result.space.attributes)]
    together = result.all_disparities[len(single) :]
    estimated = [each for each in single if each.is_estimated]
    return DisparitiesPicture(
        basis_in_words(single[0].basis, single[0].level, unit),
        tuple(words.get(label, label) for label in single[0].labels),
        {each.name: text for each in estimated if (text := _widest(each, words, unit))},
        {each.name: _rows(each) for each in estimated},
        tuple(_combined(each, words, unit) for each in together),
    )


def _widest(each: Disparities, words: Mapping[str, str], unit: str) -> str:
    widest = widest_of(each)
    return "" if widest is None else difference_in_words(widest, words, unit, each.level) + "."


def _rows(each: Disparities) -> tuple[tuple[str, tuple[str, ...]], ...]:
    rows: dict[str, list[str]] = {}
    for rate in each.rates:
        rows.setdefault(rate.value, []).append(rate_in_words(rate))
    return tuple((value, tuple(cells)) for value, cells in rows.items())


def _combined(each: Disparities, words: Mapping[str, str], unit: str) -> Combined:
    rows = _rows(each)
    labels = tuple(words.get(label, label) for label in each.labels)
    left_out = max(0, len(rows) - MOST_ROWS)
    return Combined(each.name, labels, rows[:MOST_ROWS], left_out, _widest(each, words, unit))
