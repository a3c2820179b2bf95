"""Rules, theories, saturation and bases, against brute force."""

from random import Random

import pytest

from hornlens.errors import InputError
from hornlens.logic.basis import (
    dg_basis,
    in_canonical_order,
    is_left_saturated,
    is_right_saturated,
    is_saturated,
    left_saturate,
    right_saturate,
)
from hornlens.logic.bits import BOTTOM, bits, intersection
from hornlens.logic.cnf import Clause, quasi
from hornlens.logic.difference import difference
from hornlens.logic.readable import readable
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from tests import brute
from tests.targets import random_space, random_theory

LETTERS = Vocabulary(tuple("abcdef"))


def rule(text: str, vocabulary: Vocabulary = LETTERS) -> Rule:
    left, right = text.split("->")
    return Rule(
        vocabulary.mask(left.split()), BOTTOM if "⊥" in right else vocabulary.mask(right.split())
    )


def theory(*texts: str) -> Theory:
    return Theory(6, tuple(rule(text) for text in texts))


def test_a_vocabulary_translates_names_and_bits_both_ways():
    assert LETTERS.mask(["f", "a"]) == 0b100001
    assert LETTERS.names_of(0b100001) == ("a", "f")
    assert "a" in LETTERS and "z" not in LETTERS and len(LETTERS) == 6


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "a"), "two variables have the name 'a'"),
        (("a", ""), "a variable has an empty name"),
    ],
)
def test_a_vocabulary_refuses_what_is_ambiguous(names, message):
    with pytest.raises(InputError, match=message):
        Vocabulary(names)


def test_an_unknown_name_is_said():
    with pytest.raises(InputError, match="unknown variable 'z'"):
        LETTERS.mask(["z"])


def test_bottom_is_what_the_intersection_of_no_models_is():
    assert intersection([]) == BOTTOM
    assert intersection([6, 3]) == 2
    with pytest.raises(ValueError, match="BOTTOM"):
        list(bits(BOTTOM))


def test_the_semantics_of_rules_with_the_papers_misprints_mended():
    for x in range(8):
        for p in range(8):
            for q in range(8):
                assert Rule(p, q).satisfied_by(x) == (p & ~x != 0 or q & ~x == 0)
                assert Clause(p, q).satisfied_by(x) == (p & ~x != 0 or q & x != 0)
            assert Rule(p, BOTTOM).satisfied_by(x) == (p & ~x != 0)
            assert quasi(p, 3).satisfied_by(x) == (x != p)


def test_rules_print_as_people_write_them():
    assert rule("a b -> ⊥").show(LETTERS) == "a ∧ b → ⊥"
    assert rule(" -> ⊥").show(LETTERS) == "⊤ → ⊥"
    assert rule("a -> a b c").show(LETTERS) == "a → b ∧ c"
    assert Clause(3, 12).show(LETTERS) == "a ∧ b → c ∨ d"
    assert Clause(0, 0).show(LETTERS) == "⊤ → ⊥"


def test_the_papers_saturation_example():
    h = theory("a -> b", "b -> c", "d e -> ⊥", "d -> f")
    assert not is_left_saturated(h)  # the antecedent of h3 breaks h4
    assert not is_right_saturated(h)  # a gives c too
    expected = theory("a -> a b c", "b -> b c", "d e f -> ⊥", "d -> d f")
    assert is_saturated(expected)
    assert dg_basis(h) == in_canonical_order(expected)
    assert is_right_saturated(right_saturate(h))
    assert is_left_saturated(left_saturate(h))
    assert left_saturate(h).rules[2] == rule("d e f -> ⊥")
    assert readable(dg_basis(h)).show(LETTERS).splitlines() == [
        "a → b",
        "b → c",
        "d → f",
        "d ∧ e → ⊥",
    ]


def test_the_difference_of_two_theories_has_a_witness_for_each_rule():
    left, right = theory("a -> b", "b -> c"), theory("a -> b c", "d -> ⊥")
    found = difference(left, right)
    assert [(u.rule, u.witness) for u in found.only_left] == [(rule("b -> c"), LETTERS.mask("b"))]
    assert [(u.rule, u.witness) for u in found.only_right] == [(rule("d -> ⊥"), LETTERS.mask("d"))]
    assert not difference(left, theory("b -> c", "a -> b c"))
    assert not difference(theory("a b -> c"), theory(), background=theory("a b -> ⊥"))


