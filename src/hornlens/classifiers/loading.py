"""Explanations from files: rules, cells and leaves as they were kept. The model itself is not.

What was asked can be asked again, and what the leaves of an ensemble decide clearly; the rest is
NotKept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import RecordedFlips
from hornlens.classifiers.result import Explanation
from hornlens.exact.boxes.cells import GridCells, Levels, ListedCells
from hornlens.exact.boxes.rulesets import BoxRule
from hornlens.exact.boxes.spaces import cells_of_levels
from hornlens.logic.numbers import exact_number
from hornlens.logic.warrants import PROVED
from hornlens.results.documents.envelope import reading_envelope
from hornlens.results.documents.explanations import (
    ExplanationDocument,
    FeatureDocument,
    explanation_from_json,
    unpacked,
)
from hornlens.results.documents.findings import Record
from hornlens.results.documents.reading import known_fields
from hornlens.results.documents.record import RUN
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.sifting import sift_from_json, with_order
from hornlens.targets.classifiers.answering import NOT_KEPT, Classifier, NotKept, not_kept
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.columns import Column, Table
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.measured import Measured
from hornlens.targets.classifiers.plausible import Plausible
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.ruletables import SiftedBoxes
from hornlens.targets.classifiers.spaces import space_apart
from hornlens.targets.classifiers.voting import Leaves, Vote


def load_explanation(content: Mapping[str, Any], file: Path) -> Explanation:
    """Return the explanation that a file holds: its contents, and where they are from."""
    document = explanation_from_json(content, file)
    run = file.with_name(RUN.file_name)
    record = RUN.read(run).record if run.is_file() else None
    with reading_envelope(content, file):
        settings = Settings(**known_fields(Settings, content.get("settings", {})))
        return explanation_of(document, settings, record, content)


def explanation_of(
    document: ExplanationDocument,
    settings: Settings | None = None,
    record: Record | None = None,
    content: Mapping[str, Any] | None = None,
) -> Explanation:
    """Return the explanation that a document holds; saved again, it is the same.

    With the `content` of its file also what a sift has shown, if its rules were sifted.
    """
    by_name = {f.name: _feature(f) for f in (*document.features, *document.silent)}
    every = tuple(by_name[name] for name in document.columns)
    order = [f.name for f in document.features]
    kept = _Kept(_classifier(document, every), every)
    # The order of columns is the order of features: boxes are by place.
    assert [f.name for f in kept.features] == order
    cells, labels = document.asked
    labelled: GridCells | ListedCells
    if cells is None:
        labelled = GridCells(kept.axes, labels.reshape(kept.shape))
    else:
        labelled = ListedCells(kept.axes, cells, labels.astype(np.intp))
    kept.known.append(labelled)
    vote, plausible = None, _plausible(document)
    if document.trees is not None:
        most = 0 if plausible is None else plausible.most_broken
        never = (document.in_masks(box) for box in document.forbidden for _ in range(most + 1))
        lines = () if document.plausible is None else document.plausible.rules
        bad = (*never, *(document.in_masks(line.box) for line in lines))
        vote = Vote(kept, bad, most, None, _leaves(document), document.rounding)
        kept.votes.append(vote)
    boxes = [_box(kept, document, rule.box, rule.label) for rule in document.rules]
    sifted = None
    usual, statistics = ("cells", "questions", "rows"), (content or {}).get("statistics", {})
    counted = {name: number for name, number in statistics.items() if name not in usual}
    if content is not None and "sift" in content:
        assert isinstance(labelled, ListedCells)
        sifted = _sifted(content, document, kept, boxes, labelled)
    result: Explanation = Explanation.of_boxes(
        kept,
        boxes,
        labelled,
        document.claim,
        document.agreement,
        document.row_cells,
        document.row_said,
        document.exact_bins and document.agreement.whole,
        document.bins,
        document.background,
        document.target,
        settings,
        record,
        fallback=document.fallback,
        notes=document.notes,
        vote=vote,
        plausible=plausible,
        measured=_measured(document),
        recorded=RecordedFlips(document.flips, _changed(document)),
        sifted=sifted,
        counted=counted,
    )
    return result


def _box(
    kept: Binned, document: ExplanationDocument, parts: Iterable[Sequence[int]], label: str
) -> BoxRule:
    """Return the box of a rule, given the ranges of levels that are conditions."""
    box = [feature.whole for feature in kept.features]
    for axis, low, high in parts:
        box[axis] = (low, high)
    return BoxRule(tuple(box), document.classes.index(label))


def _sifted(
    content: Mapping[str, Any],
    document: ExplanationDocument,
    kept: Binned,
    boxes: Sequence[BoxRule],
    labelled: ListedCells,
) -> SiftedBoxes:
    """Return what a sift has shown: the warrants, the open rules, and the record."""
    assumed = Background(document.background, document.columns).rules(kept.every)
    space = space_apart(kept.features, document.target, document.classes, assumed)
    lines = content["open"]
    needs = tuple(line["needs"] for line in lines if "needs" in line)
    record = sift_from_json(content["sift"], space.vocabulary, needs)
    record = with_order(record, content["sift"]["order"], cells_of_levels(space, labelled.cells))
    warrants = [rule.warrant for rule in document.rules]
    return SiftedBoxes(
        {box: warrant or PROVED for box, warrant in zip(boxes, warrants, strict=True)},
        tuple(_box(kept, document, line["box"], line["class"]) for line in lines),
        document.claim.open,
        record,
        document.claim.ended is None,
    )


@dataclass(frozen=True, eq=False)
class _Kept(Binned):
    """Cells whose classes are known from a file."""

    known: list[GridCells | ListedCells] = field(default_factory=list)
    votes: list[Vote] = field(default_factory=list)

    def ask(self, cells: Levels) -> Levels:
        """Return the class of each cell, where it was kept or follows from the leaves."""
        (labelled,) = self.known
        found = labelled.at(cells)
        for row in np.flatnonzero(found < 0).tolist():
            found[row] = self._by_leaves(cells[row])
        return found

    def _by_leaves(self, cell: Levels) -> int:
        for vote in self.votes:
            if (place := vote.clear_class(cell)) is not None:
                return place
        raise NotKept(NOT_KEPT)


def _classifier(document: ExplanationDocument, every: Sequence[Feature]) -> Classifier:
    columns = []
    for place, feature in enumerate(every):
        values = [row[place] for row in document.rows.values]
        columns.append(_column(feature, values))
    table = Table(
        document.columns,
        tuple(columns),
        tuple(feature.kind for feature in every),
        tuple(feature.values for feature in every),
        not_kept,
    )
    return Classifier(document.model, document.labels, not_kept, table, document.identity)


def _plausible(document: ExplanationDocument) -> Plausible | None:
    """Return what is plausible, as it was kept."""
    kept = document.plausible
    if kept is None:
        return None
    rules = tuple(line.rule for line in kept.rules)
    counts = (kept.most_broken, kept.rows, kept.held_out, kept.kept)
    return Plausible(rules, *counts, document.held_out)


def _measured(document: ExplanationDocument) -> Measured | None:
    """Return what the agreement was measured by, as it was kept."""
    kept, width, classes = document.measured, len(document.features), len(document.classes)
    if kept is None:
        return None
    cells = unpacked(kept.cells, np.dtype(np.uint16), kept.count * width)
    inputs = unpacked(kept.inputs, np.dtype(np.uint16), kept.count * classes)
    twice = document.agreement.repeated
    one_byte = ((kept.points, kept.count), (kept.first, twice), (kept.again, twice))
    points, first, again = (
        unpacked(text, np.dtype(np.int8), count).astype(np.intp) for text, count in one_byte
    )
    counts = np.zeros((0, classes), dtype=np.intp)  # those of rows are those of the rows of X
    shaped = cells.reshape(kept.count, width).astype(np.intp)
    own = inputs.reshape(kept.count, classes).astype(np.intp)
    return Measured(shaped, points, counts, own, first, again)


def _changed(document: ExplanationDocument) -> tuple[NDArray[np.int8], ...]:
    """Return what the model said of changed rows, as it was kept."""
    if document.changed and len(document.changed) != len(document.flips):
        raise ValueError("has changed rows that are not of each column")
    sizes = {feature.name: feature.levels for feature in document.features}
    return tuple(
        unpacked(text, np.dtype(np.int8), flips.of_rows * sizes[flips.feature]).reshape(
            flips.of_rows, sizes[flips.feature]
        )
        for text, flips in zip(document.changed, document.flips, strict=bool(document.changed))
    )


def _column(feature: Feature, values: Sequence[Any]) -> Column:
    if feature.kind == "whole" and None not in values:
        return np.array(values) if _whole(values) else np.array(values, float)
    if feature.cuts is not None:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def _whole(values: Sequence[Any]) -> bool:
    return np.array(values).dtype.kind in "iu"


def _feature(kept: FeatureDocument) -> Feature:
    if kept.cuts is not None:
        points = tuple(np.nan if point is None else exact_number(point) for point in kept.points)
        return Feature(kept.name, kept.kind, points, kept.in_cuts, (), kept.missing)
    return Feature(kept.name, kept.kind, kept.points, None, kept.points[: kept.known], kept.missing)


def _leaves(document: ExplanationDocument) -> Leaves:
    """Return the leaves as `Vote` has them."""
    sizes = document.sizes
    words = max(((size + 63) // 64 for size in sizes), default=1)
    masks: list[list[int]] = []
    scores: list[tuple[float, ...]] = []
    starts: list[int] = []
    for tree in document.trees or ():
        starts.append(len(masks))
        for leaf in tree:
            row: list[int] = []
            for axis, size in enumerate(sizes):
                text = leaf.levels.get(str(axis))
                mask = (1 << size) - 1 if text is None else int(text, 16)
                row += [mask >> 64 * word & (1 << 64) - 1 for word in range(words)]
            masks.append(row)
            scores.append(leaf.scores)
    packed = np.array(masks, dtype=np.uint64).reshape(len(masks), len(sizes) * words)
    return packed, np.array(scores, dtype=np.float64), np.array(starts)
