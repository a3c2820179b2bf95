"""Tables of leaves, held against the leaves themselves, one box at a time."""

import numpy as np
import pytest

from hornlens.targets.classifiers.bounding import tables as tables_module
from hornlens.targets.classifiers.bounding.tables import Sum, Tables

TREES, BOXES = 5, 40


def parted(rng, sizes, ranged, count):
    """Return the leaves of a random tree: for each axis, which levels lead there."""
    leaves = [[np.ones(size, dtype=np.bool_) for size in sizes]]
    for _ in range(40 * count):
        leaf = leaves[int(rng.integers(len(leaves)))]
        axis = int(rng.integers(len(sizes)))
        own = np.flatnonzero(leaf[axis])
        if len(leaves) == count or len(own) < 2:
            continue
        some = own[: rng.integers(1, len(own))] if ranged[axis] else own[rng.random(len(own)) < 0.5]
        if not 0 < len(some) < len(own):
            continue
        other = [levels.copy() for levels in leaf]
        leaf[axis] = np.isin(np.arange(sizes[axis]), some)
        other[axis] &= ~leaf[axis]
        leaves.append(other)
    return leaves


def drawn(seed):
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.integers(2, 16, 4)]
    ranged, missing = rng.random(4) < 0.7, rng.random(4) < 0.4
    sums, trees = [], []
    for number in range(int(rng.integers(1, 3))):
        own = [parted(rng, sizes, ranged, int(rng.choice([6, 60, 150]))) for _ in range(TREES)]
        every = [leaf for leaves in own for leaf in leaves]
        values = np.round(rng.normal(size=len(every)), 1)
        starts = np.cumsum([0, *map(len, own[:-1])])
        sums.append(Sum(values, starts, lambda axis, of=every: np.stack([a[axis] for a in of])))
        for leaves, start in zip(own, starts, strict=True):
            trees.append((number, leaves, values[start : start + len(leaves)]))
    return rng, sizes, Tables(sizes, [bool(flag) for flag in missing], sums), trees


def most_of(trees, sums, low, high):
    """Return the most that each sum can be in a box, one leaf after the other."""
    most = np.zeros(sums)
    for number, leaves, values in trees:
        reached = [
            value
            for leaf, value in zip(leaves, values, strict=True)
            if all(own[low[axis] : high[axis] + 1].any() for axis, own in enumerate(leaf))
        ]
        most[number] += max(reached)
    return most


@pytest.mark.parametrize("memory", [0, 1 << 28])
@pytest.mark.parametrize("seed", range(6))
def test_boxes_and_their_halves_reach_the_leaves_that_they_meet(seed, memory, monkeypatch):
    monkeypatch.setattr(tables_module, "MEMORY", memory)
    rng, sizes, tables, trees = drawn(seed)
    ends = np.sort(rng.integers(0, sizes, (2, BOXES, len(sizes))), axis=0)
    lows, highs = ends
    reached = tables.reach(lows, highs)
    bounds = tables.bounds(reached)
    for low, high, bound in zip(lows, highs, bounds, strict=True):
        assert bound == pytest.approx(most_of(trees, tables.sums, low, high)), (seed, low, high)
    rows, axes = np.nonzero(lows < highs)
    cuts = rng.integers(lows[rows, axes], highs[rows, axes])
    halves = tables.parted(axes, lows[rows, axes], cuts, highs[rows, axes])
    added = tables.added(tables.best(reached))
    for upper, half in enumerate(halves):
        low, high = lows[rows], highs[rows]
        every = np.arange(len(rows))
        if upper:
            low[every, axes] = cuts + 1
        else:
            high[every, axes] = cuts
        assert (reached[rows] & half == tables.reach(low, high)).all(), (seed, upper)
        falls = bounds[rows] - tables.falls(reached, rows, half, added)
        assert falls == pytest.approx(tables.bounds(tables.reach(low, high))), (seed, upper)
