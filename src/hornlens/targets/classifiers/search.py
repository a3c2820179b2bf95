"""Search: a classifier is asked about cells, or its trees are looked into, for rules of classes.

All cells of a grid, those near the rows, the votes of trees, or a sift: whichever can be done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.counts import plural
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
)
from hornlens.logic.certificates import Certificate
from hornlens.logic.grounds import NOTHING, Complete, Ending, Sieve
from hornlens.logic.lookalikes import look_alike_sentences
from hornlens.logic.rule import Rule
from hornlens.logic.scopes import Agreement
from hornlens.logic.space import Space
from hornlens.results.wording.classifiers import in_one_bin, never_asked
from hornlens.targets.classifiers.answering import Classifier, Predictions
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Binning
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.covering import LATER, Covering, cover_rows, row_cover
from hornlens.targets.classifiers.guard import (
    Inputs,
    is_measured,
    measured_by,
    scope_of,
    unlike,
)
from hornlens.targets.classifiers.measured import Measured
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.options import Options
from hornlens.targets.classifiers.plausible import Plausible
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.ruletables import SiftedBoxes
from hornlens.targets.classifiers.short import (
    known_cells,
    longest_within_reach,
    short_rules_of_vote,
)
from hornlens.targets.classifiers.spaces import space_apart

USUAL = 2
"""How many conditions rules have, where not all cells can be asked and nothing is said of it."""
OF_EVERY_INPUT = "of every input"
ROUNDED_NOTE = (
    "thresholds are shown rounded by less than a millionth, with no row between what is shown and "
    "what is meant; the file has them exactly"
)


def fewer_conditions(most: int) -> str:
    """Return the note that complete lists have fewer conditions than usual.

    >>> print(fewer_conditions(1))
    every rule with at most 1 condition is here: those with 2 are too many to be gone through
    """
    return (
        f"every rule with at most {plural(most, 'condition')} is here: those with {most + 1} are "
        "too many to be gone through"
    )


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
    sifted: SiftedBoxes | None = None
    inputs: Inputs | None = None
    """The inputs by which the agreement is measured, if their cells were asked."""
    covering: Covering | None = None


class Outcome(NamedTuple):
    """What a search comes to: rules with their certificate, and all that they rest on."""

    boxes: list[BoxRule]
    labelled: GridCells | ListedCells
    certificate: Certificate
    measured: Measured
    rows: Levels
    """The cell of each row of X."""
    vote: Any
    asked: int
    """How many rows were put to the classifier in all."""
    sifted: SiftedBoxes | None = None
    counted: Mapping[str, int] = {}
    """What is counted beside cells and rows."""
    covering: Covering | None = None

    @property
    def is_exact(self) -> bool:
        """Whether nothing that was measured differs from the cells."""
        return is_measured(self.measured.agreement)


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
    plausible: Plausible | None = None
    """What is plausible, if nothing else is meant."""

    @classmethod
    def of(
        cls,
        classifier: Classifier,
        binning: Binning,
        background: Background,
        options: Options,
        meter: Meter | None = None,
        before: int = 0,
    ) -> Search:
        """Return the search; the rows of X are asked at once, as far as limits allow.

        So many rows were put to the classifier `before`, which are not counted.
        """
        table, classes = classifier.table, classifier.said
        if meter is not None:
            meter.begin()
        limits = None if meter is None else meter.limits
        predictions = Predictions(classifier.predictions.count - before, limits)
        classifier = replace(classifier, predictions=predictions)
        if classes is None and meter is None:
            classes = classifier.decide(table.columns)
        elif classes is None:
            assert meter is not None
            classes = meter.measured(classifier.decide, table.columns, grace=False)
            classifier = replace(classifier, table=table.first(len(classes)))
        binned = Binned(classifier, binning.features)
        forbidden = background.over(binned.every)
        assumed = background.rules(binned.every)
        return cls(
            *(classifier, binning, binned, forbidden, options, classes),
            *(classifier.given or len(table), meter, assumed, background.plausible),
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
        measured, compared, asked = None, 0, self._predictions
        if grid is not None:
            measured = self._measured(rows, GridCells(self.binned.axes, grid))
            compared = self._predictions - asked
        vote = self._vote()
        searched = self._searched(rows, vote, grid)
        asked = self._predictions
        if measured is None:
            measured = self._measured(rows, searched.labelled, searched)
        certificate = self._certificate(searched, measured.agreement)
        covering = searched.covering
        if covering is not None:
            uniform = None if self._asks_no_more(searched.labelled) else measured
            there = self.forbidden.allows(rows)  # elsewhere, proved rules may contradict each other
            covering = covering.measured_on(
                self.binned.axes, rows[there], self.said[there], uniform
            )
            certificate = replace(certificate, coverage=covering.of(searched.boxes))
        total = self._predictions
        compared += total - asked
        return Outcome(
            searched.boxes,
            searched.labelled,
            certificate,
            measured,
            rows,
            None if vote is None else vote.asked_by(self.binned),
            total,
            searched.sifted,
            {
                **({} if searched.sifted is None else searched.sifted.counted),
                "measured": compared,
                "predicted": total,
            },
            covering,
        )

    @property
    def _predictions(self) -> int:
        """How many rows were put to the classifier so far."""
        return self.classifier.predictions.count

    @cached_property
    def space(self) -> Space:
        """What can be said of the cells and their classes."""
        labels = self.classifier.labels
        return space_apart(self.binned.features, self.options.label, labels, self.assumed)

    @property
    def most_rules(self) -> int | None:
        """How many rules are listed at most; None: all."""
        limits = None if self.meter is None else self.meter.limits
        return None if limits is None else limits.max_rules

    @property
    def _is_whole(self) -> bool:
        """Whether every cell of the grid is asked."""
        options = self.options
        if options.sift:
            return False
        return options.domain != "data" and self.binned.cell_count <= options.limit

    def _grid(self, rows: Levels) -> Labels:
        """Return what is said in every cell; OPEN where a limit came before."""
        if self.meter is None:
            return self.binned.label_grid()
        allowed = None
        if self._leaves_out:
            allowed = self.forbidden.allows(self._all_cells())
        return self.asking.part_of_grid(_commonest(rows, self.binned.shape), allowed)

    def _all_cells(self) -> Levels:
        return cells_at(np.arange(self.binned.cell_count), self.binned.shape)

    def _measured(
        self, rows: Levels, labelled: GridCells | ListedCells, searched: Searched | None = None
    ) -> Measured:
        """Hold what was asked against the model; where questions are limited, that and no more.

        The same after a sift: whatever is known of a cell was held against the rules.
        """
        meter = self.meter
        if searched is not None and searched.sifted is not None:
            return measured_by(
                *(self.binned, rows, self.said, self.options.seed),
                *(labelled, meter, True, searched.inputs),
            )
        only = self._asks_no_more(labelled)
        return measured_by(
            *(self.binned, rows, self.said, self.options.seed),
            labelled,
            meter,
            only,
        )

    def _asks_no_more(self, labelled: GridCells | ListedCells) -> bool:
        """Return whether the agreement is measured in cells that were asked, for lack of others."""
        meter = self.meter
        if labelled.open or meter is None or meter.ended is not None:
            return labelled.open > 0 or meter is not None
        return meter.room is not None and not isinstance(labelled, GridCells)

    def _certificate(self, searched: Searched, agreement: Agreement) -> Certificate:
        """Return what may be claimed: nothing is complete if anything was left out."""
        sifted = searched.sifted
        scope = scope_of(
            *(self.binning.exact, self.binning.how, agreement, searched.words, searched.part),
            bool(self.options.background),
            lambda: unlike(self.asking),
            None if self.plausible is None else (self.plausible.kept, self.plausible.held_out),
        )
        ended = None if self.meter is None else self.meter.ended
        if sifted is not None and not sifted.done:
            ended = ended or "max_questions"
        is_proved = searched.words == OF_EVERY_INPUT
        if is_proved and (scope.excluded or (scope.direct and scope.kept is not None)):
            scope = replace(scope, words=f"of {scope.inputs}")
        asked = int(np.count_nonzero(searched.labelled.labels >= 0))
        unasked = searched.labelled.open + searched.unasked
        return Certificate(
            "proved" if sifted is None else sifted.weakest,
            NOTHING if ended else searched.complete,
            scope,
            rules=len(searched.boxes),
            open=0 if sifted is None else sifted.open_count,
            ended=None if ended is None else Ending(ended),
            cells=asked + unasked,
            unasked=unasked,
            sift=None if sifted is None else Sieve.of(sifted.record),
        )

    def first_of(
        self,
        certificate: Certificate,
        labelled: GridCells | ListedCells,
        kept: Sequence[BoxRule],
        sifted: SiftedBoxes | None = None,
        covering: Covering | None = None,
    ) -> Certificate:
        """Return what may be claimed of the rules that are kept, where there are more.

        `sifted` is what is left of a sift: the others are open. `covering` counts what they decide.
        """
        limits = None if self.meter is None else self.meter.limits
        reason = None if limits is None else limits.reached(certificate.rules)
        unasked = certificate.unasked if sifted is not None else labelled.open
        return replace(
            certificate,
            weakest=certificate.weakest if sifted is None else sifted.weakest,
            complete=NOTHING,
            ended=certificate.ended or Ending(reason or "max_rules"),
            rules=len(kept),
            open=0 if sifted is None else sifted.open_count,
            coverage=None if covering is None else covering.of(kept, inputs=False),
            cells=(certificate.cells or 0) - certificate.unasked + unasked,
            unasked=unasked,
        )

    def _vote(self) -> Any:
        trees = self.binning.trees
        if trees is None or not trees.trees.summed:
            return None
        from hornlens.targets.classifiers.voting import Vote

        forbidden = self.forbidden
        return Vote(self.asking, forbidden.weighted, forbidden.most_broken, trees)

    @property
    def _leaves_out(self) -> bool:
        """Whether some cells may not be meant."""
        return bool(self.options.background) or self.plausible is not None

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
        if options.sift:
            return self._by_sifting(rows)
        if options.rules == "all" and most is None:
            raise HornlensError(
                f"there are {self.binned.cell_count:,} cells, more than limit={options.limit:,}, "
                "too many to list every rule: raise the limit, or give max_conditions"
            )
        if vote is not None:
            return self._by_proofs(rows, vote, most)
        if self.plausible is not None:
            raise HornlensError(
                f"there are {self.binned.cell_count:,} cells, more than limit={options.limit:,}, "
                "and no trees to look into: what is plausible cannot be sifted; raise the limit, "
                "or give fewer columns"
            )
        return self._by_sifting(rows)

    # --- which cells ---

    @property
    def _meant_cells(self) -> str:
        """Which cells of a grid are meant, where not all are."""
        if self.plausible is None:
            return "all that the background allows"
        allowed = " and that the background allows" if self.options.background else ""
        return f"all that are plausible{allowed}"

    def _by_grid(self, rows: Levels, labels: Labels) -> Searched:
        options, of = self.options, "all that there are"
        if self._leaves_out:
            flat = labels.reshape(-1)
            flat[~self.forbidden.allows(self._all_cells())] = OUTSIDE
            of = self._meant_cells
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

    def _by_proofs(self, rows: Levels, vote: Any, most: int | None) -> Searched:
        """Prove rules that cover the rows, unless a length is wanted, and then all short ones."""
        known = known_cells(vote, rows, self.options.seed)
        share, cover, covering = self.options.cover, None, None
        if most is None and share:
            cover = row_cover(vote, known, rows, self.options.seed)
            cover_rows(cover, share, self.meter)
        if most is None:
            most = longest_within_reach(self.binned.axes, USUAL)
        done = short_rules_of_vote(vote, most, known)
        if cover is not None:
            cover.beside(done.rules)
            cover_rows(cover, share, self.meter, LATER)
            covering = Covering.by(cover, share)
        boxes = [*(() if covering is None else covering.rules), *done.rules]
        assumed = self.options.background and self.plausible is None
        of = OF_EVERY_INPUT + (" that the background allows" if assumed else "")
        complete = Complete(max_conditions=most, unsettled=done.unsettled)
        is_ended = self.meter is not None and self.meter.ended is not None
        unasked = 0 if is_ended else self.binned.cell_count - len(known.rows.cells)
        return Searched(
            *(list(dict.fromkeys(boxes)), known.rows, complete, of),
            unasked=unasked,
            covering=covering,
        )

    def _by_sifting(self, rows: Levels) -> Searched:
        """Find all rules with few conditions from few cells: see `sifting`."""
        from hornlens.targets.classifiers.sifting import ToSift, sift_classifier

        most = self.options.sifted_conditions
        allowed = rows[self.forbidden.allows(rows)]
        given = ToSift(self.asking, self.space, self.forbidden, self.binning.exact, self.options)
        done = sift_classifier(given, _commonest(allowed, self.binned.shape), most)
        unasked = self.binned.cell_count - len(done.labelled.cells)
        return Searched(
            *(list(done.sifted.warrants), done.labelled, NOTHING, ""),
            unasked=unasked,
            sifted=done.sifted,
            inputs=done.inputs,
        )

    # --- what to know of the columns ---

    def notes(self, agreement: Agreement, sifted: SiftedBoxes | None = None) -> tuple[str, ...]:
        """Return what to know of the columns: constant ones, and others without rules."""
        names = (*self.table.names, *self.classifier.labels)
        values = (tuple(map(str, feature.values)) for feature in self.binned.every)
        notes = [text for group in (names, *values) for text in look_alike_sentences(group)]
        record, most = None if sifted is None else sifted.record, self.options.max_conditions
        if self.binning.fallback:
            notes.append(self.binning.fallback)
        if record is not None and most is None and record.conditions < USUAL:
            notes.append("rules have at most 1 condition: those with 2 are too many to sift")
        notes += self._shortened()
        if self.classifier.drawn_from is not None:
            notes.append(
                f"X has {self.classifier.drawn_from:,} rows, too many to go through: "
                f"{self.given:,} of them, drawn at random, stand for all"
            )
        if len(self.said) < self.given:
            notes.append(
                f"the run was ended after {len(self.said):,} of {self.given:,} rows of X were asked"
            )
        return (*notes, *self._silent(agreement))

    def _silent(self, agreement: Agreement) -> list[str]:
        """Return the notes on columns that rules never speak of: in one, those that vary."""
        varied, notes = [], []
        for feature, column in zip(self.binned.every, self.table.columns, strict=True):
            if feature.size > 1:
                continue
            if feature.cuts is not None and len(np.unique(column)) > 1:
                varied.append(feature.name)
            else:
                value = feature.points[0]
                shown = f"{value:g}" if isinstance(value, float) else str(value)
                notes.append(
                    f"column {feature.name!r} is constant ({shown}): rules are silent on it"
                )
        if varied and self.binning.exact:
            model = "the model" if agreement.whole else "the model, as it was read,"
            notes.insert(0, never_asked(model, varied))
        elif varied:
            notes.insert(0, in_one_bin(varied))
        return notes

    def _shortened(self) -> list[str]:
        """Return what is shown shorter, or looked for in fewer lengths, than one might think."""
        notes = []
        looks_inside = not (self._is_whole or self.options.sift) and self._vote() is not None
        if looks_inside and self.options.domain != "data" and self.options.max_conditions is None:
            most = longest_within_reach(self.binned.axes, USUAL)
            if most < USUAL:
                notes.append(fewer_conditions(most))
        columns = [each.name for each in self.binned.every if each.cuts and each.cuts.rounded]
        if columns:
            notes.append(f"{ROUNDED_NOTE} ({', '.join(columns)})")
        return notes


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
