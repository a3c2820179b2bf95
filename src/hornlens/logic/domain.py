"""The domain: the interpretations that respect the attributes, as a grid with one axis each.

An attribute with k values is an axis of length k + 1 (index 0 is unset); a variable outside all
attributes is an axis of length 2. The domain is closed under intersection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from random import Random

import numpy as np

from hornlens.logic.batch import Words, pack, words_needed
from hornlens.logic.bits import bits
from hornlens.logic.vocabulary import Vocabulary


@dataclass(frozen=True)
class Domain:
    """The interpretations of a vocabulary that set at most one value of each attribute.

    >>> from hornlens.logic.vocabulary import Attribute
    >>> d = Domain(Vocabulary.of_attributes([Attribute("work", ("nurse", "priest"))]))
    >>> len(d), list(d)
    (3, [0, 1, 2])
    """

    vocabulary: Vocabulary

    @cached_property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """For each axis the masks of its choices, the first one 0 (unset).

        Axes stand in the order of their first variable.
        """
        grouped = 0
        for group in self.vocabulary.groups:
            grouped |= group
        groups = [group for group in self.vocabulary.groups if group]
        groups += [1 << i for i in range(len(self.vocabulary)) if not grouped >> i & 1]
        groups.sort(key=lambda group: group & -group)
        return tuple((0, *(1 << i for i in bits(group))) for group in groups)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return tuple(len(axis) for axis in self.axes)

    def __len__(self) -> int:
        """Return the number of interpretations (see `count` for more than sys.maxsize)."""
        return self.count

    @cached_property
    def count(self) -> int:
        """The number of interpretations."""
        return prod(self.shape)

    def __iter__(self) -> Iterator[int]:
        """Yield every interpretation, in the order of `masks`; nothing is kept in memory."""
        for choice in product(*self.axes):
            yield sum(choice)

    def __contains__(self, x: object) -> bool:
        """Say whether `x` is an interpretation that respects the attributes."""
        return (
            isinstance(x, int)
            and 0 <= x < 1 << len(self.vocabulary)
            and all((x & group).bit_count() <= 1 for group in self.vocabulary.groups)
        )

    def sample(self, rng: Random) -> int:
        """Draw an interpretation: each axis uniform over its values and unset."""
        return sum(axis[rng.randrange(len(axis))] for axis in self.axes)

    def masks(self) -> Words:
        """Return all interpretations as packed rows, in the order of iteration."""
        width = len(self.vocabulary)
        rows = np.zeros((*self.shape, words_needed(width)), dtype=np.int64)
        for i, axis in enumerate(self.axes):
            choices = pack(axis, width)
            around = [1] * len(self.shape)
            around[i] = len(axis)
            rows |= choices.reshape(*around, choices.shape[1])
        return rows.reshape(self.count, -1)
