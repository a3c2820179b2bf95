"""The page of a classifier's explanation: its rules with rows of X, a map, flips, and asking it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from hornlens.counts import plural
from hornlens.logic.named import NamedRule
from hornlens.logic.scopes import percent
from hornlens.logic.vocabulary import Vocabulary
from hornlens.logic.warrants import PROVED, Warrant
from hornlens.report.page.assemble import assemble
from hornlens.report.page.selfcheck import SCRIPTS as CHECK_SCRIPTS
from hornlens.report.page.selfcheck import STYLES as CHECK_STYLES
from hornlens.results.documents.explanations import (
    EXPLANATION,
    OPEN,
    OUTSIDE,
    SECTION,
    ExplanationDocument,
    FeatureDocument,
    RuleDocument,
    explanation_from_json,
)
from hornlens.results.documents.flips import FlipPair, Flips
from hornlens.results.documents.rules import COLUMNS, RuleRow, Rules
from hornlens.results.documents.sifting import sift_from_json
from hornlens.results.wording.classifiers import asked_of_model, beside_class_rules
from hornlens.results.wording.pages import as_general, meant_by, no_class_rules
from hornlens.results.wording.sentences import ALWAYS, WHERE, class_rule
from hornlens.results.wording.sifting import needed

SCRIPTS = (
    *("dom.js", "csv.js", "table.js", "folds.js", "filters.js", "grid.js", "cells.js"),
    *("cellrules.js", "cellmap.js", "cellask.js", "explanation.js"),
)
STYLES = ("cells.css",)
Json = dict[str, Any]
FINDINGS = 8
"""How many rules stand at the top as sentences."""
MOST_RULES = 3_000
"""How many rules a page has; the others, which speak of fewer rows, are in rules.csv."""
MOST_OPEN = 100
"""How many open rules a page has; the others are in open.csv."""
MOST_CELLS = 400_000
"""A page with more cells than this is too large to open well: it has no map."""
CODES = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/"
"""A class is a letter on the page, one for each cell."""
NO_CLASS = {OUTSIDE: ".", OPEN: "?"}
"""What stands there where a cell does not occur, or was not asked."""


@dataclass(frozen=True)
class Row:
    """A rule on the page, with its place by strength."""

    number: int
    rule: RuleDocument
    sentence: Markup
    warrant: Warrant


@dataclass(frozen=True)
class ListedRule:
    """A rule of the headline, how many new rows it decides, and the share decided so far."""

    row: Row
    new: int
    share: float


@dataclass(frozen=True)
class OpenRule:
    """An open rule on the page, and how many clean draws would list it."""

    conditions: tuple[str, ...]
    label: str
    needs: int | None


@dataclass(frozen=True)
class Change:
    """A pair of rows that differ in one feature: its values, the answers, and the rest."""

    pair: FlipPair
    before: str
    after: str
    rest: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FlipLine:
    """What changing one feature does, with pairs of rows."""

    flips: Flips
    share: float
    changes: tuple[Change, ...]


def explanation_page(content: Json, path: Path) -> str:
    """Return the page of a classifier's result, given the contents of its file."""
    document = explanation_from_json(content, path)
    who = "the model" if document.claim.scope.direct else "the binned model"
    rows = [
        Row(number, rule, _sentence(rule, who), _warrant(document, rule))
        for number, rule in enumerate(document.rules[:MOST_RULES], start=1)
    ]
    cell_count = prod(document.sizes)
    is_whole = len(document.asked[1]) <= MOST_CELLS
    if not is_whole:
        content = _without_cells(content)
    sifted = _sifted(content, document, who)
    return assemble(
        "explanation.html",
        (*SCRIPTS, *CHECK_SCRIPTS),
        content,
        whole=is_whole,
        view={**_view(document, is_whole), **_files(content, document, who)},
        styles=(*STYLES, *CHECK_STYLES),
        title=f"The rules that {document.model} obeys",
        document=document,
        certificate=document.claim,
        agreement=document.agreement,
        exact_bins=_has_exact_bins(document),
        who=who,
        meant=meant_by(document.claim, document.cells.kind == "list"),
        plausible=document.plausible,
        unproved=not document.claim.proved,
        as_general=as_general(document.claim),
        absence=no_class_rules(document.claim),
        rows=rows,
        headline=_headline(document, rows),
        findings=[row for row in rows if row.rule.support][:FINDINGS],
        left_out=len(document.rules) - len(rows),
        cell_count=cell_count,
        asked=_asked(document),
        counted={
            label: int((document.row_said == place).sum())
            for place, label in enumerate(document.classes)
        },
        flips=_flip_lines(document),
        described=[(feature, _levels_in_words(feature)) for feature in document.features],
        is_whole=is_whole,
        percent=percent,
        plural=plural,
        shown_value=shown_value,
        needed=needed,
        **sifted,
    )


