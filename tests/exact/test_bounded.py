"""Bounded envelopes: sound, complete up to their length, minimal; against brute force."""

from itertools import combinations, product
from random import Random

import numpy as np
import pytest

import hornlens
from hornlens.errors import InputError
from hornlens.exact import bounded, envelopes
from hornlens.exact.bounded import (
    bounded_envelope_of_formula,
    bounded_envelope_of_grid,
    bounded_envelope_of_table,
)
from hornlens.exact.closures import closed_under, common_above, union_inside
from hornlens.exact.envelopes import envelope_of_formula
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.saturation import saturate
from hornlens.formats.certificates import certificate_from_json
from hornlens.logic import inclusion
from hornlens.logic.basis import dg_basis
from hornlens.logic.batch import pack, unpack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.certificates import bounded as bounded_claim
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from tests import brute
from tests.targets import KINDS, random_formula, random_space, random_theory


def left_sides(space, most):
    """Every left side with at most so many conditions, as the attributes have them."""
    for choice in product(*space.axes):
        if sum(part != 0 for part in choice) <= most:
            yield sum(choice)


def rules_of(positives, lefts):
    closures = ((x, brute.closure(positives, x)) for x in lefts)
    return [Rule(x, BOTTOM if closed is None else closed) for x, closed in closures]


def hold_to_it(envelope, positives, lefts, most, case):
    """Check an envelope by the definition: `lefts` are the left sides that it speaks of."""
    space, wanted = envelope.space, rules_of(positives, lefts)
    known = envelope.basis + space.background
    for rule in (*envelope.basis, *envelope.readable):
        assert all(rule.satisfied_by(x) for x in positives), (case, rule)
    for rule in wanted:
        assert known.entails(rule), (case, rule)
    asked_for = Theory(space.width, tuple(wanted))
    assert (asked_for + space.background).entails(envelope.basis), case
    assert envelope.basis == dg_basis(asked_for, space.background), case
    readable = envelope.readable + space.background
    assert readable.entails(envelope.basis) and known.entails(envelope.readable), case
    for rule in envelope.readable:
        assert len(space.conditions(rule.antecedent)) <= most, (case, rule)
    assert envelope.certificate == bounded_claim(
        most, len(envelope.basis), envelope.certificate.complete.min_support
    )


@pytest.mark.parametrize("seed", range(25))
def test_grids_with_any_attributes_and_background(seed):
    rng = Random(seed)
    for round in range(40):
        space = random_space(rng)
        if rng.random() < 0.4:
            assumed = random_theory(rng, space.width, rng.randint(1, 2))
            space = Space(space.attributes, space.label, assumed.rules)
        if space.count > 1500:
            continue
        share = rng.choice([0.1, 0.5, 0.9, 1.0])
        accepted = {x for x in space if rng.random() < share}
        most = rng.randint(0, 3)
        labelled = LabelledSpace.of(space, accepted.__contains__)
        envelope = bounded_envelope_of_grid(labelled, most)
        hold_to_it(envelope, accepted, list(left_sides(space, most)), most, (seed, round, space))
        assert envelope.non_horn.count == len(labelled.non_horn())
        left = [x for x in space if x not in accepted and envelope.basis.satisfied_by(x)]
        longer = envelope.statistics["rejected_by_longer_rules"]
        assert longer == len(left) - len(labelled.non_horn())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("small_is_labelled", [True, False])
def test_formulas_with_any_background(kind, small_is_labelled, monkeypatch):
    if not small_is_labelled:
        monkeypatch.setattr(bounded, "GRID_LIMIT", 0)
    for seed in range(150):
        formula, clauses = random_formula(seed, kind)
        rng = Random(seed)
        assumed = random_theory(rng, formula.width, rng.choice([0, 0, 1, 2]))
        positives = [
            x for x in brute.positives_of(clauses, formula.width) if assumed.satisfied_by(x)
        ]
        most = rng.randint(0, 3)
        envelope = bounded_envelope_of_formula(formula, most, assumed)
        lefts = left_sides(envelope.space, most)
        hold_to_it(envelope, positives, list(lefts), most, (seed, kind, clauses, assumed))


