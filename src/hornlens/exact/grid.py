"""The exact envelope of a labelled domain: every interpretation is known, so nothing is searched.

Two sweeps over the grid. The first folds each axis onto its unset slice and so gives *every*
interpretation its closure, the intersection of the positives above it. The second goes up by size:
an interpretation that is not closed and obeys all rules found below it is the antecedent of the
next rule of the DG basis, relative to the attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornlens.logic.basis import in_canonical_order
from hornlens.logic.batch import Words, obeys, pack, unpack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.domain import Domain
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory

Labels = NDArray[np.bool_]


@dataclass(frozen=True)
class LabelledDomain:
    """A domain and, in its order of iteration, whether the target accepts each interpretation."""

    domain: Domain
    positive: Labels

    @classmethod
    def of(cls, domain: Domain, accepts: Callable[[int], bool]) -> LabelledDomain:
        """Label a domain by asking `accepts` of every interpretation."""
        return cls(domain, np.fromiter((accepts(x) for x in domain), np.bool_, len(domain)))

    @cached_property
    def closures(self) -> Words:
        """For every interpretation, the intersection of the positives above it."""
        closures = self.domain.masks()
        closures[~self.positive] = BOTTOM
        shape = self.domain.shape
        grid = closures.reshape(*shape, closures.shape[1])
        for axis in range(len(shape)):
            # What lies above "unset" on this axis is every slice of it.
            unset = (slice(None),) * axis + (0,)
            grid[unset] = np.bitwise_and.reduce(grid, axis=axis)
        return closures

    def closed(self) -> Labels:
        """Say of every interpretation whether the envelope accepts it."""
        same: Labels = (self.closures == self.domain.masks()).all(axis=1)
        return same

    def non_horn(self) -> list[int]:
        """Return the non-Horn negatives: rejected, yet intersections of accepted ones."""
        return unpack(self.domain.masks()[self.closed() & ~self.positive])

    def dg_basis(self, background: Theory | None = None) -> Theory:
        """Return the envelope: the DG basis of the positives, relative to the attributes.

        And relative to a further background, if there is one; the positives must obey it.
        """
        shape, axes = self.domain.shape, self.domain.axes
        masks, closures = self.domain.masks(), self.closures
        candidates = (closures != masks).any(axis=1)
        if background is not None:
            candidates &= obeys(masks, background, len(self.domain.vocabulary))
        candidates = candidates.reshape(shape)
        value_of = [{mask: i for i, mask in enumerate(axis)} for axis in axes]
        unions = [sum(axis) for axis in axes]

        def above(x: int) -> tuple[int | slice, ...]:
            """Index the part of the grid that contains `x`."""
            choice = (value_of[i][x & union] for i, union in enumerate(unions))
            return tuple(value or slice(None) for value in choice)

        sizes = np.zeros(shape, dtype=np.uint8)
        for i, length in enumerate(shape):
            around = [1] * len(shape)
            around[i] = length
            sizes += (np.arange(length) > 0).astype(np.uint8).reshape(around)
        rules: list[Rule] = []
        for size in range(len(shape) + 1):
            found = np.flatnonzero((candidates & (sizes == size)).ravel())
            new = [
                Rule(antecedent, closure)
                for antecedent, closure in zip(
                    unpack(masks[found]), unpack(closures[found]), strict=True
                )
            ]
            for rule in new:  # whatever breaks the rule is no candidate any more
                obedient = None if rule.is_negative else above(rule.consequent)
                spared = None if obedient is None else candidates[obedient].copy()
                candidates[above(rule.antecedent)] = False
                if obedient is not None:
                    candidates[obedient] = spared
            rules += new
        return in_canonical_order(Theory(len(self.domain.vocabulary), tuple(rules)))


def labels_of_positives(domain: Domain, positives: list[int]) -> Labels:
    """Return the labels under which exactly `positives` are positive."""
    width = len(domain.vocabulary)
    order = domain.masks()
    wanted = pack(sorted(set(positives)), width)
    joined: Labels = np.isin(_as_keys(order), _as_keys(wanted))
    return joined


def _as_keys(words: Words) -> NDArray[np.void] | Words:
    """Return rows as single comparable values."""
    if words.shape[1] == 1:
        return words[:, 0]
    rows = np.ascontiguousarray(words)
    return rows.view([("", rows.dtype)] * rows.shape[1]).ravel()