def _headline(document: ExplanationDocument, rows: Sequence[Row]) -> list[ListedRule]:
    """Return the headline, as far as its rules are on the page; older files have none."""
    lines = () if document.headline is None else document.headline.rules
    count = document.rows.count
    return [
        ListedRule(rows[line.rule], line.new, line.decided / count)
        for line in lines
        if line.rule < len(rows)
    ]


def _sifted(content: Json, document: ExplanationDocument, who: str) -> Json:
    """Return what a page says of a sift: open rules, those with exceptions, and what was asked."""
    statistics = content.get("statistics", {})  # which files of 0.2 do not have
    asked = asked_of_model(statistics) if "predicted" in statistics else ""
    if document.claim.sift is None:
        return {"open_rules": (), "beside_rules": (), "asked_of_model": asked}
    names = Vocabulary(tuple(content["variables"]))
    label = content["space"]["label"]["values"]
    words = dict(zip(label, document.classes, strict=True))
    record = sift_from_json(content["sift"], names)
    return {
        "open_rules": [
            OpenRule(tuple(line["conditions"]), line["class"], line.get("needs"))
            for line in content["open"][:MOST_OPEN]
        ],
        "beside_rules": beside_class_rules(record, names, words, who),
        "asked_of_model": asked,
    }


def _without_cells(content: Json) -> Json:
    """Return the contents of a file without the cells, which are too many for a page."""
    section = content.get(SECTION, content)
    less = {**section, "cells": {**section["cells"], "labels": "", "cells": ""}}
    return {**content, SECTION: less} if SECTION in content else less


def _files(content: Json, document: ExplanationDocument, who: str) -> Json:
    """Return what the page's files are made of: the name of the JSON, and the lines of the CSV."""
    is_new = SECTION in content
    sides = [(line["if"], line["then"]) for line in content["readable"]] if is_new else []
    rows = [
        RuleRow(
            NamedRule(rule.conditions, (rule.label,)),
            rule.support,
            rule.support,
            None,
            None,
            class_rule(rule.conditions, rule.label, who),
            NamedRule(*map(tuple, sides[place])) if is_new else _as_it_is(rule),
            warrant=_warrant(document, rule),
            label=rule.label,
            unit="rows",
            cells=rule.cells,
            confidence=rule.confidence,
            box=(),
        )
        for place, rule in enumerate(document.rules)
    ]
    name = "envelope.json" if is_new else EXPLANATION.file_name
    return {"file": name, "columns": COLUMNS, "csv": Rules(rows).lines}


def _as_it_is(rule: RuleDocument) -> NamedRule:
    """Return a rule of a file of 0.2, which has no variables."""
    return NamedRule(rule.conditions, (rule.label,))


def _warrant(document: ExplanationDocument, rule: RuleDocument) -> Warrant:
    """Return what stands behind a rule: a proof, or the cells that were drawn in it."""
    if rule.warrant is not None:
        return rule.warrant
    trial = document.claim.trial
    return PROVED if trial is None else trial.warrant(rule.cells)


