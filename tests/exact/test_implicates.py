"""The envelope from prime Horn implicates: the same basis as by the search and by brute force."""

from random import Random

import pytest

from benchmarks.targets import random_3cnf
from hornlens.exact import envelopes, saturation
from hornlens.exact.engine import run
from hornlens.exact.envelopes import envelope_of_formula, is_far_from_horn
from hornlens.exact.implicates import ImplicateSearch
from hornlens.exact.maximal import LargePositives
from hornlens.exact.search import EnvelopeSearch
from hornlens.exact.sources import ABSURD, FormulaSource
from tests import brute
from tests.targets import KINDS, random_formula, random_theory


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("together", [2, 20_000])
def test_small_formulas_with_any_background(kind, together, monkeypatch):
    monkeypatch.setattr(saturation, "TOGETHER", together)
    for seed in range(200):
        formula, clauses = random_formula(seed, kind)
        rng = Random(seed)
        assumed = random_theory(rng, formula.width, rng.choice([0, 0, 1, 2]))
        inside = [x for x in range(1 << formula.width) if assumed.satisfied_by(x)]
        positives = [x for x in brute.positives_of(clauses, formula.width) if x in set(inside)]
        basis = ImplicateSearch(formula, assumed).run()
        assert brute.pairs(basis) == brute.dg(positives, inside), (seed, kind, clauses, assumed)


@pytest.mark.parametrize("seed", range(6))
def test_larger_formulas_as_the_search_has_them(seed):
    formula = random_3cnf(22, 40 + 3 * seed, seed)
    assumed = random_theory(Random(seed), 22, seed % 3)
    found: list[int] = []
    basis = run(ImplicateSearch(formula, assumed), progress=lambda n, _: found.append(n)).basis
    assert basis == EnvelopeSearch(FormulaSource(formula, assumed), assumed).run()
    assert found == sorted(found) and found[-1] == len(basis)


@pytest.mark.parametrize("kind", KINDS)
def test_maximal_positives_are_all_found_once(kind):
    for seed in range(60):
        formula, clauses = random_formula(seed, kind)
        every = brute.positives_of(clauses, formula.width)
        source = LargePositives(formula.clauses, formula.width)
        for head in (ABSURD, *range(formula.width)):
            lacking = [x for x in every if head == ABSURD or not x >> head & 1]
            wanted = [x for x in lacking if not any(x != y and x & ~y == 0 for y in lacking)]
            assert sorted(source.maximal(head)) == wanted, (seed, kind, clauses, head)
            for x in range(1 << formula.width):
                found = source.above(x, head)
                above = [y for y in lacking if x & ~y == 0]
                assert (found in above) if above else found is None, (clauses, x, head)


def test_each_formula_goes_where_it_is_found_sooner(monkeypatch):
    monkeypatch.setattr(envelopes, "GRID_LIMIT", 0)
    for seed in range(60):
        for kind in ("near-horn", "far-from-horn", "any"):
            formula, clauses = random_formula(seed, kind)
            positives = brute.positives_of(clauses, formula.width)
            envelope = envelope_of_formula(formula)
            wanted = brute.dg(positives, range(1 << formula.width))
            assert brute.pairs(envelope.basis) == wanted, (seed, kind, clauses)
            searched = "closure_queries" in envelope.statistics
            assert searched != is_far_from_horn(formula)
    assert is_far_from_horn(random_3cnf(40, 90, 0))
