"""Levels of detail and almost-rules on the page: a curve, and tables that stand by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from hornlens.logic.almost import AlmostRule
from hornlens.logic.levels import Levels
from hornlens.logic.named import NamedRule
from hornlens.report.page.assemble import rounded
from hornlens.report.page.marking import marked
from hornlens.report.page.view import in_conditions
from hornlens.report.summaries import left_out_in_words, level_in_words
from hornlens.results.analysis.almost import Nearly, Summary

FIRST = 8
"""The level that is shown first, if nobody asked for another."""
WIDTH, HEIGHT = 300, 90
"""The size of the curve."""


@dataclass(frozen=True)
class NearlyRow:
    """A rule that may have exceptions: itself, in words, and how many cells break it."""

    number: int
    rule: NamedRule
    sentence: Markup
    broken: int
    of: int
    confidence: str
    explained: int = 0
    wrong: int = 0


@dataclass(frozen=True)
class LevelsPicture:
    """The levels: a row for each rule, the level that is shown first, and the curve."""

    levels: Levels
    rows: tuple[NearlyRow, ...]
    start: int
    said: tuple[str, ...]
    """What each level explains, in words, from none on; the last are all exact rules."""
    left_out: tuple[str, ...]
    points: tuple[tuple[str, str], ...]
    """Where each level stands in the picture."""

    @property
    def path(self) -> str:
        """The curve, as an SVG path."""
        return "M" + "L".join(f"{x} {y}" for x, y in self.points)

    def as_view(self) -> dict[str, Any]:
        """Return what the scripts need."""
        return {
            "start": self.start,
            "said": self.said,
            "left_out": self.left_out,
            "points": self.points,
        }


def levels_picture(summary: Summary) -> LevelsPicture | None:
    """Return the levels of a result; None where it has none, or no rule to show."""
    levels = summary.levels
    if levels is None or not levels.steps:
        return None
    many = len(levels.steps)
    if summary.extraction.asked:
        rows = tuple(
            _row(summary, nearly, number, levels.explained(number), levels.exceptions(number))
            for number, nearly in enumerate(summary.steps, 1)
        )
    else:
        rows = tuple(_worked_out(summary, levels, number) for number in range(1, many + 1))
    start = min(FIRST, many) if levels.chosen is None else levels.chosen
    said = [level_in_words(levels, level) for level in range(many + 1)]
    left_out = [left_out_in_words(levels, level) for level in range(many + 1)]
    points = tuple(
        (
            rounded(WIDTH * level / many, 1),
            rounded(HEIGHT - HEIGHT * levels.explained(level) / max(1, levels.rejections), 1),
        )
        for level in range(many + 1)
    )
    return LevelsPicture(levels, rows, start, tuple(said), tuple(left_out), points)


def almost_rows(summary: Summary) -> list[NearlyRow]:
    """Return the almost-rules of a result, in the order of its envelope.json."""
    found = {id(rule): nearly for rule, nearly in summary.almost}
    almost, extraction = summary.extraction.envelope.almost, summary.extraction
    rules = () if almost is None else almost.rules
    if not extraction.asked:
        return [
            NearlyRow(
                number,
                in_conditions(each.rule, extraction.space),
                marked(extraction.telling.parts(each.rule, each.broken, each.of, almost="exactly")),
                each.broken,
                each.of,
                _percent(each),
            )
            for number, each in enumerate(rules, 1)
        ]
    return [_row(summary, found[id(rule)], number) for number, rule in enumerate(rules, 1)]


def _row(
    summary: Summary, nearly: Nearly, number: int, explained: int = 0, wrong: int = 0
) -> NearlyRow:
    return NearlyRow(
        number,
        in_conditions(nearly.rule, summary.extraction.space),
        marked(summary.parts(nearly)),
        nearly.broken,
        nearly.of,
        _percent(nearly),
        explained,
        wrong,
    )


def _worked_out(summary: Summary, levels: Levels, number: int) -> NearlyRow:
    """Return a rule of the levels where nobody was asked: its new exceptions are known.

    A rule without new ones may have exceptions that an earlier rule has, too; so there is only a
    sentence where it follows from the rules.
    """
    extraction, step = summary.extraction, levels.steps[number - 1]
    follows = extraction.envelope.entails(step.rule)
    return NearlyRow(
        number,
        in_conditions(step.rule, extraction.space),
        marked(extraction.telling.parts(step.rule)) if follows else Markup(),
        len(step.exceptions),
        0,
        "",
        levels.explained(number),
        levels.exceptions(number),
    )


def _percent(nearly: Nearly | AlmostRule) -> str:
    """Return the confidence; what has exceptions is never said to be all."""
    if not nearly.broken:
        return "100%"
    text = rounded(100 * nearly.confidence, 1)
    return ">99.9%" if text == "100.0" else f"{text}%"
