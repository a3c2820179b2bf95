"""`recourse`: the smallest change of a row that makes a classifier say something else of it.

Fewest columns come first, then the smallest total change, each column measured in its own scale.
Where trees can be looked into, no smaller set of columns is left out without a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornlens.classifiers.progress import shown
from hornlens.classifiers.proofs import measured_agreement
from hornlens.errors import InputError
from hornlens.exact.boxes.cells import Levels, cells_at
from hornlens.exact.boxes.forbidden import Forbidden
from hornlens.limits import Limits, Stopped
from hornlens.logic.cuts import shortest_between
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Binning, Bins, bin_columns
from hornlens.targets.classifiers.cases import Cases
from hornlens.targets.classifiers.columns import Column, Table, column_of
from hornlens.targets.classifiers.conditions import conditions_in
from hornlens.targets.classifiers.deciding import Bands, label_of, with_decision
from hornlens.targets.classifiers.features import Feature
from hornlens.targets.classifiers.grammar import Words, parse_expression
from hornlens.targets.classifiers.guard import is_measured
from hornlens.targets.classifiers.metering import Progress, meter_of
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.voting import Vote

BLOCK = 4_096
"""How many changed rows are asked at once, the least changed first."""
NEAR = 0.01
"""A new number may lie so far beyond the nearest one that will do, in scales, if it is shorter."""
Status = Literal["already", "proved", "found", "impossible", "not found"]


@dataclass(frozen=True)
class Recourse:
    """The change of a row that makes the classifier say what is wanted; true if there is one.

    `status` is "proved" if no smaller change does, "found" if that is not known, "impossible" if no
    change does (proved), "not found", or "already" if nothing need be changed.

    >>> import numpy as np
    >>> from hornlens import recourse
    >>> X = np.array([["a"], ["b"]], dtype=object)
    >>> answer = recourse(lambda rows: rows[:, 0] == "b", ["a"], "True", X)
    >>> answer.status, answer.changes
    ('proved', {'x0': 'b'})
    """

    row: Mapping[str, Any]
    said: str
    to: str
    status: Status
    sentence: str
    changes: Mapping[str, Any]
    """The new values of the columns that are changed."""
    changed: Mapping[str, Any] | None
    """The whole row with these values; None if there is none."""
    distance: float | None
    """The sum of the changes: of numbers in interquartile ranges of X, of other values 1 each."""

    @property
    def proved(self) -> bool:
        """Whether it is proved that nothing smaller will do."""
        return self.status in ("already", "proved", "impossible")

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "status": self.status,
            "proved": self.proved,
            "said": self.said,
            "to": self.to,
            "changes": dict(self.changes),
            "changed": None if self.changed is None else dict(self.changed),
            "distance": self.distance,
            "sentence": self.sentence,
        }

    def __bool__(self) -> bool:
        """Return whether there is a change, or none is needed."""
        return self.changed is not None

    def __str__(self) -> str:
        """Return what was found."""
        return self.sentence


def recourse(
    clf: Any,
    row: Any,
    to: Any,
    X: Any,  # noqa: N803
    **options: Any,
) -> Recourse:
    """Return the smallest change of a row that makes a classifier say a class.

    The fewest columns are changed; of several changes of as many columns, the one with the smallest
    total. For ensembles of trees that can be read, this is proved for every input; for other models
    it is the smallest change that was found.

    Args:
        clf: A classifier, as `explain` takes it.
        row: The row: a mapping of columns to values, their values in order, or a table of one row.
        to: The class that is wanted, or several: "yes", "yes or maybe", "not no".
        X: Rows as the classifier takes them. They say how far a change goes.
        **options: See `recourses`.

    Returns:
        The change, the changed row, and whether it is proved to be the smallest.

    Raises:
        InputError: if the row, the class or an option is wrong.

    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([[20.0, 1.0], [30.0, 1.0], [40.0, 3.0], [50.0, 3.0]])
    >>> tree = DecisionTreeClassifier().fit(X[:, :1], ["no", "no", "yes", "yes"])
    >>> print(recourse(tree, [20], "yes", X[:, :1]))
    Change x0 from 20 to 35.1, and the model says yes. Nothing smaller does: proved.
    """
    table = read_classifier(with_decision(clf, *_deciding(options)), X).table
    (answer,) = recourses(clf, _one_row(row, table), to, X, **options)
    return answer


def recourses(
    clf: Any,
    rows: Any,
    to: Any,
    X: Any,  # noqa: N803
    *,
    fixed: Sequence[str] = (),
    only_up: Sequence[str] = (),
    only_down: Sequence[str] = (),
    most: int = 3,
    bins: Bins = "auto",
    n_bins: int = 4,
    limit: int = 200_000,
    label: str = "class",
    threshold: float | None = None,
    bands: Bands | None = None,
    background: Sequence[str] = (),
    seed: int = 0,
    limits: Limits | None = None,
    progress: Progress | bool | None = None,
) -> tuple[Recourse, ...]:
    """Return for each of several rows the smallest change that makes a classifier say a class.

    Args:
        clf: A classifier, as `explain` takes it.
        rows: The rows, as the classifier takes them.
        to: The class that is wanted, or several: "yes", "yes or maybe", "not no".
        X: Rows as the classifier takes them. They say how far a change goes.
        fixed: Columns that may not be changed.
        only_up: Columns of numbers, or of ordered values, that may only grow.
        only_down: Columns that may only fall.
        most: How many columns may be changed at once, at most.
        bins: How numbers are cut into levels, as in `explain`.
        n_bins: How many bins a column gets at most.
        limit: So many changed rows are tried for each set of columns, at most.
        label: What the predicted column is called.
        threshold: The score from which on the second class is said, as in `explain`.
        bands: The bands of a regressor's predictions, as in `explain`.
        background: Rules that always hold: a changed row obeys them.
        seed: The seed of the inputs by which the model as it was read is held against itself.
        limits: What may end it early. Of rows that are not decided by then, it is not known.
        progress: As in `explain`.

    Returns:
        For each row the change, in the order of the rows.

    Raises:
        InputError: if a row, the class or an option is wrong.

    >>> import numpy as np
    >>> X = np.array([["a", "x"], ["b", "y"]], dtype=object)
    >>> [answer.status for answer in recourses(lambda rows: rows[:, 0] == "b", X, "True", X)]
    ['proved', 'already']
    """
    if not isinstance(most, int) or most < 1:
        raise InputError(f"most must be 1 or more, not {most!r}")
    clf = with_decision(clf, threshold, bands, label)
    classifier = read_classifier(clf, X, limits)
    table = classifier.table
    given = (background,) if isinstance(background, str) else tuple(background)
    assumed = Background(given, table.names)
    with shown(progress, classifier.name) as advance:
        meter = meter_of(limits, advance)
        if meter is not None:
            meter.begin()
        binning = bin_columns(clf, classifier, bins, n_bins, assumed.cuts(table), meter, seed)
        binned = Binned(classifier, binning.features, meter)
        wanted = _classes(to, classifier, label if bands is None else label_of(label))
        moves = {
            name: which
            for which, names in (("fixed", fixed), ("up", only_up), ("down", only_down))
            for name in _named(names, table)
        }
        searches = _Searches(binned, binning, assumed.over(binned.every), wanted, str(to), moves)
        asked = table.like(rows)
        answers = []
        for place in range(len(asked)):
            values = [column[place : place + 1] for column in asked.columns]
            answers.append(searches.of(values, most, limit, seed))
    return tuple(answers)


def _deciding(options: Mapping[str, Any]) -> tuple[Any, Any, str]:
    return options.get("threshold"), options.get("bands"), options.get("label", "class")


def _named(names: Sequence[str], table: Table) -> list[str]:
    every = [names] if isinstance(names, str) else list(names)
    return [table.names[column_of(table, name)] for name in every]


def _classes(to: Any, classifier: Classifier, label: str) -> int:
    """Return the classes that are wanted, as bits."""
    words = Words((), classifier.labels, label)
    expression = parse_expression(str(to), words, is_right=True)
    every = (1 << len(classifier.labels)) - 1
    assert not conditions_in(expression)
    bits = 0
    for case in Cases({}, classifier.bits_of, every).of(expression):
        bits |= case.classes
    if not str(to).strip() or bits in (0, every):
        raise InputError(f"to must name some of the classes, not {to!r}")
    return bits


def _one_row(row: Any, table: Table) -> Any:
    """Return a row as a table of one row."""
    if hasattr(row, "to_dict") and not hasattr(row, "columns"):  # a row of a frame
        row = row.to_dict()
    if isinstance(row, Mapping):
        missing = [name for name in table.names if name not in row]
        if missing:
            raise InputError(f"the row has no {missing[0]!r}")
        row = [row[name] for name in table.names]
    if isinstance(row, str) or not hasattr(row, "__len__"):
        raise InputError(f"a row must be a mapping, or values in order, not {row!r}")
    if hasattr(row, "columns") or np.ndim(row) == 2:
        if len(row) != 1:
            raise InputError(f"recourse takes one row, not {len(row)}: use recourses")
        return row
    if len(row) != len(table.names):
        raise InputError(f"the row has {len(row)} values, and there are {len(table.names)} columns")
    columns = []
    for name, value, column in zip(table.names, row, table.columns, strict=True):
        own: Column = np.empty(1, dtype=object)
        own[0] = value
        if column.dtype.kind != "O":
            try:
                own = np.asarray([value])
                if own.dtype.kind not in "biuf":
                    raise ValueError
            except (TypeError, ValueError):
                raise InputError(f"the row has {value!r} in {name!r}, which is no number") from None
        columns.append(own)
    return Table(table.names, tuple(columns), table.kinds, table.levels, table.rebuild)


@dataclass(frozen=True, eq=False)
class _Searches:
    """A classifier over its cells, what is wanted of it, and which columns may change how."""

    binned: Binned
    binning: Binning
    forbidden: Forbidden
    wanted: int
    to: str
    moves: Mapping[str, str]

    @cached_property
    def vote(self) -> Vote | None:
        """The trees, if they can be looked into."""
        trees = self.binning.trees
        if trees is None or not trees.trees.summed:
            return None
        return Vote(self.binned, self.forbidden.boxes, model=trees)

    @cached_property
    def scales(self) -> list[float]:
        """What counts as a change of 1 in each feature."""
        scales = []
        for place in self.binned.telling:
            feature, column = self.binned.every[place], self.binned.classifier.table.columns[place]
            scale = 1.0
            if feature.cuts is not None:
                numbers = np.asarray(column, dtype=np.float64)
                numbers = numbers[np.isfinite(numbers)]
                low, high = np.quantile(numbers, [0.25, 0.75]) if len(numbers) else (0.0, 0.0)
                spread = high - low or (float(np.ptp(numbers)) if len(numbers) else 0.0)
                scale = float(spread) or 1.0
            elif feature.kind == "ordered":
                scale = max(1.0, feature.known - 1.0)
            scales.append(scale)
        return scales

    def of(self, values: list[Column], most: int, limit: int, seed: int) -> Recourse:
        """Return the smallest change of a row, given by columns of one value."""
        table = self.binned.classifier.table
        names, labels = table.names, self.binned.classifier.labels
        row = {name: _plain(column[0]) for name, column in zip(names, values, strict=True)}
        try:
            said = int(self._decide(values)[0])
        except Stopped:
            return _answer(row, "", self.to, "not found", "The run was ended before.")
        if self.wanted >> said & 1:
            sentence = f"The model already says {labels[said]}."
            return _answer(row, labels[said], self.to, "already", sentence, row, 0.0)
        search = _OfRow(self, values, limit)
        best, proved = None, True
        try:
            best, proved = search.run(most)
            proved = proved and self._is_measured(seed)
        except Stopped:
            best, proved = search.best, False
        if best is None:
            return self._without(row, labels[said], proved, search, most)
        distance, changes, place = best
        changed = {**row, **changes}
        texts = [f"{name} from {_text(row[name])} to {_text(new)}" for name, new in changes.items()]
        smallest = (
            "Nothing smaller does: proved."
            if proved
            else "That is the smallest change that was found; a smaller one may do."
        )
        sentence = f"Change {_and(texts)}, and the model says {labels[place]}. {smallest}"
        status: Status = "proved" if proved else "found"
        return _answer(row, labels[said], self.to, status, sentence, changed, distance, changes)

    def _without(
        self, row: Mapping[str, Any], said: str, proved: bool, search: _OfRow, most: int
    ) -> Recourse:
        """Return that no change was found, and whether there is none."""
        if proved and search.is_impossible:
            which = "" if not self.moves else " that is allowed"
            sentence = f"No change{which} makes the model say {self.to}: proved."
            return _answer(row, said, self.to, "impossible", sentence)
        sentence = f"No change was found that makes the model say {self.to}"
        if proved:
            sentence = f"No change of at most {most} columns makes the model say {self.to}: proved"
        return _answer(row, said, self.to, "not found", f"{sentence}.")

    def _is_measured(self, seed: int) -> bool:
        """Say whether the model as it was read is the model, as far as was measured."""
        if "is_measured" not in self.__dict__:
            self.__dict__["is_measured"] = is_measured(measured_agreement(self.binned, seed)[0])
        return bool(self.__dict__["is_measured"])

    def _decide(self, columns: Sequence[Column]) -> Levels:
        """Ask about rows; if a limit does not allow that, raise Stopped."""
        meter, decide = self.binned.meter, self.binned.classifier.decide
        if meter is None:
            return decide(columns)
        said = meter.answers(decide, columns)
        if len(said) < len(columns[0]):
            raise Stopped(meter.ended or "interrupt")
        return said


@dataclass(eq=False)
class _OfRow:
    """The search for the smallest change of one row."""

    given: _Searches
    values: list[Column]
    limit: int
    is_impossible: bool = False
    best: tuple[float, dict[str, Any], int] | None = None

    def __post_init__(self) -> None:
        binned = self.given.binned
        table = binned.classifier.table
        place = Table(table.names, tuple(self.values), table.kinds, table.levels, table.rebuild)
        self.cell = binned.places(place)[0]
        self.options = [self._levels(axis) for axis in range(len(binned.features))]

    def run(self, most: int) -> tuple[tuple[float, dict[str, Any], int] | None, bool]:
        """Return the least change, and whether that is proved; None if there is none."""
        free = [axis for axis, levels in enumerate(self.options) if len(levels) > 1]
        exact, vote = self.given.binning.exact, self.given.vote
        proved = exact
        if vote is not None and exact:
            cell, settled = vote.any_of(self._box(free), self.given.wanted)
            if cell is None and settled:
                self.is_impossible = True
                return None, True
        for size in range(1, min(most, len(free)) + 1):
            for axes in combinations(free, size):
                if vote is not None and exact:
                    cell, settled = vote.any_of(self._box(axes), self.given.wanted)
                    if cell is None:
                        proved = proved and settled
                        continue
                proved &= self._try(axes)
                if vote is not None and exact and cell is not None and self.best is None:
                    self._keep(axes, cell)
            if self.best is not None:
                return self.best, proved
        self.is_impossible = proved and most >= len(free)
        return None, proved

    def _levels(self, axis: int) -> list[int]:
        """Return the levels that a feature may get, its own among them."""
        feature = self.given.binned.features[axis]
        own, move = int(self.cell[axis]), self.given.moves.get(feature.name)
        if move == "fixed":
            return [own]
        known = range(feature.known)
        if move is not None:
            if not feature.is_ranged:
                raise InputError(
                    f"column {feature.name!r} has no order: it goes neither up nor down"
                )
            if own == feature.known:  # from missing, there is no up or down
                return [own]
            known = range(own, feature.known) if move == "up" else range(own + 1)
        return sorted({own, *known})

    def _box(self, axes: Sequence[int]) -> list[int]:
        """Return the cells in which only some features are changed, as sets of levels."""
        return [
            sum(1 << level for level in levels) if axis in axes else 1 << int(self.cell[axis])
            for axis, levels in enumerate(self.options)
        ]

    def _try(self, axes: Sequence[int]) -> bool:
        """Try changes of all of some columns, the least first; return whether that was enough."""
        for block in self._changes(axes):
            if block is None:
                return False
            costs, chosen = block
            costs_left = costs < (np.inf if self.best is None else self.best[0])
            if not costs_left.any():
                return True
            chosen = chosen[costs_left]
            columns = self._rows(axes, chosen)
            said = self.given._decide(columns)
            hits = np.flatnonzero([self.given.wanted >> place & 1 for place in said.tolist()])
            if len(hits):
                row = int(hits[0])
                names = self.given.binned.classifier.table.names
                places = [self.given.binned.telling[axis] for axis in axes]
                new = {names[place]: _plain(columns[place][row]) for place in places}
                self.best = float(costs[costs_left][row]), new, int(said[row])
                return True
        return True

    def _keep(self, axes: Sequence[int], cell: Levels) -> None:
        """Keep a change that the trees show, where trying came to its limit before it."""
        columns = self._rows(axes, cell[None, :])
        (place,) = self.given._decide(columns).tolist()
        if self.given.wanted >> place & 1:
            names, telling = self.given.binned.classifier.table.names, self.given.binned.telling
            changed = [telling[axis] for axis in axes if cell[axis] != self.cell[axis]]
            new = {names[at]: _plain(columns[at][0]) for at in changed}
            costs = (self._costs(axis, [int(cell[axis])])[0] for axis in axes)
            self.best = float(sum(costs)), new, place

    def _changes(self, axes: Sequence[int]) -> Iterator[tuple[NDArray[np.float64], Levels] | None]:
        """Yield costs and the levels of changes in blocks, the least first; None past the limit."""
        levels = [[one for one in self.options[a] if one != self.cell[a]] for a in axes]
        costs = [self._costs(axis, own) for axis, own in zip(axes, levels, strict=True)]
        count = prod(map(len, levels))
        if count > 20 * self.limit:  # only the nearest levels of each
            keep = max(1, int((20 * self.limit) ** (1 / len(axes))))
            for at, own in enumerate(costs):
                nearest = np.argsort(own, kind="stable")[:keep]
                levels[at], costs[at] = [levels[at][i] for i in nearest], own[nearest]
        shape = tuple(map(len, levels))
        places = cells_at(np.arange(prod(shape)), shape)
        total = np.zeros(len(places))
        for at, own in enumerate(costs):
            total += own[places[:, at]]
        order = np.argsort(total, kind="stable")
        cells = np.tile(self.cell, (len(order), 1))
        for at, axis in enumerate(axes):
            cells[:, axis] = np.array(levels[at])[places[order, at]]
        allowed = self.given.forbidden.allows(cells)
        cells, total = cells[allowed], total[order][allowed]
        for start in range(0, min(len(cells), self.limit), BLOCK):
            some = slice(start, min(start + BLOCK, self.limit))
            yield total[some], cells[some]
        if len(cells) > self.limit or prod(shape) < count:
            yield None

    def _costs(self, axis: int, levels: Sequence[int]) -> NDArray[np.float64]:
        """Return how far each of some levels is from the row's value, in scales."""
        feature, own = self.given.binned.features[axis], int(self.cell[axis])
        if own == feature.known or not feature.is_ranged:
            return np.ones(len(levels))
        if feature.cuts is None:
            return np.asarray(np.abs(np.array(levels) - own) / self.given.scales[axis])
        value = float(self.values[self.given.binned.telling[axis]][0])
        ends = np.array([_end(feature, own, level) for level in levels])
        return np.asarray(np.abs(ends - value) / self.given.scales[axis])

    def _rows(self, axes: Sequence[int], cells: Levels) -> list[Column]:
        """Return the row with changed columns, once for each cell."""
        columns = [np.repeat(column, len(cells)) for column in self.values]
        for axis in axes:
            place = self.given.binned.telling[axis]
            feature, own = self.given.binned.features[axis], int(self.cell[axis])
            levels = cells[:, axis]
            if feature.cuts is None or own == feature.known:
                columns[place] = feature.column(levels)
                continue
            scale = self.given.scales[axis]
            new = {level: _number(feature, own, level, scale) for level in set(levels.tolist())}
            kind = np.int64 if feature.kind == "whole" else np.float64
            columns[place] = np.array([new[level] for level in levels.tolist()], dtype=kind)
        return columns