def _sentence(rule: RuleDocument, who: str) -> Markup:
    label = Markup("<em><bdi>{}</bdi></em>").format(rule.label)
    if not rule.conditions:
        return Markup(ALWAYS).format(who[0].upper() + who[1:], label)
    parts = [Markup("<b><bdi>{}</bdi></b>").format(condition) for condition in rule.conditions]
    joined = Markup(" and ").join(parts)
    return Markup(WHERE).format(joined, who, label)


def shown_value(value: Any) -> str:
    """Return a value of a row as people read it."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def _flip_lines(document: ExplanationDocument) -> list[FlipLine]:
    """Return the features, those first whose change changes most rows."""
    lines = []
    for flips in document.flips:
        changes = tuple(_change(flips.feature, pair) for pair in flips.examples)
        lines.append(FlipLine(flips, flips.rows / max(1, flips.of_rows), changes))
    return sorted(lines, key=lambda line: (-line.share, not line.flips.ever))


def _change(feature: str, pair: FlipPair) -> Change:
    rest = tuple((n, shown_value(v)) for n, v in pair.first.items() if n != feature)
    before, after = (shown_value(row.get(feature)) for row in (pair.first, pair.second))
    return Change(pair, before, after, rest)


def _levels_in_words(feature: FeatureDocument) -> Markup:
    """Return where a column is cut, or what its values are."""
    names = (feature.values if feature.cuts is None else feature.texts) or ()
    shown = Markup(", ").join(Markup("<bdi>{}</bdi>").format(name) for name in names[:60])
    text = Markup("cut at ") + shown if feature.cuts is not None else shown
    if feature.cuts is not None and not names:
        text = Markup("any number")
    if len(names) > 60:
        text += Markup(", and {} more").format(f"{len(names) - 60:,}")
    return text + escape("; or missing") if feature.missing else text


def _asked(document: ExplanationDocument) -> int:
    """Return how many different cells were asked: some are drawn several times."""
    cells, labels = document.asked
    known = np.flatnonzero(labels >= 0)
    return len(known) if cells is None else len(np.unique(cells[known], axis=0))


def _has_exact_bins(document: ExplanationDocument) -> bool:
    """Return whether a cell has one answer; older files say so where they measured otherwise."""
    return document.exact_bins and document.agreement.whole


def _view(document: ExplanationDocument, is_whole: bool) -> dict[str, Any]:
    """Return what the scripts need that is packed in the document, or worked out from it."""
    cells, labels = document.asked
    kept = len(document.rows.values)
    view: dict[str, Any] = {
        "conditions": [
            [feature.say(level, level) for level in range(feature.levels)]
            for feature in document.features
        ],
        "levels": [_short_names(feature) for feature in document.features],
        "rows": document.row_cells[:kept].tolist(),
        "said": document.row_said[:kept].tolist(),
        "labels": None,
        "cells": None,
        "rules": min(len(document.rules), MOST_RULES),
        "warrants": [_warrant(document, rule).as_json() for rule in document.rules],
        "exact_bins": _has_exact_bins(document),
    }
    if is_whole:
        codes = {**NO_CLASS, **dict(enumerate(CODES))}
        view["labels"] = "".join(codes[place] for place in labels.tolist())
        view["cells"] = None if cells is None else cells.tolist()
    return view


def _short_names(feature: FeatureDocument) -> list[str]:
    """Return a name for each level, for the edges of a map whose caption names the column."""
    found = []
    for level in range(feature.levels):
        if feature.missing and level == feature.known:
            found.append("missing")
        elif feature.cuts is None:
            value = (feature.values or ())[level]
            plain = {"True": "yes", "False": "no"} if feature.kind == "boolean" else {}
            found.append(plain.get(value, value))
        else:
            text = feature.in_cuts.say("…", level, level)
            found.append("any" if text == "… is any number" else text.removeprefix("… "))
    return found
