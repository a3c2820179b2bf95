"""Minimal hitting sets against brute force."""

from random import Random

import numpy as np
import pytest

from hornlens.exact import hitting
from hornlens.exact.hitting import minimal_hitting_sets
from hornlens.logic.batch import pack, unpack


def by_definition(edges, width, at_most, rows, support):
    """Every set of vertices, tried."""
    hits = [x for x in range(1 << width) if all(x & edge for edge in edges)]
    minimal = [x for x in hits if not any(y != x and y & ~x == 0 for y in hits)]
    return sorted(
        x
        for x in minimal
        if (at_most is None or x.bit_count() <= at_most)
        and sum(x & ~row == 0 for row in rows) >= support
    )


@pytest.mark.parametrize("seed", range(30))
def test_each_minimal_set_is_found_once_and_no_other(seed):
    rng = Random(seed)
    for _ in range(100):
        width = rng.randint(1, 7)
        some = [rng.getrandbits(width) | rng.getrandbits(width) for _ in range(rng.randint(0, 9))]
        edges = some if rng.random() < 0.1 else [edge for edge in some if edge]
        at_most = rng.choice([None, None, 0, 1, 2, 3])
        rows = [rng.getrandbits(width) for _ in range(rng.randint(0, 6))]
        support = rng.choice([0, 0, 1, 2])
        batches = minimal_hitting_sets(edges, width, at_most, rows, support)
        found = sorted(x for batch in batches for x in unpack(batch))
        case = (edges, width, at_most, rows, support)
        assert found == by_definition(*case), case


def test_more_vertices_and_edges_than_a_word_has_bits():
    # One of each pair, 70 pairs with all but one fixed: 2 * 2 sets.
    pairs = [0b11 << 2 * i for i in (0, 40)] + [1 << 2 * i for i in range(1, 70) if i != 40]
    found = [x for batch in minimal_hitting_sets(pairs, 140) for x in unpack(batch)]
    fixed = sum(1 << 2 * i for i in range(1, 70) if i != 40)
    assert sorted(found) == sorted(fixed | a | b << 80 for a in (1, 2) for b in (1, 2))


def test_members_are_counted_without_numpy_2_alike(monkeypatch):
    sets = hitting.sets_having(pack([3, 5, 6, 7] * 40, 3), 3)
    assert hitting.count_members(sets).tolist() == [120, 120, 120, 160]
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert hitting.count_members(sets).tolist() == [120, 120, 120, 160]
