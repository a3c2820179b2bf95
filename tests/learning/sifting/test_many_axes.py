"""Thousands of columns: more cells than a float can hold."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs pip install 'hornlens[sklearn]'")

import hornlens
from hornlens.learning.sifting.families import gain
from hornlens.learning.sifting.surrogate import PAIRED, Surrogate


def test_more_cells_than_a_float_can_hold_show_what_endless_ones_do():
    for used in (0, 1_000):
        assert gain(10**400, used, 0.05) == gain(None, used, 0.05)
    assert gain(10**400, 0, 0.05) == pytest.approx(gain(10**250, 0, 0.05), rel=1e-12)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_function_of_six_hundred_columns_is_sifted(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 600))
    rows[:, 1] = rng.integers(0, 2, len(rows))

    def bank(given):
        return (given[:, 0] > 0.5) | (given[:, 1] > 0)

    result = hornlens.explain(bank, rows, max_conditions=1)
    assert result.binned.cell_count > 10**300
    assert [str(rule) for rule in result.rules if rule.warrant.kind == "tested"]
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok


def test_of_many_attributes_the_pairs_of_those_that_tell_most_are_looked_at():
    rng = np.random.default_rng(0)
    sizes = np.full(PAIRED + 250, 2, dtype=np.int64)
    cells = rng.integers(0, 2, (1_000, len(sizes)))
    broken = (cells[:, 7] == 1) & (cells[:, 390] == 1)
    surrogate = Surrogate(sizes, 1)
    surrogate.fit(cells, broken[None, :])
    telling = surrogate._telling()
    assert len(telling) == PAIRED and {7, 390} <= set(telling)
    assert Surrogate(sizes[:PAIRED], 1)._telling() == list(range(PAIRED))
