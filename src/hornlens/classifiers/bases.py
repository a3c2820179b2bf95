"""The full basis of a classifier's cells: all that holds of them, not what implies a class only.

The positives are the complete cells, each with its class. Of the features of a class it also says
what they have in common: "setosa → petal length ≤ 2.45".
"""

from __future__ import annotations

import numpy as np

from hornlens.classifiers.cells import OUTSIDE, GridCells, cells_at
from hornlens.classifiers.explanation import Explained
from hornlens.classifiers.features import Feature
from hornlens.errors import HornlensError
from hornlens.exact.grid import LabelledSpace, labels_of_positives
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.certificates import EXACT
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space

MOST_POINTS = 2_000_000
"""So many things that can be said at most are gone through."""


def basis_of(result: Explained) -> Envelope:
    """Return the DG basis of the cells of an explanation, with their classes."""
    if not isinstance(result.labelled, GridCells):
        raise HornlensError(
            f"the full basis needs every cell, and there are {result.binned.cell_count:,}: "
            "raise the limit, or take fewer bins"
        )
    features = result.binned.features
    attributes: list[Attribute] = []
    choices: list[list[int]] = []
    bit, known_rules = 0, []
    for feature in features:
        own, masks = _attributes_of(feature)
        choices.append([mask << bit for mask in masks])
        if feature.missing:
            ordered = own[0]
            width = len(ordered.variables)
            known = 1 << bit + width
            known_rules += [Rule(1 << bit + place, known) for place in range(width)]
        attributes += own
        bit += sum(len(attribute.variables) for attribute in own)
    label = Nominal(
        result.target, tuple(_label(result, place) for place in range(len(result.classes)))
    )
    space = Space(tuple(attributes), label, tuple(known_rules))
    if space.count > MOST_POINTS:
        raise HornlensError(
            f"the full basis goes through {space.count:,} things that can be said, "
            f"{MOST_POINTS:,} at most: take fewer bins or columns"
        )
    labels = result.labelled.labels.ravel()
    cells = cells_at(np.arange(labels.size), result.labelled.labels.shape)
    positives = [
        sum(own[level] for own, level in zip(choices, cell, strict=True)) | 1 << bit + place
        for cell, place in zip(cells.tolist(), labels.tolist(), strict=True)
        if place != OUTSIDE
    ]
    labelled = LabelledSpace(space, labels_of_positives(space, positives))
    return Envelope.of(
        space,
        labelled.dg_basis(),
        certificate=EXACT,
        non_horn=NonHorn.of(labelled.non_horn()),
        statistics={"cells": len(positives)},
    )


def _label(result: Explained, place: int) -> str:
    return f"{result.target} = {result.binned.classifier.labels[place]}"


def _attributes_of(feature: Feature) -> tuple[list[Attribute], list[int]]:
    """Return a feature's attributes, and the mask of each of its levels."""
    attribute: Attribute
    if feature.cuts is not None and feature.cuts.values:
        attribute = feature.cuts.ordered(feature.name)
        masks = [attribute.interval(level, level) for level in range(feature.known)]
    elif feature.kind == "ordered" and feature.known > 1:
        attribute = Ordered(feature.name, tuple(map(str, feature.values)))
        masks = [attribute.interval(level, level) for level in range(feature.known)]
    elif feature.cuts is not None:  # one bin, and some are missing
        attribute, masks = Nominal(f"{feature.name}?", ()), [0]
    else:
        said = tuple(feature.say((level, level)) for level in range(feature.known))
        attribute = Nominal(feature.name, said)
        masks = [1 << level for level in range(feature.known)]
    if not feature.missing:
        return [attribute], masks
    width = len(attribute.variables)
    both = (f"{feature.name} is known", f"{feature.name} is missing")
    known = Nominal(f"{feature.name} known or missing", both)
    return [attribute, known], [*(mask | 1 << width for mask in masks), 2 << width]
