"""Features as the attributes of a space: what can be said of a row, in bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hornlens.classifiers.features import Feature
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space


@dataclass(frozen=True)
class FeatureSpace:
    """A space with a label for the class. `levels` has for each feature the bits of each level,
    `groups` all bits that speak of it.
    """

    space: Space
    levels: tuple[tuple[int, ...], ...]
    groups: tuple[int, ...]

    @property
    def first_label(self) -> int:
        """The bit of the first class; the others follow."""
        return self.space.offsets[-1]


def space_of(features: Sequence[Feature], target: str, labels: Sequence[str]) -> FeatureSpace:
    """Return what can be said of rows and of their class, which `target` names."""
    attributes: list[Attribute] = []
    granted: list[Rule] = []
    levels, groups, bit = [], [], 0
    for feature in features:
        own, masks = _attributes_of(feature)
        width = sum(len(attribute.variables) for attribute in own)
        levels.append(tuple(mask << bit for mask in masks))
        groups.append(((1 << width) - 1) << bit)
        if feature.missing:  # of what something is said, it is known
            known = 1 << bit + len(own[0].variables)
            granted += [Rule(1 << bit + at, known) for at in range(len(own[0].variables))]
        attributes += own
        bit += width
    label = Nominal(target, tuple(f"{target} = {name}" for name in labels))
    return FeatureSpace(
        Space(tuple(attributes), label, tuple(granted)), tuple(levels), tuple(groups)
    )


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
