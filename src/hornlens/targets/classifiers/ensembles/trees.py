"""Trees of an ensemble, read out: what each node asks, and what each leaf adds.

Libraries differ in what goes to the left (less than a threshold, or at most), in precision, in
where missing values go, and in what counts as missing. A node here is none of that: it has the
numbers at which its side changes. So all libraries are one to whoever looks into their trees.

What a classifier decides by is the class with the largest sum of its leaves' scores. Which sums are
so close that rounding decides is left to the classifier itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.targets.classifiers.ensembles.links import UNKNOWN, Link

Scores = NDArray[np.float64]
CLOSE = 1e-9
"""Sums of double precision closer than this, for each unit of what they add up, may be a tie."""


class NotExact(HornlensError):
    """An ensemble that cannot be read to the last bit: the message is the reason."""


@dataclass(frozen=True)
class Split:
    """What a node asks of a value: it goes to the left below the first of the breaks.

    From each break on, it goes to the other side than before. A missing value goes to the left if
    `missing_left`.

    >>> Split((0.5,), True).left(np.array([0.4, 0.5, np.nan])).tolist()
    [True, False, True]
    >>> one_or_three = Split.of_codes([1, 3], left=True)
    >>> one_or_three.left(np.array([0.0, 1.0, 2.0, 3.0, 4.0])).tolist()
    [False, True, False, True, False]
    """

    breaks: tuple[float, ...]
    missing_left: bool

    @classmethod
    def of_codes(cls, codes: Iterable[int], left: bool, missing_left: bool = False) -> Split:
        """Return what asks whether a whole number is among codes: then it goes left, or right."""
        breaks: list[float] = [] if not left else [-np.inf]
        for code in sorted(set(codes)):
            if breaks and breaks[-1] == code:
                breaks[-1] = code + 1.0
            else:
                breaks += [float(code), code + 1.0]
        return cls(tuple(breaks), missing_left)

    def with_missing(self, first: float, end: float) -> Split:
        """Return the split where the numbers from one to below another count as missing, too.

        >>> zero = Split((0.5,), False).with_missing(-0.1, 0.1)
        >>> zero.left(np.array([-1, 0, 0.2, 1])).tolist()
        [True, False, True, False]
        """
        points = np.array(sorted({*self.breaks, first, end}))
        inside = (first <= points) & (points < end)
        breaks: list[float] = []
        for point, goes_left in zip(
            points.tolist(), np.where(inside, self.missing_left, self.left(points)), strict=True
        ):
            if goes_left != (len(breaks) % 2 == 0):
                breaks.append(point)
        return Split(tuple(breaks), self.missing_left)

    def left(self, values: Scores) -> NDArray[np.bool_]:
        """Say of each value whether it goes to the left."""
        passed = np.searchsorted(np.array(self.breaks), values, side="right")
        return np.where(np.isnan(values), self.missing_left, passed % 2 == 0)


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree over the columns that the classifier sees.

    At node n, a row goes to `left[n]` or `right[n]`: `splits[n]` looks at its value of the column
    `column[n]`. A leaf has `left[n]` -1 and no split, and adds `scores[n]` to the classes.
    """

    column: NDArray[np.intp]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    splits: tuple[Split | None, ...]
    scores: Scores

    def is_whole(self, columns: int) -> bool:
        """Return whether all nodes hang together as a tree, over so many columns."""
        inner = self.left >= 0
        children = np.concatenate([self.left[inner], self.right[inner]])
        count = len(self.left)
        if len(children) != count - 1 or len(np.unique(children)) != count - 1:
            return False
        if count > 1 and not 1 <= children.min() <= children.max() < count:
            return False
        # Each node but the first has one parent: what the first leads to is a tree. Is that all?
        seen, level = 0, np.zeros(1, dtype=np.intp)
        while len(level):
            seen += len(level)
            level = level[self.left[level] >= 0]
            level = np.concatenate([self.left[level], self.right[level]])
        asked = self.column[inner]
        return seen == count and bool(((asked >= 0) & (asked < columns)).all())

    @classmethod
    def constant(cls, scores: Scores) -> Tree:
        """Return a tree of one leaf: what is added for every row."""
        nothing = np.full(1, -1, dtype=np.intp)
        every = np.asarray(scores, dtype=np.float64)[None, :]
        return cls(np.zeros(1, dtype=np.intp), nothing, nothing, (None,), every)


@dataclass(frozen=True, eq=False)
class Trees:
    """The trees of an ensemble; `single`: values are compared in single precision.

    `summed`: whether the class is the one with the largest sum of scores. If not, only the breaks
    are of use. `at_most`: thresholds are written as "at most", where that is as short as "less
    than". `rounding`: sums closer than this, for each unit of what they add up, may be a tie.
    `link`: what the estimator answers beside the class, which wrappers of it decide by.
    """

    trees: tuple[Tree, ...]
    single: bool
    summed: bool = True
    at_most: bool = True
    rounding: float = CLOSE
    link: Link = UNKNOWN

    def breaks(self) -> dict[int, Scores]:
        """Return for each column the numbers at which a side changes, from low to high."""
        every: dict[int, set[float]] = {}
        for tree in self.trees:
            for column, split in zip(tree.column.tolist(), tree.splits, strict=True):
                if split is not None:
                    every.setdefault(column, set()).update(split.breaks)
        finite = {column: np.array(sorted(b)) for column, b in sorted(every.items())}
        return {column: b[np.isfinite(b)] for column, b in finite.items()}

    def text(self, number: float) -> tuple[str, bool]:
        """Return how a break is written, and whether that names the last number below it.

        The shorter of both, in the precision in which values are compared.
        """
        kind = np.float32 if self.single else np.float64
        own = kind(number)
        below = np.nextafter(own, kind(-np.inf))
        texts = [_plain(own), _plain(below)]
        is_below = (len(texts[1]), not self.at_most) < (len(texts[0]), self.at_most)
        return texts[is_below], is_below


def just_above(thresholds: Scores, single: bool) -> Scores:
    """Return the least number above each threshold, in the precision in which values are compared.

    >>> just_above(np.array([0.5]), False).tolist() == [np.nextafter(0.5, 1)]
    True
    """
    kind = np.float32 if single else np.float64
    with np.errstate(over="ignore"):
        near = np.asarray(thresholds, dtype=np.float64).astype(kind)
        above = np.nextafter(near, kind(np.inf))
    breaks = np.where(near.astype(np.float64) > thresholds, near, above)
    return np.asarray(breaks, dtype=np.float64)


def splits_of(
    breaks: Scores, missing_left: NDArray[np.bool_], is_leaf: NDArray[np.bool_]
) -> tuple[Split | None, ...]:
    """Return the splits of nodes that have one break each; None for leaves."""
    every = zip(breaks.tolist(), missing_left.tolist(), is_leaf.tolist(), strict=True)
    return tuple(None if leaf else Split((at,), missing) for at, missing, leaf in every)


def _plain(number: np.floating) -> str:
    text = str(number)
    return text[:-2] if text.endswith(".0") else text
