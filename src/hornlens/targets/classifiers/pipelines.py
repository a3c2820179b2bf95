"""Trees behind the steps of a Pipeline and inside wrappers, with the columns that they see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.targets.classifiers.columns import Column, Table
from hornlens.targets.classifiers.deciding import Banded, Thresholded
from hornlens.targets.classifiers.ensembles.combining import moved, widened
from hornlens.targets.classifiers.ensembles.readers import Coding, read_trees, rows_before
from hornlens.targets.classifiers.ensembles.rows import frame_columns, frame_numbers
from hornlens.targets.classifiers.ensembles.trees import NotExact, Trees
from hornlens.targets.classifiers.ensembles.wrappers import Wrapper, read_wrapper
from hornlens.targets.classifiers.steps import PREPARE, Trace


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Trees, and how the columns that they see come from the columns of X."""

    trees: Trees
    prepare: Callable[[Any], NDArray[Any]]
    source: tuple[int, ...]
    """For each column that the trees see, the column of X that it comes from."""
    encoded: frozenset[int]
    """The columns of X that are categories to the classifier, whatever they look like."""
    direct: frozenset[int]
    """The columns of X that the trees see as they are."""
    replaced: Mapping[int, frozenset[float]] = field(default_factory=dict)
    """For columns of X, numbers in place of which the trees see another one."""
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    """For columns of X, the categories that their encoder knows, whether X has them or not."""

    @property
    def way(self) -> Any:
        """What is equal for trees that see the same values."""
        if not isinstance(self.prepare, Prepared):
            return id(self)
        steps = self.prepare.steps
        return tuple(step if isinstance(step, Picked) else id(step) for step in steps)

    def seen(self, table: Table, columns: Sequence[Column]) -> NDArray[Any]:
        """Return the values that the trees compare, of rows given by columns."""
        try:
            made = np.asarray(self.prepare(table.rebuild(columns)))
            return made.astype(np.float32 if self.trees.single else np.float64)
        except HornlensError:
            raise
        except Exception as error:  # whatever a step does not accept
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise HornlensError(f"the model does not accept these rows: {reason}") from error


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the steps before the trees make of rows."""

    steps: tuple[Any, ...]

    def __call__(self, rows: Any) -> NDArray[Any]:
        """Return the values that the trees are given."""
        for step in self.steps:
            rows = step.transform(rows)
        made = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
        if made.dtype.kind == "O" and hasattr(rows, "columns"):  # numbers that may be missing
            return np.column_stack([frame_numbers(column) for column in frame_columns(rows)])
        return made


@dataclass(frozen=True, eq=False)
class SideBySide:
    """What several ways to prepare rows make of them, side by side."""

    parts: tuple[Callable[[Any], NDArray[Any]], ...]

    def __call__(self, rows: Any) -> NDArray[Any]:
        """Return the values that the trees are given."""
        return np.concatenate([part(rows) for part in self.parts], axis=1)


@dataclass(frozen=True)
class Picked:
    """A step that gives some columns, as an array without names."""

    columns: tuple[int, ...]

    def transform(self, rows: Any) -> NDArray[Any]:
        """Return the columns."""
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        return np.asarray(np.asarray(rows)[:, list(self.columns)])


@dataclass(frozen=True, eq=False)
class View:
    """The columns that an estimator is given: what they come from, and through which steps."""

    trace: Trace
    source: tuple[int, ...]
    names: tuple[str, ...] | None
    steps: tuple[Any, ...] = ()
    lost: NotExact | None = None
    """Why nobody can say where they come from; trees behind that cannot be read."""

    def through(self, step: Any) -> View:
        """Return what is behind a step."""
        if step is None or step == "passthrough" or self.lost is not None:
            return self
        names, trace = None if self.names is None else list(self.names), self.trace.copy()
        try:
            source, names = trace.through(step, list(self.source), names)
        except NotExact as error:
            return replace(self, lost=error)
        known = None if names is None else tuple(names)
        return View(trace, tuple(source), known, (*self.steps, step))

    def picked(self, columns: tuple[int, ...]) -> View:
        """Return some of the columns, without their names."""
        if self.lost is not None:
            return self
        source = tuple(self.source[column] for column in columns)
        return replace(self, source=source, names=None, steps=(*self.steps, Picked(columns)))

    def coded(self, coding: Coding) -> View:
        """Return what a library makes of the columns before its trees see them."""
        if self.lost is not None:
            return self
        trace = self.trace.copy()
        trace.encoded.update(self.source[column] for column in coding.encoded)
        return replace(self, trace=trace, steps=(*self.steps, coding))

    def model(self, trees: Trees) -> TreeModel:
        """Return trees that see these columns; raise NotExact if nobody can say which they are."""
        if self.lost is not None:
            raise self.lost
        trace, table = self.trace, self.trace.table
        direct = frozenset(range(len(table.names))) - trace.changed - trace.encoded
        replaced = {place: frozenset(values) for place, values in trace.replaced.items()}
        model = TreeModel(
            *(trees, Prepared(self.steps), self.source, frozenset(trace.encoded), direct),
            *(replaced, trace.categories),
        )
        if self.steps and model.seen(table, table.first(1).columns).shape[1] != len(self.source):
            raise NotExact(f"its steps make other columns than expected; {PREPARE}")
        return model


def read_tree_model(clf: Any, table: Table) -> TreeModel | None:
    """Return the trees of an estimator, Pipeline or wrapper; None if there are none.

    Trees that cannot be read to the last bit, or traced back to the columns of X, raise NotExact.
    """
    return _read(clf, View(Trace(table), tuple(range(len(table.names))), table.names))


def _read(clf: Any, view: View) -> TreeModel | None:
    if hasattr(clf, "tree_model"):  # it knows by itself how its columns come from those of X
        return _alone(clf, view)
    steps = [step for _, step in clf.steps] if hasattr(clf, "steps") else [clf]
    *before, last = steps
    for step in before:
        view = view.through(step)
    if before:
        return _read(last, view)
    own = isinstance(last, Thresholded | Banded)
    wrapper = Wrapper((last.estimator,), last.over) if own else read_wrapper(last)
    if wrapper is not None:
        return _read_wrapped(wrapper, view)
    trees = read_trees(last)
    if trees is None:
        return None
    is_histogram = type(last).__name__.startswith("HistGradientBoosting")
    if is_histogram and last._preprocessor is not None:
        view = view.through(last._preprocessor)
    if (coding := rows_before(last)) is not None:
        view = view.coded(coding)
    return view.model(trees)


def _alone(clf: Any, view: View) -> TreeModel | None:
    """Return the trees of what traces its columns itself, if it is given the rows of X."""
    model: TreeModel | None = None if view.steps else clf.tree_model(view.trace.table)
    return model


def _read_wrapped(wrapper: Wrapper, view: View) -> TreeModel | None:
    """Return the trees of all that a wrapper asks, over all columns that they see."""
    columns = wrapper.columns or (None,) * len(wrapper.members)
    models: list[TreeModel] = []
    for member, own in zip(wrapper.members, columns, strict=True):
        model = _read(member, view if own is None else view.picked(own))
        if model is None:
            return None
        models.append(model)
    if len(models) == 1:
        return replace(models[0], trees=wrapper.combine([models[0].trees]))
    mixed = len({model.trees.single for model in models}) > 1
    parts: dict[Any, tuple[int, TreeModel]] = {}
    trees, width = [], 0
    for model in models:
        key = model.way
        if key not in parts:
            parts[key] = (width, model)
            width += len(model.source)
        own_trees = widened(model.trees) if mixed else model.trees
        trees.append(moved(own_trees, parts[key][0]))
    blocks = [model for _, model in parts.values()]
    return TreeModel(
        wrapper.combine(trees),
        blocks[0].prepare if len(blocks) == 1 else SideBySide(tuple(b.prepare for b in blocks)),
        tuple(place for block in blocks for place in block.source),
        frozenset().union(*(block.encoded for block in blocks)),
        frozenset.intersection(*(block.direct for block in blocks)),
        _joined(block.replaced for block in blocks),
        {place: known for block in blocks for place, known in block.categories.items()},
    )


def _joined(every: Iterable[Mapping[int, frozenset[float]]]) -> dict[int, frozenset[float]]:
    """Return what is replaced in any of some ways to prepare rows."""
    joined: dict[int, frozenset[float]] = {}
    for replaced in every:
        for place, values in replaced.items():
            joined[place] = joined.get(place, frozenset()) | values
    return joined
