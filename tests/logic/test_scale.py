"""What is large costs what it is: counted in words, comparisons and names, never in seconds."""

from functools import reduce
from operator import and_
from random import Random

import numpy as np
import pytest

from hornlens.errors import InputError
from hornlens.exact.clarified import Clarified
from hornlens.exact.envelopes import envelope_of_table
from hornlens.exact.grid import LabelledSpace
from hornlens.logic.attributes import Nominal
from hornlens.logic.batch import unpack
from hornlens.logic.bits import bits, mask_of
from hornlens.logic.compact import Rows
from hornlens.logic.maskmap import MaskMap, mask_map
from hornlens.logic.ordered import Ordered
from hornlens.logic.space import Space
from hornlens.logic.supersets import Supersets
from hornlens.logic.table import Table
from hornlens.logic.taxonomy import Taxonomy
from hornlens.logic.vocabulary import Vocabulary
from tests import brute


def long_space(values: int, labels: int = 2) -> Space:
    work = Nominal("work", tuple(f"v{i}" for i in range(values)))
    small = Nominal("place", ("here", "there"))
    return Space((work, small), Nominal("said", tuple(f"l{i}" for i in range(labels))))


def alike(rng: Random) -> Table:
    """Make a small table in which many columns have the same rows, and some have all or none."""
    width, count = rng.randint(1, 8), rng.randint(0, 5)
    kinds = [rng.getrandbits(count) if count else 0 for _ in range(rng.randint(1, 4))]
    columns = [rng.choice([*kinds, (1 << count) - 1, 0]) for _ in range(width)]
    rows = (mask_of(j for j, column in enumerate(columns) if column >> i & 1) for i in range(count))
    return Table(Vocabulary.numbered(width), tuple(rows))


def test_the_rows_of_a_long_axis_grow_with_the_logarithm_of_its_values():
    words = [Rows(long_space(values)).grid().shape[1] for values in (100, 1_000, 10_000)]
    assert words == [1, 1, 1]
    assert long_space(1_000).masks().shape[1] == 16


def test_rows_read_back_as_the_points_they_are():
    for space in (long_space(70), long_space(2, 90), long_space(70, 90), long_space(5)):
        rows = Rows(space)
        assert rows.masks(rows.grid()) == unpack(space.masks())
        assert unpack(rows.words(rows.grid())) == unpack(space.masks())


@pytest.mark.parametrize("values", [64, 65, 100])
def test_an_and_of_rows_is_what_the_points_have_in_common(values):
    space = long_space(values, values)
    rows, rng = Rows(space), Random(values)
    grid, points = rows.grid(), unpack(space.masks())
    for _ in range(200):
        some = [rng.randrange(len(points)) for _ in range(rng.choice((1, 2, 2, 3)))]
        together = np.bitwise_and.reduce(grid[some], axis=0, keepdims=True)
        rows.settle(together)
        assert rows.masks(together) == [reduce(and_, [points[i] for i in some])], some


def test_envelopes_of_long_axes_are_those_of_short_ones(monkeypatch):
    rng = Random(3)
    for _ in range(30):
        space = long_space(rng.randint(2, 6), rng.randint(2, 5))
        positive = np.array([rng.random() < 0.6 for _ in range(space.count)])
        plain = LabelledSpace(space, positive)
        found = plain.dg_basis(), plain.non_horn()
        with monkeypatch.context() as patch:
            patch.setattr("hornlens.logic.compact.LONG", 1)
            paired = LabelledSpace(space, positive)
            assert any(axis.half for axis in paired.rows.axes)
            assert (paired.dg_basis(), paired.non_horn()) == found, positive.tolist()


def test_places_are_the_way_back_from_choices():
    for attribute in (
        Nominal("a", ("x", "y", "z")),
        Ordered("size", ("small", "medium", "large")),
        Ordered.cut("age", ("30", "60", "90")),
        Taxonomy("t", ("Europe", "Asia", "Norway", "Oslo", "India"), (None, None, 0, 2, 1)),
    ):
        for place in range(attribute.count):
            assert attribute.place(attribute.choice(place)) == place, (attribute, place)
        for mask in range(1 << len(attribute.variables)):
            if mask not in attribute.choices:
                with pytest.raises(KeyError):
                    attribute.place(mask)


