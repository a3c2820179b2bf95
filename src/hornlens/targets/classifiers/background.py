"""A background about columns: rules that people write, as rules of the space of the columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, product
from math import prod
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
from hornlens.targets.classifiers.cases import MOST_CASES, Case, Cases
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.conditions import (
    Both,
    Condition,
    Either,
    Expression,
    ParsedRule,
    conditions_in,
    replaced,
)
from hornlens.targets.classifiers.features import Feature, limits_of
from hornlens.targets.classifiers.grammar import Words, parse_rule
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
        words = Words(tuple(names))
        self.parsed = [parse_rule(text, words) for text in rules]
        self.counted = () if plausible is None else plausible.sides(names)

    @property
    def conditions(self) -> list[Condition]:
        """All conditions in it."""
        counted = [one for left, right in self.counted for one in (*left, *(right or ()))]
        own = (one for rule in self.parsed for one in conditions_in(rule.given, rule.follows))
        return [*own, *counted]

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

    def rules(self, features: Sequence[Feature]) -> tuple[Rule, ...]:
        """Return the rules in the variables of the space of features, in their order.

        Columns with one level have no variables: a condition on one is met always, or never.
        """
        rules = [rule for parsed in self.parsed for rule in _rules_of(parsed, features)]
        return tuple(rule for rule in rules if rule.is_negative or rule.new)

    def counted_in(self, features: Sequence[Feature], table: Table) -> Background:
        """Return the same, once the rows of X are counted in the cells of features."""
        if self.plausible is None:
            return self
        return Background(self.texts, table.names, self.plausible.over(features, table))

    def over(self, features: Sequence[Feature]) -> Forbidden:
        """Return the cells of features that it rules out; columns with one level are no part."""
        if not self.parsed and self.plausible is None:  # no space is made that nobody needs
            return Forbidden(Space((), complete=True))
        attributes = tuple(attribute_of(feature) for feature in features if feature.size > 1)
        space = Space(attributes, assumed=self.rules(features), complete=True)
        if self.plausible is None:
            return Forbidden(space)
        boxes = (broken_box(sides, features) for sides in self.counted)
        return Forbidden(space, tuple(box for box in boxes if all(box)), self.plausible.most_broken)


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


def _rules_of(parsed: ParsedRule, features: Sequence[Feature]) -> list[Rule]:
    """Return one rule, if both sides are conditions that are joined by "and"; else what it forbids.

    What cannot be met together is one rule for each box of cells.
    """
    left, right = _joined(parsed.given), _joined(parsed.follows)
    if left is not None and (right is not None or parsed.follows == Either()):
        given = _mask(left, features)
        if given is None:  # it never applies
            return []
        follows = None if right is None else _mask(right, features)
        return [Rule(given, BOTTOM if follows is None else given | follows)]
    by_name = {feature.name: feature for feature in features}

    def without_constants(one: Condition) -> Expression:
        feature = by_name[one.name]
        if feature.size > 1:
            return one
        return Both() if _met(one, feature)[0] else Either()

    exceptions = replaced(parsed.exceptions, without_constants)
    cases = Cases(by_name, lambda _: 1, 1).of(exceptions)
    return [rule for case in cases for rule in _forbidding(case, features)]


def _joined(expression: Expression) -> tuple[Condition, ...] | None:
    """Return conditions that are joined by "and"; None if the expression is another one."""
    parts: list[Condition] = []
    for part in expression.parts if isinstance(expression, Both) else (expression,):
        own: tuple[Condition, ...] | None = None
        if isinstance(part, Condition):
            own = (part,)
        elif isinstance(part, Both):
            own = _joined(part)
        if own is None:
            return None
        parts += own
    return tuple(parts)


def _forbidding(case: Case, features: Sequence[Feature]) -> list[Rule]:
    """Return rules that rule a case out: levels that no variables stand for are several rules."""
    parts: list[list[int]] = []
    bit = 0
    for feature in features:
        if feature.size == 1:
            continue
        attribute = attribute_of(feature)
        levels = np.flatnonzero(case.levels(feature)).tolist()
        parts.append([mask << bit for mask in _masks(levels, attribute.leaves)])
        bit += len(attribute.variables)
    if prod(map(len, parts)) > MOST_CASES:
        raise InputError(f"a rule of the background rules out more than {MOST_CASES:,} boxes")
    return [Rule(sum(masks), BOTTOM) for masks in product(*parts)]


def _masks(levels: Sequence[int], leaves: Sequence[int]) -> list[int]:
    """Return variables for sets of levels that are the given ones together."""

    def mask(some: Sequence[int]) -> int:
        common = -1
        for level in some:
            common &= leaves[level]
        return common

    def is_exact(some: Sequence[int]) -> bool:
        own = mask(some)
        return [level for level, leaf in enumerate(leaves) if not own & ~leaf] == list(some)

    if is_exact(levels):
        return [mask(levels)]
    runs = [
        [level for _, level in run]
        for _, run in groupby(enumerate(levels), lambda pair: pair[1] - pair[0])
    ]
    return [
        mask(part)
        for run in runs
        for part in ([run] if is_exact(run) else [[level] for level in run])
    ]


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


def sides_of(text: str, names: Sequence[str]) -> Sides:
    """Return the two sides of a rule about columns, whose conditions are joined by "and"."""
    parsed = parse_rule(text, Words(tuple(names)))
    left, right = _joined(parsed.given), _joined(parsed.follows)
    if left is None or (right is None and parsed.follows != Either()):
        raise InputError(f'not conditions that are joined by "and": {text!r}')
    return left, right
