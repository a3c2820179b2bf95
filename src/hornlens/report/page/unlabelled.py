"""The page of a result without labels: of a yes-no target, a formula, a table or an exploration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from hornlens.counts import plural
from hornlens.logic.attributes import Nominal
from hornlens.logic.named import NamedRule
from hornlens.report.lattice import lattice_svg
from hornlens.report.page.assemble import assemble
from hornlens.report.page.chance import chance_picture
from hornlens.report.page.disparities import disparities_picture
from hornlens.report.page.extraction import (
    FINDINGS,
    MOST_ANSWERS,
    SIFT_STYLES,
    abstained_because,
    described,
    drawn_settings,
    duration,
    is_sampled,
    moment,
    rank_in_words,
    rows_of,
    without_answers,
)
from hornlens.report.page.marking import marked_template
from hornlens.report.page.rates import rate_charts
from hornlens.report.page.selfcheck import EXTRACTION as CHECK_SCRIPTS
from hornlens.report.page.selfcheck import STYLES as CHECK_STYLES
from hornlens.report.page.sifting import sift_picture
from hornlens.report.page.summaries import almost_rows, levels_picture
from hornlens.report.page.survival import survival_picture
from hornlens.report.page.view import is_complete, view_of
from hornlens.report.rates import condition_of
from hornlens.results.analysis.almost import Summary
from hornlens.results.analysis.flips import labels_of
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.saving import result_as_json
from hornlens.results.documents.tables import DRAWN
from hornlens.results.wording.pages import (
    OPEN_BELOW,
    Absence,
    about_open,
    about_rules,
    left_out_words,
    no_rules,
    no_rules_worked_out,
    non_horn_words,
    residue_words,
)

SCRIPTS = (
    *("dom.js", "csv.js", "logic.js", "prompts.js", "table.js", "filters.js", "folds.js"),
    *("rules.js", "levels.js", "survival.js", "limits.js", "lattice.js", "unlabelled.js"),
)
STYLES = ("lattice.css",)
MOST_RULES = 3_000
"""How many rules a page lists; the file has all of them."""
MOST_OPEN = 1_000
"""How many open rules it lists."""
MOST_NAMED = 12
"""A question names its attributes, unless there are more than this."""


def unlabelled_page(
    result: Findings, content: Mapping[str, Any] | None = None, name: str = "", file: str = ""
) -> str:
    """Return the page of a result whose space has no label, or for which no target was asked.

    Args:
        result: The result.
        content: Its JSON, as it stands on disk.
        name: What people call it, where it does not say so itself.
        file: The name of the file that holds it.
    """
    table, envelope, question, space = result.tabled, result.envelope, result.question, result.space
    content = result_as_json(result) if content is None else content
    listed, data = _shortened(result, dict(content))
    asked = sum(len(world.decisions) for world in result.each)
    fits = asked <= MOST_ANSWERS
    if not fits:
        data = without_answers(data)
    rows = rows_of(listed)
    certificate, summary = envelope.certificate, Summary(result)
    findings = [] if certificate.unanswered else [r for r in rows if r.warrant.known][:FINDINGS]
    levels, sift = levels_picture(summary), sift_picture(result)
    called = result.name if result.asked or "model" in content else name
    own_name = "envelope.json"
    view = {
        **view_of(listed, fits),
        "levels": None if levels is None else levels.as_view(),
        "file": file or own_name,
        "whole": fits and listed is result,
        "asked": result.asked,
    }
    return assemble(
        "unlabelled.html",
        (*SCRIPTS, *CHECK_SCRIPTS),
        data,
        view=view,
        whole=view["whole"],
        styles=(*STYLES, *(() if sift is None else SIFT_STYLES), *CHECK_STYLES),
        title=f"Rules of {called}" if called else "Rules",
        name=called,
        eyebrow=_eyebrow(result),
        extraction=result,
        content=content,
        question=question,
        space=space,
        certificate=certificate,
        plural=plural,
        marked_template=marked_template,
        rows=rows,
        rule_count=len(envelope.readable),
        left_out=len(envelope.readable) - len(rows),
        findings=findings,
        unproved=OPEN_BELOW if rows and not findings and not certificate.unanswered else "",
        supported=any(row.support is not None for row in rows),
        ranked=rank_in_words(result) if result.asked else "",
        absence=_absence(result),
        about_rules=about_rules(certificate, question, is_complete(result)) if result.asked else "",
        sift=sift,
        open_rules=[] if sift else [space.show(rule) for rule in envelope.open[:MOST_OPEN]],
        about_open=about_open(certificate, question, result.asked),
        levels=levels,
        almost=envelope.almost,
        almost_rows=almost_rows(summary),
        chance=chance_picture(listed),
        survival=survival_picture(result) if result.asked else None,
        rates=rate_charts(result) if result.asked else [],
        disparities=disparities_picture(result),
        rate_condition=condition_of(result),
        rate_labels=labels_of(space) if result.asked else (),
        residue=_residue(result),
        residue_examples=[envelope.vocabulary.names_of(x) for x in envelope.non_horn.examples],
        bounds_notes=left_out_words(envelope),
        table=table,
        # All text in the drawing is escaped where it is put in.
        drawing=Markup(lattice_svg(table.lattice)) if table and table.lattice else None,
        numbered=table is not None and any(r.isdigit() for n in table.lattice for r in n.own_rows),
        most=DRAWN,
        attributes=[(attribute.name, described(attribute)) for attribute in space.attributes],
        flat=_is_flat(result),
        is_named=len(space.attributes) <= MOST_NAMED,
        nominal=all(isinstance(attribute, Nominal) for attribute in space.attributes),
        others=[NamedRule.of(rule, envelope.vocabulary) for rule in space.assumed],
        warnings=content.get("warnings", ()),
        abstained=abstained_because(result),
        abstentions=len(result.abstentions),
        complete=is_complete(result),
        has_answers=fits and asked > 0,
        answer_count=asked,
        cells=space.cell_count * max(1, len(result.worlds)) if result.asked else 0,
        sampled=result.asked and is_sampled(result),
        settings=_settings(result, content),
        statistics=_counts(result),
        started=moment(result.record.started),
        took=duration(round(result.record.seconds, 3) or None),
        file=file or own_name,
    )


def _shortened(result: Findings, data: dict[str, Any]) -> tuple[Findings, dict[str, Any]]:
    """Return a result with as many rules as a page lists, the strongest, and its JSON likewise."""
    envelope = result.envelope
    if len(envelope.readable) <= MOST_RULES:
        return result, data
    places = result.order[:MOST_RULES]

    def some(items: Any) -> tuple[Any, ...]:
        return tuple(items[place] for place in places)

    shorter = replace(
        envelope,
        basis=replace(envelope.basis, rules=some(envelope.basis.rules)),
        readable=replace(envelope.readable, rules=some(envelope.readable.rules)),
        support=None if envelope.support is None else some(envelope.support),
        own_warrants=some(envelope.warrants),
    )
    fewer = {key: list(some(data[key])) for key in ("rules", "readable")}
    chance = result.table_chance
    if chance is not None:
        chance = replace(chance, p_values=some(chance.p_values))
    return replace(result, envelope=shorter, table_chance=chance), {**data, **fewer}


def _eyebrow(result: Findings) -> str:
    """Return what the rules are of, as far as it is known."""
    if result.asked:
        return "Target"
    if result.envelope.certificate.word is not None:
        return "Exploration"
    return "Table" if result.tabled is not None or result.envelope.support is not None else "Rules"


def _absence(result: Findings) -> Absence:
    certificate = result.envelope.certificate
    if result.asked:
        return no_rules(certificate, result.question)
    return no_rules_worked_out(certificate)


def _residue(result: Findings) -> str:
    envelope = result.envelope
    return non_horn_words(envelope, result.question) if result.asked else residue_words(envelope)


def _is_flat(result: Findings) -> bool:
    """Return whether all attributes are variables that are true or not."""
    return all(each.variables == (each.name,) for each in result.space.attributes)


def _settings(result: Findings, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that mattered, where there are any."""
    if result.asked:
        return drawn_settings(result)
    settings = content.get("settings")
    return dict(settings) if isinstance(settings, Mapping) else {}


def _counts(result: Findings) -> dict[str, Any]:
    """Return what was counted; where nobody was asked, nothing that there is none of.

    A bound on a count stands under a name of its own.
    """
    counts: dict[str, Any] = {}
    for name, value in result.envelope.statistics.items():
        if isinstance(value, Mapping):
            counts |= {f"{name}: {part}": count for part, count in value.items()}
        elif value or (result.asked and value is not None):
            counts[name] = value
    return counts
