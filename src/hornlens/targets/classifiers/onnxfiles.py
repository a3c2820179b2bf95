"""Models in ONNX files: asked through onnxruntime, and read where their trees can be."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError, InputError
from hornlens.models.privacy import keep_private
from hornlens.targets.classifiers.columns import Column, Table
from hornlens.targets.classifiers.ensembles.trees import NotExact
from hornlens.targets.classifiers.onnxgraphs import Graph, Unreadable, read_graph
from hornlens.targets.classifiers.onnxruns import UpTo, answers_to_rows, session_of
from hornlens.targets.classifiers.pipelines import TreeModel

INSTALL = "pip install 'hornlens[onnx]'"


class OnnxModel:
    """A model in an ONNX file; its classes are all that the table and the model name."""

    def __init__(self, path: Path, names: Sequence[str], target: Sequence[str] | None):
        """Open the file; its inputs must be one for all columns, or one for each."""
        keep_private()
        self._content = path.read_bytes()
        try:
            self._session = session_of(self._content)
        except HornlensError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"is no ONNX model: {reason}", path) from None
        self._inputs = self._session.get_inputs()
        self._names, self._path = list(names), path
        self._check()
        self._target = target

    def _check(self) -> None:
        given = [one.name for one in self._inputs]
        if len(given) == 1:
            width = self._inputs[0].shape[-1] if self._inputs[0].shape else None
            if isinstance(width, int) and width != len(self._names):
                raise InputError(
                    f"takes {width} columns, and the table has {len(self._names)}", self._path
                )
            return
        for name in given:
            if name not in self._names:
                raise InputError(f"asks for the column {name!r}, which is not there", self._path)
        for name in self._names:
            if name not in given:
                raise InputError(f"does not ask for the column {name!r} of the table", self._path)

    @property
    def __name__(self) -> str:
        """What it is called."""
        return self._path.name

    def rebuild(self, columns: Sequence[Column]) -> dict[str, NDArray[Any]]:
        """Return what the model takes, of columns."""
        if len(self._inputs) == 1:
            kind = _dtype(self._inputs[0].type)
            whole = np.column_stack([column.astype(np.float64) for column in columns])
            return {self._inputs[0].name: whole.astype(kind)}
        by_name = dict(zip(self._names, columns, strict=True))
        return {
            one.name: by_name[one.name].astype(_dtype(one.type)).reshape(-1, 1)
            for one in self._inputs
        }

    def predict(self, rows: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the label of each row: the model's first output."""
        (labels,) = answers_to_rows(self._session, [self._session.get_outputs()[0].name], rows)
        return labels.reshape(-1) if labels.ndim == 2 and labels.shape[1] == 1 else labels

    @cached_property
    def _graph(self) -> Graph | str | None:
        """What is read of the file, or why nothing is; None if it has no trees."""
        try:
            import onnx  # noqa: F401
        except ImportError:
            return f"the package onnx is not installed: {INSTALL}"
        places = {name: place for place, name in enumerate(self._names)}
        given = [one.name for one in self._inputs]
        every = tuple(range(len(self._names)))
        inputs = {name: (places[name],) for name in given} if len(given) > 1 else {given[0]: every}
        try:
            return read_graph(self._content, inputs)
        except Unreadable as error:
            return str(error)

    @property
    def _estimator_type(self) -> str:
        """The kind "regressor", if its trees predict numbers."""
        graph = self._graph
        if isinstance(graph, Graph) and graph.trees.link.prediction is not None:
            return "regressor"
        raise AttributeError("what kind of model it is, its trees do not say")

    @property
    def classes_(self) -> tuple[Any, ...] | None:
        """All classes that it says, if its trees say them; None if that is not known."""
        return self._graph.labels if isinstance(self._graph, Graph) else None

    def tree_model(self, table: Table) -> TreeModel | None:
        """Return its trees, over the columns of a table; None if it has none.

        If they cannot be read, raise NotExact.
        """
        graph = self._graph
        if graph is None:
            return None
        if isinstance(graph, str):
            raise NotExact(graph)
        direct = frozenset(range(len(table.names))) - graph.changed - graph.encoded
        prepare = UpTo(self._content, graph.tensors)
        return TreeModel(graph.trees, prepare, graph.source, graph.encoded, direct)

    def classes_among(self, answers: set[Any]) -> set[Any]:
        """Return the classes: what it answers for the rows, and what the target's column has."""
        classes = set(answers)
        for value in self._target or ():
            for make in {type(answer) for answer in answers}:
                with suppress(ValueError):
                    classes.add(make(value))
        return classes


def _dtype(kind: str) -> Any:
    known = {"float": np.float32, "double": np.float64, "int64": np.int64, "int32": np.int32}
    inner = kind.removeprefix("tensor(").removesuffix(")")
    return {**known, "string": object, "bool": np.bool_}.get(inner, np.float32)
