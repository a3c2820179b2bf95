"""Two classifiers over one grid: a column is cut at the thresholds of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hornlens.errors import InputError
from hornlens.logic.cuts import Cuts
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.features import Feature, number_feature
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.target import ClassifierTarget


def on_one_grid(
    first: ClassifierTarget, second: ClassifierTarget
) -> tuple[ClassifierTarget, ClassifierTarget]:
    """Return two classifiers over the levels of both; points are chosen by the rows of the first.

    Each level lies in one level of each classifier: where their bins are exact, these are, too.
    """
    if first.binned.every == second.binned.every:
        return first, second
    columns = first.binned.classifier.table
    if columns.names != second.binned.classifier.table.names:
        raise InputError(f"{first.name} and {second.name} have different columns")
    if first.partial or second.partial:
        raise InputError("classifiers with different bins are compared with partial=None only")
    pairs = zip(first.binned.every, second.binned.every, columns.columns, strict=True)
    features = tuple(_merged(one, two, column) for one, two, column in pairs)
    return _over(first, features, first), _over(second, features, first)


def _merged(one: Feature, two: Feature, column: Any) -> Feature:
    """Return a column in the levels of both."""
    if (one.values, one.cuts is None) != (two.values, two.cuts is None):
        raise InputError(f"column {one.name!r} has other values for one of the classifiers")
    if one.cuts is None or two.cuts is None:
        return one
    return number_feature(one.name, one.kind, column, Cuts.merged([one.cuts, two.cuts]))


def _over(
    target: ClassifierTarget, features: tuple[Feature, ...], rows_of: ClassifierTarget
) -> ClassifierTarget:
    """Return a classifier over other levels of its columns."""
    binned = Binned(target.binned.classifier, features)
    assumed = Background(target.background, target.binned.classifier.table.names).rules(features)
    rows = binned.places(rows_of.binned.classifier.table)
    return replace(target, binned=binned, rows=rows, assumed=assumed, binning=None)
