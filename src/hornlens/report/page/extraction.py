"""The page of an extraction: what it found, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, NamedTuple

from markupsafe import Markup

from hornlens.counts import plural
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.decisions import reason_in_words
from hornlens.logic.named import NamedRule
from hornlens.logic.warrants import Warrant
from hornlens.report.page.assemble import assemble
from hornlens.report.page.chance import chance_picture
from hornlens.report.page.disparities import disparities_picture
from hornlens.report.page.marking import marked, marked_template
from hornlens.report.page.rates import rate_charts
from hornlens.report.page.selfcheck import EXTRACTION as CHECK_SCRIPTS
from hornlens.report.page.selfcheck import STYLES as CHECK_STYLES
from hornlens.report.page.sent import STYLES as SENT_STYLES
from hornlens.report.page.sent import is_chat, sent_examples
from hornlens.report.page.sifting import sift_picture
from hornlens.report.page.summaries import almost_rows, levels_picture
from hornlens.report.page.survival import survival_picture
from hornlens.report.page.view import in_conditions, is_complete, is_scored, view_of
from hornlens.report.rates import condition_of, words_for
from hornlens.results.analysis.almost import Summary
from hornlens.results.analysis.evidence import Evidence
from hornlens.results.analysis.flips import labels_of
from hornlens.results.analysis.possible import maybe, possible_rules, undecided_of
from hornlens.results.analysis.ranking import EXPLAINED
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.replies import has_replies
from hornlens.results.documents.writing import extraction_as_json
from hornlens.results.wording.measures import (
    could_break_words,
    decided_words,
    lead_words,
    toy_words,
)
from hornlens.results.wording.odds import Odds, odds, share_of_lead
from hornlens.results.wording.pages import (
    about_rules,
    no_rules,
    non_horn_words,
    possible_beside,
    vacuous_because,
    vacuous_words,
)

SCRIPTS = (
    *("dom.js", "csv.js", "logic.js", "prompts.js", "table.js", "folds.js", "rules.js"),
    *("filters.js", "grid.js", "map.js", "ask.js", "levels.js", "survival.js", "limits.js"),
    "files.js",
    "extraction.js",
)
REPLIES = ("replies.js",)
"""Before the last script, where there are replies."""
SIFT_STYLES = ("sifting.css",)
FINDINGS = 8
"""How many rules stand at the top as sentences."""
MOST_ANSWERS = 50_000
"""A page with more answers than this is too large to open well: it has the rules only."""
STRIP = 160
"""The width of the strip that shows a finding's margins."""
SETTLING = 30
"""How many of the prompts that would settle a rule are shown with it."""


@dataclass(frozen=True, eq=False)
class Row:
    """A rule on the page: its rank by strength, its place in envelope.json, and what is said.

    `warranted` is what stands behind it in a few words, `behind` the same in a sentence. `support`
    is None where it is not known.
    """

    number: int
    index: int
    rule: NamedRule
    sentence: Markup
    evidence: Evidence
    broken: int
    vacuous: bool
    warrant: Warrant
    warranted: str
    behind: str
    support: int | None
    cases: int
    """Of a sifted rule: how many cells that could break it were asked."""
    could: int
    """How many recorded answers could have broken it."""
    tried: str
    lead: str
    vacuous_because: str

    @property
    def closest(self) -> float | None:
        """The smallest margin."""
        return min(self.evidence.margins, default=None)

    @property
    def odds_at_least(self) -> str:
        """The smallest margin as odds, of scores that are log-probabilities."""
        return "–" if self.closest is None else odds(share_of_lead(self.closest), "down")

    @property
    def odds_on_average(self) -> str:
        """The average share as odds."""
        margins = self.evidence.margins
        return odds(Odds.of(margins).mean or 0.0) if margins else "–"


class Finding(NamedTuple):
    """A rule at the top of the page; `strip` is an SVG path with a tick for each margin."""

    row: Row
    strip: str
    said: str


