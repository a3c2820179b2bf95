"""Bounded envelopes: all rules with at most so many conditions, exactly, where there are too many.

A condition is what the left side of a rule says of one attribute, or of the label: a value, an
interval, a node of a taxonomy. What follows from each such left side is found first; the basis is
the DG basis of that, and its readable rules have left sides of that length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from hornlens.errors import InputError
from hornlens.exact.engine import Progress, Step, run
from hornlens.exact.envelopes import (
    GRID_LIMIT,
    NO_QUERIES,
    UNKNOWN,
    check_rows,
    only_supported,
    with_support,
)
from hornlens.exact.grid import LabelledSpace, Labels, labels_of_positives
from hornlens.exact.saturation import Pair, Saturated, in_order, saturation
from hornlens.exact.short import Rows, Short, ShortSearch
from hornlens.limits import Limits
from hornlens.logic.attributes import Nominal
from hornlens.logic.batch import Words, pack
from hornlens.logic.certificates import Certificate, bounded, ended_early
from hornlens.logic.cnf import Cnf, clauses_of
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory

FIRST = 2_000
"""So many left sides, the smallest, are made rules of, if the search is ended before its time."""


def bounded_envelope_of_grid(
    labelled: LabelledSpace,
    max_conditions: int,
    statistics: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Envelope:
    """Return the rules with at most `max_conditions` conditions of a labelled space.

    Every such rule that holds follows from them and the background. The non-Horn negatives are
    the target's, whatever the bound; how many others only longer rules reject is counted as well.
    """
    space = labelled.space
    engine = ShortRules(ShortPoints(labelled, max_conditions), space.background)
    claim = engine.run(bounded(max_conditions, 0), limits, progress)
    counted: dict[str, Any] = dict(statistics or NO_QUERIES)
    non_horn = UNKNOWN
    if claim.ended is None:
        others = labelled.non_horn()
        left = ~labelled.positive & labelled.inside() & labelled.left_by(engine.result.basis)
        counted["rejected_by_longer_rules"] = int(np.count_nonzero(left)) - len(others)
        non_horn = NonHorn.of(others)
    return engine.envelope(space, claim, non_horn, counted)


class _Search(Protocol):
    """Looks for what follows from short left sides."""

    complete_to: int
    """Left sides with at most so many conditions have all been looked at."""

    def steps(self) -> Iterator[float]:
        """Look at all; yield the share that is settled, again and again."""
        ...

    def left_sides(self) -> Short:
        """Return the left sides so far, small ones first, and what follows from each."""
        ...


class ShortRules:
    """An engine: a search for what follows from short left sides, and the basis of that."""

    def __init__(self, search: _Search, background: Theory):
        """Begin with nothing found."""
        self.search, self.background, self.width = search, background, background.width
        self.result = Saturated(Theory(self.width), ())
        self._pairs: list[Pair] = []
        self._saturating = False
        self._complete_to: int | None = None

    def steps(self) -> Iterator[Step]:
        """Look at all left sides, and then find the rules by saturation."""
        for settled in self.search.steps():
            yield Step(settled=settled)
        self._saturating = True
        short = self.search.left_sides()
        for pairs, settled in saturation(short.xs, short.closures, self.background):
            self._pairs += pairs
            yield Step([rule for rule, _ in pairs], settled)

    def proved(self) -> list[Rule]:
        """Return the rules so far; before there are any, those of the smallest left sides."""
        if not self._saturating:
            short = self.search.left_sides()
            xs, closures = short.xs[:FIRST], short.closures[:FIRST]
            self._pairs = [p for some, _ in saturation(xs, closures, self.background) for p in some]
            if len(xs) == len(short.xs) and self.search.complete_to >= 0:
                self._complete_to = self.search.complete_to
        return [rule for rule, _ in self._pairs]

    def run(
        self, claim: Certificate, limits: Limits | None = None, progress: Progress | None = None
    ) -> Certificate:
        """Find the rules, `result`, unless a limit is reached; return what may be claimed."""
        proved = run(self, limits, progress)
        # Rules with smaller closures come first, and those are what the left sides rest on.
        self.result = in_order(self._pairs[: len(proved.basis)], self.width)
        rules = len(self.result.basis)
        if proved.ended is None:
            return replace(claim, rules=rules)
        whole = rules == len(self._pairs) and not claim.complete.min_support
        return ended_early(proved.ended, rules, max_conditions=self._complete_to if whole else None)

    def envelope(
        self,
        space: Space,
        claim: Certificate,
        non_horn: NonHorn,
        statistics: Mapping[str, Any],
    ) -> Envelope:
        """Return what was found."""
        return Envelope.of(
            space,
            self.result.basis,
            self.result.generators,
            certificate=claim,
            non_horn=non_horn,
            statistics=statistics,
        )


class ShortPoints:
    """The short points of a labelled space, or those of them that are enough: all at once."""

    def __init__(self, labelled: LabelledSpace, most: int, enough: Labels | None = None):
        """Begin with nothing found."""
        self.labelled, self.most, self.enough, self.complete_to = labelled, most, enough, -1
        none = pack([], labelled.space.width)
        self._left_sides = Short(none, none, 0)

    def steps(self) -> Iterator[float]:
        """Find all."""
        self._left_sides = Short(*short_points(self.labelled, self.most, self.enough), 0)
        self.complete_to = self.most
        yield 1.0

    def left_sides(self) -> Short:
        """Return the left sides so far, and what follows from each."""
        return self._left_sides


def short_points(
    labelled: LabelledSpace, most: int, enough: Labels | None = None
) -> tuple[Words, Words]:
    """Return the points with at most so many conditions that are not closed, and their closures.

    Small ones first; those from which no more follows than with a condition less are left out, and
    such as `enough` does not allow, by their places in the grid: what it allows, it allows with a
    condition less.
    """
    space, closures = labelled.space, labelled.closures
    conditions = np.zeros(space.shape, dtype=np.int64)
    redundant = np.zeros(space.shape, dtype=np.bool_)
    grid = closures.reshape(*space.shape, -1)
    for axis, length in enumerate(space.shape):
        around = [1] * len(space.shape)
        around[axis] = length
        is_set = (np.arange(length) > 0).reshape(around)
        conditions += is_set
        same = (grid == grid.take([0], axis=axis)).all(axis=-1)
        redundant |= is_set & same
    short = np.flatnonzero(((conditions <= most) & ~redundant).ravel())
    if enough is not None:
        short = short[enough[short]]
    short = short[np.argsort(conditions.ravel()[short], kind="stable")]
    short = short[(labelled.points[short] != closures[short]).any(axis=1)]
    return labelled.rows.words(labelled.points[short]), labelled.rows.words(closures[short])


def bounded_envelope_of_formula(
    formula: Cnf,
    max_conditions: int,
    background: Theory | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Envelope:
    """Return the rules with at most `max_conditions` conditions of a formula and a background."""
    from hornlens.exact.maximal import LargePositives

    assumed = background or Theory(formula.width)
    clauses = formula.clauses + clauses_of(assumed)
    space = Space.of_variables(formula.vocabulary, tuple(assumed))
    if space.count <= GRID_LIMIT:
        accepted = Cnf(formula.vocabulary, clauses).accepts(space.masks())
        labelled = LabelledSpace(space, accepted)
        return bounded_envelope_of_grid(labelled, max_conditions, None, limits, progress)
    target = LargePositives(clauses, formula.width)
    engine = ShortRules(ShortSearch(target, max_conditions), space.background)
    claim = engine.run(bounded(max_conditions, 0), limits, progress)
    statistics = {**NO_QUERIES, "sat_calls": target.calls}
    return engine.envelope(space, claim, UNKNOWN, statistics)


def bounded_envelope_of_table(
    table: Table,
    max_conditions: int,
    background: Theory | None = None,
    min_support: int = 0,
    limits: Limits | None = None,
    progress: Progress | None = None,
    space: Space | None = None,
) -> Envelope:
    """Return the rules with at most `max_conditions` conditions of a table of positive examples.

    With `min_support`, of those whose conditions at least so many rows have; how many sets of
    conditions were left out because of it is among the statistics. `space`, if the columns are the
    variables of one: an interval is one condition.
    """
    assumed = check_rows(table, background)
    if space is None:
        space = Space.of_variables(table.vocabulary, tuple(assumed))
    else:
        space = replace(space, assumed=tuple(assumed))
    nominal = all(isinstance(attribute, Nominal) for attribute in space.all_attributes)
    if space.count <= GRID_LIMIT and not (min_support and nominal):
        labels = labels_of_positives(space, list(table.rows))
        labelled = LabelledSpace(space, labels)
        envelope = bounded_envelope_of_grid(labelled, max_conditions, None, limits, progress)
        if min_support:
            return only_supported(envelope, table, min_support)
        return with_support(envelope, table)
    if not nominal:
        raise InputError(
            "has too many combinations for short rules over intervals: scale the numbers as "
            "nominal, with fewer cuts, or leave columns out (--scale)"
        )
    rows = Rows(table.rows, space.width)
    search = ShortSearch(rows, max_conditions, rows.with_support(min_support))
    engine = ShortRules(search, space.background)
    claim = engine.run(bounded(max_conditions, 0, min_support or None), limits, progress)
    statistics = {**NO_QUERIES, "rare_conditions_left_out": search.rare}
    return with_support(engine.envelope(space, claim, UNKNOWN, statistics), table)
