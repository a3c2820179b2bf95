"""Feed-forward networks over cells: what each level of an axis gives to the first layer.

A cell has a level of every axis. A level stands for one number in each of a few columns: one for a
number, and as many as there are values for a category that is spread over columns of 0 and 1. So
the first layer adds up what the levels give to it; later layers are as they are in the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Levels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Input:
    """An axis: the numbers that each of its levels has in some columns, and what they weigh.

    A level may stand for all numbers between two `ends`: bounds are of all of them, and what is
    said of a cell is said of its `numbers`.
    """

    numbers: Floats
    """A row for each level, a column for each column of the model."""
    weights: Floats
    """A row for each of these columns, a column for each unit of the first layer."""
    ends: tuple[Floats, Floats] | None = None

    @property
    def size(self) -> int:
        """How many levels there are."""
        return len(self.numbers)

    @property
    def lowest(self) -> Floats:
        """The least number of each level in each column."""
        return self.numbers if self.ends is None else self.ends[0]

    @property
    def highest(self) -> Floats:
        """The largest number of each level in each column."""
        return self.numbers if self.ends is None else self.ends[1]

    @cached_property
    def has_points(self) -> bool:
        """Whether each level stands for one number only."""
        return bool((self.lowest == self.highest).all())

    @cached_property
    def given(self) -> Floats:
        """What each level adds to each unit of the first layer."""
        return np.asarray(self.numbers @ self.weights)

    @cached_property
    def range(self) -> tuple[Floats, Floats]:
        """The least and the most that each level adds to each unit of the first layer."""
        up, down = np.maximum(self.weights, 0.0), np.minimum(self.weights, 0.0)
        return self.lowest @ up + self.highest @ down, self.highest @ up + self.lowest @ down

    @cached_property
    def rises(self) -> bool:
        """Whether it is one column, in which a higher level has numbers that are not lower."""
        one = self.numbers.shape[1] == 1
        return one and all(
            bool((np.diff(part[:, 0]) >= 0).all()) for part in (self.lowest, self.highest)
        )


@dataclass(frozen=True, eq=False)
class Layer:
    """What a layer makes of the one before: weights, a column for each unit, and bias."""

    weights: Floats
    bias: Floats


@dataclass(frozen=True, eq=False)
class Network:
    """Layers with rectified linear units between them: what is below 0 is multiplied by `leak`.

    The last layer's sums are what the network says; they are not rectified.
    """

    inputs: tuple[Input, ...]
    first: Floats
    """The bias of the first layer."""
    layers: tuple[Layer, ...]
    leak: float = 0.0
    sizes: Levels = field(init=False)

    def __post_init__(self) -> None:
        """Note how many levels each axis has."""
        sizes = np.array([each.size for each in self.inputs], dtype=np.intp)
        object.__setattr__(self, "sizes", sizes.reshape(len(self.inputs)))

    @property
    def sums(self) -> int:
        """How many numbers it says."""
        return len(self.biases[-1])

    @cached_property
    def biases(self) -> tuple[Floats, ...]:
        """The bias of each layer."""
        return (self.first, *(layer.bias for layer in self.layers))

    def rectified(self, sums: Floats) -> Floats:
        """Return what units make of their sums."""
        return np.asarray(np.where(sums > 0, sums, self.leak * sums))

    def first_sums(self, cells: Levels) -> Floats:
        """Return the sums of the first layer for cells, in rows."""
        sums = np.repeat(self.first[None], len(cells), axis=0)
        for axis, each in enumerate(self.inputs):
            sums += each.given[cells[:, axis]]
        return sums

    def at(self, cells: Levels) -> Floats:
        """Return what it says of cells: a row for each."""
        return self.after(self.first_sums(cells))

    def after(self, sums: Floats) -> Floats:
        """Return what it says, given the sums of the first layer."""
        for layer in self.layers:
            sums = self.rectified(sums) @ layer.weights + layer.bias
        return sums

    def combined(self, parts: Floats) -> Network:
        """Return one that says sums of what this one says: a column of `parts` for each."""
        if not self.layers:
            inputs = tuple(replace(each, weights=each.weights @ parts) for each in self.inputs)
            return Network(inputs, self.first @ parts, (), self.leak)
        last = self.layers[-1]
        end = Layer(last.weights @ parts, last.bias @ parts)
        return replace(self, layers=(*self.layers[:-1], end))

    def beside(self, other: Network, own: Sequence[int], shared: int) -> Network:
        """Return both side by side, on the axes `shared` by both and those of their own.

        `own[axis]` is the axis of the pair that an axis of the other network is; those from
        `shared` on are its own.
        """
        units = len(other.first)
        before = len(self.first)
        inputs = [
            replace(each, weights=np.hstack([each.weights, np.zeros((len(each.weights), units))]))
            for each in self.inputs
        ]
        for axis, each in enumerate(other.inputs):
            place = own[axis]
            if place < shared:
                both = np.hstack([self.inputs[place].weights, each.weights])
                inputs[place] = replace(self.inputs[place], weights=both)
            else:
                zeros = np.zeros((len(each.weights), before))
                inputs.append(replace(each, weights=np.hstack([zeros, each.weights])))
        layers = tuple(
            Layer(_blocks(one.weights, two.weights), np.concatenate([one.bias, two.bias]))
            for one, two in zip(self.layers, other.layers, strict=True)
        )
        return Network(tuple(inputs), np.concatenate([self.first, other.first]), layers, self.leak)


def _blocks(one: Floats, two: Floats) -> Floats:
    rows, columns = one.shape
    both = np.zeros((rows + len(two), columns + two.shape[1]))
    both[:rows, :columns], both[rows:, columns:] = one, two
    return both
