"""Networks over levels, and bounds of what they say, held against all of their cells."""

import numpy as np
import pytest

from hornlens.exact.networks.network import Input, Layer, Network
from hornlens.exact.networks.relaxing import Relaxation, cells_of_most, ranges, slack
from tests.network_cases import drawn_boxes, drawn_network, every_cell, inside

BOXES = 20


@pytest.mark.parametrize("seed", range(120))
def test_no_cell_is_past_the_bounds_of_a_box(seed):
    rng = np.random.default_rng(seed)
    network = drawn_network(rng)
    cells = every_cell(network)
    said, first = network.at(cells), network.first_sums(cells)
    lows, highs = drawn_boxes(rng, network.sizes, BOXES)
    relaxed, room = Relaxation(network, lows, highs), slack(network, lows, highs)
    least, (most, by) = relaxed.least(), relaxed.most()
    added = ranges(network, lows, highs)
    tops = cells_of_most(network, by[:, 0], lows, highs)
    for box, (low, high) in enumerate(zip(lows, highs, strict=True)):
        own, case = inside(cells, low, high), (seed, box)
        assert (said[own].min(axis=0) >= least[box] - room[box]).all(), case
        assert (said[own].max(axis=0) <= most[box] + room[box]).all(), case
        edges = [network.first + part[box].sum(axis=0) for part in added]
        assert (first[own].min(axis=0) >= edges[0] - 1e-9).all(), case
        assert (first[own].max(axis=0) <= edges[1] + 1e-9).all(), case
        assert ((tops[box] >= low) & (tops[box] <= high)).all(), case
        if (low == high).all():
            assert least[box] == pytest.approx(said[own][0]) == most[box], case
        if not network.layers:  # what is linear is bounded closely
            assert most[box] == pytest.approx(said[own].max(axis=0)), case
            top = network.at(tops[box : box + 1])[0, 0]
            assert top == pytest.approx(said[own][:, 0].max()), case


@pytest.mark.parametrize("seed", range(40))
def test_parts_are_combined_and_networks_put_side_by_side(seed):
    rng = np.random.default_rng(seed)
    one = drawn_network(rng, 2)
    cells = every_cell(one)
    lead = one.combined(np.array([[1.0], [-1.0]]))
    assert lead.at(cells)[:, 0] == pytest.approx(one.at(cells) @ [1.0, -1.0])
    axis = int(rng.integers(len(one.inputs)))
    axes = len(one.inputs)
    own = [axes if place == axis else place for place in range(axes)]
    both = one.beside(one, own, axes)
    levels = rng.integers(0, one.sizes[axis], len(cells))
    pairs = np.column_stack([cells, levels])
    changed = cells.copy()
    changed[:, axis] = levels
    wanted = np.hstack([one.at(cells), one.at(changed)])
    assert both.at(pairs) == pytest.approx(wanted)


def permuted(network, rng):
    """Return the same network, whose units stand in another order."""
    order = rng.permutation(len(network.first))
    inputs = tuple(Input(each.numbers, each.weights[:, order]) for each in network.inputs)
    first, layers = network.first[order], []
    for layer in network.layers:
        units = np.arange(len(layer.bias))
        last = layer is network.layers[-1]
        after = units if last else rng.permutation(units)
        layers.append(Layer(layer.weights[order][:, after], layer.bias[after]))
        order = after
    return Network(inputs, first, tuple(layers), network.leak)


def single(network):
    """Return the same network in single precision."""

    def narrow(numbers):
        return numbers.astype(np.float32)

    inputs = tuple(Input(narrow(each.numbers), narrow(each.weights)) for each in network.inputs)
    layers = tuple(Layer(narrow(each.weights), narrow(each.bias)) for each in network.layers)
    return Network(inputs, narrow(network.first), layers, network.leak)


@pytest.mark.parametrize("seed", range(40))
def test_rounding_stays_within_the_slack(seed):
    network, rng = drawn_network(np.random.default_rng(seed)), np.random.default_rng(seed)
    cells, whole = every_cell(network), (network.sizes[None] * 0, network.sizes[None] - 1)
    said = network.at(cells)
    assert np.abs(single(network).at(cells) - said).max() <= slack(network, *whole, 2.0**-24)[0]
    if network.layers:
        other = permuted(network, rng)
        assert np.abs(other.at(cells) - said).max() <= slack(network, *whole)[0]
