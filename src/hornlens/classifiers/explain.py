"""`explain`: a classifier and rows in, the rules it obeys out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from math import ceil, log, prod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.progress import Watch, cells_asked, shown, tell_events
from hornlens.classifiers.result import Explanation
from hornlens.deprecation import renamed_argument
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
from hornlens.limits import Limits
from hornlens.logic.certificates import Certificate, check_tolerances
from hornlens.logic.grounds import NOTHING, Complete, Ending, Trial
from hornlens.logic.scopes import Agreement
from hornlens.results.documents.findings import Record
from hornlens.results.documents.settings import Settings
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Binning, Bins, bin_columns
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.guard import (
    is_measured,
    measured_agreement,
    scope_of,
    unlike,
)
from hornlens.targets.classifiers.metering import Meter, Progress, meter_of
from hornlens.targets.classifiers.points import Binned

Domain = Literal["grid", "data"]
Which = Literal["cover", "all"]
USUAL = 2
"""How many conditions rules have, where not all cells can be asked and nothing is said of it."""
OF_EVERY_INPUT = "of every input"


@renamed_argument("target", "label", since="0.3", removal="0.5")
@dataclass(frozen=True)
class Options:
    """How to explain; see `explain`."""

    bins: Bins = "auto"
    n_bins: int = 4
    domain: Domain = "grid"
    changes: int = 1
    background: tuple[str, ...] = ()
    rules: Which = "cover"
    max_conditions: int | None = None
    limit: int = 200_000
    samples: int = 50_000
    epsilon: float = 0.05
    delta: float = 0.05
    seed: int = 0
    label: str = "class"

    @property
    def settings(self) -> Settings:
        """The part of it that every result tells of."""
        return Settings(
            epsilon=self.epsilon,
            delta=self.delta,
            limit=self.limit,
            seed=self.seed,
            max_conditions=self.max_conditions,
        )

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name, known in (("domain", ("grid", "data")), ("rules", ("cover", "all"))):
            if getattr(self, name) not in known:
                raise InputError(
                    f"{name} must be {' or '.join(known)}, not {getattr(self, name)!r}"
                )
        if not isinstance(self.label, str):
            raise InputError(f"label must be a text, not {self.label!r}")
        check_tolerances(self.epsilon, self.delta)
        least = {"n_bins": 2, "changes": 0, "limit": 1, "samples": 1, "max_conditions": 0}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < bound):
                raise InputError(f"{name} must be {bound} or more, not {value!r}")


@renamed_argument("target", "label", since="0.3", removal="0.5")
def explain(
    clf: Any,
    X: Any,  # noqa: N803 - as all of scikit-learn calls it
    *,
    bins: Bins = "auto",
    n_bins: int = 4,
    domain: Domain = "grid",
    changes: int = 1,
    background: Sequence[str] = (),
    rules: Which = "cover",
    max_conditions: int | None = None,
    limit: int = 200_000,
    samples: int = 50_000,
    epsilon: float = 0.05,
    delta: float = 0.05,
    seed: int = 0,
    label: str = "class",
    limits: Limits | None = None,
    progress: Progress | bool | None = None,
    watch: Watch | None = None,
) -> Explanation:
    """Return the rules that a classifier obeys, each proved where that can be done.

    Args:
        clf: A fitted estimator or Pipeline, anything with `predict` or `predict_proba`, or a
            function of rows.
        X: Rows as the classifier takes them: an array, or a pandas or polars frame.
        bins: How numbers are cut into levels. "model" reads the thresholds of scikit-learn's
            trees: the rules are then exact for every input. "quantile", "uniform", edges by column
            (`{"age": [30, 60]}`) or a fitted KBinsDiscretizer cut numbers into bins. "auto" is
            "model" where that is possible, else "quantile".
        n_bins: How many bins a column gets at most.
        domain: "grid" is every combination of levels; "data" is the cells of the rows of X and
            those that differ from one of them in at most `changes` features.
        changes: For `domain="data"`: in how many features a cell may differ from a row.
        background: Rules that always hold ("pregnant -> sex = female"): cells that break one do
            not occur.
        rules: "cover" returns enough rules to decide every cell, each as general as possible;
            "all" returns every such rule.
        max_conditions: Return every rule with at most this many conditions, instead of a cover.
        limit: Up to this many cells, all are asked. Beyond it, rules have at most
            `max_conditions` conditions (2 by default): proved for ensembles of trees, else tested.
        samples: How many random cells rules are tested by, where they cannot be proved.
        epsilon: For tested rules: the share of its cells that may break a rule.
        delta: For tested rules: the probability that any of them is broken more often than that.
        seed: The seed of all that is drawn at random.
        label: What the predicted column is called in rules.
        limits: What may end the run early: by time, questions or rules. The rules that hold however
            the other cells are answered are returned. Questions are cells: the rows of X, and the
            inputs by which the agreement is measured, do not count.
        progress: True shows a progress bar, in a terminal or a notebook; a function is called with
            the number of inputs that were put to the model, each time.
        watch: A function that is called with each event: `Progress` after cells were asked,
            `RuleAdded` for each rule, and `Ended` with the certificate.

    Returns:
        The rules, how often each applies to X, and what may be claimed of them.

    Raises:
        HornlensError: in one line, if the classifier, the rows or the options are wrong.

    >>> import numpy as np
    >>> X = np.array([[20.0], [30.0], [50.0]])
    >>> print(explain(lambda rows: rows[:, 0] >= 40, X, bins={"x0": [40]}).rules)
    x0 < 40 → False
    x0 ≥ 40 → True
    """
    options = Options(
        bins,
        n_bins,
        domain,
        changes,
        (background,) if isinstance(background, str) else tuple(background),
        rules,
        max_conditions,
        limit,
        samples,
        epsilon,
        delta,
        seed,
        label,
    )
    classifier = read_classifier(clf, X)
    with shown(progress, classifier.name) as advance:
        meter = meter_of(limits, advance, None if watch is None else cells_asked(watch))
        result = explain_with(clf, classifier, options, meter)
    if watch is not None:
        tell_events(result, watch)
    return result


def explain_with(
    clf: Any, classifier: Classifier, options: Options, meter: Meter | None = None
) -> Explanation:
    """Return the rules of a classifier that was read; a `meter` counts, shows and ends it."""
    table = classifier.table
    assumed = Background(options.background, table.names)
    more = assumed.cuts(table)
    binning = bin_columns(clf, classifier, options.bins, options.n_bins, more)
    if meter is None:
        said = classifier.decide(table.columns)
    else:
        meter.begin()
        said = meter.measured(classifier.decide, table.columns, grace=False)
        classifier = replace(classifier, table=table.first(len(said)))
    binned = Binned(classifier, binning.features)
    forbidden = assumed.over(binned.every)
    return _Explaining(
        classifier, binning, binned, forbidden, options, said, len(table), meter
    ).run()


class _Searched(NamedTuple):
    """What a way of asking comes to: rules, the cells that were asked, what is complete of which.

    `words` tell which cells were meant, `part`: not all of a grid. `unasked` counts cells that are
    neither in the list nor were meant to be.
    """

    found: list[BoxRule]
    labelled: GridCells | ListedCells
    complete: Complete
    words: str
    part: bool = False
    unasked: int = 0
    trial: Trial | None = None


@dataclass(frozen=True, eq=False)
class _Explaining:
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

    @property
    def table(self) -> Table:
        return self.classifier.table

    @cached_property
    def asking(self) -> Binned:
        """The same as `binned`, but metered."""
        return replace(self.binned, meter=self.meter)

    def run(self) -> Explanation:
        started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
        rows, meter = self.binned.places(self.table), self.meter
        grid = self._grid(rows) if self._is_whole else None
        agreement = None
        if grid is not None:
            agreement = self._agreement(rows, GridCells(self.binned.axes, grid))
        vote = self._vote()
        searched = self._searched(rows, vote, grid)
        if agreement is None:
            agreement = self._agreement(rows, searched.labelled)
        asked = int(np.count_nonzero(searched.labelled.labels >= 0))
        made = partial(
            Explanation.of_boxes,
            agreement=agreement,
            rows=rows,
            said=self.said,
            exact_bins=self.binning.exact and is_measured(agreement),
            how=self.binning.how,
            background=self.options.background,
            target=self.options.label,
            settings=self.options.settings,
            record=Record(started, time.perf_counter() - clock, asked),
            notes=self._notes(agreement),
            vote=None if vote is None else vote.asked_by(self.binned),
        )
        certificate = self._certificate(searched, agreement)
        result: Explanation = made(self.binned, searched.found, searched.labelled, certificate)
        most = None if meter is None or meter.limits is None else meter.limits.max_rules
        if most is not None and len(result.rules) > most:
            kept = [BoxRule(row.box or (), row.place or 0) for row in result.rules[:most]]
            certificate = self._first_of(certificate, searched.labelled, len(kept))
            result = made(self.binned, kept, searched.labelled, certificate)
        return result

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

    def _certificate(self, searched: _Searched, agreement: Agreement) -> Certificate:
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
            rules=len(searched.found),
            ended=None if ended is None else Ending(ended),
            cells=asked + unasked,
            unasked=unasked,
            trial=searched.trial,
        )

    def _first_of(
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

    def _searched(self, rows: Levels, vote: Any, grid: Labels | None) -> _Searched:
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

    def _by_grid(self, rows: Levels, labels: Labels) -> _Searched:
        options, of = self.options, "all that there are"
        if options.background:
            flat = labels.reshape(-1)
            flat[~self.forbidden.allows(self._all_cells())] = OUTSIDE
            of = "all that the background allows"
            if (flat == OUTSIDE).all():
                raise InputError("the background allows no cell: nothing is left to explain")
        grid, most = GridCells(self.binned.axes, labels), options.max_conditions
        if most is not None:
            found = short_rules_of_grid(grid, most, self._stops)
            return _Searched(found, grid, Complete(max_conditions=most), of)
        if options.rules == "all":
            found = every_rule(bits_of(labels), self.binned.axes)
        else:
            found = cover_of_grid(grid, _commonest(rows, labels.shape), self._stops)
        return _Searched(found, grid, Complete(decides=True), of)

    def _by_list(self, rows: Levels) -> _Searched:
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
            found = [one for one, _ in short_rules_of_list(listed, most, stops=self._stops)]
            return _Searched(found, listed, Complete(max_conditions=most), of, part=True)
        if options.rules == "all":
            raise InputError("rules='all' needs domain='grid', or max_conditions")
        found = cover_of_list(listed, weight, self._stops)
        return _Searched(found, listed, Complete(decides=True), of, part=True)

    def _asked(self, cells: Levels, weights: NDArray[np.intp]) -> Levels:
        """Return the classes of cells, those with the most rows first; OPEN past a limit."""
        if self.meter is None:
            return self.binned.ask(cells)
        order = np.argsort(-weights, kind="stable")
        labels = np.full(len(cells), OPEN, dtype=np.intp)
        said = self.asking.ask_first(cells[order])
        labels[order[: len(said)]] = said
        return labels

    def _by_proofs(self, rows: Levels, vote: Any, most: int) -> _Searched:
        from hornlens.targets.classifiers.short import short_rules_of_vote

        done = short_rules_of_vote(vote, most, rows, self.options.seed)
        of = OF_EVERY_INPUT + (" that the background allows" if self.options.background else "")
        complete = Complete(max_conditions=most, unsettled=done.unsettled)
        is_ended = self.meter is not None and self.meter.ended is not None
        unasked = 0 if is_ended else self.binned.cell_count - len(done.rows.cells)
        return _Searched(done.rules, done.rows, complete, of, unasked=unasked)

    def _by_samples(self, most: int) -> _Searched:
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
        found = [one for one, _ in short_rules_of_list(drawn, most, least, self._stops)]
        trial = Trial(options.epsilon, options.delta, len(cells), least, most, possible)
        unasked = self.binned.cell_count - len(np.unique(cells, axis=0))
        return _Searched(found, drawn, NOTHING, "", unasked=unasked, trial=trial)

    # --- what to know of the columns ---

    def _notes(self, agreement: Agreement) -> tuple[str, ...]:
        found = []
        if len(self.said) < self.given:
            found.append(
                f"the run was ended after {len(self.said):,} of {self.given:,} rows of X were asked"
            )
        for feature, column in zip(self.binned.every, self.table.columns, strict=True):
            if feature.size > 1:
                continue
            if feature.cuts is not None and len(np.unique(column)) > 1:
                model = "the model" if agreement.whole else "the model, as it was read,"
                found.append(f"{model} never asks for column {feature.name!r}")
            else:
                value = feature.points[0]
                shown = f"{value:g}" if isinstance(value, float) else str(value)
                found.append(
                    f"column {feature.name!r} is constant ({shown}): rules are silent on it"
                )
        return tuple(found)


def _commonest(rows: Levels, shape: tuple[int, ...]) -> Levels:
    """Return the cells of rows, the commonest first."""
    cells, _, counts = distinct_cells(rows, shape)
    return np.asarray(cells[np.argsort(-counts, kind="stable")])


def _around(cells: Levels, shape: tuple[int, ...], changes: int, limit: int) -> Levels:
    """Return cells and all that differ from one of them in at most so many features."""
    found = cells
    for _ in range(changes):
        parts = [found]
        total = len(found)
        for axis, size in enumerate(shape):
            total += len(found) * (size - 1)
            if total > 20 * limit:
                raise HornlensError(
                    f"more than limit={limit:,} cells differ from the rows of X in at most "
                    f"{changes} features: give a larger limit, or fewer changes"
                )
            more = np.repeat(found, size, axis=0)
            more[:, axis] = np.tile(np.arange(size), len(found))
            parts.append(more)
        found = np.unique(np.concatenate(parts), axis=0)
    if len(found) > limit:
        raise HornlensError(
            f"{len(found):,} cells differ from the rows of X in at most {changes} features, more "
            f"than limit={limit:,}: give a larger limit, or fewer changes"
        )
    return found
