"""Rules of complete cells, some of them open, held against all boxes there are."""

from random import Random

import numpy as np
import pytest

from hornlens.errors import InputError
from hornlens.exact.boxes.axes import Axis, shape_of
from hornlens.exact.boxes.cells import OPEN, OUTSIDE, GridCells
from hornlens.exact.boxes.rulesets import (
    bits_of,
    every_rule,
    short_rules,
    short_rules_of_grid,
)
from hornlens.exact.boxes.spaces import (
    axes_of,
    cells_of_levels,
    levels_of_cells,
    rules_of,
)
from hornlens.logic.attributes import Nominal
from hornlens.logic.ordered import Ordered
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
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


def random_complete(rng):
    """A complete space of a few attributes of every kind, each with two leaves or more."""
    attributes = []
    for number in range(rng.randint(0, 3)):
        name, values = f"a{number}", tuple(f"a{number}v{i}" for i in range(rng.randint(2, 5)))
        match rng.choice(["nominal", "ordered", "taxonomy"]):
            case "nominal":
                attributes.append(Nominal(name, values))
            case "ordered":
                attributes.append(Ordered(name, values[:3], missing=rng.random() < 0.5))
            case "taxonomy":
                parents = tuple(rng.choice([None, *range(i)]) for i in range(len(values)))
                attributes.append(Taxonomy(name, values, parents))
    return Space(tuple(attributes), Nominal("says", ("yes", "no", "perhaps")), complete=True)


@pytest.mark.parametrize("part", range(10))
def test_boxes_of_a_complete_space_are_its_certain_rules(part):
    """All conditions that can be said, and all cells, one by one: the least that settle a label."""
    listed = 0
    for seed in range(part * 60, part * 60 + 60):
        rng = Random(seed)
        space = random_complete(rng)
        axes = axes_of(space)
        bits = random_bits(np.random.default_rng(seed), axes)
        cells = list(space.cells())
        levels = levels_of_cells(space, cells)
        assert cells_of_levels(space, levels) == cells
        possible = {cell: int(bits[tuple(row)]) for cell, row in zip(cells, levels, strict=True)}
        holds = {}
        for left in dict.fromkeys(x & ~space.label_mask for x in space):
            together = 0
            for cell, labels in possible.items():
                if not left & ~cell:
                    together |= labels
            if together.bit_count() == 1:
                holds[left] = together.bit_length() - 1
        expected = {
            (left, space.with_label(left, place))
            for left, place in holds.items()
            if not any(other != left and not other & ~left for other in holds)
        }
        found = {(r.antecedent, r.consequent) for r in rules_of(space, every_rule(bits, axes))}
        assert found == expected, (seed, space, bits)
        listed += len(found)
    assert listed > 50


def test_an_attribute_of_one_value_has_no_boxes():
    with pytest.raises(InputError, match="'f' has one value"):
        axes_of(Space((Nominal("f", ("f",)),), complete=True))


@pytest.mark.parametrize("missing", [0, 1])
def test_rules_of_hundreds_of_levels_are_found_where_few_parts_differ(missing):
    axes = [Axis(400 + missing, 400, True), Axis(300, 300, True)]
    bits = np.full((400 + missing, 300), 3, dtype=np.uint64)
    bits[50:200, 20:] = 1
    bits[120:, :80] = 2
    rules = {
        ((50, 119), (20, 299)): 0,
        ((50, 199), (80, 299)): 0,
        ((120, 399), (0, 79)): 1,
    }
    if missing:  # no range has it and others, but the whole
        rules[((400, 400), (0, 79))] = 1
    assert {rule.box: rule.place for rule in every_rule(bits, axes)} == rules