@pytest.mark.parametrize("seed", range(20))
def test_tables_with_support(seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(bounded, "GRID_LIMIT", 0)
    rng = Random(seed)
    for _ in range(40):
        width, most, support = rng.randint(1, 6), rng.randint(0, 3), rng.choice([0, 1, 2])
        many = range(rng.randint(0, 8))
        rows = tuple(rng.getrandbits(width) | rng.getrandbits(width) for _ in many)
        table = Table(Vocabulary.numbered(width), rows)
        envelope = bounded_envelope_of_table(table, most, None, support)
        lefts = [
            x
            for x in left_sides(envelope.space, most)
            if sum(x & ~row == 0 for row in rows) >= support
        ]
        hold_to_it(envelope, rows, lefts, most, (rows, width, most, support))
        assert all(count >= support for count in envelope.support)


def test_a_wide_formula_agrees_with_its_full_envelope():
    rng = Random(3)
    chosen = [rng.sample(range(1, 25), 3) for _ in range(45)]
    clauses = [clause_of(v if rng.random() < 0.4 else -v for v in some) for some in chosen]
    formula = Cnf(Vocabulary.numbered(24), tuple(clauses))
    whole = envelope_of_formula(formula)
    short = bounded_envelope_of_formula(formula, 2)
    known = whole.basis
    lefts = [sum(1 << i for i in some) for n in range(3) for some in combinations(range(24), n)]
    for x in lefts:
        assert short.basis.closure(x) == known.closure(x), x
    assert known.entails(short.basis) and 0 < len(short.basis) < len(known.rules)


@pytest.mark.parametrize("seed", range(20))
def test_closing_many_at_once_is_closing_each(seed, monkeypatch):
    rng = Random(seed)
    if seed % 2:
        monkeypatch.setattr(inclusion, "LEAF", 4)
    for width in (5, 9, 70):
        theory = random_theory(rng, width, 12)
        xs = [rng.getrandbits(width) & rng.getrandbits(width) for _ in range(30)]
        lefts = pack([rule.antecedent for rule in theory], width)
        rights = pack([rule.consequent for rule in theory], width)
        closed = unpack(closed_under(pack(xs, width), lefts, rights))
        assert closed == [theory.closure(x) for x in xs]
        positives = [rng.getrandbits(width) | rng.getrandbits(width) for _ in range(20)]
        common = unpack(common_above(pack(xs, width), pack(positives, width)))
        wanted = [brute.closure(positives, x) for x in xs]
        assert common == [BOTTOM if x is None else x for x in wanted]
        assert not union_inside(pack(xs, width), lefts[:0], rights[:0]).any()


@pytest.mark.parametrize("seed", range(20))
def test_saturation_gives_the_basis_of_any_rules(seed):
    rng = Random(seed)
    for _ in range(50):
        width = rng.randint(1, 7)
        theory = random_theory(rng, width, rng.randint(0, 8))
        assumed = random_theory(rng, width, rng.choice([0, 1, 2]))
        if rng.random() < 0.3 and width > 2:
            assumed = Theory(width, assumed.rules, (0b111,))
        known = theory + assumed
        xs = [rule.antecedent for rule in theory]
        closures = [known.closure(x) for x in xs]
        found = saturate(pack(xs, width), pack(closures, width), assumed)
        assert found.basis == dg_basis(theory, assumed), (theory, assumed)
        for i, (rule, x) in enumerate(zip(found.basis, found.generators, strict=True)):
            rest = Theory(width, found.basis.rules[:i] + found.basis.rules[i + 1 :]) + assumed
            assert x in xs and rest.closure(x) == rule.antecedent


def test_the_certificate_says_itself_and_comes_back():
    found = bounded_claim(3, 12)
    assert found.sentence == "Every rule with at most 3 conditions follows from these."
    assert bounded_claim(1, 0).sentence == "There is no rule with at most 1 condition."
    assert bounded_claim(2, 5, 10).sentence == (
        "Every rule with at most 2 conditions, which at least 10 positive examples have, "
        "follows from these."
    )
    assert certificate_from_json(found.as_json()) == found and found.proved
    with pytest.raises(InputError):
        certificate_from_json({"kind": "bounded", "max_conditions": "3", "rules": 0})


def test_extraction_with_a_bound(tmp_path):
    settings = hornlens.Settings(max_conditions=2)
    short = hornlens.extract(settings=settings, cache=False)
    whole = hornlens.extract(cache=False)
    assert short.envelope.certificate == bounded_claim(2, len(short.envelope.basis))
    assert 0 < len(short.envelope.basis) < len(whole.envelope.basis)
    assert all(whole.entails(rule) for rule in short.envelope.readable)
    # Rules are proved: no sentence is "as far as it was asked".
    assert not any("as far as" in short.sentence(item) for item in short.evidence)
    short.save(tmp_path / "short")
    again = hornlens.load(tmp_path / "short")
    assert again.envelope.certificate == short.envelope.certificate
    assert again.settings == short.settings
    long = next(r for r in whole.envelope.readable if not short.entails(r))
    # Longer than the bound, so it does not follow; but no answer breaks it.
    assert short.check({"require": [str(NamedRule.of(long, short.space.vocabulary))]})


def test_bounds_combine_with_samples_and_nothing_is_promised_then():
    """Each such pair was refused. What is listed is within the bounds, and no more is claimed."""
    whole = hornlens.extract(cache=False)
    for settings in (
        hornlens.Settings(max_conditions=2, limit=100),
        hornlens.Settings("pac", max_conditions=2, epsilon=0.3, delta=0.3, seed=1),
        hornlens.Settings("budget", max_equivalence_queries=60, min_support=9),
    ):
        found = hornlens.extract(settings=settings, cache=False)
        certificate = found.envelope.certificate
        if certificate.unasked:
            assert not certificate.complete and not certificate.meets("bounded")
        for row in found.rules:
            if settings.max_conditions is not None:
                assert len(row.rule.antecedent) <= settings.max_conditions
            if row.warrant.proved:
                assert whole.entails(row.rule), row


def test_absence_is_proved():
    space = random_space(Random(1), ("nominal",))
    labelled = LabelledSpace(space, np.ones(space.count, dtype=np.bool_))
    envelope = bounded_envelope_of_grid(labelled, 3)
    assert envelope.certificate.sentence == "There is no rule with at most 3 conditions."
    assert envelopes.GRID_LIMIT == bounded.GRID_LIMIT
