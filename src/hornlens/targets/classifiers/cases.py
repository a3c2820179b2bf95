"""Expressions over the features of a model as a union of cases, each a box of conditions.

A case asks of each column that one of some alternatives holds, and that the class is one of some.
So "sex in {f, m}" is one case, and "x < 1 or y < 1" is two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Box, Range
from hornlens.targets.classifiers.boxes import NO_VALUE, levels_of, opposites, value_in
from hornlens.targets.classifiers.conditions import (
    Both,
    Condition,
    Either,
    Expression,
    Not,
    OfClass,
    OfValue,
)
from hornlens.targets.classifiers.features import Feature

MOST_CASES = 2_000
"""A rule that has more cases is refused."""

Alternatives: TypeAlias = tuple[tuple[Condition, ...], ...]
"""Conditions about one column: all of one of the tuples must hold."""


@dataclass(frozen=True)
class Case:
    """What is asked of each column, and which classes are meant (bits)."""

    tests: Mapping[str, Alternatives]
    classes: int

    def levels(self, feature: Feature) -> NDArray[np.bool_]:
        """Say of each level of a feature whether some value of it will do."""
        return (
            _levels(self.tests[feature.name], feature)
            if feature.name in self.tests
            else _all(feature)
        )

    def value(self, feature: Feature, level: int) -> Any:
        """Return a value of a level that will do; NO_VALUE if there is none."""
        for conditions in self.tests.get(feature.name, ((),)):
            value = value_in(feature, level, conditions)
            if value is not NO_VALUE:
                return value
        return NO_VALUE

    def boxes(self, features: Sequence[Feature]) -> list[Box]:
        """Return boxes without a common cell that have its cells, and no others."""
        runs: list[list[Range]] = []
        for feature in features:
            levels = np.flatnonzero(self.levels(feature))
            parts = np.split(levels, np.flatnonzero(np.diff(levels) > 1) + 1) if len(levels) else []
            runs.append([(int(part[0]), int(part[-1])) for part in parts])
        if prod(map(len, runs)) > MOST_CASES:
            raise _too_many()
        return list(product(*runs))

    def masks(self, features: Sequence[Feature]) -> list[int]:
        """Return its levels of each feature, as bits."""
        return [
            sum(1 << level for level in np.flatnonzero(self.levels(feature)).tolist())
            for feature in features
        ]


@dataclass(frozen=True, eq=False)
class Cases:
    """Makes cases of expressions, given the features and what an expression says of classes."""

    features: Mapping[str, Feature]
    classes_of: Callable[[OfClass | OfValue], int]
    every: int
    """All classes, as bits."""
    unseen: list[str] = field(default_factory=list)
    """Columns that expressions ask to be missing, of which X has no missing values."""

    def of(self, expression: Expression) -> list[Case]:
        """Return the cases of an expression; none if it can never be met."""
        return self._of(expression, True)

    def _of(self, expression: Expression, positive: bool) -> list[Case]:
        if isinstance(expression, Not):
            return self._of(expression.inner, not positive)
        if isinstance(expression, Both | Either):
            parts = [self._of(part, positive) for part in expression.parts]
            if isinstance(expression, Both) == positive:
                return reduce(self._met_together, parts, [Case({}, self.every)])
            return _merged([case for part in parts for case in part])
        if isinstance(expression, Condition):
            return self._of_condition(expression, positive)
        classes = self.classes_of(expression)
        classes = classes if positive else self.every & ~classes
        return [Case({}, classes)] if classes else []

    def _of_condition(self, condition: Condition, positive: bool) -> list[Case]:
        feature = self.features[condition.name]
        wants_missing = condition.sign == ("missing" if positive else "known")
        if wants_missing and not feature.missing:
            self.unseen.append(feature.name)
            return []
        every = (condition,) if positive else opposites(condition, feature)
        alternatives = tuple((one,) for one in every if levels_of(one, feature).any())
        return [Case({feature.name: alternatives}, self.every)] if alternatives else []

    def _met_together(self, first: list[Case], second: list[Case]) -> list[Case]:
        if len(first) * len(second) > MOST_CASES:
            raise _too_many()
        pairs = (self._both(one, two) for one in first for two in second)
        return _merged([case for case in pairs if case is not None])

    def _both(self, one: Case, two: Case) -> Case | None:
        """Return what meets both cases; None if nothing does."""
        tests = dict(one.tests)
        for name, alternatives in two.tests.items():
            both = alternatives
            if name in tests:
                both = _together(tests[name], alternatives, self.features[name])
            if not both:
                return None
            tests[name] = both
        classes = one.classes & two.classes
        return Case(tests, classes) if classes else None


def _together(one: Alternatives, two: Alternatives, feature: Feature) -> Alternatives:
    """Return the alternatives in which one of each holds, and that some value meets."""
    if len(one) * len(two) > MOST_CASES:
        raise _too_many()
    both = dict.fromkeys(tuple(dict.fromkeys((*first, *second))) for first in one for second in two)
    return tuple(conditions for conditions in both if _can_be_met(conditions, feature))


def _can_be_met(conditions: Sequence[Condition], feature: Feature) -> bool:
    levels = np.flatnonzero(_levels((tuple(conditions),), feature)).tolist()
    return any(value_in(feature, level, conditions) is not NO_VALUE for level in levels)


def _merged(cases: Sequence[Case]) -> list[Case]:
    """Return the same cases, where two that differ in one column only are one."""
    merged: dict[Any, Case] = {}
    for case in cases:
        key: Any = None
        if len(case.tests) == 1:
            key = (*case.tests, case.classes)
        elif not case.tests:
            key = "classes"
        if key not in merged or key is None:
            merged[key if key is not None else len(merged)] = case
        elif not case.tests:
            merged[key] = Case({}, merged[key].classes | case.classes)
        else:
            ((name, alternatives),) = case.tests.items()
            every = dict.fromkeys((*merged[key].tests[name], *alternatives))
            merged[key] = Case({name: tuple(every)}, case.classes)
    if len(merged) > MOST_CASES:
        raise _too_many()
    return list(merged.values())


def _too_many() -> InputError:
    return InputError(
        f'the rule has more than {MOST_CASES:,} cases, once each "or" and "not" is written out: '
        "make several rules of it"
    )


def _levels(alternatives: Alternatives, feature: Feature) -> NDArray[np.bool_]:
    met = np.zeros(feature.size, dtype=np.bool_)
    for conditions in alternatives:
        own = _all(feature)
        for condition in conditions:
            own &= levels_of(condition, feature)
        met |= own
    return met


def _all(feature: Feature) -> NDArray[np.bool_]:
    return np.ones(feature.size, dtype=np.bool_)