def _end(feature: Feature, own: int, level: int) -> float:
    """Return the number of a bin that is nearest to another bin."""
    assert feature.cuts is not None
    if level > own:
        return feature.cuts.values[level - 1]
    below = float(np.nextafter(feature.cuts.values[level], -np.inf))
    return float(np.floor(below)) if feature.kind == "whole" else below


def _number(feature: Feature, own: int, level: int, scale: float) -> float:
    """Return a number of a bin that is nearly the nearest to another bin, in few digits."""
    assert feature.cuts is not None
    cuts, end = feature.cuts.values, _end(feature, own, level)
    if feature.kind == "whole":
        return end
    if level > own:
        last = float(np.nextafter(cuts[level], -np.inf)) if level < len(cuts) else np.inf
        return shortest_between(float(np.nextafter(end, -np.inf)), min(last, end + NEAR * scale))
    first = float(np.nextafter(cuts[level - 1], -np.inf)) if level else -np.inf
    return shortest_between(max(first, end - NEAR * scale), end)


def _answer(
    row: Mapping[str, Any],
    said: str,
    to: str,
    status: Status,
    sentence: str,
    changed: Mapping[str, Any] | None = None,
    distance: float | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Recourse:
    return Recourse(row, said, to, status, sentence, changes or {}, changed, distance)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _and(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
