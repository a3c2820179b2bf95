"""Spaces as JSON, and back: attributes with their kinds, and the label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hornlens.errors import InputError
from hornlens.logic.attributes import Attribute, Nominal
from hornlens.logic.space import Space
from hornlens.logic.vocabulary import Vocabulary


def space_as_json(space: Space) -> dict[str, Any]:
    """Return a space's attributes and label; rules taken for granted stand in the background."""
    return {
        "attributes": [attribute.as_json() for attribute in space.attributes],
        "label": None if space.label is None else space.label.as_json(),
        **({} if space.label_always else {"label_always": False}),
        **({"complete": True} if space.complete else {}),
    }


def space_from_json(content: Mapping[str, Any]) -> Space:
    """Return the space of an envelope.json; one without a space or a probe has plain variables."""
    if fields := content.get("space"):
        attributes = tuple(_attribute_from_json(line) for line in fields["attributes"])
        label = None if fields["label"] is None else _attribute_from_json(fields["label"])
        if not (label is None or isinstance(label, Nominal)):
            raise InputError("the label must have plain values")
        always, complete = fields.get("label_always", True), fields.get("complete", False)
        return Space(attributes, label, label_always=always, complete=complete)
    if probe := content.get("probe"):  # of 0.1
        groups = (Nominal(name, tuple(values)) for name, values in probe["attributes"].items())
        return Space(tuple(groups), Nominal(probe["label_attribute"], tuple(probe["label"])))
    return Space.of_variables(Vocabulary(tuple(content["variables"])))


def _attribute_from_json(line: Mapping[str, Any]) -> Attribute:
    if "levels" in line or "cuts" in line:
        from hornlens.logic.ordered import Ordered

        missing = line.get("missing", False)
        if "cuts" in line:
            at, after = line.get("at"), line.get("after", ())
            return Ordered.cut(line["name"], line["cuts"], at=at, after=after, missing=missing)
        return Ordered(line["name"], tuple(line["levels"]), missing=missing)
    if "under" in line:
        from hornlens.logic.taxonomy import Taxonomy

        return Taxonomy.of(line["name"], list(zip(line["values"], line["under"], strict=True)))
    return Nominal(line["name"], tuple(line["values"]))
