"""A sift on the page: rules with exceptions, open and refuted ones, the curve, what was drawn."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from hornlens.logic.named import NamedRule
from hornlens.report.page.charts import count_place, place
from hornlens.report.page.marking import marked
from hornlens.report.page.view import in_conditions
from hornlens.results.analysis.sifted import DrawnFamily, SiftSummary
from hornlens.results.documents.findings import Findings
from hornlens.results.wording.sifting import RARE, about_open_rules, asked_words

MOST_POINTS = 160
"""How many points of the curve are drawn: more cannot be told apart."""
EXCEPTIONS = 20
"""How many exceptions of a rule are shown; the files have all of them."""
HEIGHT, ABOVE = 180, 10
"""The height of the curve, and what is left free above it."""
HEADROOM = 1.02
"""By how much the axis goes beyond the largest count, so that its line is not cut."""


@dataclass(frozen=True)
class OpenRow:
    """An open rule on the page: in words, what it would take, and how many cases were asked."""

    rule: NamedRule
    sentence: str
    needs: int | None
    cells: int | None


@dataclass(frozen=True)
class ExceptedRow:
    """A rule with exceptions: in words, what stands behind it, and the exceptions."""

    rule: NamedRule
    sentence: Markup
    behind: str
    exceptions: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class Curve:
    """How many candidates were alive after how many questions, on a logarithmic axis.

    Places along are per cents, heights are pixels. `ticks` and `questions` are what stands at the
    axes; `fixed` where families of rules were fixed.
    """

    points: tuple[tuple[str, float], ...]
    ticks: tuple[tuple[int, float], ...]
    questions: tuple[tuple[int, str], ...]
    fixed: tuple[tuple[int, str], ...]
    said: str
    height: int = HEIGHT
    above: int = ABOVE


@dataclass(frozen=True)
class SiftPicture:
    """All that the page of a sifted result shows beside its listed rules."""

    summary: SiftSummary
    open: tuple[OpenRow, ...]
    open_count: int
    about_open: str
    almost: tuple[ExceptedRow, ...]
    more_often: tuple[tuple[Markup, str], ...]
    rare: str
    refuted: str
    asked: str
    drawn: int
    curve: Curve | None

    @property
    def families(self) -> tuple[DrawnFamily, ...]:
        """The families of rules that cells were drawn for."""
        return self.summary.families

    @property
    def chosen(self) -> int:
        """How many cells were chosen."""
        return len(self.summary.record.order) - self.drawn


def sift_picture(extraction: Findings) -> SiftPicture | None:
    """Return what the page shows of a sift; None where there was none."""
    summary = SiftSummary.of(extraction)
    if summary is None:
        return None
    certificate, space = extraction.envelope.certificate, extraction.space
    return SiftPicture(
        summary,
        tuple(
            OpenRow(in_conditions(rule, space), row.sentence, row.needs, row.cells)
            for rule, row in zip(extraction.envelope.open, extraction.open, strict=True)
        ),
        certificate.open,
        about_open_rules(certificate.open, len(extraction.open)),
        tuple(
            ExceptedRow(
                in_conditions(one.rule, space),
                marked(one.parts),
                one.behind,
                tuple(map(summary.shown, one.cells[:EXCEPTIONS])),
                len(one.cells),
            )
            for one in summary.almost
        ),
        tuple((marked(one.parts), one.behind) for one in summary.more_often),
        RARE if summary.is_rare else "",
        f"{summary.sieve.refutes(certificate.rules, certificate.open)}.",
        asked_words(summary.record, "cell"),
        len(summary.drawn),
        _curve(summary),
    )


def _curve(summary: SiftSummary) -> Curve | None:
    """Return the curve of live candidates; None if nothing was asked."""
    record = summary.record
    if not record.curve:
        return None
    points = [(0, record.candidates), *record.curve]
    last, top = points[-1][0], max(record.candidates, 1)
    step = max(1, -(-len(points) // MOST_POINTS))
    kept = [*points[:-1:step], points[-1]]

    def along(count: int) -> str:
        return place(count / max(last, 1))

    steps = (10**power for power in range(len(str(top))))
    ticks = [0, *(tick for tick in steps if tick <= top)]
    least = points[-1][1]
    return Curve(
        tuple((along(asked), _height(live, top)) for asked, live in kept),
        tuple((tick, _height(tick, top)) for tick in ticks),
        tuple((count, along(count)) for count in _round_counts(last)),
        tuple((n, along(family.at)) for n, family in enumerate(record.families, 1)),
        f"{record.candidates:,} candidates at first, {least:,} live after {last:,} questions",
    )


def _height(count: int, top: int) -> float:
    """Return the height of a count on a logarithmic axis that goes down to 0, from above."""
    share = float(count_place(count, round(HEADROOM * top)).removesuffix("%")) / 100
    return round(HEIGHT * (1 - min(share, 1.0)), 1)


def _round_counts(last: int) -> list[int]:
    """Return about four round numbers of questions up to the last one."""
    step = 10 ** max(len(str(last)) - 1, 0)
    for part in (5, 2):
        if last // step < 3 and step % part == 0:
            step //= part
    return list(range(0, last + 1, max(step, 1)))[:9]
