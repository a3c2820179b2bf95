"""Bounds of what a network says in boxes of cells, by lines below and above each of its units.

A unit whose sum may be below and above 0 in a box lies between two lines. So each sum of a later
layer is bounded by a linear function of the first layer's inputs, whose least value in a box is
read off: backwards, layer by layer. This is what is known as CROWN; all boxes are done at once.

Everything here is rounded as usual. `slack` bounds by how much, for our sums and for the model's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.networks.network import Floats, Input, Levels, Network

Boxes = NDArray[np.intp]


class Most(NamedTuple):
    """Of each box and sum: the most that it can be, as far as the lines tell.

    `by`: what each unit of the first layer's input weighs in the line that says so.
    """

    most: Floats
    by: Floats


class _Lines(NamedTuple):
    """Lines around units, in each box: slopes below and above, and where the upper one begins."""

    below: Floats
    above: Floats
    rise: Floats


class Relaxation:
    """Lines around all units of a network, in each of some boxes."""

    def __init__(self, network: Network, lows: Boxes, highs: Boxes):
        """Draw them, layer by layer."""
        self._network, self._lows, self._highs = network, lows, highs
        self._every: list[_Lines] = []
        for number in range(len(network.layers)):
            units = len(network.biases[number])
            whole = np.broadcast_to(np.eye(units), (len(lows), units, units))
            least, most = self._least(whole, number)[0], -self._least(-whole, number)[0]
            self._every.append(_lines(least, most, network.leak))

    @property
    def _sums(self) -> Floats:
        sums = self._network.sums
        return np.broadcast_to(np.eye(sums), (len(self._lows), sums, sums))

    def least(self) -> Floats:
        """Return the least that each sum can be in each box."""
        return self._least(self._sums, len(self._network.layers))[0]

    def most(self) -> Most:
        """Return the most that each sum can be in each box."""
        least, by = self._least(-self._sums, len(self._network.layers))
        return Most(-least, -by)

    def _least(self, weights: Floats, layer: int) -> tuple[Floats, Floats]:
        """Return the least of linear functions of a layer's sums, and their weights on the inputs.

        `weights` says of each box and function what each sum of the layer weighs.
        """
        network = self._network
        least = weights @ network.biases[layer]
        for number in range(layer - 1, -1, -1):
            weights = weights @ network.layers[number].weights.T
            up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
            own = self._every[number]
            least = least + np.einsum("bkh,bh->bk", down, own.rise)
            weights = up * own.below[:, None] + down * own.above[:, None]
            least = least + weights @ network.biases[number]
        return least + least_in_boxes(network, weights, self._lows, self._highs), weights


def _lines(least: Floats, most: Floats, leak: float) -> _Lines:
    """Return lines below and above units whose sums lie between these numbers."""
    crossing = (least < 0) & (most > 0)
    width = np.where(crossing, most - least, 1.0)
    chord = (most - leak * least) / width
    straight = np.where(least >= 0, 1.0, leak)
    above = np.where(crossing, chord, straight)
    rise = np.where(crossing, (leak - chord) * least, 0.0)
    below = np.where(crossing, np.where(most > -least, 1.0, leak), straight)
    return _Lines(below, above, rise)


def least_in_boxes(network: Network, weights: Floats, lows: Boxes, highs: Boxes) -> Floats:
    """Return the least of linear functions of what the inputs give to the first layer, in boxes."""
    least = np.zeros(weights.shape[:2])
    for axis, each in enumerate(network.inputs):
        least += _axis_least(each, weights @ each.weights.T, lows[:, axis], highs[:, axis])
    return least


def _axis_least(each: Input, weights: Floats, low: Levels, high: Levels) -> Floats:
    """Return the least of linear functions of an axis' columns, between two levels."""
    if each.rises:
        own = weights[:, :, 0]
        ends = np.where(own > 0, each.lowest[low], each.highest[high])
        return np.asarray(own * ends)
    added = weights @ each.lowest.T
    if not each.has_points:
        up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
        added = up @ each.lowest.T + down @ each.highest.T
    inside = _inside(each.size, low, high)
    return np.asarray(np.where(inside[:, None], added, np.inf).min(axis=2))


def cells_of_most(network: Network, weights: Floats, lows: Boxes, highs: Boxes) -> Levels:
    """Return a cell of each box in which a linear function of the inputs is largest."""
    cells = np.zeros(lows.shape, dtype=np.intp)
    for axis, each in enumerate(network.inputs):
        own = weights @ each.weights.T
        if each.rises:
            cells[:, axis] = np.where(own[:, 0] > 0, highs[:, axis], lows[:, axis])
        else:
            inside = _inside(each.size, lows[:, axis], highs[:, axis])
            cells[:, axis] = np.where(inside, own @ each.numbers.T, -np.inf).argmax(axis=1)
    return cells


def ranges(network: Network, lows: Boxes, highs: Boxes) -> tuple[Floats, Floats]:
    """Return the least and the most that each axis adds to units of the first layer, in boxes."""
    least = np.zeros((len(lows), len(network.inputs), len(network.first)))
    most = least.copy()
    for axis, each in enumerate(network.inputs):
        low, high = lows[:, axis], highs[:, axis]
        least_of, most_of = each.range
        if each.rises:
            least[:, axis] = np.minimum(least_of[low], least_of[high])
            most[:, axis] = np.maximum(most_of[low], most_of[high])
        else:
            inside = _inside(each.size, low, high)[:, :, None]
            least[:, axis] = np.where(inside, least_of[None], np.inf).min(axis=1)
            most[:, axis] = np.where(inside, most_of[None], -np.inf).max(axis=1)
    return least, most


def _inside(size: int, low: Levels, high: Levels) -> NDArray[np.bool_]:
    """Say of each box which levels of an axis it has."""
    level = np.arange(size)
    return np.asarray((low[:, None] <= level) & (level <= high[:, None]))


def slack(network: Network, lows: Boxes, highs: Boxes, unit: float = 2.0**-53) -> Floats:
    """Return for boxes how far rounding may move any sum: ours and the model's, in any order.

    `unit` is the largest relative error of one operation of the model.
    """
    size = np.repeat(np.abs(network.first)[None], len(lows), axis=0)
    terms = 8
    for axis, each in enumerate(network.inputs):
        inside = _inside(each.size, lows[:, axis], highs[:, axis])
        size = size + _largest(
            np.maximum(np.abs(each.lowest), np.abs(each.highest)), inside
        ) @ np.abs(each.weights)
        terms += each.numbers.shape[1]
    for layer in network.layers:
        size = size @ np.abs(layer.weights) + np.abs(layer.bias)
        terms += len(layer.weights) + 1
    return np.asarray(8 * terms * unit * size.max(axis=1, initial=0.0))


def _largest(numbers: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Return the largest number in each column that the levels of each box have."""
    return np.asarray(np.where(inside[:, :, None], numbers[None], 0.0).max(axis=1))