def test_long_chains_of_rules_fire_to_the_end_whatever_their_order():
    length = 60
    links = [Rule(1 << i, 1 << i + 1) for i in range(length)]
    both = [Rule(1 << i | 1 << i + 1, 1 << i + 2) for i in range(length - 1)]
    for rules in (links, both):
        for some in (rules, rules[::-1], Random(1).sample(rules, len(rules))):
            theory = Theory(length + 1, tuple(some))
            assert theory.closure(0b11) == (1 << length + 1) - 1
            alone = (1 << length + 1) - 2 if rules is links else 0b10
            assert theory.closure(0b10) == alone
            absurd = Theory(length + 1, (*some, Rule(1 << length, BOTTOM)))
            assert absurd.closure(0b11) == BOTTOM
            groups = Theory(length + 1, tuple(some), (0b1 | 1 << length,))
            assert groups.closure(0b11) == BOTTOM


@pytest.mark.parametrize("seed", range(300))
def test_theories_agree_with_brute_force(seed):
    rng = Random(seed)
    width = rng.randint(0, 5)
    one, two = (random_theory(rng, width, rng.randint(0, 6)) for _ in range(2))
    space = range(1 << width)
    models = [x for x in space if brute.satisfying(brute.pairs(one), x)]
    assert list(one.positives()) == models, one
    for x in space:
        closed = brute.closure(models, x)
        assert one.closure(x) == (BOTTOM if closed is None else closed), (one, x)
    others = [x for x in space if two.satisfied_by(x)]
    assert one.entails(two) == (set(models) <= set(others)), (one, two)
    assert one.equivalent(two) == (models == others), (one, two)
    found = difference(one, two)
    assert bool(found) == (models != others)
    for unshared, owner, other in (
        *((u, one, two) for u in found.only_left),
        *((u, two, one) for u in found.only_right),
    ):
        assert unshared.rule in owner.rules
        assert not unshared.rule.satisfied_by(unshared.witness), (one, two, unshared)
        assert other.satisfied_by(unshared.witness), (one, two, unshared)


@pytest.mark.parametrize("seed", range(300))
def test_the_dg_basis_is_the_one_of_the_definition_whatever_the_order(seed):
    rng = Random(seed)
    width = rng.randint(0, 5)
    given = random_theory(rng, width, rng.randint(0, 8))
    basis = dg_basis(given)
    models = list(given.positives())
    assert brute.pairs(basis) == brute.dg(models, range(1 << width)), given
    assert is_saturated(basis), given
    shuffled = list(given.rules)
    rng.shuffle(shuffled)
    assert dg_basis(Theory(width, tuple(shuffled))) == basis, given
    assert len(basis) <= len(given)


@pytest.mark.parametrize("seed", range(12))
def test_no_equivalent_theory_has_fewer_rules(seed):
    rng = Random(seed)
    given = random_theory(rng, 2, rng.randint(0, 4))
    basis = dg_basis(given)
    assert brute.smallest_equivalent(brute.pairs(basis), [], 2) == len(basis), given


@pytest.mark.parametrize("seed", range(300))
def test_bases_and_readable_forms_relative_to_attributes(seed):
    rng = Random(seed)
    domain = random_space(rng)
    vocabulary, width, background = domain, domain.width, domain.background
    assert sorted(domain) == [x for x in range(1 << width) if background.satisfied_by(x)]
    given = random_theory(rng, width, rng.randint(0, 8))
    models = [x for x in domain if given.satisfied_by(x)]
    basis = dg_basis(given, background)
    assert brute.pairs(basis) == brute.dg(models, list(domain)), (vocabulary, given)
    short = readable(basis, background)
    assert len(short) == len(basis)
    assert (short + background).equivalent(basis + background), (vocabulary, given)
    for brief, full in zip(short, basis, strict=True):
        assert brief.antecedent & ~full.antecedent == 0
        assert brief.is_negative == full.is_negative
        assert brief.is_negative or (brief.consequent and not brief.consequent & brief.antecedent)


@pytest.mark.parametrize("seed", range(100))
def test_readable_antecedents_are_smallest(seed):
    rng = Random(seed)
    width = rng.randint(1, 5)
    basis = dg_basis(random_theory(rng, width, rng.randint(1, 8)))
    for i, (brief, full) in enumerate(zip(readable(basis), basis, strict=True)):
        rest = Theory(width, basis.rules[:i] + basis.rules[i + 1 :])
        sizes = [
            a.bit_count()
            for a in range(1 << width)
            if a & ~full.antecedent == 0 and full.antecedent & ~rest.closure(a) == 0
        ]
        assert brief.antecedent.bit_count() == min(sizes), (basis, i)


def test_a_consequent_is_not_lost_between_equivalent_variables():
    # a → b c and b → a c: dropping c on both sides would be wrong.
    basis = dg_basis(theory("a -> b c", "b -> a c"))
    assert readable(basis).equivalent(basis)
