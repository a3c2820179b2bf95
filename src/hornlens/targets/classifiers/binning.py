"""How columns become features: by the thresholds of the model, or by quantiles, widths, edges.

Where the bins are the model's own, the binned model is the model, for every input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hornlens.errors import InputError
from hornlens.logic.cuts import Cuts, quantile_cuts, uniform_cuts
from hornlens.targets.classifiers.answering import Classifier
from hornlens.targets.classifiers.choosing import Chooser
from hornlens.targets.classifiers.columns import Table, column_of
from hornlens.targets.classifiers.ensembles.trees import NotExact
from hornlens.targets.classifiers.features import Feature, number_feature, value_feature
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.networks import NetworkModel
from hornlens.targets.classifiers.pipelines import TreeModel, read_tree_model
from hornlens.targets.classifiers.thresholds import exact_cuts

Bins: TypeAlias = str | Mapping[str, Sequence[float]] | Any
"""auto, model, quantile, uniform, edges by column, or a fitted KBinsDiscretizer."""


NONE = Cuts.at([])
WHERE_IT_CHANGES = "at most {} bins a column, where the model changes"
"""How bins are called that were chosen by agreement."""


@dataclass(frozen=True, eq=False)
class Binning:
    """The features, and whether they are exact: every input of a cell gets the cell's class."""

    features: tuple[Feature, ...]
    exact: bool
    how: str
    """In words, for people."""
    trees: TreeModel | None = None
    fallback: str = ""
    """Why the trees that it has could not be read; empty if they were, or if it has none."""
    network: NetworkModel | None = None
    """The network or linear model over whose levels this is, if it is looked into."""


def bin_columns(
    clf: Any,
    classifier: Classifier,
    bins: Bins,
    count: int,
    more: Mapping[str, Cuts] | None = None,
    meter: Meter | None = None,
    seed: int | None = None,
) -> Binning:
    """Return the columns of X in levels; `more` are cuts that rules about columns ask for.

    With a `seed`, a model that cannot be read is asked where it changes, and cut there: the `meter`
    counts that.
    """
    more = more or {}
    table = classifier.table
    model, fallback = None, ""
    if isinstance(bins, str) and bins not in ("auto", "model", "quantile", "uniform"):
        raise InputError(
            f"bins must be auto, model, quantile, uniform, or edges by column, not {bins!r}"
        )
    if isinstance(bins, str) and bins in ("auto", "model"):
        model, fallback = _trees_of(clf, table)
        if model is None and bins == "model":
            why = fallback or f"{classifier.name} has none that can be read; use bins='quantile'"
            raise InputError(f"bins='model' reads the thresholds of trees: {why}")
    if model is not None:
        return Binning(
            _model_features(model, table, more), True, "the model's own thresholds", model
        )
    edges = _edges_of(bins, table)
    features: list[Feature] = []
    for place, name in enumerate(table.names):
        kind, column = table.kinds[place], table.columns[place]
        if kind not in ("number", "whole"):
            features.append(value_feature(name, kind, column, table.levels[place]))
            continue
        if name in edges:
            cuts = edges[name]
        elif bins == "uniform":
            cuts = uniform_cuts(column, count)
        else:
            cuts = quantile_cuts(column, count)
        features.append(number_feature(name, kind, column, cuts))
    exact = all(feature.cuts is None for feature in features)
    how = "the values of each column" if exact else _in_words(bins, count)
    if isinstance(bins, str) and bins == "auto" and not exact and seed is not None:
        chooser = Chooser.of(classifier, features, count, meter, seed)
        chosen = chooser.features([p for p, one in enumerate(features) if one.cuts is not None])
        how = WHERE_IT_CHANGES.format(count) if chosen != tuple(features) else how
        features = list(chosen)
    for place, feature in enumerate(features):
        if feature.cuts is not None and feature.name in more:
            own = feature.cuts.with_cuts(more[feature.name])
            column = table.columns[place]
            features[place] = number_feature(feature.name, feature.kind, column, own)
    return Binning(tuple(features), exact, how, None, fallback)


def _trees_of(clf: Any, table: Table) -> tuple[TreeModel | None, str]:
    """Return the trees of a classifier, or why they could not be read; empty if it has none."""
    try:
        return read_tree_model(clf, table), ""
    except NotExact as error:
        return None, f"its trees could not be read because {error}"


def _number(edge: Any) -> float:
    return edge if isinstance(edge, int) and not isinstance(edge, bool) else float(edge)


def _in_words(bins: Bins, count: int) -> str:
    if isinstance(bins, Mapping) or hasattr(bins, "bin_edges_"):
        return "the edges that were given"
    return (
        f"at most {count} bins a column, {'of one width' if bins == 'uniform' else 'by quantiles'}"
    )


def _model_features(
    model: TreeModel, table: Table, more: Mapping[str, Cuts]
) -> tuple[Feature, ...]:
    cuts, features = exact_cuts(model, table), []
    for place, name in enumerate(table.names):
        kind, column = table.kinds[place], table.columns[place]
        if kind in ("number", "whole") and place not in model.encoded:
            own_cuts = cuts.get(place, NONE).with_cuts(more.get(name, NONE))
            features.append(number_feature(name, kind, column, own_cuts))
        else:
            own = kind if kind in ("boolean", "ordered") else "category"
            known = table.levels[place]
            more_values = () if known else model.categories.get(place, ())
            features.append(value_feature(name, own, column, known, more_values))
    return tuple(features)


def _edges_of(bins: Bins, table: Table) -> dict[str, Cuts]:
    if isinstance(bins, str):
        return {}
    if hasattr(bins, "bin_edges_"):  # a KBinsDiscretizer: its outer edges part nothing
        if len(bins.bin_edges_) != len(table.names):
            raise InputError(
                f"the bins are of {len(bins.bin_edges_)} columns, and X has {len(table.names)}"
            )
        return {
            name: Cuts.at(edges[1:-1])
            for name, edges in zip(table.names, bins.bin_edges_, strict=True)
        }
    if hasattr(bins, "transform"):
        raise InputError(f"bins: the {type(bins).__name__} is not fitted: call fit first")
    if not isinstance(bins, Mapping):
        raise InputError("bins must be a word, or edges by column: {'age': [30, 60]}")
    found = {}
    for name, edges in bins.items():
        place = column_of(table, str(name))
        if table.kinds[place] not in ("number", "whole"):
            raise InputError(f"column {name!r} has no numbers: it cannot be cut at edges")
        try:
            found[str(name)] = Cuts.at(map(_number, np.ravel(np.asarray(edges)).tolist()))
        except (TypeError, ValueError):
            raise InputError(f"the edges of column {name!r} are no numbers: {edges!r}") from None
        except InputError as error:
            raise InputError(f"the edges of column {name!r}: {error.message}") from None
    return found
