"""Covers of random grids, held against a search that looks at every cell."""

from itertools import product

import numpy as np
import pytest

from hornlens.exact.boxes import covers
from hornlens.exact.boxes.axes import shape_of
from hornlens.exact.boxes.cells import OPEN, OUTSIDE, GridCells, ListedCells
from hornlens.exact.boxes.covers import cover_of_grid, cover_of_list
from tests.boxes import random_axis


def random_grid(rng):
    """A grid with every kind of axis; some cells may not occur, some may be open."""
    axes = tuple(random_axis(rng) for _ in range(rng.integers(0, 5)))
    shape = shape_of(axes)
    labels = np.zeros(shape, dtype=np.int8)
    for _ in range(rng.integers(0, 6)):  # boxes of other classes
        ends = [sorted(rng.integers(0, size, 2)) for size in shape]
        labels[tuple(slice(low, high + 1) for low, high in ends)] = rng.integers(0, 3)
    for code in (OUTSIDE, OPEN):
        if rng.random() < 0.5:
            labels[rng.random(shape) < 0.2] = code
    return GridCells(axes, labels)


def cells_in(box):
    return set(product(*(range(low, high + 1) for low, high in box)))


@pytest.mark.parametrize("row", [1, 8, 1 << 14])
def test_a_cover_decides_every_cell_with_rules_that_are_general_and_none_to_spare(row, monkeypatch):
    monkeypatch.setattr(covers, "ROW", row)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        grid = random_grid(rng)
        shape = grid.labels.shape
        rows = np.array([[rng.integers(0, n) for n in shape] for _ in range(5)], dtype=np.intp)
        found = cover_of_grid(grid, rows.reshape(5, len(shape)))
        there = {cell for cell in np.ndindex(shape) if grid.labels[cell] != OUTSIDE}
        decided = [cells_in(one.box) & there for one in found]
        known = {cell for cell in there if grid.labels[cell] != OPEN}
        assert set().union(*decided) == known, (seed, grid)
        for one, mine in zip(found, decided, strict=True):
            assert {int(grid.labels[cell]) for cell in mine} == {one.place}, (seed, one)
            others = [cells for cells in decided if cells is not mine]
            assert mine - set().union(*others), (seed, one, "could be spared")
            for at, axis in enumerate(grid.axes):
                for wider in axis.wider(one.box[at]):
                    more = cells_in((*one.box[:at], wider, *one.box[at + 1 :])) & there
                    assert {int(grid.labels[cell]) for cell in more} != {one.place}, (seed, one)


def test_how_a_grid_is_laid_out_in_memory_does_not_change_its_cover(monkeypatch):
    for seed in range(150):
        found = []
        for row in (1, 4, 20, 1 << 14):
            monkeypatch.setattr(covers, "ROW", row)
            rng = np.random.default_rng(seed)
            grid = random_grid(rng)
            found.append(cover_of_grid(grid, np.zeros((1, grid.labels.ndim), dtype=np.intp)))
        assert all(one == found[0] for one in found), seed


def test_a_cover_of_a_list_of_all_cells_decides_as_that_of_the_grid_does():
    for seed in range(100):
        grid = random_grid(np.random.default_rng(seed))
        if not grid.axes:
            continue
        grid.labels[grid.labels == OPEN] = OUTSIDE
        cells = np.argwhere(grid.labels != OUTSIDE)
        if not len(cells):
            continue
        labels = grid.labels[tuple(cells.T)].astype(np.intp)
        listed = ListedCells(grid.axes, cells, labels)
        for one in cover_of_list(listed, np.zeros(len(cells), dtype=np.intp)):
            said = {int(grid.labels[cell]) for cell in cells_in(one.box)} - {OUTSIDE}
            assert said == {one.place}, (seed, one)
