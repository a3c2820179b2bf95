"""Features as the attributes of a space: what can be said of a row, in bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hornlens.errors import InputError
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
from hornlens.targets.classifiers.features import Feature


def space_of(
    features: Sequence[Feature],
    target: str,
    labels: Sequence[str],
    assumed: tuple[Rule, ...] = (),
    complete: bool = True,
) -> Space:
    """Return what can be said of rows and of their class, which `target` names.

    There is an attribute for each feature, and its leaves are the feature's levels, in order.
    """
    attributes = tuple(map(attribute_of, features))
    label = Nominal(target, tuple(f"{target} = {name}" for name in labels))
    return Space(attributes, label, assumed, complete=complete)


def space_apart(
    features: Sequence[Feature], target: str, labels: Sequence[str], assumed: tuple[Rule, ...]
) -> Space:
    """Return the same, also where names clash: they get numbers then."""
    try:
        return space_of(features, target, labels, assumed)
    except InputError:
        apart = [replace(each, name=f"{each.name} [{i}]") for i, each in enumerate(features, 1)]
        return space_of(apart, f"{target} (predicted)", labels, assumed)


def attribute_of(feature: Feature) -> Attribute:
    """Return what can be said of a feature. That a value is missing is one of its values."""
    if feature.cuts is not None and feature.cuts.values:
        return feature.cuts.ordered(feature.name, feature.missing)
    if feature.kind == "ordered" and feature.known > 1:
        return Ordered(feature.name, tuple(map(str, feature.values)), missing=feature.missing)
    either = (f"{feature.name} is known", f"{feature.name} is missing")
    if feature.cuts is not None:  # one bin, and some are missing
        return Nominal(feature.name, either)
    values = tuple(feature.say((level, level)) for level in range(feature.known))
    if not feature.missing:
        return Nominal(feature.name, values)
    under = (None, *(0 for _ in values), None)  # all values stand under "known"
    return Taxonomy(feature.name, (either[0], *values, either[1]), under)