def test_long_masks_are_looked_up_without_looking_at_others():
    width = 5_000
    found = mask_map(width, ((1 << i, i) for i in range(width)))
    assert isinstance(found, MaskMap) and len(found) == width
    keys = [hash(key) for key in found._items]
    assert len(set(keys)) > 0.99 * (width - 512), "keys that collide are looked through one by one"
    assert all(found[1 << i] == i for i in range(width))
    assert list(found.items()) == [(1 << i, i) for i in range(width)]
    assert list(found.values()) == list(range(width))
    assert 1 << width not in found and found.get(3) is None
    del found[1 << 4_000]
    assert 1 << 4_000 not in found and len(found) == width - 1
    assert type(mask_map(500)) is dict


@pytest.mark.parametrize("width", [40, 2_000])
def test_having_finds_what_has_all_of_a_set_and_looks_at_few(width):
    rng = Random(width)
    masks = [mask_of(rng.sample(range(width), 3)) for _ in range(300)] + [0]
    index = Supersets(masks, width)
    for _ in range(200):
        wanted = rng.choice(masks) & mask_of(rng.sample(range(width), width // 2))
        expected = [i for i, mask in enumerate(masks) if wanted & ~mask == 0]
        assert index.places(wanted) == expected, bin(wanted)
        assert index.having(wanted) == [masks[i] for i in expected]


@pytest.mark.parametrize("width", [10, 600, 5_000])
def test_bits_are_listed_whatever_the_length_and_the_number(width):
    rng = Random(width)
    for count in (0, 1, 2, 9, min(width, 33), width // 2, width):
        places = sorted(rng.sample(range(width), count))
        assert list(bits(mask_of(places))) == places


def test_a_table_with_columns_alike_has_the_basis_that_brute_force_finds():
    reduced = 0
    for seed in range(600):
        table = alike(Random(seed))
        width = len(table.vocabulary)
        clarified = Clarified.of(table)
        small = clarified.reduced()
        reduced += len(small.vocabulary) < width
        found = clarified.widened(envelope_of_table(small))
        expected = envelope_of_table(table)
        assert found.basis == expected.basis, (seed, table)
        assert brute.pairs(found.basis) == brute.dg(table.rows, range(1 << width)), (seed, table)
        assert found.non_horn == expected.non_horn, (seed, table)
        assert found.readable.equivalent(found.basis), (seed, table)
        for rule, short in zip(found.basis.rules, found.readable.rules, strict=True):
            assert short.antecedent & ~rule.antecedent == 0, (seed, table)
            assert short.is_negative == rule.is_negative, (seed, table)
    assert reduced > 300


def test_a_table_of_tens_of_thousands_of_columns_is_solved_by_its_kinds():
    width = 20_000
    rows = tuple(mask_of(range(row, width, 100)) for row in range(5))
    found = envelope_of_table(Table(Vocabulary.numbered(width), rows))
    twins = 5 * width // 100
    assert len(found.basis) == width + 10  # a rule for each column, and no two kinds together
    assert sum(not rule.is_negative for rule in found.basis) == twins
    named = sum(
        rule.antecedent.bit_count() + max(rule.new, 0).bit_count() for rule in found.readable
    )
    assert named < 3 * len(found.basis)
    assert found.support is not None and found.support[:6] == [1, 1, 1, 1, 1, 0]


def test_a_basis_that_is_too_large_to_write_is_refused_before_it_is_made():
    width = 10_000
    table = Table(Vocabulary.numbered(width), (mask_of(range(0, width, 2)),))
    with pytest.raises(InputError, match=r"10,000 columns.* would name [0-9,]+ \(up to"):
        envelope_of_table(table)
    with pytest.raises(InputError, match="2,001 columns that differ"):
        many = tuple(1 << i for i in range(2_001))
        envelope_of_table(Table(Vocabulary.numbered(2_001), many))