def extraction_page(
    extraction: Findings, content: dict[str, Any] | None = None, review: str = ""
) -> str:
    """Return the page of an extraction, whose space has a label; `content` is its envelope.json.

    `review` is what a person's check of its replies has found, in words.
    """
    rows = rows_of(extraction)
    answered = not extraction.envelope.certificate.unanswered
    found = [row for row in rows if answered and not row.vacuous][:FINDINGS]
    possible = _possible(extraction)
    top = [row.evidence.margins for row in found]
    widest = max((m for margins in top for m in margins if isfinite(m)), default=0.0)
    envelope = extraction.envelope
    asked = sum(len(world.decisions) for world in extraction.each)
    fits = asked <= MOST_ANSWERS
    if content is None:
        content = extraction_as_json(extraction)
    record, question, space = extraction.record, extraction.question, extraction.space
    summary = Summary(extraction)
    levels, sift = levels_picture(summary), sift_picture(extraction)
    examples, replied = sent_examples(extraction), fits and has_replies(extraction)
    return assemble(
        "extraction.html",
        (*SCRIPTS[:-1], *(REPLIES if replied else ()), SCRIPTS[-1], *CHECK_SCRIPTS),
        content if fits else without_answers(content),
        view={**view_of(extraction, fits), "levels": None if levels is None else levels.as_view()},
        styles=(
            *(() if sift is None else SIFT_STYLES),
            *(SENT_STYLES if examples or replied else ()),
            *CHECK_STYLES,
        ),
        whole=fits and asked > 0,  # the runs of a study are kept without their answers
        title=_titled(extraction),
        content=content,
        extraction=extraction,
        review=review,
        question=question,
        plural=plural,
        marked_template=marked_template,
        chance=chance_picture(extraction),
        survival=survival_picture(extraction),
        sift=sift,
        mapped=is_scored(extraction) and extraction.has_rates,
        levels=levels,
        almost=envelope.almost,
        almost_rows=almost_rows(summary),
        ranked=rank_in_words(extraction),
        drawn=drawn_settings(extraction),
        sampled=is_sampled(extraction),
        unproved=any(not row.warrant.proved for row in rows),
        scored=is_scored(extraction),
        odds=extraction.in_odds,
        toy=toy_words(extraction),
        decided=decided_words(extraction),
        vacuous=vacuous_because(extraction.vacuity, question.unit),
        complete=is_complete(extraction),
        space=space,
        attributes=[(attribute.name, described(attribute)) for attribute in space.attributes],
        nominal=all(isinstance(attribute, Nominal) for attribute in space.attributes),
        record=record,
        took=duration(round(record.seconds, 3) or None),
        started=moment(record.started),
        certificate=envelope.certificate,
        hypotheses=[extraction.space.show(rule) for rule in envelope.open],
        asked=asked if question.compared else content["statistics"]["distinct_prompts"],
        prompts=_all_questions(extraction),
        counts={
            "rules": plural(len(rows), "rule"),
            "answers": plural(asked, "answer"),
            "abstentions": plural(len(extraction.abstentions), question.unit),
        },
        non_horn=non_horn_words(envelope, question),
        absence=no_rules(envelope.certificate, question, is_scored(extraction)),
        about_rules=about_rules(envelope.certificate, question, is_complete(extraction)),
        possible=possible,
        possible_beside=possible_beside(
            len(undecided_of(extraction)),
            bool(possible),
            bool(rows),
            question.unit,
            extraction.asked_all,
            envelope.certificate.noise is not None
            and envelope.certificate.noise.copied is not None,
        ),
        abstained=abstained_because(extraction),
        others=[NamedRule.of(rule, envelope.vocabulary) for rule in space.assumed],
        warnings=content["warnings"],
        rows=rows,
        findings=[
            Finding(row, *_strip(margins, widest, extraction.in_odds))
            for row, margins in zip(found, top, strict=True)
        ],
        widest=widest,
        has_answers=fits and asked > 0,
        examples=examples,
        replied=replied,
        chat=is_chat(extraction),
        rates=rate_charts(extraction),
        disparities=disparities_picture(extraction),
        rate_condition=condition_of(extraction),
        rate_labels=[words_for(extraction).get(name, name) for name in labels_of(space)],
    )


def rank_in_words(extraction: Findings) -> str:
    """Return in what order the rules come."""
    ranks = {
        "support": "the broadest first",
        "margin": "those with the widest closest call first",
        "surprise": "those first that say the most, of the cells asked, that no other rule says",
    }
    if not extraction.has_rates:
        return ranks[extraction.settings.rank]
    return EXPLAINED[extraction.settings.rank].format(unit=extraction.question.unit)


def _titled(extraction: Findings) -> str:
    """Return the title of the page."""
    question = extraction.question
    is_probe = question.templates and question.compared is None
    return f"{extraction.name} on {question.name}" if is_probe else extraction.name


def _all_questions(extraction: Findings) -> int:
    """Return how many prompts there are; of answers that are compared, how many cells."""
    question, cells = extraction.question, extraction.space.cell_count
    each = len(extraction.worlds) if question.compared is not None else len(question.templates)
    return cells * max(1, each)


def rows_of(extraction: Findings) -> list[Row]:
    """Return the rules in the order of rules.csv."""
    space, envelope = extraction.space, extraction.envelope
    rows = []
    for number, place in enumerate(extraction.order, start=1):
        evidence = extraction.evidence[place]
        rule = evidence.rule
        sentence = marked(extraction.parts(evidence))
        shown = in_conditions(rule, space)
        reason, warrant = extraction.vacuity[place], envelope.warrants[place]
        vacuous = reason is not None
        words = extraction.behind(place)
        cases = extraction.cases_of(evidence) if envelope.sifted is not None else 0
        support: int | None = evidence.support
        if not extraction.asked:
            support = None if envelope.support is None else envelope.support[place]
        broken = evidence.broken
        rows.append(
            Row(
                *(number, place, shown, sentence, evidence, broken, vacuous, warrant),
                *(*words, support, cases, len(extraction.could_break(evidence))),
                *(could_break_words(extraction, evidence), lead_words(extraction, evidence)),
                "" if reason is None else vacuous_words(reason, extraction.question.unit),
            )
        )
    return rows


