"""ONNX-ML's trees, as onnxruntime decides by them.

A TreeEnsembleClassifier of more than two classes says the first with the largest sum. Of two
classes, it looks at one sum only: above 0.5 if no weight is negative, else above 0. Where
onnxruntime does something that depends on which leaves have a weight, only the breaks are of use.
A TreeEnsembleRegressor, or a TreeEnsemble, predicts a number: the sum of its leaves, or their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.ensembles.combining import with_scores
from hornlens.targets.classifiers.ensembles.links import (
    Answer,
    of_numbers,
    share_of_log_odds,
    sum_itself,
)
from hornlens.targets.classifiers.ensembles.trees import Split, Tree, Trees, just_above

KINDS = ("TreeEnsembleClassifier", "TreeEnsembleRegressor", "TreeEnsemble")
SINGLE = 2.0**-24
"""By how much one sum in single precision may be off."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of all trees, in the order of the file; a node is the pair of tree and number."""

    trees: Sequence[int]
    numbers: Sequence[int]
    modes: Sequence[str]
    columns: Sequence[int]
    values: NDArray[np.floating[Any]]
    yes: Sequence[int]
    no: Sequence[int]
    missing_yes: Sequence[int]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Nodes:
        """Return the nodes that a node's attributes list."""
        values = given.get("nodes_values_as_tensor")
        if values is None:
            values = np.asarray(given["nodes_values"], dtype=np.float32)
        missing = given.get("nodes_missing_value_tracks_true") or [0] * len(values)
        return cls(
            *(given["nodes_treeids"], given["nodes_nodeids"]),
            [mode.decode() for mode in given["nodes_modes"]],
            given["nodes_featureids"],
            np.asarray(values),
            *(given["nodes_truenodeids"], given["nodes_falsenodeids"], missing),
        )

    def place(self) -> dict[tuple[int, int], int]:
        """Return where each node stands."""
        pairs = zip(self.trees, self.numbers, strict=True)
        return {pair: place for place, pair in enumerate(pairs)}


def read_onnx_trees(kind: str, given: Mapping[str, Any], single: bool) -> Trees | None:
    """Return the trees of a node, by its kind and attributes; None if they cannot be read.

    `single`: its input has single precision. The classes are in the order of the node's labels.
    """
    if kind == "TreeEnsemble":
        return _of_newer(given, single)
    nodes = Nodes.of(given)
    if single and nodes.values.dtype != np.float32:
        return None
    word = "class" if kind == "TreeEnsembleClassifier" else "target"
    weights = given.get(f"{word}_weights_as_tensor")
    weights = np.asarray(given[f"{word}_weights"] if weights is None else weights, dtype=np.float64)
    count = len(classes_named(given)) if word == "class" else int(given["n_targets"])
    scores = np.zeros((len(nodes.trees), count))
    weighted = np.zeros((len(nodes.trees), count), dtype=np.bool_)
    place = nodes.place()
    ids = zip(given[f"{word}_treeids"], given[f"{word}_nodeids"], strict=True)
    for node, target, weight in zip(ids, given[f"{word}_ids"], weights.tolist(), strict=True):
        scores[place[node], target] += weight
        weighted[place[node], target] = True
    trees, known = [], []
    for own in _each_tree(nodes):
        trees.append(_tree(nodes, own, place, scores, single))
        known.append(weighted[[at for at in own if nodes.modes[at] == "LEAF"]])
    base = given.get("base_values_as_tensor")
    base = np.asarray(given.get("base_values", ()) if base is None else base, dtype=np.float64)
    if word == "target":
        names = (given.get("aggregate_function", b"SUM"), given.get("post_transform", b"NONE"))
        aggregate, transform = (name.decode() for name in names)
        return _of_number(trees, single, base, aggregate, transform)
    change = _change_of(count, base, known, bool((weights >= 0).all()))
    if change is None:
        return _only_breaks(trees, single)
    changed, start = change
    made = [Tree(t.column, t.left, t.right, t.splits, changed(t.scores)) for t in trees]
    rounding = (len(trees) + 4) * SINGLE
    return Trees((*made, Tree.constant(start)), single, rounding=rounding)


def classes_named(given: Mapping[str, Any]) -> list[Any]:
    """Return the classes that a TreeEnsembleClassifier says."""
    texts = given.get("classlabels_strings")
    return [text.decode() for text in texts] if texts else list(given.get("classlabels_int64s", ()))


def _only_breaks(trees: Sequence[Tree], single: bool) -> Trees:
    return Trees(tuple(trees), single, summed=False)


PREDICTIONS: dict[str, Answer] = {"NONE": sum_itself, "LOGISTIC": share_of_log_odds}
"""What a regressor answers of its sum, by the name of its transformation."""


def _of_number(
    trees: Sequence[Tree], single: bool, base: NDArray[np.float64], aggregate: str, transform: str
) -> Trees:
    """Return the trees of a node that predicts one number; of others, only the breaks are of use.

    Whatever its input, onnxruntime's answer has single precision.
    """
    every = Trees(tuple(trees), single, rounding=(len(trees) + 4) * SINGLE)
    is_sum = len(trees) == 1 or aggregate in ("SUM", "AVERAGE")
    is_one = trees[0].scores.shape[1] == 1 and len(base) < 2
    if not is_sum or not is_one or transform not in PREDICTIONS:
        return _only_breaks(trees, single)
    share = len(trees) if aggregate == "AVERAGE" else 1
    link = of_numbers(PREDICTIONS[transform], single=True)
    made = with_scores(every, lambda scores: scores / share)
    start = Tree.constant(base if len(base) else np.zeros(1))
    return replace(made, trees=(*made.trees, start), link=link)


