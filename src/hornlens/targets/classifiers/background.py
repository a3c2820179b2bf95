"""A background about columns: rules that people write, as rules of the space of the columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.logic.bits import BOTTOM
from hornlens.logic.cuts import Cuts
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.targets.classifiers.boxes import cuts_asked_for, levels_of
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.conditions import Condition, parse_conditions
from hornlens.targets.classifiers.features import Feature, limits_of
from hornlens.targets.classifiers.spaces import attribute_of

if TYPE_CHECKING:
    from hornlens.targets.classifiers.plausible import Plausible

Sides: TypeAlias = tuple[tuple[Condition, ...], tuple[Condition, ...] | None]
"""What a rule has on its left side, and on its right one; None: it is never met."""


class Background:
    """Rules about columns that are taken for granted: what breaks one does not occur.

    Of those that say what is `plausible`, some may be broken.
    """

    def __init__(
        self, rules: Sequence[str], names: Sequence[str], plausible: Plausible | None = None
    ):
        """Read the rules."""
        self.texts, self.plausible = tuple(rules), plausible
        self.sides = [sides_of(text, names) for text in rules]
        self.counted = () if plausible is None else plausible.sides(names)

    @property
    def conditions(self) -> list[Condition]:
        """All conditions in it."""
        every = (*self.sides, *self.counted)
        return [one for left, right in every for one in (*left, *(right or ()))]

    def cuts(self, table: Table, more: Sequence[Condition] = ()) -> dict[str, Cuts]:
        """Return for each column of numbers the cuts that its conditions, and more, ask for."""
        kinds = dict(zip(table.names, table.kinds, strict=True))
        numbers = [name for name, kind in kinds.items() if kind in ("number", "whole")]
        whole = {
            name: limits_of(column)
            for name, column in zip(table.names, table.columns, strict=True)
            if kinds[name] == "whole"
        }
        return cuts_asked_for((*more, *self.conditions), numbers, whole)

    def counted_in(self, features: Sequence[Feature], table: Table) -> Background:
        """Return the same, once the rows of X are counted in the cells of features."""
        if self.plausible is None:
            return self
        return Background(self.texts, table.names, self.plausible.over(features, table))

    def rules(self, features: Sequence[Feature]) -> tuple[Rule, ...]:
        """Return the rules in the variables of the space of features, in their order.

        Columns with one level have no variables: a condition on one is met always, or never.
        """
        found = []
        for left, right in self.sides:
            given = _mask(left, features)
            if given is None:  # it never applies
                continue
            follows = None if right is None else _mask(right, features)
            found.append(Rule(given, BOTTOM if follows is None else given | follows))
        return tuple(rule for rule in found if rule.is_negative or rule.new)

    def over(self, features: Sequence[Feature]) -> Forbidden:
        """Return the cells of features that it rules out; columns with one level are no part."""
        if not self.sides and self.plausible is None:  # no space is made that nobody needs
            return Forbidden(Space((), complete=True))
        attributes = tuple(attribute_of(feature) for feature in features if feature.size > 1)
        space = Space(attributes, assumed=self.rules(features), complete=True)
        if self.plausible is None:
            return Forbidden(space)
        boxes = (broken_box(sides, features) for sides in self.counted)
        return Forbidden(space, tuple(box for box in boxes if all(box)), self.plausible.most_broken)


def broken_box(sides: Sides, features: Sequence[Feature]) -> tuple[int, ...]:
    """Return the levels with which a rule is broken, as bits for each feature of several levels.

    Its right side is about one column at most. Where no level will do, the rule is never broken.
    """
    left, right = sides
    names = {one.name for one in right or ()}
    masks = []
    for feature in features:
        met = _allowed(left, feature)
        if feature.name in names:
            met &= ~_allowed(right or (), feature)
        if feature.size > 1:
            masks.append(sum(1 << level for level in np.flatnonzero(met).tolist()))
        elif not met.any():
            masks.append(0)
    return tuple(masks)


def _allowed(conditions: Iterable[Condition], feature: Feature) -> NDArray[np.bool_]:
    """Say of each level whether it meets all conditions about its column.

    A category that no row of X has is met by no level.
    """
    allowed = np.ones(feature.size, dtype=np.bool_)
    for one in conditions:
        if one.name == feature.name:
            try:
                allowed &= _met(one, feature)
            except InputError:
                if feature.cuts is not None or one.sign != "=":
                    raise
                allowed[:] = False
    return allowed


def _mask(conditions: Iterable[Condition], features: Sequence[Feature]) -> int | None:
    """Return what conditions say together; None if they cannot all be met."""
    allowed = {feature.name: np.ones(feature.size, dtype=np.bool_) for feature in features}
    by_name = {feature.name: feature for feature in features}
    for one in conditions:
        allowed[one.name] &= _met(one, by_name[one.name])
    mask, bit = 0, 0
    for feature in features:
        levels = np.flatnonzero(allowed[feature.name]).tolist()
        if not levels:
            return None
        if feature.size == 1:
            continue
        attribute = attribute_of(feature)
        common = -1
        for level in levels:
            common &= attribute.leaves[level]
        mask |= common << bit
        bit += len(attribute.variables)
    return mask


def _met(condition: Condition, feature: Feature) -> NDArray[np.bool_]:
    """Say of each level whether it meets a condition; a constant column has no other value."""
    try:
        return levels_of(condition, feature)
    except InputError:
        if feature.size > 1:
            raise
        return np.zeros(1, dtype=np.bool_)


def sides_of(text: str, names: Sequence[str]) -> Sides:
    """Return the two sides of a rule about columns."""
    for arrow in ("→", "=>", "->"):
        left, found, right = text.partition(arrow)
        if found:
            never = right.strip().lower() in ("false", "⊥")
            return parse_conditions(left, names), None if never else parse_conditions(right, names)
    raise InputError(f'not a rule about columns: {text!r}; write "pregnant -> sex = female"')
