"""What becomes of each rule in each way of asking, as a picture: rules by phrasings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from hornlens.logic.named import NamedRule
from hornlens.report.page.marking import marked
from hornlens.report.page.view import in_conditions
from hornlens.results.analysis.worlds import Outcome, Survival, survival
from hornlens.results.documents.answers import Position, answers_of, places_of
from hornlens.results.documents.findings import Findings

SIGNS: dict[Outcome, str] = {"holds": "●", "vacuous": "○", "broken": "×", "unknown": "?"}
"""How an outcome is drawn: nothing is said by colour alone."""


class Lot(NamedTuple):
    """What becomes of a rule in one way of asking; `answer` is the place of one that breaks it."""

    name: str
    outcome: Outcome
    sign: str
    answer: int | None


@dataclass(frozen=True)
class SurvivalRow:
    """A rule, what it may be said to mean, and what becomes of it in each way of asking."""

    rule: NamedRule
    sentence: Markup
    kept: int
    lots: tuple[Lot, ...]


@dataclass(frozen=True)
class SurvivalPicture:
    """The rules of all ways of asking, those that hold in most of them first."""

    rows: tuple[SurvivalRow, ...]
    everywhere: int
    """How many of them nothing breaks in any way of asking."""
    outcomes: tuple[Outcome, ...]
    """Those that occur, for the legend."""


def survival_picture(extraction: Findings) -> SurvivalPicture | None:
    """Return what becomes of every rule; None where there was one way of asking only."""
    if not extraction.worlds or extraction.envelope.sifted is not None:
        return None  # a sift looks for what holds in all of them
    lines = survival(extraction)
    position = places_of(answers_of(extraction))
    rows = tuple(_row(line, extraction, position) for line in lines)
    seen = {outcome for line in lines for outcome in line.outcomes}
    everywhere = sum(line.everywhere for line in lines)
    return SurvivalPicture(rows, everywhere, tuple(o for o in SIGNS if o in seen))


def _row(line: Survival, extraction: Findings, position: Position) -> SurvivalRow:
    names = [world.world for world in extraction.worlds]
    space = extraction.space
    kept = line.where(names, "holds", "vacuous")
    lots = tuple(
        Lot(
            name,
            outcome,
            SIGNS[outcome],
            None if broken is None else position(broken & ~space.label_mask, place),
        )
        for place, (name, outcome, broken) in enumerate(
            zip(names, line.outcomes, line.breaking, strict=True)
        )
    )
    sentence = marked(extraction.telling.parts(line.rule, holds_in=kept))
    return SurvivalRow(in_conditions(line.rule, space), sentence, line.kept, lots)
