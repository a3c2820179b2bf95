"""Search: a classifier is asked about cells, or its trees are looked into, for rules of classes.

All cells of a grid, those near the rows, the votes of trees, or samples: whichever can be done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, log, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError, InputError
from hornlens.exact.boxes.cells import (
    OPEN,
    OUTSIDE,
    GridCells,
    Labels,
    Levels,
    ListedCells,
    cells_at,
    distinct_cells,
)
from hornlens.exact.boxes.covers import cover_of_grid, cover_of_list
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.exact.boxes.rulesets import (
    BoxRule,
    Stops,
    bits_of,
    every_rule,
    never,
    short_rules_of_grid,
    short_rules_of_list,
    subsets,
)
from hornlens.logic.certificates import Certificate
from hornlens.logic.grounds import NOTHING, Complete, Ending, Trial
from hornlens.logic.rule import Rule
from hornlens.logic.scopes import Agreement
from hornlens.targets.classifiers.answering import Classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Binning
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.guard import is_measured, measured_agreement, scope_of, unlike
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.options import Options
from hornlens.targets.classifiers.points import Binned

USUAL = 2
"""How many conditions rules have, where not all cells can be asked and nothing is said of it."""
OF_EVERY_INPUT = "of every input"


class Searched(NamedTuple):
    """What a way of asking comes to: rules, the cells that were asked, what is complete of which.

    `words` tell which cells were meant, `part`: not all of a grid. `unasked` counts cells that are
    neither in the list nor were meant to be.
    """

    boxes: list[BoxRule]
    labelled: GridCells | ListedCells
    complete: Complete
    words: str
    part: bool = False
    unasked: int = 0
    trial: Trial | None = None


class Outcome(NamedTuple):
    """What a search comes to: rules with their certificate, and all that they rest on."""

    boxes: list[BoxRule]
    labelled: GridCells | ListedCells
    certificate: Certificate
    agreement: Agreement
    rows: Levels
    """The cell of each row of X."""
    vote: Any
    asked: int

    @property
    def is_exact(self) -> bool:
        """Whether nothing that was measured differs from the cells."""
        return is_measured(self.agreement)


@dataclass(frozen=True, eq=False)
class Search:
    """A classifier in levels, what is wanted of it, and what may end the work."""

    classifier: Classifier
    binning: Binning
    binned: Binned
    forbidden: Forbidden
    options: Options
    said: Levels
    """What the classifier says of each row."""
    given: int
    """How many rows X has: more than were asked, if a limit came before."""
    meter: Meter | None = None
    assumed: tuple[Rule, ...] = ()
    """The background, as rules of the space."""

    @classmethod
    def of(
        cls,
        classifier: Classifier,
        binning: Binning,
        background: Background,
        options: Options,
        meter: Meter | None = None,
    ) -> Search:
        """Return the search; the rows of X are asked at once, as far as limits allow."""
        table = classifier.table
        if meter is None:
            classes = classifier.decide(table.columns)
        else:
            meter.begin()
            classes = meter.measured(classifier.decide, table.columns, grace=False)
            classifier = replace(classifier, table=table.first(len(classes)))
        binned = Binned(classifier, binning.features)
        forbidden = background.over(binned.every)
        assumed = background.rules(binned.every)
        return cls(
            *(classifier, binning, binned, forbidden, options, classes, len(table), meter), assumed
        )

    @property
    def table(self) -> Table:
        """The rows of X that were asked."""
        return self.classifier.table

    @cached_property
    def asking(self) -> Binned:
        """The same as `binned`, but metered."""
        return replace(self.binned, meter=self.meter)

    def run(self) -> Outcome:
        """Ask, find rules, and hold what was asked against the model."""
        rows = self.binned.places(self.table)
        grid = self._grid(rows) if self._is_whole else None
        agreement = None
        if grid is not None:
            agreement = self._agreement(rows, GridCells(self.binned.axes, grid))
        vote = self._vote()
        searched = self._searched(rows, vote, grid)
        if agreement is None:
            agreement = self._agreement(rows, searched.labelled)
        return Outcome(
            searched.boxes,
            searched.labelled,
            self._certificate(searched, agreement),
            agreement,
            rows,
            None if vote is None else vote.asked_by(self.binned),
            int(np.count_nonzero(searched.labelled.labels >= 0)),
        )

    @property
    def most_rules(self) -> int | None:
        """How many rules are listed at most; None: all."""
        limits = None if self.meter is None else self.meter.limits
        return None if limits is None else limits.max_rules

    @property
    def _is_whole(self) -> bool:
        """Whether every cell of the grid is asked."""
        return self.options.domain == "grid" and self.binned.cell_count <= self.options.limit

    def _grid(self, rows: Levels) -> Labels:
        """Return what is said in every cell; OPEN where a limit came before."""
        if self.meter is None:
            return self.binned.label_grid()
        allowed = None
        if self.options.background:
            allowed = self.forbidden.allows(self._all_cells())
        return self.asking.part_of_grid(_commonest(rows, self.binned.shape), allowed)

    def _all_cells(self) -> Levels:
        return cells_at(np.arange(self.binned.cell_count), self.binned.shape)

    def _agreement(self, rows: Levels, labelled: GridCells | ListedCells) -> Agreement:
        """Hold what was asked against the model; where questions are limited, that and no more."""
        meter, is_grid = self.meter, isinstance(labelled, GridCells)
        counted = meter is not None and meter.limits is not None and meter.room is not None
        only = meter is not None and (meter.ended is not None or (counted and not is_grid))
        only = only or labelled.open > 0
        return measured_agreement(
            *(self.binned, rows, self.said, self.options.seed),
            labelled if only or is_grid else None,
            meter,
            only,
        )

    def _certificate(self, searched: Searched, agreement: Agreement) -> Certificate:
        """Return what may be claimed: nothing is complete if anything was left out."""
        ended = None if self.meter is None else self.meter.ended
        scope = scope_of(
            *(self.binning.exact, self.binning.how, agreement, searched.words, searched.part),
            bool(self.options.background),
            lambda: unlike(self.binned),
        )
        if scope.excluded and searched.words == OF_EVERY_INPUT:
            scope = replace(scope, words=f"of {scope.inputs}")
        asked = int(np.count_nonzero(searched.labelled.labels >= 0))
        unasked = searched.labelled.open + searched.unasked
        return Certificate(
            "proved" if searched.trial is None else "tested",
            NOTHING if ended else searched.complete,
            scope,
            rules=len(searched.boxes),
            ended=None if ended is None else Ending(ended),
            cells=asked + unasked,
            unasked=unasked,
            trial=searched.trial,
        )

    def first_of(
        self, certificate: Certificate, labelled: GridCells | ListedCells, rules: int
    ) -> Certificate:
        """Return what may be claimed of the first rules, where there are more."""
        limits = None if self.meter is None else self.meter.limits
        reason = None if limits is None else limits.reached(certificate.rules)
        unasked = certificate.unasked if certificate.trial else labelled.open
        return replace(
            certificate,
            complete=NOTHING,
            ended=certificate.ended or Ending(reason or "max_rules"),
            rules=rules,
            cells=(certificate.cells or 0) - certificate.unasked + unasked,
            unasked=unasked,
        )

    def _vote(self) -> Any:
        trees = self.binning.trees
        if trees is None or not trees.trees.summed:
            return None
        from hornlens.targets.classifiers.voting import Vote

        return Vote(self.asking, trees, None, self.forbidden.boxes)

    @property
    def _stops(self) -> Stops:
        """What says whether to stop finding rules in what was asked."""
        return never if self.meter is None else self.meter.concluding()

    def _searched(self, rows: Levels, vote: Any, grid: Labels | None) -> Searched:
        options, most = self.options, self.options.max_conditions
        if grid is not None:
            return self._by_grid(rows, grid)
        if options.domain == "data":
            return self._by_list(rows)
        if options.rules == "all" and most is None:
            raise HornlensError(
                f"there are {self.binned.cell_count:,} cells, more than limit={options.limit:,}, "
                "too many to list every rule: raise the limit, or give max_conditions"
            )
        if vote is not None:
            return self._by_proofs(rows, vote, USUAL if most is None else most)
        return self._by_samples(USUAL if most is None else most)

    # --- which cells ---

    def _by_grid(self, rows: Levels, labels: Labels) -> Searched:
        options, of = self.options, "all that there are"
        if options.background:
            flat = labels.reshape(-1)
            flat[~self.forbidden.allows(self._all_cells())] = OUTSIDE
            of = "all that the background allows"
            if (flat == OUTSIDE).all():
                raise InputError("the background allows no cell: nothing is left to explain")
        grid, most = GridCells(self.binned.axes, labels), options.max_conditions
        if most is not None:
            boxes = short_rules_of_grid(grid, most, self._stops)
            return Searched(boxes, grid, Complete(max_conditions=most), of)
        if options.rules == "all":
            boxes = every_rule(bits_of(labels), self.binned.axes)
        else:
            boxes = cover_of_grid(grid, _commonest(rows, labels.shape), self._stops)
        return Searched(boxes, grid, Complete(decides=True), of)

    def _by_list(self, rows: Levels) -> Searched:
        options, most = self.options, self.options.max_conditions
        cells, weights = np.unique(rows, axis=0, return_counts=True)
        every = _around(cells, self.binned.shape, options.changes, options.limit)
        new = np.unique(every, axis=0)
        new = new[self.forbidden.allows(new)]
        if not len(new):
            raise InputError("the background allows no row of X: nothing is left to explain")
        here = {
            tuple(cell): int(count) for cell, count in zip(cells.tolist(), weights, strict=True)
        }
        weight = np.array([here.get(tuple(cell), 0) for cell in new.tolist()])
        listed = ListedCells(self.binned.axes, new, self._asked(new, weight))
        changes = f"{options.changes} feature{'' if options.changes == 1 else 's'}"
        of = f"those of the rows of X and all that differ from one in at most {changes}"
        if most is not None:
            boxes = [one for one, _ in short_rules_of_list(listed, most, stops=self._stops)]
            return Searched(boxes, listed, Complete(max_conditions=most), of, part=True)
        if options.rules == "all":
            raise InputError("rules='all' needs domain='grid', or max_conditions")
        boxes = cover_of_list(listed, weight, self._stops)
        return Searched(boxes, listed, Complete(decides=True), of, part=True)

    def _asked(self, cells: Levels, weights: NDArray[np.intp]) -> Levels:
        """Return the classes of cells, those with the most rows first; OPEN past a limit."""
        if self.meter is None:
            return self.binned.ask(cells)
        order = np.argsort(-weights, kind="stable")
        labels = np.full(len(cells), OPEN, dtype=np.intp)
        said = self.asking.ask_first(cells[order])
        labels[order[: len(said)]] = said
        return labels

    def _by_proofs(self, rows: Levels, vote: Any, most: int) -> Searched:
        from hornlens.targets.classifiers.short import short_rules_of_vote

        done = short_rules_of_vote(vote, most, rows, self.options.seed)
        of = OF_EVERY_INPUT + (" that the background allows" if self.options.background else "")
        complete = Complete(max_conditions=most, unsettled=done.unsettled)
        is_ended = self.meter is not None and self.meter.ended is not None
        unasked = 0 if is_ended else self.binned.cell_count - len(done.rows.cells)
        return Searched(done.rules, done.rows, complete, of, unasked=unasked)

    def _by_samples(self, most: int) -> Searched:
        """Draw complete cells. A rule is listed if enough of them speak for it by itself.

        With n cells in its box and none against it, a rule that more than ε of its cells break
        would have come through with probability (1 - ε)^n at most; over all rules there can be,
        that must not exceed δ. That is so whenever it is ended: fewer cells, fewer rules.
        """
        options, axes = self.options, self.binned.axes
        rng = np.random.default_rng(options.seed)
        cells = np.column_stack([rng.integers(0, axis.size, options.samples) for axis in axes])
        cells = cells[self.forbidden.allows(cells)]
        if not len(cells):
            raise InputError("the background allows none of the cells that were drawn")
        said = self.asking.ask_first(cells)
        cells = cells[: len(said)]
        drawn = ListedCells(axes, cells, said)
        possible = sum(
            prod(len(axes[place].ranges) for place in some) for some in subsets(axes, most)
        ) * len(self.classifier.classes)
        least = ceil(log(possible / options.delta) / -log(1 - options.epsilon))
        boxes = [one for one, _ in short_rules_of_list(drawn, most, least, self._stops)]
        trial = Trial(options.epsilon, options.delta, len(cells), least, most, possible)
        unasked = self.binned.cell_count - len(np.unique(cells, axis=0))
        return Searched(boxes, drawn, NOTHING, "", unasked=unasked, trial=trial)

    # --- what to know of the columns ---

    def notes(self, agreement: Agreement) -> tuple[str, ...]:
        """Return what to know of the columns: constant ones, and others without rules."""
        notes = []
        if len(self.said) < self.given:
            notes.append(
                f"the run was ended after {len(self.said):,} of {self.given:,} rows of X were asked"
            )
        for feature, column in zip(self.binned.every, self.table.columns, strict=True):
            if feature.size > 1:
                continue
            if feature.cuts is not None and len(np.unique(column)) > 1:
                model = "the model" if agreement.whole else "the model, as it was read,"
                notes.append(f"{model} never asks for column {feature.name!r}")
            else:
                value = feature.points[0]
                shown = f"{value:g}" if isinstance(value, float) else str(value)
                notes.append(
                    f"column {feature.name!r} is constant ({shown}): rules are silent on it"
                )
        return tuple(notes)


def _commonest(rows: Levels, shape: tuple[int, ...]) -> Levels:
    """Return the cells of rows, the commonest first."""
    cells, _, counts = distinct_cells(rows, shape)
    return np.asarray(cells[np.argsort(-counts, kind="stable")])


def _around(cells: Levels, shape: tuple[int, ...], changes: int, limit: int) -> Levels:
    """Return cells and all that differ from one of them in at most so many features."""
    near = cells
    for _ in range(changes):
        parts = [near]
        total = len(near)
        for axis, size in enumerate(shape):
            total += len(near) * (size - 1)
            if total > 20 * limit:
                raise HornlensError(
                    f"more than limit={limit:,} cells differ from the rows of X in at most "
                    f"{changes} features: give a larger limit, or fewer changes"
                )
            more = np.repeat(near, size, axis=0)
            more[:, axis] = np.tile(np.arange(size), len(near))
            parts.append(more)
        near = np.unique(np.concatenate(parts), axis=0)
    if len(near) > limit:
        raise HornlensError(
            f"{len(near):,} cells differ from the rows of X in at most {changes} features, more "
            f"than limit={limit:,}: give a larger limit, or fewer changes"
        )
    return near
