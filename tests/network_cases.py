"""Random networks over a few axes, all of whose cells can be gone through."""

from itertools import pairwise, product

import numpy as np

from hornlens.exact.networks.network import Input, Layer, Network


def drawn_network(rng, sums=None):
    """Return a network over up to four axes: numbers in order, categories, anything."""
    sizes = rng.integers(2, 6, int(rng.integers(1, 5)))
    units = [int(count) for count in rng.integers(1, 8, int(rng.integers(0, 4)))]
    units.append(int(rng.integers(1, 3)) if sums is None else sums)
    inputs = []
    for size in sizes.tolist():
        kind = int(rng.integers(3))
        numbers = (
            np.sort(rng.normal(size=(size, 1)), axis=0)
            if kind == 0
            else np.eye(size)
            if kind == 1
            else rng.normal(size=(size, 2))
        )
        inputs.append(Input(numbers, rng.normal(size=(numbers.shape[1], units[0]))))
    layers = tuple(
        Layer(rng.normal(size=pair), rng.normal(size=pair[1])) for pair in pairwise(units)
    )
    leak = float(rng.choice([0.0, 0.0, 0.1]))
    return Network(tuple(inputs), rng.normal(size=units[0]), layers, leak)


def every_cell(network):
    """Return all cells of a network."""
    return np.array(list(product(*map(range, network.sizes.tolist()))), dtype=np.intp)


def drawn_boxes(rng, sizes, count):
    """Return the lowest and the highest levels of random boxes."""
    return np.sort(rng.integers(0, sizes, (2, count, len(sizes))), axis=0)


def inside(cells, low, high):
    """Say of each cell whether it lies in a box."""
    return ((cells >= low) & (cells <= high)).all(axis=1)
