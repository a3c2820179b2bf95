"""`recourse`: the smallest change of a row that makes a classifier say something else of it.

Fewest columns come first, then the smallest total change, each column measured in its own scale.
Where trees can be looked into, no smaller set of columns is left out without a proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hornlens.classifiers.changes import Recourse
from hornlens.classifiers.changing import Searches
from hornlens.classifiers.progress import shown
from hornlens.errors import InputError
from hornlens.limits import Limits
from hornlens.targets.classifiers.answering import Classifier, read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import Bins
from hornlens.targets.classifiers.cases import Cases
from hornlens.targets.classifiers.columns import Column, Table, column_of
from hornlens.targets.classifiers.conditions import conditions_in
from hornlens.targets.classifiers.deciding import Bands, label_of, with_decision
from hornlens.targets.classifiers.grammar import Words, parse_expression
from hornlens.targets.classifiers.metering import Progress, meter_of
from hornlens.targets.classifiers.options import QuestionOptions
from hornlens.targets.classifiers.points import Binned


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
    options = QuestionOptions.of(bins, n_bins, limit, background, seed)
    clf = with_decision(clf, threshold, bands, label)
    classifier = read_classifier(clf, X, limits)
    table = classifier.table
    assumed = Background(options.background, table.names)
    with shown(progress, classifier.name) as advance:
        meter = meter_of(limits, advance)
        if meter is not None:
            meter.begin()
        binning = options.binning(clf, classifier, assumed.cuts(table), meter)
        binned = Binned(classifier, binning.features, meter)
        wanted = _classes(to, classifier, label if bands is None else label_of(label))
        moves = {
            name: which
            for which, names in (("fixed", fixed), ("up", only_up), ("down", only_down))
            for name in _named(names, table)
        }
        searches = Searches(binned, binning, assumed.over(binned.every), wanted, str(to), moves)
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
