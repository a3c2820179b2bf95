"""Comparing classifiers: whose thresholds may differ, so that a rule is judged by its conditions.

What classifiers have in common is read off one grid with the thresholds of all: a cell of it lies
in one cell of each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.explanation import Explained
from hornlens.classifiers.judging import judge_by_cells
from hornlens.errors import InputError
from hornlens.exact.boxes.cells import OPEN, OUTSIDE, GridCells, Labels, Levels
from hornlens.exact.boxes.covers import cover_of_grid
from hornlens.logic.cuts import Cuts
from hornlens.logic.named import NamedRule
from hornlens.results.analysis.rulesets import AcceptedExample, Verdict, claim_of
from hornlens.results.analysis.truth import Truth
from hornlens.targets.classifiers.features import Feature

MOST_CELLS = 1 << 21
"""Up to so many cells of a common grid, what is in common is worked out."""


def verdict_by_cells(result: Explained, rule: NamedRule, owner: Explained) -> Verdict:
    """Return what is known of another classifier's rule, with the row that breaks it.

    A value that a column does not have here says nothing: then the rule is open.
    """
    try:
        judgement = judge_by_cells(result, rule, owner)
    except InputError:
        return Verdict(Truth("open"))
    if not judgement.answers:
        return Verdict(judgement.truth)
    (shown,) = judgement.answers
    return Verdict(
        judgement.truth, AcceptedExample((shown.said,), shown.prompts, False, shown.said)
    )


def settings_of_explanation(result: Explained) -> dict[str, str]:
    """Return how an explanation was made, by setting."""
    return {
        "model": result.name,
        "identity": result.binned.classifier.identity or "",
        "label": result.target,
        "bins": result.how,
        "background": "; ".join(result.background),
        "certificate": claim_of(result.certificate),
    }


def common_rules(results: Sequence[Explained]) -> tuple[NamedRule, ...] | None:
    """Return rules that decide every cell in which classifiers agree, and that hold in all of them.

    None where not all cells of one were asked, where columns have other values than in the first,
    or where the common grid has too many cells.
    """
    features = [_merged([_column(each, name) for each in results]) for name in _names(results)]
    if not all(isinstance(each.labelled, GridCells) for each in results) or None in features:
        return None
    telling = [feature for feature in features if feature is not None and feature.size > 1]
    shape = tuple(feature.size for feature in telling)
    if prod(shape) > MOST_CELLS:
        return None
    labels = results[0].binned.classifier.labels
    agreed: Labels = np.full(shape, OUTSIDE, dtype=np.int8)
    for each in results:
        own = _on_grid(each, telling)
        places = [labels.index(label) for label in each.binned.classifier.labels]
        own = np.where(own >= 0, np.array([*places, -1, -1])[own], own).astype(np.int8)
        agreed = np.where(agreed == OUTSIDE, own, agreed)
        agreed[(own != OUTSIDE) & (own != agreed)] = OPEN
    cells = GridCells(tuple(feature.axis for feature in telling), agreed)
    rules = cover_of_grid(cells, np.zeros((0, len(telling)), dtype=np.intp))
    return tuple(
        NamedRule(
            tuple(
                feature.say(part)
                for feature, part in zip(telling, box, strict=True)
                if part != feature.whole
            ),
            (labels[place],),
        )
        for box, place in sorted(rules, key=lambda rule: (rule.place, rule.box))
    )


def _names(results: Sequence[Explained]) -> tuple[str, ...]:
    return results[0].feature_names


def _column(result: Explained, name: str) -> Feature:
    return result.binned.every[result.feature_names.index(name)]


def _merged(features: Sequence[Feature]) -> Feature | None:
    """Return a feature whose levels lie in one level of each; None if they are of other values."""
    first = features[0]
    if any(
        (each.kind, each.values, each.missing, each.cuts is None)
        != (first.kind, first.values, first.missing, first.cuts is None)
        for each in features
    ):
        return None
    if first.cuts is None:
        return first
    merged = Cuts.merged(each.cuts for each in features if each.cuts is not None)
    missing = (first.points[-1],) * first.missing
    lows = [-np.inf, *merged.values]
    return Feature(first.name, first.kind, (*lows, *missing), merged, (), first.missing)


def _on_grid(result: Explained, telling: Sequence[Feature]) -> NDArray[np.int8]:
    """Return what a classifier says in each cell of a grid whose levels lie in one of its own."""
    labelled = result.labelled
    assert isinstance(labelled, GridCells)
    by_name = {feature.name: axis for axis, feature in enumerate(telling)}
    shape = tuple(feature.size for feature in telling)
    index: list[Levels] = []
    for feature in result.binned.features:
        axis = by_name[feature.name]
        wide = telling[axis]
        levels = np.arange(wide.size)
        if feature.cuts is not None:
            lows = np.array(wide.points[: wide.known], dtype=np.float64)
            levels[: wide.known] = feature.cuts.places(lows)
            levels[wide.known :] = feature.known
        index.append(levels.reshape([-1 if at == axis else 1 for at in range(len(shape))]))
    if not index:
        return np.broadcast_to(labelled.labels, shape).astype(np.int8)
    return np.broadcast_to(labelled.labels[tuple(index)], shape).astype(np.int8)
