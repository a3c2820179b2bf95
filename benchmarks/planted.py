"""Boxes of several kinds, each from a seed: planted rules over scores, lists of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.boxes import Box, Labels, Levels, Planted, Range
from hornlens.logic.attributes import Nominal
from hornlens.logic.ordered import Ordered
from hornlens.logic.space import Space


def grid(
    attributes: int,
    values: int,
    labels: int = 2,
    *,
    complete: bool = True,
    is_ordered: bool = False,
) -> Space:
    """Return a space of so many attributes, each of so many values."""
    names = [f"a{i}" for i in range(attributes)]
    each: list[Any] = [
        Ordered(name, tuple(f"v{v}" for v in range(values)))
        if is_ordered
        else Nominal(name, tuple(f"{name}v{v}" for v in range(values)))
        for name in names
    ]
    label = Nominal("answer", tuple(f"l{i}" for i in range(labels)))
    return Space(tuple(each), label, complete=complete)


def mixed(levels: Levels) -> NDArray[np.float64]:
    """Return a number from 0 to 1 for each row that depends on nothing but looks random."""
    steps = np.arange(1, levels.shape[1] + 1, dtype=np.uint64) * np.uint64(2654435761)
    state = (levels.astype(np.uint64) * (steps & np.uint64(0xFFFFFFFF))).sum(axis=1)
    state ^= state >> np.uint64(13)
    state *= np.uint64(0x9E3779B97F4A7C15)
    return (state >> np.uint64(40)).astype(np.float64) / 2**24


def _random_rules(
    space: Space, sizes: Sequence[int], count: int, most: Sequence[int], rng: np.random.Generator
) -> tuple[Planted, ...]:
    """Plant rules; the number of conditions of each is drawn from `most`."""
    assert space.label is not None
    rules, first = [], int(not space.complete)
    for _ in range(count):
        where: dict[int, Range] = {}
        for column in sorted(rng.choice(len(sizes), int(rng.choice(most)), replace=False)):
            low = high = int(rng.integers(first, sizes[column]))
            if isinstance(space.attributes[column], Ordered):  # a fifth to two fifths of the levels
                width = int(rng.integers(sizes[column] // 5, 2 * sizes[column] // 5 + 1))
                low = int(rng.integers(0, sizes[column] - max(width, 1) + 1))
                high = low + max(width, 1) - 1
            where[int(column)] = (low, high)
        rules.append(Planted(where, int(rng.integers(len(space.label.variables)))))
    return tuple(rules)


def _levels(space: Space) -> list[int]:
    return [len(a.leaves) if space.complete else a.count for a in space.attributes]


def _cut(
    space: Space,
    score: Callable[[Levels], NDArray[np.float64]],
    base: float | None,
    rng: np.random.Generator,
) -> Callable[[Levels], Labels]:
    """Return labels by the score: label 1 for a share of `base`; None: all labels alike."""
    assert space.label is not None
    sizes, labels = _levels(space), len(space.label.variables)
    scores = score(rng.integers(0, sizes, (20_000, len(sizes))))
    shares = [1 - base] if base is not None else [i / labels for i in range(1, labels)]
    cuts = np.quantile(scores, shares)
    return lambda levels: np.searchsorted(cuts, score(levels), side="left").astype(np.int64)


def planted_box(
    attributes: int,
    values: int,
    rules: int,
    seed: int,
    *,
    base: float | None = None,
    most: Sequence[int] = (2, 3),
    labels: int = 2,
    complete: bool = True,
    is_ordered: bool = False,
    pairs: int = 6,
) -> Box:
    """Planted rules over a noisy score: a part for each value, one for some pairs, and noise.

    Args:
        attributes: How many there are.
        values: How many each has.
        rules: How many rules are planted.
        seed: What everything follows from.
        base: The share of label 1; None: all labels alike.
        most: The numbers of conditions that the planted rules have.
        labels: How many labels there are.
        complete: Whether every cell sets every attribute.
        is_ordered: Whether values are in order, and the conditions of rules intervals.
        pairs: How many pairs of attributes have a part of the score of their own.
    """
    rng = np.random.default_rng(seed)
    space = grid(attributes, values, labels, complete=complete, is_ordered=is_ordered)
    sizes = _levels(space)
    planted = _random_rules(space, sizes, rules, most, rng)
    own = [rng.normal(size=size) for size in sizes]
    chosen = [tuple(rng.choice(attributes, 2, replace=False)) for _ in range(pairs)]
    joint = [(i, j, 1.5 * rng.normal(size=(sizes[i], sizes[j]))) for i, j in chosen]

    def score(levels: Levels) -> NDArray[np.float64]:
        total = 6 * (mixed(levels) - 0.5)
        for column, part in enumerate(own):
            total += part[levels[:, column]]
        for i, j, table in joint:
            total += table[levels[:, i], levels[:, j]]
        return total

    return Box("planted", space, planted, _cut(space, score, base, rng))


def smooth_box(
    attributes: int, values: int, rules: int, seed: int, *, complete: bool = True
) -> Box:
    """An additive score of attributes that weigh unequally, and some planted rules over it.

    Hundreds of rules nearly hold: wherever a few strong values decide the score.
    """
    rng = np.random.default_rng(seed)
    space = grid(attributes, values, complete=complete)
    sizes = _levels(space)
    strength = rng.choice([0.15, 0.4, 1.0, 2.0], attributes)
    own = [rng.normal(size=size) * strong for size, strong in zip(sizes, strength, strict=True)]
    planted = _random_rules(space, sizes, rules, (1, 2, 2, 3), rng)

    def score(levels: Levels) -> NDArray[np.float64]:
        return np.sum([part[levels[:, i]] for i, part in enumerate(own)], axis=0)

    return Box("smooth", space, planted, _cut(space, score, None, rng))


def decision_list(
    attributes: int, values: int, rules: int, seed: int, *, complete: bool = True
) -> Box:
    """A list of rules with one or two conditions, labels in turn, and then a coin."""
    rng = np.random.default_rng(seed)
    space = grid(attributes, values, complete=complete)
    planted = _random_rules(space, _levels(space), rules, (1, 2), rng)
    planted = tuple(rule._replace(label=i % 2) for i, rule in enumerate(planted))
    return Box(
        "decision list", space, planted, lambda levels: (mixed(levels) < 0.5).astype(np.int64)
    )
