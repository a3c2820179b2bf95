"""The graph of an ONNX file: where its trees stand, and what the columns they see come from.

Each column that a tree sees must come from one column of the table, in its order: then each
threshold has one place in that column, which is found by running the file up to the trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.ensembles.combining import moved, only_breaks
from hornlens.targets.classifiers.ensembles.links import (
    Answer,
    of_numbers,
    single_exponential,
    sum_itself,
)
from hornlens.targets.classifiers.ensembles.onnx import KINDS, classes_named, read_onnx_trees
from hornlens.targets.classifiers.ensembles.trees import Trees
from hornlens.targets.classifiers.onnxruns import UpTo

AS_THEY_ARE = {"Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Clip", "Relu", "Floor", "Ceil"}
"""Nodes that keep the columns and their order (where a Reshape leaves as many columns)."""
ON_THE_WAY = {"Identity", "Cast", "Reshape", "Flatten", "Squeeze"}
"""Nodes between the trees and the label that change no class."""

REALS = (1, 11)
"""Single and double precision, as a Cast names them."""

Origin: TypeAlias = tuple[int, ...]
"""For each column of a tensor, the column of the table that it comes from."""


class Unreadable(Exception):
    """Why trees cannot be read, in words."""


@dataclass(frozen=True, eq=False)
class Graph:
    """What is read of a file: its trees, the tensors that they see, and where these come from."""

    trees: Trees
    tensors: tuple[str, ...]
    """The tensors that the trees see, side by side."""
    source: Origin
    encoded: frozenset[int]
    changed: frozenset[int]
    labels: tuple[Any, ...] | None
    """All classes that the file says, if trees say them."""


def read_graph(content: bytes, inputs: Mapping[str, Origin]) -> Graph | None:
    """Return what a model's label depends on; raise Unreadable if that is not trees alone.

    None if it has no trees at all.

    `inputs` has for each input the columns of the table that it consists of.
    """
    from onnx import load_from_string, numpy_helper

    graph = load_from_string(content).graph
    if not any(node.op_type in KINDS for node in graph.node):
        return None
    made_by = {name: node for node in graph.node for name in node.output}
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = np.asarray(_attributes(node)["value"])
    label = graph.output[0].name
    ensembles = _ensembles_behind(label, made_by, inputs)
    trace = _Trace(made_by, constants, inputs, set(), set())
    single = _is_single(content, [node.input[0] for node in ensembles])
    parts: dict[str, int] = {}
    source: list[int] = []
    every: list[Trees] = []
    for node in ensembles:
        tensor = node.input[0]
        if tensor not in parts:
            parts[tensor] = len(source)
            source += trace.origin(tensor)
        trees = read_onnx_trees(node.op_type, _attributes(node), single)
        if trees is None:
            raise Unreadable(f"a node {node.op_type} compares in a way that is not read")
        every.append(moved(trees, parts[tensor]))
    if len(every) == 1 and _says(label, ensembles[0], made_by):
        (trees,) = every
        labels = tuple(classes_named(_attributes(ensembles[0])))
    elif len(every) == 1 and (prediction := _prediction(label, ensembles[0], made_by, constants)):
        (trees,), labels = every, None
        if (own := trees.link.prediction) is not None:
            after = partial(_in_turn, (own, *prediction))
            trees = replace(trees, link=of_numbers(after, single=True))
    else:
        trees, labels = only_breaks(every), None
    encoded, changed = frozenset(trace.encoded), frozenset(trace.changed)
    return Graph(trees, tuple(parts), tuple(source), encoded, changed, labels)


def _attributes(node: Any) -> dict[str, Any]:
    """Return a node's attributes; tensors as arrays."""
    from onnx import TensorProto, helper, numpy_helper

    values = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    return {
        name: numpy_helper.to_array(value) if isinstance(value, TensorProto) else value
        for name, value in values.items()
    }


def _ensembles_behind(
    label: str, made_by: Mapping[str, Any], inputs: Mapping[str, Any]
) -> list[Any]:
    """Return the trees that the label depends on; it must depend on nothing else."""
    waiting, seen = [label], set[str]()
    ensembles: dict[str, Any] = {}
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in inputs:
            raise Unreadable("its classes depend on columns that no tree asks for")
        node = made_by.get(name)
        if node is None:
            continue
        if node.op_type in KINDS:
            ensembles[node.output[0]] = node
        elif node.op_type != "Shape":  # how many rows there are is no matter
            waiting += [one for one in node.input if one]
    if not ensembles:
        raise Unreadable("its classes do not depend on its trees")
    return list(ensembles.values())


def _says(label: str, trees: Any, made_by: Mapping[str, Any]) -> bool:
    """Return whether a label is what a classifier of trees says, unchanged."""
    if trees.op_type != "TreeEnsembleClassifier":
        return False
    while label != trees.output[0]:
        node = made_by[label]
        if node.op_type not in ON_THE_WAY or label in trees.output:
            return False
        label = node.input[0]
    return True


def _prediction(
    label: str, trees: Any, made_by: Mapping[str, Any], constants: Mapping[str, NDArray[Any]]
) -> list[Answer] | None:
    """Return what becomes of the number that a regressor of trees predicts, step by step.

    None if the label is something else. What the steps make grows with the number.
    """
    steps: list[Answer] = [sum_itself]
    while label != trees.output[0]:
        node = made_by[label]
        if node.op_type == "Exp":
            steps.append(single_exponential)
        elif node.op_type in ("Mul", "Div"):
            factor = constants.get(node.input[1])
            if factor is None or factor.size != 1 or not factor.min() > 0:
                return None
            by = float(factor.ravel()[0])
            steps.append(partial(np.multiply, by if node.op_type == "Mul" else 1 / by))
        elif (
            node.op_type not in ON_THE_WAY
            or label in trees.output
            or (node.op_type == "Cast" and _attributes(node)["to"] not in REALS)
        ):
            return None
        label = node.input[0]
    return None if trees.op_type == "TreeEnsembleClassifier" else steps[::-1]


