"""Rows that try out where trees part their columns, and what trees that were read say of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hornlens.targets.classifiers.columns import read_table


def sums(model, rows):
    """Return the sums of the leaves' scores that rows come to: walked node by node."""
    seen = model.seen(rows, rows.columns).astype(np.float64)
    total = 0
    for tree in model.trees.trees:
        node = np.zeros(len(seen), dtype=int)
        while len(inner := np.flatnonzero(tree.left[node] >= 0)):
            for at in np.unique(node[inner]).tolist():
                here = inner[node[inner] == at]
                left = tree.splits[at].left(seen[here, tree.column[at]])
                node[here] = np.where(left, tree.left[at], tree.right[at])
        total = total + tree.scores[node]
    return total


def band(trees):
    """Return how close two sums must be to be a tie, perhaps."""
    return trees.rounding * max(1.0, sum(float(np.abs(t.scores).max()) for t in trees.trees))


def adversarial(model, given, count, seed=0, missing=False, infinite=False):
    """Return given rows with numbers at the breaks, one bit beside them, and far away."""
    rng = np.random.default_rng(seed)
    rows = np.asarray(given, dtype=np.float64)[rng.integers(0, len(given), count)].copy()
    for seen, breaks in model.trees.breaks().items():
        if not len(breaks):
            continue
        at = breaks[rng.integers(0, len(breaks), count)]
        single = at.astype(np.float32)
        near = np.stack(
            [
                at,
                *(np.nextafter(at, to) for to in (-np.inf, np.inf)),
                *(np.nextafter(single, np.float32(to)) for to in (-np.inf, np.inf)),
                rng.choice([-1e30, 1e30, 0.0, -0.0, 1e-40], count),
            ]
        )
        values = near[rng.integers(0, len(near), count), np.arange(count)]
        place = model.source[seen]
        rows[:, place] = np.where(rng.random(count) < 0.7, values, rows[:, place])
    if missing:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    if infinite:
        rows[rng.random(rows.shape) < 0.02] = np.inf
        rows[rng.random(rows.shape) < 0.02] = -np.inf
    return rows


def differences(model, clf, rows, classes, rebuild=None):
    """Return rows of which the trees clearly say another class than the classifier does."""
    table = replace(read_table(np.zeros((1, rows.shape[1]))), columns=tuple(rows.T.copy()))
    if rebuild is not None:
        table = replace(table, rebuild=rebuild)
    total = sums(model, table)
    two = np.sort(total, axis=1)[:, -2:]
    clear = two[:, 1] - two[:, 0] > band(model.trees)
    said = clf.predict(table.rebuild(table.columns))
    return np.flatnonzero((np.asarray(classes)[total.argmax(axis=1)] != said) & clear)
