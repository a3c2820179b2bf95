"""A boosted forest, grown here from seeded data: what classifiers look like from outside."""

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.grid import LabelledSpace
from hornlens.logic.attributes import Nominal
from hornlens.logic.space import Space

Tree = tuple[int, int, "Tree | float", "Tree | float"]
"""A feature, a value, and what is said where the feature has it, and where not."""


def boosted_forest(features: int, values: int, trees: int, seed: int) -> LabelledSpace:
    """Label a grid by trees fitted, one after another, to noisy data; 0 is "not known"."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, values + 1, (3000, features))
    weights = rng.normal(size=(features, values + 1))
    pairs = rng.normal(size=(values + 1, values + 1))
    truth = weights[np.arange(features), data].sum(axis=1) + 2 * pairs[data[:, 0], data[:, 1]]
    wanted = np.where(truth + rng.normal(size=len(data)) > 0, 1.0, -1.0)
    names = [tuple(f"f{f}v{v}" for v in range(1, values + 1)) for f in range(features)]
    space = Space(
        tuple(Nominal(f"f{f}", names[f]) for f in range(features)), Nominal("class", ("yes", "no"))
    )
    cells = np.indices(space.shape[:-1]).reshape(features, -1).T
    score, everywhere = np.zeros(len(data)), np.zeros(len(cells))
    for _ in range(trees):
        tree = _grow(data, wanted - score, 3)
        score += 0.3 * _said(tree, data)
        everywhere += 0.3 * _said(tree, cells)
    yes = everywhere > 0
    return LabelledSpace(space, np.column_stack([np.ones(len(cells), bool), yes, ~yes]).reshape(-1))


def _grow(data: NDArray[np.int64], rest: NDArray[np.float64], depth: int) -> "Tree | float":
    """Return the tree that splits where it lessens the squared error most."""
    if depth == 0 or len(rest) < 20:
        return float(rest.mean()) if len(rest) else 0.0
    best, split = 0.0, (0, 0)
    for feature in range(data.shape[1]):
        counts = np.bincount(data[:, feature])
        sums = np.bincount(data[:, feature], weights=rest)
        others = len(rest) - counts
        fits = (counts > 0) & (others > 0)
        gain = np.where(
            fits,
            sums**2 / np.maximum(counts, 1) + (rest.sum() - sums) ** 2 / np.maximum(others, 1),
            -1.0,
        )
        if gain.max() > best:
            best, split = float(gain.max()), (feature, int(gain.argmax()))
    there = data[:, split[0]] == split[1]
    return (
        *split,
        _grow(data[there], rest[there], depth - 1),
        _grow(data[~there], rest[~there], depth - 1),
    )


def _said(tree: "Tree | float", data: NDArray[np.int64]) -> NDArray[np.float64]:
    if isinstance(tree, float):
        return np.full(len(data), tree)
    feature, value, left, right = tree
    return np.where(data[:, feature] == value, _said(left, data), _said(right, data))
