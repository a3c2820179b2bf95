"""Random axes and boxes, and what is a rule of them by definition."""

from itertools import product

import numpy as np

from hornlens.exact.boxes.axes import Axis


def random_axis(rng):
    """Ordered levels, plain values or the leaves of a tree, the last perhaps missing."""
    size = int(rng.integers(2, 6))
    kind = rng.integers(0, 3)
    if kind < 2:
        return Axis(size, size - int(rng.integers(0, 2)), bool(kind))
    nodes, parts = [], [(0, size - 1)]
    while parts:  # split ranges in two, and keep some of the halves as nodes
        low, high = parts.pop()
        if low < high:
            middle = int(rng.integers(low, high))
            halves = [(low, middle), (middle + 1, high)]
            nodes += [half for half in halves if rng.random() < 0.7]
            parts += halves
    return Axis(size, size, False, tuple(nodes))


def sets_of(axis):
    """All ranges of levels that are one condition, by what an axis is said to be."""
    singles = [(level, level) for level in range(axis.size)]
    intervals = [(a, b) for a in range(axis.known) for b in range(a, axis.known)]
    return {(0, axis.size - 1), *singles, *axis.nodes, *(intervals if axis.is_ranged else ())}


def contains(outer, inner):
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))


def certain_rules(bits, axes):
    """The boxes in which, whatever open cells are, one label only can be; the widest of them."""
    found = {}
    for box in product(*map(sets_of, axes)):
        inside = bits[tuple(slice(low, high + 1) for low, high in box)]
        possible = int(np.bitwise_or.reduce(inside, axis=None)) if inside.size else 0
        if possible.bit_count() == 1:
            found[box] = possible.bit_length() - 1
    return {
        (box, place)
        for box, place in found.items()
        if not any(other != box and contains(other, box) for other in found)
    }