def _in_turn(steps: Sequence[Answer], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    for step in steps:
        numbers = step(numbers)
    return numbers


def _is_single(content: bytes, tensors: Sequence[str]) -> bool:
    """Return whether tensors have single precision; raise Unreadable if they have none, or two."""
    kinds = set(UpTo(content, tuple(tensors)).kinds())
    if kinds == {"tensor(double)"}:
        return False
    if kinds == {"tensor(float)"}:
        return True
    raise Unreadable("its trees compare neither all in single nor all in double precision")


@dataclass(frozen=True, eq=False)
class _Trace:
    """Follows the columns of a tensor back to the table, and notes what is done to them."""

    made_by: Mapping[str, Any]
    constants: Mapping[str, NDArray[Any]]
    inputs: Mapping[str, Origin]
    encoded: set[int]
    changed: set[int]

    def origin(self, tensor: str) -> Origin:
        """Return the columns of the table; raise Unreadable if a node mixes them."""
        if tensor in self.inputs:
            return self.inputs[tensor]
        node = self.made_by.get(tensor)
        if node is None:
            raise Unreadable("a tree asks for a constant")
        read = READERS.get(node.op_type)
        if node.op_type in AS_THEY_ARE:
            read = _as_it_is
        if read is None:
            raise Unreadable(f"the node {node.op_type} before the trees is not read")
        given = [one for one in node.input if one and one not in self.constants]
        origins = [self.origin(one) for one in given]
        own = read(self, node, origins)
        if node.op_type not in ("Identity", "Concat", "ArrayFeatureExtractor", "Gather"):
            self.changed.update(own)
        return own

    def constant(self, node: Any, at: int) -> NDArray[Any]:
        """Return a node's input that must be a constant."""
        if len(node.input) <= at or node.input[at] not in self.constants:
            raise Unreadable(f"the node {node.op_type} before the trees is not read")
        return self.constants[node.input[at]]


def _as_it_is(trace: _Trace, node: Any, origins: Sequence[Origin]) -> Origin:
    if node.op_type == "Reshape":
        shape = trace.constant(node, 1).tolist()
        if len(shape) != 2 or shape[1] not in (len(origins[0]), -1):
            raise Unreadable("the node Reshape before the trees is not read")
    if node.op_type == "Cast" and _attributes(node)["to"] not in REALS:
        raise Unreadable("a Cast before the trees makes other than real numbers")
    return origins[0]


def _scaled(_: _Trace, node: Any, origins: Sequence[Origin]) -> Origin:
    if min(_attributes(node).get("scale", [1.0])) < 0:
        raise Unreadable("a Scaler before the trees turns the order of a column round")
    return origins[0]


def _imputed(_: _Trace, node: Any, origins: Sequence[Origin]) -> Origin:
    given = _attributes(node)
    sentinel = given.get("replaced_value_float", float("nan"))
    if given.get("imputed_value_int64s") or not np.isnan(sentinel):
        raise Unreadable("an Imputer before the trees replaces a number")
    return origins[0]


def _by_constant(trace: _Trace, node: Any, origins: Sequence[Origin]) -> Origin:
    """Follow arithmetic with one constant for each column; the order must stay."""
    names = [one for one in node.input if one not in trace.constants]
    if len(names) != 1 or len(node.input) != 2:
        raise Unreadable(f"the node {node.op_type} before the trees mixes columns")
    at = list(node.input).index(names[0])
    other = trace.constant(node, 1 - at)
    turns = (node.op_type in ("Mul", "Div") and (other < 0).any()) or (
        node.op_type in ("Sub", "Div") and at == 1
    )
    if turns or other.size not in (1, len(origins[0])):
        raise Unreadable(f"the node {node.op_type} before the trees is not read")
    return origins[0]


def _side_by_side(_: _Trace, node: Any, origins: Sequence[Origin]) -> Origin:
    if len(origins) != len(node.input) or _attributes(node).get("axis", 1) not in (1, -1):
        raise Unreadable("the node Concat before the trees is not read")
    return tuple(place for origin in origins for place in origin)


def _chosen(trace: _Trace, node: Any, origins: Sequence[Origin]) -> Origin:
    is_gather = node.op_type == "Gather"
    if is_gather and _attributes(node).get("axis", 0) != 1:
        raise Unreadable("the node Gather before the trees is not read")
    return tuple(origins[0][int(at)] for at in trace.constant(node, 1).ravel())


def _one_hot(trace: _Trace, node: Any, origins: Sequence[Origin]) -> Origin:
    given = _attributes(node)
    count = len(given.get("cats_strings") or given.get("cats_int64s") or ())
    if len(origins[0]) != 1:
        raise Unreadable("a OneHotEncoder before the trees has several columns")
    trace.encoded.update(origins[0])
    return origins[0] * count


def _encoded(trace: _Trace, _: Any, origins: Sequence[Origin]) -> Origin:
    trace.encoded.update(origins[0])
    return origins[0]


Reader: TypeAlias = Callable[[_Trace, Any, Sequence[Origin]], Origin]
READERS: dict[str, Reader] = {
    "Scaler": _scaled,
    "Imputer": _imputed,
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), _by_constant),
    **dict.fromkeys(("Concat", "FeatureVectorizer"), _side_by_side),
    **dict.fromkeys(("ArrayFeatureExtractor", "Gather"), _chosen),
    "OneHotEncoder": _one_hot,
    "LabelEncoder": _encoded,
}
"""Who follows columns through the other nodes."""
