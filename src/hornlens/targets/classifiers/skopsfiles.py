"""Estimators from skops files: what is loaded without anyone's word for it.

A file is loaded if it names nothing but types that skops itself trusts, that the user says to
trust, or that are looked at here; what can run code is refused whoever trusts it. Skops does not
trust trees, for scikit-learn believes whatever their nodes say, and crafted ones could lead outside
the tree or the row: such a file is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hornlens.errors import HornlensError, InputError
from hornlens.targets.classifiers.archives import (
    check_classes,
    check_size,
    check_trusted,
    refused,
)

TREE = "sklearn.tree._tree.Tree"
HISTOGRAMS = "sklearn.ensemble._hist_gradient_boosting."
PREDICTOR = f"{HISTOGRAMS}predictor.TreePredictor"
OPTIMIZERS = "sklearn.neural_network._stochastic_optimizers."
UNUSED = tuple(f"{OPTIMIZERS}{name}" for name in ("AdamOptimizer", "SGDOptimizer"))
"""What neural networks were fitted by: plain values, which nothing but `fit` looks at."""


def read_skops(path: Path, trusted: Sequence[str] = ()) -> Any:
    """Return the estimator of a skops file; a type that nobody trusts is an error.

    Decision trees, and those of histogram boosting without categories, are taken if their nodes
    form trees and ask for columns that are there: nothing outside them can be read.
    """
    known = (*trusted, TREE, PREDICTOR, *UNUSED)
    try:
        from skops.io import get_untrusted_types, load
    except ImportError:
        raise HornlensError("skops files need skops: pip install 'hornlens[sklearn]'") from None
    try:
        check_size(path)
        untrusted = get_untrusted_types(file=path)
        check_trusted(untrusted, path)
        named = [name for name in untrusted if name not in trusted]
        if set(named) <= set(known):
            check_classes([name for name in untrusted if name in trusted], path)
            model = load(path, trusted=list(known))
            for one in _parts(model):
                _check_tree(one, path)
                if PREDICTOR not in trusted:
                    _check_histograms(one, path)
            return model
    except (OSError, InputError):
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"is no skops file that can be read: {reason}", path) from None
    # With strange parts, nobody can say how wide the rows of histogram boosting are.
    raise refused([name for name in named if name not in (TREE, *UNUSED)], path)


def _parts(model: Any) -> Iterator[Any]:
    """Yield a model and all that it is made of."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, str | bytes | int | float | None):
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple | set) or (
            isinstance(one, np.ndarray) and one.dtype.kind == "O"
        ):
            waiting += list(np.ravel(one)) if isinstance(one, np.ndarray) else list(one)
        elif hasattr(one, "__dict__"):
            waiting += vars(one).values()


def _name(one: Any) -> str:
    return f"{type(one).__module__}.{type(one).__qualname__}"


def _check_tree(one: Any, path: Path) -> None:
    """Refuse a decision tree that leads outside of itself or of its rows, or round in a circle."""
    if _name(one) == TREE:
        state = one.__getstate__()
        nodes, count = state["nodes"], one.node_count
        left, right, column = nodes["left_child"], nodes["right_child"], nodes["feature"]
        ends = left == -1
        if (
            not 0 < count == len(nodes) == len(state["values"])
            or (right[ends] != -1).any()
            or not _is_tree(ends, left, right, column, one.n_features)
        ):
            raise InputError("has a decision tree whose nodes are no tree", path)
    # An ensemble gives its own rows to its trees; each must be as wide as they take it to be.
    owners = [one, *np.ravel(one.estimators_)] if _is_boosting(one) else [one]
    for owner in owners:
        tree: Any = vars(owner).get("tree_") if hasattr(owner, "__dict__") else None
        if (
            _name(tree) == TREE
            and not tree.n_features == owner.n_features_in_ == one.n_features_in_
        ):
            raise InputError("has a decision tree for rows of another width", path)


def _is_boosting(one: Any) -> bool:
    """Say whether it is gradient boosting, which asks its trees past their own checks."""
    return type(one).__module__ == "sklearn.ensemble._gb" and hasattr(one, "estimators_")


def _check_histograms(one: Any, path: Path) -> None:
    """Refuse histogram boosting whose trees do, or whose rows cannot be known to be wide enough."""
    if not type(one).__module__.startswith(HISTOGRAMS) or not hasattr(one, "_predictors"):
        return
    trees = [tree for several in one._predictors for tree in several]
    if one._preprocessor is not None or any(tree.nodes["is_categorical"].any() for tree in trees):
        raise InputError(
            f"has histogram boosting with categories; if you trust it: --trust {PREDICTOR}", path
        )
    for tree in trees:
        nodes = tree.nodes
        left, right = nodes["left"].astype(np.int64), nodes["right"].astype(np.int64)
        ends, column = nodes["is_leaf"] != 0, nodes["feature_idx"]
        if not len(nodes) or not _is_tree(ends, left, right, column, one.n_features_in_):
            raise InputError("has a decision tree whose nodes are no tree", path)


def _is_tree(ends: Any, left: Any, right: Any, column: Any, width: int) -> bool:
    """Say whether children come after their parents and inside, and columns are there."""
    own, inner = np.arange(len(ends)), ~ends
    children = np.concatenate([left[inner], right[inner]])
    return bool(
        (left[inner] > own[inner]).all()
        and (right[inner] > own[inner]).all()
        and (children < len(ends)).all()
        and len(np.unique(children)) == len(children) == len(ends) - 1
        and (column[inner] >= 0).all()
        and (column[inner] < width).all()
    )
