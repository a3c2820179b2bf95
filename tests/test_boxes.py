"""Rules of complete cells, some of them open, held against all boxes there are."""

import numpy as np
import pytest

from hornlens.exact.boxes.axes import Axis, shape_of
from hornlens.exact.boxes.cells import OPEN, OUTSIDE, GridCells
from hornlens.exact.boxes.rulesets import (
    bits_of,
    every_rule,
    short_rules,
    short_rules_of_grid,
)
from tests.boxes import certain_rules, random_axis, sets_of


def random_bits(rng, axes):
    """What may be said in each cell: mostly one label, in large parts; some open, some none."""
    shape = shape_of(axes)
    bits = np.ones(shape, dtype=np.uint64)
    for _ in range(rng.integers(0, 4)):
        ends = [sorted(rng.integers(0, size, 2)) for size in shape]
        bits[tuple(slice(low, high + 1) for low, high in ends)] = 1 << rng.integers(0, 3)
    share = rng.choice([0.0, 0.1, 0.4])
    bits[rng.random(shape) < share] = 7  # not asked
    bits[rng.random(shape) < share / 2] = 3  # asked, and not decided
    bits[rng.random(shape) < share] = 0  # does not occur
    return bits


@pytest.mark.parametrize("part", range(10))
def test_every_rule_that_holds_whatever_open_cells_are_is_found_and_no_other(part):
    listed = 0
    for seed in range(part * 250, part * 250 + 250):
        rng = np.random.default_rng(seed)
        axes = tuple(random_axis(rng) for _ in range(rng.integers(0, 4)))
        bits = random_bits(rng, axes)
        expected = certain_rules(bits, axes)
        found = every_rule(bits, axes)
        assert len(found) == len(set(found)), (seed, axes, bits)
        assert {(one.box, one.place) for one in found} == expected, (seed, axes, bits)
        most = int(rng.integers(0, 3))
        short = {(one.box, one.place) for one in short_rules(bits, axes, most)}
        conditions = {
            box: sum(said != axis.whole for said, axis in zip(box, axes, strict=True))
            for box, _ in expected
        }
        # Of short rules, those as general as they can be are among all such rules.
        assert short == {(b, p) for b, p in expected if conditions[b] <= most}, (seed, axes, bits)
        listed += len(found)
    assert listed > 300  # the cases are no empty ones


def test_open_cells_are_any_label_and_those_outside_none():
    labels = np.array([[0, OPEN], [1, OUTSIDE]], dtype=np.int8)
    bits = bits_of(labels)
    assert bits[0, 0] == 1 and bits[1, 0] == 2 and bits[1, 1] == 0
    assert int(bits[0, 1]).bit_count() == 64
    axes = (Axis(2, 2, True), Axis(2, 2, True))
    grid = GridCells(axes, labels)
    whole = (0, 1)
    assert set(short_rules_of_grid(grid, 2)) == {(((0, 0), (0, 0)), 0), (((1, 1), whole), 1)}
    assert grid.classes_in((whole, whole)) == 3 and grid.count_in((whole, whole)) == 3


@pytest.mark.parametrize("seed", range(200))
def test_the_ranges_of_an_axis_are_those_that_are_one_condition(seed):
    axis = random_axis(np.random.default_rng(seed))
    assert set(axis.ranges) == sets_of(axis) and axis.ranges[0] == axis.whole
    for said in axis.ranges:
        above = {
            wide
            for wide in axis.ranges
            if wide != said and wide[0] <= said[0] <= said[1] <= wide[1]
        }
        lowest = {
            wide
            for wide in above
            if not any(a != wide and wide[0] <= a[0] <= a[1] <= wide[1] for a in above)
        }
        assert set(axis.wider(said)) == lowest, (axis, said)