def _each_tree(nodes: Nodes) -> list[list[int]]:
    own: dict[int, list[int]] = {}
    for place, tree in enumerate(nodes.trees):
        own.setdefault(tree, []).append(place)
    return list(own.values())


def _tree(
    nodes: Nodes,
    own: Sequence[int],
    place: Mapping[tuple[int, int], int],
    scores: NDArray[np.float64],
    single: bool,
) -> Tree:
    """Return one tree; its first node is its root."""
    inside = {at: number for number, at in enumerate(own)}
    left: list[int] = []
    right: list[int] = []
    splits: list[Split | None] = []
    for at in own:
        if nodes.modes[at] == "LEAF":
            left.append(-1)
            right.append(-1)
            splits.append(None)
            continue
        tree = nodes.trees[at]
        left.append(inside[place[tree, nodes.yes[at]]])
        right.append(inside[place[tree, nodes.no[at]]])
        value, missing = float(nodes.values[at]), bool(nodes.missing_yes[at])
        splits.append(split_of(nodes.modes[at], value, missing, single))
    return Tree(
        np.array([nodes.columns[at] for at in own], dtype=np.intp),
        np.array(left, dtype=np.intp),
        np.array(right, dtype=np.intp),
        tuple(splits),
        scores[list(own)],
    )


def split_of(mode: str, value: float, missing_yes: bool, single: bool) -> Split:
    """Return what a node asks: a value for which its comparison is true goes to the left.

    >>> split_of("BRANCH_EQ", 2.0, False, False).left(np.array([1.5, 2.0, 2.5])).tolist()
    [False, True, False]
    """
    mode = mode.removeprefix("BRANCH_")
    missing = missing_yes or mode == "NEQ"  # NaN is equal to nothing
    if np.isnan(value):
        return Split(() if mode == "NEQ" else (-np.inf,), missing)
    above = () if value == np.inf else (float(just_above(np.array([value]), single)[0]),)
    breaks = {
        "LEQ": above,
        "LT": (value,),
        "GT": (-np.inf, *above),
        "GTE": (-np.inf, value),
        "EQ": (-np.inf, value, *above),
        "NEQ": (value, *above),
    }[mode]
    # Two breaks at one number are none.
    if len(breaks) > 1 and breaks[0] == breaks[1]:
        breaks = breaks[2:]
    return Split(breaks, missing)


Change = tuple[Callable[[NDArray[np.float64]], NDArray[np.float64]], NDArray[np.float64]]
"""What becomes of the scores of leaves, and what is added for every row."""


def _change_of(
    count: int,
    base: NDArray[np.float64],
    known: Sequence[NDArray[np.bool_]],
    no_negative: bool,
) -> Change | None:
    """Return how the class follows from sums; `known`: which weights the leaves of a tree have."""
    some = np.any([own.any(axis=0) for own in known], axis=0)
    always = np.any([own.all(axis=0) for own in known], axis=0)
    if (some & ~always).any():  # whether a class has a sum depends on the row
        return None
    if count > 2:
        # With base values, all classes have one; else those without weights are never said.
        if len(base) not in (0, count) or (not len(base) and not some.all()):
            return None
        return (lambda scores: scores), base if len(base) else np.zeros(count)
    if count < 2 or len(base) > 1:
        return None
    if some.tolist() == [True, False]:  # the weights of one class
        start, at = (float(base[0]) if len(base) else 0.0), 0
        limit = 0.5 if no_negative else 0.0
    elif not len(base) and some.tolist() == [False, True]:
        start, at, limit = 0.0, 1, 0.5 if no_negative else 0.0
    else:
        return None

    def second(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([np.zeros(len(scores)), scores[:, at]])

    return second, np.array([0.0, start - limit])


# --- the newer node, TreeEnsemble ---

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def _of_newer(given: Mapping[str, Any], single: bool) -> Trees | None:
    """Return the trees of a TreeEnsemble: leaves and nodes are numbered apart."""
    modes = np.asarray(given["nodes_modes"]).tolist()
    if any(mode >= len(MODES) for mode in modes):  # membership in a set
        return None
    values = np.asarray(given["nodes_splits"])
    if single and values.dtype != np.float32:
        return None
    count = len(modes)
    leaves = len(given["leaf_targetids"])
    missing = given.get("nodes_missing_value_tracks_true") or [0] * count
    splits = [
        split_of(MODES[mode], float(value), bool(yes), single)
        for mode, value, yes in zip(modes, values, missing, strict=True)
    ]

    def children(ids: str, are_leaves: str) -> list[int]:
        pairs = zip(given[ids], given[are_leaves], strict=True)
        return [to + count if leaf else to for to, leaf in pairs]

    left = children("nodes_truenodeids", "nodes_trueleafs") + [-1] * leaves
    right = children("nodes_falsenodeids", "nodes_falseleafs") + [-1] * leaves
    columns = [*given["nodes_featureids"], *[0] * leaves]
    every = Tree(
        np.array(columns, dtype=np.intp),
        np.array(left, dtype=np.intp),
        np.array(right, dtype=np.intp),
        (*splits, *[None] * leaves),
        np.zeros((count + leaves, 1)),
    )
    return _only_breaks([every], single)
