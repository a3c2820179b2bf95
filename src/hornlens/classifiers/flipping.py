"""`flips`: does changing one column of a classifier ever change what it says?"""

from __future__ import annotations

from typing import Any

from hornlens.classifiers.explain import explain_with
from hornlens.classifiers.flips import flips_of
from hornlens.classifiers.progress import shown
from hornlens.errors import HornlensError
from hornlens.limits import Limits
from hornlens.results.documents.flips import Flips
from hornlens.targets.classifiers.answering import read_classifier
from hornlens.targets.classifiers.columns import column_of
from hornlens.targets.classifiers.deciding import Bands, with_decision
from hornlens.targets.classifiers.metering import Progress, meter_of
from hornlens.targets.classifiers.options import Options


def flips(
    clf: Any,
    feature: str,
    X: Any,  # noqa: N803
    *,
    threshold: float | None = None,
    bands: Bands | None = None,
    limits: Limits | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Flips:
    """Say whether changing only `feature` ever changes what a classifier says, and how often.

    For ensembles of trees that can be read this is proved for every input; for other models it is
    counted in the binned model, if all its cells can be asked.

    Args:
        clf: A classifier, as `explain` takes it.
        feature: The column that is changed.
        X: Rows as the classifier takes them.
        threshold: The score from which on the second class is said, as in `explain`.
        bands: The bands of a regressor's predictions, as in `explain`.
        limits: What may end it early, by time or questions (cells, and rows in which the column is
            changed), or by calls (every row that the model is given; `limits.calls` counts them).
            Nothing is proved then, and what was asked by then is counted.
        progress: True shows a progress bar, in a terminal or a notebook; a function is called with
            the number of inputs that were put to the model, each time.
        **options: The other arguments of `explain`: `bins`, `background`, `limit`, and so on.

    Returns:
        In how many rows and cells a change of the column flips the decision.

    Raises:
        HornlensError: if there is no such column, or an option is wrong.

    >>> import numpy as np
    >>> X = np.array([[20.0, 0.0], [30.0, 1.0]])
    >>> found = flips(lambda rows: rows[:, 0] >= 40, "x1", X)
    >>> found.rows, found.of_rows
    (0, 2)
    """
    if not isinstance(feature, str):
        raise HornlensError("flips needs the name of a column")
    clf = with_decision(clf, threshold, bands, options.get("label", "class"))
    classifier = read_classifier(clf, X, limits)
    column_of(classifier.table, feature)
    # Rules are not asked for: of what cannot be enumerated, none are searched.
    options.setdefault("max_conditions", 0)
    with shown(progress, classifier.name) as advance:
        meter = meter_of(limits, advance)
        result = explain_with(clf, classifier, Options(**options), meter)
        return flips_of(result, feature, meter=meter)
