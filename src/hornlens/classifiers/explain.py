"""`explain`: a classifier and rows in, the rules it obeys out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil, log, prod
from typing import Any, Literal

import numpy as np

from hornlens.classifiers.result import Explanation
from hornlens.deprecation import renamed_argument
from hornlens.errors import HornlensError, InputError
from hornlens.exact.boxes.cells import (
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
    bits_of,
    every_rule,
    short_rules_of_grid,
    short_rules_of_list,
    subsets,
)
from hornlens.logic.certificates import Certificate, check_tolerances
from hornlens.logic.grounds import Complete, Trial
from hornlens.logic.scopes import Agreement, Scope
from hornlens.results.documents.findings import Record
from hornlens.results.documents.settings import Settings
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Binning, Bins, bin_columns
from hornlens.targets.classifiers.columns import Table
from hornlens.targets.classifiers.guard import measured_agreement, scope_of
from hornlens.targets.classifiers.points import Binned

Domain = Literal["grid", "data"]
Which = Literal["cover", "all"]
USUAL = 2
"""How many conditions rules have, where not all cells can be asked and nothing is said of it."""


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
    return explain_with(clf, read_classifier(clf, X), options)


def explain_with(clf: Any, classifier: Classifier, options: Options) -> Explanation:
    """Return the rules of a classifier that was read."""
    table = classifier.table
    assumed = Background(options.background, table.names)
    more = assumed.cuts(table)
    binning = bin_columns(clf, classifier, options.bins, options.n_bins, more)
    binned = Binned(classifier, binning.features)
    forbidden = assumed.over(binned.features)
    return _Explaining(classifier, binning, binned, forbidden, options).run()


@dataclass(frozen=True, eq=False)
class _Explaining:
    classifier: Classifier
    binning: Binning
    binned: Binned
    forbidden: Forbidden
    options: Options

    @property
    def table(self) -> Table:
        return self.classifier.table

    def run(self) -> Explanation:
        started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
        rows = self.binned.places(self.table)
        said = self.classifier.decide(self.table.columns)
        grid = self.binned.label_grid() if self._is_whole else None
        agreement = measured_agreement(self.binned, rows, said, self.options.seed, grid)
        vote = self._vote()
        boxes, labelled, certificate = self._found(rows, agreement, vote, grid)
        asked = _count(labelled)
        result: Explanation = Explanation.of_boxes(
            self.binned,
            boxes,
            labelled,
            replace(certificate, cells=asked + certificate.unasked),
            agreement,
            rows,
            said,
            self.binning.exact and agreement.whole,
            self.binning.how,
            self.options.background,
            self.options.label,
            self.options.settings,
            Record(started, time.perf_counter() - clock, asked),
            notes=self._notes(agreement),
            vote=vote,
        )
        return result

    @property
    def _is_whole(self) -> bool:
        """Whether every cell of the grid is asked."""
        return self.options.domain == "grid" and self.binned.cell_count <= self.options.limit

    def _vote(self) -> Any:
        trees = self.binning.trees
        if trees is None or not trees.trees.summed:
            return None
        from hornlens.targets.classifiers.voting import Vote

        return Vote(self.binned, trees, None, self.forbidden.boxes)

    def _found(
        self, rows: Levels, agreement: Agreement, vote: Any, grid: Labels | None
    ) -> tuple[list[BoxRule], GridCells | ListedCells, Certificate]:
        options, most = self.options, self.options.max_conditions
        if grid is not None:
            return self._by_grid(rows, agreement, grid)
        if options.domain == "data":
            return self._by_list(rows, agreement)
        if options.rules == "all" and most is None:
            raise HornlensError(
                f"there are {self.binned.cell_count:,} cells, more than limit={options.limit:,}, "
                "too many to list every rule: raise the limit, or give max_conditions"
            )
        if vote is not None:
            return self._by_proofs(rows, agreement, vote, USUAL if most is None else most)
        return self._by_samples(agreement, USUAL if most is None else most)

    # --- which cells ---

    def _by_grid(
        self, rows: Levels, agreement: Agreement, labels: Labels
    ) -> tuple[list[BoxRule], GridCells, Certificate]:
        options, of = self.options, "all that there are"
        if options.background:
            flat = labels.reshape(-1)
            cells = cells_at(np.arange(labels.size), self.binned.shape)
            flat[~self.forbidden.allows(cells)] = OUTSIDE
            of = "all that the background allows"
            if (flat == OUTSIDE).all():
                raise InputError("the background allows no cell: nothing is left to explain")
        grid = GridCells(self.binned.axes, labels)
        scope = self._scope(agreement, of)
        if options.max_conditions is not None:
            found = short_rules_of_grid(grid, options.max_conditions)
            return found, grid, _short(options.max_conditions, scope)
        if options.rules == "all":
            found = every_rule(bits_of(labels), self.binned.axes)
        else:
            found = cover_of_grid(grid, _commonest(rows, labels.shape))
        return found, grid, Certificate(complete=Complete(decides=True), scope=scope)

    def _by_list(
        self, rows: Levels, agreement: Agreement
    ) -> tuple[list[BoxRule], ListedCells, Certificate]:
        options = self.options
        cells, weights = np.unique(rows, axis=0, return_counts=True)
        every = _around(cells, self.binned.shape, options.changes, options.limit)
        new = np.unique(every, axis=0)
        new = new[self.forbidden.allows(new)]
        if not len(new):
            raise InputError("the background allows no row of X: nothing is left to explain")
        listed = ListedCells(self.binned.axes, new, self.binned.ask(new))
        changes = f"{options.changes} feature{'' if options.changes == 1 else 's'}"
        of = f"those of the rows of X and all that differ from one in at most {changes}"
        scope = self._scope(agreement, of, part=True)
        if options.max_conditions is not None:
            found = [one for one, _ in short_rules_of_list(listed, options.max_conditions)]
            return found, listed, _short(options.max_conditions, scope)
        if options.rules == "all":
            raise InputError("rules='all' needs domain='grid', or max_conditions")
        here = {
            tuple(cell): int(count) for cell, count in zip(cells.tolist(), weights, strict=True)
        }
        weight = np.array([here.get(tuple(cell), 0) for cell in new.tolist()])
        found = cover_of_list(listed, weight)
        return found, listed, Certificate(complete=Complete(decides=True), scope=scope)

    def _by_proofs(
        self, rows: Levels, agreement: Agreement, vote: Any, most: int
    ) -> tuple[list[BoxRule], ListedCells, Certificate]:
        from hornlens.targets.classifiers.short import short_rules_of_vote

        done = short_rules_of_vote(vote, most, rows, self.options.seed)
        of = "of every input" + (" that the background allows" if self.options.background else "")
        cells = np.unique(rows, axis=0)
        cells = cells[vote.occur(cells)]
        unasked = self.binned.cell_count - len(cells)
        certificate = _short(most, self._scope(agreement, of), done.unsettled, unasked)
        return done.rules, ListedCells(self.binned.axes, cells, self.binned.ask(cells)), certificate

    def _by_samples(
        self, agreement: Agreement, most: int
    ) -> tuple[list[BoxRule], ListedCells, Certificate]:
        """Draw complete cells. A rule is listed if enough of them speak for it by itself.

        With n cells in its box and none against it, a rule that more than ε of its cells break
        would have come through with probability (1 - ε)^n at most; over all rules there can be,
        that must not exceed δ.
        """
        options, axes = self.options, self.binned.axes
        rng = np.random.default_rng(options.seed)
        cells = np.column_stack([rng.integers(0, axis.size, options.samples) for axis in axes])
        cells = cells[self.forbidden.allows(cells)]
        if not len(cells):
            raise InputError("the background allows none of the cells that were drawn")
        drawn = ListedCells(axes, cells, self.binned.ask(cells))
        possible = sum(
            prod(len(axes[place].ranges) for place in some) for some in subsets(axes, most)
        ) * len(self.classifier.classes)
        least = ceil(log(possible / options.delta) / -log(1 - options.epsilon))
        found = [one for one, _ in short_rules_of_list(drawn, most, least)]
        trial = Trial(options.epsilon, options.delta, len(cells), least, most, possible)
        unasked = self.binned.cell_count - len(np.unique(cells, axis=0))
        scope = self._scope(agreement, "")
        return found, drawn, Certificate("tested", scope=scope, unasked=unasked, trial=trial)

    def _scope(self, agreement: Agreement, words: str, part: bool = False) -> Scope:
        assumed = bool(self.options.background)
        return scope_of(self.binning.exact, self.binning.how, agreement, words, part, assumed)

    # --- what to know of the columns ---

    def _notes(self, agreement: Agreement) -> tuple[str, ...]:
        found = []
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


def _short(most: int, scope: Scope, unsettled: int = 0, unasked: int = 0) -> Certificate:
    """Return the claim that every rule with at most so many conditions is there."""
    complete = Complete(max_conditions=most, unsettled=unsettled)
    return Certificate(complete=complete, scope=scope, unasked=unasked)


def _count(labelled: GridCells | ListedCells) -> int:
    """Return how many cells were asked."""
    if isinstance(labelled, ListedCells):
        return len(labelled.cells)
    return int(np.count_nonzero(labelled.labels != OUTSIDE))


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
