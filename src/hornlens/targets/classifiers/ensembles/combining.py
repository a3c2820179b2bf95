"""Trees made of other trees: weighted, side by side, one leaf's scores turned into others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hornlens.targets.classifiers.ensembles.links import UNKNOWN, Link
from hornlens.targets.classifiers.ensembles.trees import CLOSE, Scores, Split, Tree, Trees

PROBES = 4097
"""At how many sums a monotone answer is looked at, before its change is found by bisecting."""
MOST_ASKED = 1e-5
"""Where more sums than this, for each unit, are left to the classifier, no sum is relied on."""


def with_scores(trees: Trees, change: Callable[[Scores], Scores]) -> Trees:
    """Return the same trees, each with other scores: a linear change, so that sums follow."""
    changed = (replace(tree, scores=change(tree.scores)) for tree in trees.trees)
    return replace(trees, trees=tuple(changed), link=UNKNOWN)


def moved(trees: Trees, by: int) -> Trees:
    """Return the same trees, over columns that stand further on."""
    if not by:
        return trees
    return replace(trees, trees=tuple(replace(t, column=t.column + by) for t in trees.trees))


def all_in_one(members: Sequence[Trees], link: Link = UNKNOWN) -> Trees:
    """Return all trees of several ensembles as one. Their scores must be of the same classes."""
    return Trees(
        tuple(tree for trees in members for tree in trees.trees),
        members[0].single,
        all(trees.summed for trees in members),
        members[0].at_most,
        max(trees.rounding for trees in members),
        link,
    )


def only_breaks(members: Sequence[Trees]) -> Trees:
    """Return what is known where the class follows from the leaves, but from no sum of them."""
    counted = [with_scores(trees, lambda scores: np.zeros((len(scores), 1))) for trees in members]
    return replace(all_in_one(counted), summed=False)


def is_one_leaf(trees: Trees) -> bool:
    """Return whether one leaf says all, as shares of the classes."""
    return trees.summed and trees.link.shares and len(trees.trees) == 1


def placed(scores: Scores, places: NDArray[np.intp], count: int) -> Scores:
    """Return scores of some classes as scores of all: nothing for the others."""
    every = np.zeros((len(scores), count))
    every[:, places] = scores
    return every


def votes(trees: Trees) -> Scores | None:
    """Return one vote for each leaf's class; None where sums or rounding decide which it is."""
    if not is_one_leaf(trees):
        return None
    scores = trees.trees[0].scores
    if not trees.link.exact and scores.shape[1] > 1:
        high = np.sort(scores, axis=1)[:, -2:]
        if (high[:, 1] - high[:, 0] <= CLOSE).any():
            return None
    return np.asarray(np.eye(scores.shape[1])[scores.argmax(axis=1)])


def widened(trees: Trees) -> Trees:
    """Return trees that compare in single precision as trees that compare in double, exactly.

    >>> one = Split((float(np.float32(0.1)),), True)
    >>> first = _widened(one).breaks[0]
    >>> [float(np.float32(x)) for x in (first, np.nextafter(first, 0))]
    [0.10000000149011612, 0.09999999403953552]
    """
    if not trees.single:
        return trees
    every = (
        replace(tree, splits=tuple(None if s is None else _widened(s) for s in tree.splits))
        for tree in trees.trees
    )
    return replace(trees, trees=tuple(every), single=False)


def _widened(split: Split) -> Split:
    return Split(tuple(map(_first_rounded_to, split.breaks)), split.missing_left)


def _first_rounded_to(number: float) -> float:
    """Return the least number of double precision that single precision has as this, or above."""
    largest = float(np.finfo(np.float32).max)
    if number == -np.inf:
        return number
    own = np.float32(number)
    below = float(np.nextafter(own, np.float32(-np.inf)))
    # Above the largest number comes the one that would be next, which is called infinite.
    above = largest + (largest - float(np.nextafter(np.float32(largest), np.float32(0))))
    high = above if np.isinf(own) else float(own)
    low = -above if np.isinf(below) else below
    middle = low + (high - low) / 2
    with np.errstate(over="ignore"):
        return middle if np.float32(middle) >= own else float(np.nextafter(middle, np.inf))


def decided(
    trees: Trees, is_second: Callable[[NDArray[np.float64]], NDArray[np.bool_]], link: Link
) -> Trees:
    """Return trees of two classes whose sum decides as `is_second` does of the second class's sum.

    It must be monotone but for rounding. Where it changes to and fro, the classifier is asked;
    where that is too wide, only the breaks are of use. `link`: what is answered of the sum.
    """
    leaves = [tree.scores[:, 1] for tree in trees.trees]
    low, high = (sum(float(pick(leaf)) for leaf in leaves) for pick in (np.min, np.max))
    scale = max(1.0, sum(float(np.abs(leaf).max()) for leaf in leaves))
    low, high = low - CLOSE * scale, high + CLOSE * scale
    probes = _probes(link.knots, low, high)
    says = np.asarray(is_second(probes), dtype=np.bool_)
    sign = 1 if says[-1] or not says[0] else -1
    says = says if sign > 0 else ~says
    if says.all() or not says.any():  # one class only: all sums are on one side
        at = low - scale if says.all() else high + scale
        return _cut(trees, at, sign, trees.rounding, link)
    first, last = int(says.argmax()), len(says) - 1 - int((~says)[::-1].argmax())
    if first < last:  # to and fro
        at, wide = (probes[first] + probes[last]) / 2, probes[last] - probes[first]
    else:
        at = _first_true(probes[last], probes[first], is_second, sign)
        near = at + np.concatenate([s * scale * 2.0 ** -np.arange(1.0, 60) for s in (-1, 1)])
        differs = (np.asarray(is_second(near)) == (sign > 0)) != (near >= at)
        differs |= _may_be_same(trees.link, near, at)
        wide = 4 * float(np.abs(near - at)[differs].max(initial=0.0))
    if wide / scale > MOST_ASKED:
        return only_breaks([trees])
    rounding = trees.rounding + wide / scale
    return _cut(trees, at, sign, rounding, link)


def _probes(knots: Sequence[float], low: float, high: float) -> NDArray[np.float64]:
    inner = np.array([knot for knot in knots if low <= knot <= high])
    near = [inner]
    for _ in range(2):
        near = [np.nextafter(near[0], -np.inf), *near, np.nextafter(near[-1], np.inf)]
    return np.unique(np.concatenate([np.linspace(low, high, PROBES), *near]))


def _may_be_same(link: Link, sums: NDArray[np.float64], at: float) -> NDArray[np.bool_]:
    """Say which sums a library may answer as it does another one, by the error of its answer."""
    if not link.error or link.probability is None:
        return np.zeros(len(sums), dtype=np.bool_)
    away = np.abs(link.probability(sums) - link.probability(np.array([at])))
    return np.asarray(away <= link.error)


def _first_true(
    low: float, high: float, test: Callable[[NDArray[np.float64]], NDArray[np.bool_]], sign: int
) -> float:
    """Return the number at which a test changes, to the last bit; it does so between two."""
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return high
        if bool(test(np.array([middle]))[0]) == (sign > 0):
            high = middle
        else:
            low = middle


def _cut(trees: Trees, at: float, sign: int, rounding: float, link: Link) -> Trees:
    """Return trees whose second class wins from a sum on."""

    def change(scores: Scores) -> Scores:
        return np.column_stack([np.zeros(len(scores)), sign * scores[:, 1]])

    shift = Tree.constant(np.array([0.0, -sign * at]))
    made = with_scores(trees, change)
    return replace(made, trees=(*made.trees, shift), rounding=rounding, link=link.shifted(at, sign))
