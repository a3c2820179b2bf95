"""The recorded cells of a classifier with their classes, and boxes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, product
from math import prod
from typing import Any

from hornlens.verifying.grids import Wrong
from hornlens.verifying.packed import numbers_in

OUTSIDE, OPEN = -1, -2
"""What stands for the class of a cell that does not occur, and of one that was not asked."""
Range = tuple[int, int]
Box = tuple[Range, ...]


class RecordedCells:
    """The recorded cells with their classes, as one dictionary or in the order of a grid."""

    def __init__(self, content: Mapping[str, Any], sizes: Sequence[int]):
        """Unpack them."""
        self.sizes = sizes
        self.steps: list[int]
        self.listed: list[tuple[int, ...]] = []
        cells = content["cells"]
        if cells["kind"] not in ("grid", "list"):
            raise Wrong("cells: of no kind that there is")
        labels = numbers_in(cells["labels"], "b", cells["count"])
        self.is_grid = cells["kind"] == "grid"
        if self.is_grid:
            if len(labels) != prod(sizes):
                raise Wrong(f"cells: {len(labels):,} classes for {prod(sizes):,} cells")
            self.labels: Sequence[int] = labels
            steps = [1]
            for size in reversed(sizes[1:]):
                steps.insert(0, steps[0] * size)
            self.steps = steps[: len(sizes)]
        else:
            self.steps = []
            width = len(sizes)
            flat = numbers_in(cells["cells"], "H", cells["count"] * width)
            if any(level >= size for level, size in zip(flat, cycle(sizes), strict=False)):
                raise Wrong("cells: their levels are not those of so many cells")
            self.listed = [tuple(flat[i * width : (i + 1) * width]) for i in range(cells["count"])]
            self.labels = labels
        top = len(content["classes"])
        least = OPEN if self.is_grid else 0
        if any(not least <= label < top and label != OPEN for label in labels):
            raise Wrong("cells: a class that there is not")
        self.open = sum(label == OPEN for label in labels)
        """How many cells were not asked."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many cells are in the list, and how many levels each has."""
        return len(self.listed), len(self.sizes)

    def inside(self, box: Box) -> Iterator[int]:
        """Yield the class of every cell in a box; OPEN where it was not asked."""
        if self.is_grid:
            axes = [
                [level * step for level in range(low, high + 1)]
                for (low, high), step in zip(box, self.steps, strict=True)
            ]
            for parts in product(*axes):
                if (label := self.labels[sum(parts)]) != OUTSIDE:
                    yield label
            return
        for cell, label in zip(self.listed, self.labels, strict=True):
            if all(low <= at <= high for at, (low, high) in zip(cell, box, strict=True)):
                yield label

    def by_cell(self) -> Callable[[tuple[int, ...]], int | None]:
        """Return a function to the class of a cell; None: it was not asked."""
        if self.is_grid:
            return lambda cell: self.labels[
                sum(at * step for at, step in zip(cell, self.steps, strict=True))
            ]
        return dict(zip(self.listed, self.labels, strict=True)).get

    def cell(self, place: int) -> tuple[int, ...]:
        """Return the levels of a recorded cell."""
        if not self.is_grid:
            return self.listed[place]
        return tuple(
            place // step % size for step, size in zip(self.steps, self.sizes, strict=True)
        )

    def only(self, box: Box, place: int) -> bool:
        """Say whether every cell of a box has a class."""
        return all(label == place for label in self.inside(box))


def has_cell(box: Box, cell: Sequence[int]) -> bool:
    """Return whether a cell lies in a box."""
    return all(low <= at <= high for at, (low, high) in zip(cell, box, strict=True))


def is_part_of(inner: Box, outer: Box) -> bool:
    """Return whether a box is a part of another."""
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))
