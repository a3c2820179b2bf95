"""Cuts of numbers: bins, their names, and numbers that stay on their sides."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from hornlens.errors import InputError
from hornlens.logic.cuts import Cuts, number_text, quantile_cuts, shortest_between, uniform_cuts


def test_every_interval_is_one_condition():
    cuts = Cuts.at([60, 30, 30.0])
    assert cuts.values == (30.0, 60.0) and cuts.bins == 3
    said = {(a, b): cuts.say("age", a, b) for a in range(3) for b in range(a, 3)}
    assert said == {
        (0, 0): "age < 30",
        (0, 1): "age < 60",
        (0, 2): "age is any number",
        (1, 1): "30 ≤ age < 60",
        (1, 2): "age ≥ 30",
        (2, 2): "age ≥ 60",
    }
    after = Cuts((np.nextafter(30, 31), np.nextafter(60, 61)), ("30", "60"), frozenset({0, 1}))
    assert [after.say("age", 0, 0), after.say("age", 1, 1), after.say("age", 2, 2)] == [
        "age ≤ 30",
        "30 < age ≤ 60",
        "age > 60",
    ]
    both = after.with_cuts(Cuts.at([30, 45]))
    said = [both.say("age", place, place) for place in range(5)]
    assert said == ["age < 30", "30 ≤ age ≤ 30", "30 < age < 45", "45 ≤ age ≤ 60", "age > 60"]
    assert after.places([30, 30.000001, 60, 61]).tolist() == [0, 1, 1, 2]


def test_the_attribute_has_the_same_bins():
    cuts = Cuts.at([-1.5, 0, 1e20]).with_cuts(Cuts((1.0000001,), ("1",), frozenset({0})))
    age = cuts.ordered("age")
    assert age.at == cuts.values and "age ≤ 1" in age.variables
    for low in range(5):
        for high in range(low, 5):
            if (low, high) != (0, 4):
                assert age.describe(age.interval(low, high)) == cuts.say("age", low, high)


@pytest.mark.parametrize("make", [uniform_cuts, quantile_cuts])
def test_short_cuts_part_the_numbers_as_the_long_ones_do(make):
    rng = Random(0)
    for case in range(400):
        scale = 10 ** rng.uniform(-6, 9)
        numbers = [rng.choice([rng.gauss(0, scale), rng.randint(-5, 5)]) for _ in range(30)]
        bins = rng.randint(1, 6)
        cuts = make(numbers, bins)
        if make is uniform_cuts:
            edges = np.linspace(min(numbers), max(numbers), bins + 1)[1:-1]
        else:
            edges = np.quantile(numbers, np.linspace(0, 1, bins + 1)[1:-1])
        parts = {tuple(np.array(numbers) >= edge) for edge in edges}
        ours = {tuple(np.array(numbers) >= value) for value in cuts.values}
        assert ours == {p for p in parts if len(set(p)) == 2}, (case, numbers, bins)
        assert [float(text) for text in cuts.texts] == list(cuts.values), case
        assert cuts.bins <= bins


def test_the_shortest_number_between_two():
    rng = Random(1)
    for _ in range(2000):
        low = rng.gauss(0, 10 ** rng.randint(-8, 12))
        high = low + abs(rng.gauss(0, 10 ** rng.randint(-9, 9))) or 1.0
        if low < high:
            assert low < shortest_between(low, high) <= high, (low, high)
    for low, high in pairwise([0.0, 5e-324, 1.0, np.nextafter(1.0, 2), 1e308]):
        assert low < shortest_between(float(low), float(high)) <= high
    assert shortest_between(4.93, 4.9712) == 4.97


def test_constant_and_missing_numbers():
    assert quantile_cuts([3, 3, 3], 4).bins == uniform_cuts([3, 3], 4).bins == 1
    assert quantile_cuts([np.nan, np.inf], 3).bins == 1
    assert quantile_cuts([1, 2, np.nan, 3, 4], 2).values == (3.0,)
    assert number_text(30.0) == "30" and number_text(0.1) == "0.1"


@pytest.mark.parametrize("bins", [0, -1, 2.5, True, "3"])
def test_a_number_of_bins_is_a_number(bins):
    with pytest.raises(InputError, match="number of bins"):
        quantile_cuts([1, 2, 3], bins)


def test_cuts_are_numbers():
    for values in ([1, float("nan")], [float("inf")]):
        with pytest.raises(InputError, match="from low to high"):
            Cuts.at(values)
