"""An explanation as files: envelope.json, which `hornlens verify` checks, a table and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hornlens.classifiers.explanation import Explained, RecordedFlips
from hornlens.classifiers.flips import recorded_flips
from hornlens.errors import HornlensError
from hornlens.exact.boxes.cells import GridCells
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.spaces import space_as_json
from hornlens.limits import Limits
from hornlens.report.page.explanation import explanation_page
from hornlens.results.analysis.headline import Headline
from hornlens.results.analysis.sifted import SiftSummary
from hornlens.results.documents.codec import as_plain
from hornlens.results.documents.envelope import envelope_as_json
from hornlens.results.documents.explanations import (
    MOST_LEVELS,
    SECTION,
    CellsDocument,
    ClassifierDocument,
    FeatureDocument,
    HeadlineDocument,
    HeadlineLine,
    LeafDocument,
    MeasuredDocument,
    PlausibleDocument,
    PlausibleRuleDocument,
    RowsDocument,
    packed,
)
from hornlens.results.documents.flips import FlipPair, Flips
from hornlens.results.documents.record import RUN, run_record
from hornlens.results.documents.rules import RuleRow
from hornlens.results.documents.sifting import point_to_answers
from hornlens.targets.classifiers.ensembles.trees import CLOSE
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.measured import Measured
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.plausible import rule_of_box
from hornlens.targets.classifiers.voting import Vote

AnyExplained = TypeVar("AnyExplained", bound=Explained)
PLAUSIBLE_FILE = "plausible.yaml"
"""What is plausible, as `explain --plausible FILE` reads it."""
MOST_ROWS = 2_000
"""How many rows of X are kept as evidence; counts are of all."""


def with_flips(result: AnyExplained, meter: Meter | None = None) -> AnyExplained:
    """Return an explanation that knows the flips of each column, asked within limits.

    After a run that was ended before all was asked, no row is asked any more.
    """
    if result.recorded is not None:
        return result
    meter = _spent() if meter is None and _was_cut_off(result) else meter
    predictions = result.binned.classifier.predictions
    before = predictions.count
    recorded = recorded_flips(result, meter)
    calls = predictions.count - before
    total = result.counted.get("predicted", 0) + calls
    counted = {**result.counted, "flipped": calls, "predicted": total}
    record = replace(result.record, asked=result.record.asked + calls)
    again: Any = {"envelope": None}  # it is made again, with these counts
    return replace(result, recorded=recorded, counted=counted, record=record, **again)


def section_of(result: Explained) -> ClassifierDocument:
    """Return the section `classifier`: all that the rules are checked and shown by."""
    binned, labelled = result.binned, result.labelled
    recorded = with_flips(result).recorded or RecordedFlips(())
    for feature in binned.features:
        if feature.size > MOST_LEVELS:
            raise HornlensError(
                f"column {feature.name!r} has {feature.size:,} levels, too many to be kept "
                f"({MOST_LEVELS:,} at most): give edges, or leave it out"
            )
    if isinstance(labelled, GridCells):
        flat = labelled.labels.ravel()
        cells = CellsDocument("grid", packed(flat.astype(np.int8)), len(flat))
    else:
        cells = CellsDocument(
            "list",
            packed(labelled.labels.astype(np.int8)),
            len(labelled.cells),
            packed(labelled.cells.astype(np.uint16)),
        )
    kept = min(len(result.rows), MOST_ROWS)
    table = binned.classifier.table
    return ClassifierDocument(
        model=result.name,
        identity=binned.classifier.identity,
        target=result.target,
        classes=binned.classifier.labels,
        labels=tuple(map(_plain, result.classes)),
        columns=table.names,
        features=tuple(map(_feature, binned.features)),
        silent=tuple(_feature(feature) for feature in binned.every if feature.size == 1),
        bins=result.how,
        exact_bins=result.exact_bins,
        fallback=result.fallback,
        background=result.background,
        notes=result.notes,
        agreement=result.agreement,
        cells=cells,
        rows=RowsDocument(
            len(result.rows),
            packed(result.rows.astype(np.uint16)),
            packed(result.said.astype(np.int8)),
            tuple(tuple(_plain(column[row]) for column in table.columns) for row in range(kept)),
        ),
        flips=tuple(map(_plain_flips, recorded.flips)),
        measured=None if result.measured is None else _measured(result.measured),
        changed=tuple(map(packed, recorded.answers)),
        headline=_headline(result.headline()),
        trees=None if result.vote is None else _trees(result.vote),
        forbidden=()
        if result.vote is None
        else tuple(_levels(binned.features, box) for box in result.forbidden.boxes),
        plausible=_plausible(result),
        rounding=None
        if result.vote is None or result.vote.rounding == CLOSE
        else result.vote.rounding,
    )


def _plausible(result: Explained) -> PlausibleDocument | None:
    """Return what is plausible: the rules that some cell breaks, and which rows were held out."""
    plausible, features = result.plausible, result.binned.features
    if plausible is None:
        return None
    rules = tuple(
        PlausibleRuleDocument(rule_of_box(box, features), _levels(features, box))
        for box in result.forbidden.counted
    )
    counts = (plausible.most_broken, plausible.rows, plausible.held_out, plausible.kept)
    measured = plausible.measured
    if measured is None or plausible.rows + plausible.held_out > len(result.rows):
        return PlausibleDocument(rules, *counts)
    marks = np.zeros(len(result.rows), dtype=np.int8)
    marks[list(measured)] = 1
    return PlausibleDocument(rules, *counts, packed(marks))


def _measured(measured: Measured) -> MeasuredDocument:
    return MeasuredDocument(
        len(measured.cells),
        packed(measured.cells.astype(np.uint16)),
        packed(measured.points.astype(np.int8)),
        packed(measured.inputs.astype(np.uint16)),
        packed(measured.first.astype(np.int8)),
        packed(measured.again.astype(np.int8)),
    )


def _headline(headline: Headline) -> HeadlineDocument:
    lines = (HeadlineLine(line.place, line.new, line.decided) for line in headline.rules)
    return HeadlineDocument(tuple(lines), headline.otherwise, headline.left, headline.right)


def _was_cut_off(result: Explained) -> bool:
    """Return whether the run ended before all was asked that was to be asked."""
    ended = result.certificate.ended
    return ended is not None and ended.reason != "max_rules"


def _spent() -> Meter:
    """Return a meter whose limits are reached."""
    limits = Limits()
    limits.interrupt()
    return Meter(limits)


def explanation_as_json(result: Explained) -> dict[str, Any]:
    """Return the contents of envelope.json: the rules in variables, and what they rest on.

    A basis is worked out only where somebody asks for it: `rules` is null. The flips of each column
    must be known: see `with_flips`.
    """
    content = envelope_as_json(result.envelope)
    for line, row in zip(content["readable"], result.rules, strict=True):
        line |= {**_in_columns(result, row), "confidence": row.confidence, "cells": row.cells}
    for line, row in zip(content.get("open", ()), result.open, strict=True):
        line |= _in_columns(result, row)
    if result.sifted is not None:
        record = result.sifted.record
        places = {cell: place for place, cell in enumerate(record.order)}
        point_to_answers(content["sift"], record, places.__getitem__)
    whole = {
        **content,
        "rules": None,
        "space": space_as_json(result.space),
        "model": {"name": result.name, "identity": result.identity},
        "settings": asdict(result.settings),
        SECTION: as_plain(section_of(result)),
    }
    return with_digest(whole)


def _in_columns(result: Explained, row: RuleRow) -> dict[str, Any]:
    """Return what a rule says of columns, in words and as ranges of levels."""
    return {
        "class": row.label,
        "conditions": list(row.conditions),
        "box": [
            [axis, low, high]
            for axis, (low, high) in enumerate(row.box or ())
            if (low, high) != result.binned.features[axis].whole
        ],
        "sentence": row.sentence,
    }


def _feature(feature: Feature) -> FeatureDocument:
    cuts = feature.cuts
    return FeatureDocument(
        feature.name,
        feature.kind,
        feature.size,
        feature.missing,
        tuple(map(_plain, feature.points)),
        None if cuts is None else cuts.values,
        None if cuts is None else cuts.texts,
        None if cuts is None else tuple(sorted(cuts.after)),
        tuple(map(str, feature.values)) if cuts is None else None,
    )


def _plain_flips(found: Flips) -> Flips:
    def plain(row: Any) -> dict[str, Any]:
        return {name: _plain(value) for name, value in row.items()}

    pairs = (
        FlipPair(plain(pair.first), pair.said_first, plain(pair.second), pair.said_second)
        for pair in found.examples
    )
    return replace(found, examples=tuple(pairs))


def _trees(vote: Vote) -> tuple[tuple[LeafDocument, ...], ...]:
    """Return each tree's leaves: the levels that lead there, where not all do, and what it adds."""
    masks, scores, starts = vote.leaves
    ends = [*starts[1:].tolist(), len(masks)]
    found = []
    for start, end in zip(starts.tolist(), ends, strict=True):
        tree = []
        for leaf in range(start, end):
            words = masks[leaf].reshape(len(vote.features), vote.words).tolist()
            levels = [sum(word << 64 * at for at, word in enumerate(own)) for own in words]
            tree.append(LeafDocument(_levels(vote.features, levels), tuple(scores[leaf].tolist())))
        found.append(tuple(tree))
    return tuple(found)


def _levels(features: Sequence[Feature], box: Sequence[int]) -> dict[str, str]:
    """Return sets of levels by feature, where they are not all."""
    return {
        str(axis): hex(mask)
        for axis, (mask, feature) in enumerate(zip(box, features, strict=True))
        if mask != (1 << feature.size) - 1
    }


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or (isinstance(value, float) and value != value):
        return None
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value if isinstance(value, bool | int | float | str) else str(value)


def explanation_files(result: Explained) -> dict[str, str]:
    """Return envelope.json, rules.csv, run.json and the page, by name, and what a sift adds."""
    content, sift = explanation_as_json(result), SiftSummary.of(result)
    return {
        "envelope.json": json_text(content),
        "rules.csv": result.rules.csv(),
        **({"open.csv": result.open.csv()} if len(result.open) else {}),
        **({"almost.csv": sift.almost_csv()} if sift is not None and sift.almost else {}),
        **({} if result.plausible is None else {PLAUSIBLE_FILE: result.plausible.as_yaml()}),
        "run.json": RUN.text(run_record(result)),
        "report.html": explanation_page(content, Path("envelope.json")),
    }