def _possible(extraction: Findings) -> list[tuple[NamedRule, str, int, list[str]]]:
    """Return the rules that undecided cells may break: their sentences, and what may break them.

    Of the undecided cells, how many there are and what the first of them were asked as.
    """
    lines = [line for line in possible_rules(extraction) if line.undecided]
    return [
        (
            in_conditions(line.rule, extraction.space),
            maybe(extraction, line.rule),
            len(line.undecided),
            [" / ".join(extraction.each[w].show(c)) for c, w in line.undecided[:SETTLING]],
        )
        for line in lines
    ]


def _strip(margins: Sequence[float], widest: float, in_odds: bool) -> tuple[str, str]:
    """Return a path with a tick at each margin, and what it shows in words.

    All findings share a scale: of odds, from even to certain; of other scores, to the widest.
    """
    if in_odds:
        shares = [2 * share_of_lead(margin) - 1 for margin in margins]
        text = (
            f"Odds of {Odds.of(margins).words}, on a scale from even to certain" if margins else ""
        )
    else:
        shares = [min(margin, widest) / (widest or 1.0) for margin in margins]
        text = f"Leads from {min(margins):.2f}, on a scale to {widest:.2f}" if margins else ""
    places = {round(part * (STRIP - 2)) + 1 for part in shares}
    return "".join(f"M{x} 0v12" for x in sorted(places)), text


def without_answers(content: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a result whose answers are too many for a page, without them."""

    def bare(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**line, "evidence": [], "closest": None} for line in lines]

    found = {**content, "answers": [], "abstentions": [], "readable": bare(content["readable"])}
    without: dict[str, Any] = {"answers": [], "exceptions": [], "new_exceptions": []}
    if "almost" in content:
        found["almost"] = [{**line, **without} for line in content["almost"]]
    if (levels := content.get("levels")) is not None:
        found["levels"] = {**levels, "steps": [{**line, **without} for line in levels["steps"]]}
    if "variants" in content:
        found["variants"] = [{**v, "readable": bare(v["readable"])} for v in content["variants"]]
    return found


def drawn_settings(extraction: Findings) -> dict[str, Any]:
    """Return the settings that mattered: where nothing was drawn, none of sampling."""
    settings = asdict(extraction.settings)
    if is_sampled(extraction):
        return settings
    sampling = {"epsilon", "delta", "seed", "samples", "max_equivalence_queries"}
    if extraction.envelope.sifted is not None:
        sampling -= {"epsilon", "delta", "seed"}
    return {name: value for name, value in settings.items() if name not in sampling}


def is_sampled(extraction: Findings) -> bool:
    """Return whether a learner chose the questions, and drew samples for them."""
    exhaustive = extraction.settings.equivalence == "exhaustive"
    return not exhaustive and extraction.envelope.statistics["equivalence_queries"] > 0


def described(attribute: Attribute) -> Markup:
    """Return the values of an attribute, and how they hang together, as people read them."""

    def isolated(names: Sequence[str], separator: str) -> Markup:
        return Markup(separator).join(Markup("<bdi>{}</bdi>").format(name) for name in names)

    content = attribute.as_json()
    missing = Markup(", or missing" if content.get("missing") else "")
    match content:
        case {"cuts": cuts}:
            return Markup("a number, cut at ") + isolated(cuts, ", ") + missing
        case {"levels": levels}:
            return isolated(levels, " &lt; ") + Markup(", or an interval of them") + missing
        case {"values": names, "under": above}:
            parts = (Markup(" (under {})").format(isolated([up], "")) if up else "" for up in above)
            lines = [isolated([n], "") + part for n, part in zip(names, parts, strict=True)]
            return Markup(", ").join(lines)
    return isolated(attribute.variables, ", ")


def abstained_because(extraction: Findings) -> list[tuple[str, int]]:
    """Return why there was no answer, and how often."""
    reasons = Counter(decision.abstained for _, decision in extraction.abstentions)
    return [(reason_in_words(key), count) for key, count in reasons.items()]


def moment(started: str) -> str:
    """Return when a run began, as people write it; nothing if it is not known."""
    return started.replace("T", " ").replace("+00:00", " UTC")


def duration(seconds: float | None) -> str:
    """Return a time as people say it; nothing if it is not known."""
    if seconds is None:
        return ""
    seconds = round(seconds, 3)  # as run.json has it: a page that is made again says the same
    if seconds < 0.1:
        return "less than 0.1 s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
