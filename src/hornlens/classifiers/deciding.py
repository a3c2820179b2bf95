"""A classifier's rules as a decision list, with the exact bounds of their levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Range
from hornlens.formats.decisions.lists import (
    DecisionList,
    ListColumn,
    ListCondition,
    ListRule,
    Scalar,
)
from hornlens.targets.classifiers.features import Feature

if TYPE_CHECKING:
    from hornlens.classifiers.explanation import Explained


def decision_list_of(result: Explained, otherwise: str | None = None) -> DecisionList:
    """Return the rules in the order in which `predict` uses them.

    `otherwise` is the class, as it is written in rules, for what no rule decides. Columns of
    numbers on which the rules are silent are left out.
    """
    classes = tuple(map(_plain, result.classes))
    every = result.binned.every
    kept = [place for place, one in enumerate(every) if one.size > 1 or one.cuts is None]
    at = {place: number for number, place in enumerate(kept)}
    rules = []
    for row in result.rules:
        conditions = [
            _condition(at[place], every[place], levels)
            for place, levels in zip(result.binned.telling, row.box or (), strict=True)
            if levels != every[place].whole
        ]
        right = round((row.confidence or 0.0) * row.support)
        label = classes[row.place or 0]
        rules.append(
            ListRule(tuple(conditions), label, str(row), row.support, right, row.warrant.kind)
        )
    certificate = result.certificate
    return DecisionList(
        result.name,
        result.target,
        f"{certificate.title}: {certificate.sentence}",
        classes,
        tuple(_column(every[place]) for place in kept),
        tuple(rules),
        None if otherwise is None else _class_of(result, classes, otherwise),
    )


def _class_of(result: Explained, classes: tuple[Scalar, ...], otherwise: str) -> Scalar:
    labels = result.binned.classifier.labels
    if str(otherwise) not in labels:
        raise InputError(f"there is no class {otherwise!r} (there are: {', '.join(labels)})")
    return classes[labels.index(str(otherwise))]


def _column(feature: Feature) -> ListColumn:
    values = () if feature.cuts is not None else tuple(map(_plain, feature.values))
    return ListColumn(feature.name, feature.kind, values, feature.missing)


def _condition(column: int, feature: Feature, levels: Range) -> ListCondition:
    low, high = levels
    if low == feature.known:
        return ListCondition(column, missing=True)
    if levels == (0, feature.known - 1):
        return ListCondition(column)
    if feature.cuts is None:
        return ListCondition(column, values=tuple(map(_plain, feature.values[low : high + 1])))
    cuts = feature.cuts.values
    return ListCondition(
        column,
        at_least=cuts[low - 1] if low else None,
        below=cuts[high] if high < len(cuts) else None,
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
