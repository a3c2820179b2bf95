"""Almost-rules: confidence and exceptions exact, complete, none superfluous; by brute force."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from hornlens.exact.almost import almost_rules_of_grid
from hornlens.exact.almost_rows import almost_rules_of_table
from hornlens.exact.envelopes import envelope_of_table
from hornlens.exact.grid import LabelledSpace
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from tests.targets import random_space, random_theory


def random_target(rng, most=600):
    """A space of any kind, what is accepted of it, and its labelled grid."""
    while True:
        space = random_space(rng)
        if rng.random() < 0.3:
            cells = space.width - (len(space.label.variables) if space.label else 0)
            assumed = random_theory(rng, cells, rng.randint(1, 2))
            space = Space(space.attributes, space.label, assumed.rules)
        if space.count <= most:
            break
    share = rng.choice([0.05, 0.1, 0.3, 0.5, 0.9])
    accepted = {x for x in space if rng.random() < share}
    if space.label is not None and rng.random() < 0.5:  # as policies have it
        accepted |= {x for x in space if not x & space.label_mask}
    return space, accepted, LabelledSpace.of(space, accepted.__contains__)


def short_rules(space, most):
    """Every rule with at most so many conditions, and ⊥ or one variable behind the arrow."""
    for choice in product(*space.axes):
        if sum(part != 0 for part in choice) <= most:
            x = sum(choice)
            if space.background.closure(x) == BOTTOM:
                continue
            yield Rule(x, BOTTOM)
            for bit in range(space.width):
                if not x >> bit & 1 and space.background.closure(x | 1 << bit) != BOTTOM:
                    yield Rule(x, x | 1 << bit)


def counted(rule, space, accepted):
    """By the definition: the cells that a rule speaks of, those that break it, and what does."""
    rejected = [x for x in space if not rule.satisfied_by(x)]
    breaking = [x for x in rejected if x in accepted]
    cells = {x & ~space.label_mask for x in rejected}
    broken = {x & ~space.label_mask for x in breaking}
    return len(cells), len(broken), breaking


@pytest.mark.parametrize("seed", range(20))
def test_almost_rules_of_any_space(seed):
    rng = Random(seed)
    for round in range(25):
        space, accepted, labelled = random_target(rng, 150)
        most, least = rng.randint(0, 3), rng.choice([0.5, 0.6, 0.75, 0.8, 0.9])
        support = rng.choice([0, 0, 3])
        exact = labelled.dg_basis()
        found = almost_rules_of_grid(labelled, exact, most, least, support)
        case = (seed, round, space, accepted, most, least)
        for each in found.rules:
            of, broken, breaking = counted(each.rule, space, accepted)
            assert (each.of, each.broken) == (of, broken), (case, each)
            assert sorted(each.exceptions) == sorted(breaking) and breaking, (case, each)
            assert Fraction(of - broken, of) >= Fraction(str(least)), (case, each)
            assert each.confidence == pytest.approx(1 - broken / of)
        rules = [each.rule for each in found.rules]
        known = exact + space.background
        together = known + Theory(space.width, tuple(rules))
        for i in range(len(rules)):
            others = known + Theory(space.width, tuple(rules[:i] + rules[i + 1 :]))
            assert not others.entails(rules[i]), (case, rules[i])
        listed = {x for each in found.rules for x in each.exceptions}
        for rule in short_rules(space, most):
            of, broken, breaking = counted(rule, space, accepted)
            if of < max(1, support) or Fraction(of - broken, of) < Fraction(str(least)):
                continue
            assert together.entails(rule), (case, rule)
            # The exceptions of what is left out can be read off those that are listed.
            assert {x for x in listed if not rule.satisfied_by(x)} == set(breaking)


def test_of_equal_length_the_rule_that_says_more_is_listed():
    """“Only if South America” and “only if North America” would say “never” in a riddle."""
    import hornlens
    from hornlens.logic.named import NamedRule

    result = hornlens.extract(cache=False)
    every = list(result.space)
    accepted = {x for x, yes in zip(every, result.accepted(every), strict=True) if yes}
    labelled = LabelledSpace.of(result.space, accepted.__contains__)
    found = almost_rules_of_grid(labelled, result.envelope.basis, 2, 0.9)
    shown = [
        (str(NamedRule.of(each.rule, result.space.vocabulary)), each.broken, each.of)
        for each in found.rules
    ]
    assert ("fashion designer ∧ male → ⊥", 3, 60) in shown


@pytest.mark.parametrize("seed", range(10))
def test_almost_rules_of_a_table_are_counted_in_its_rows(seed):
    rng = Random(seed)
    for _ in range(40):
        width, most = rng.randint(1, 6), rng.randint(0, 3)
        rows = tuple(
            rng.getrandbits(width) | rng.getrandbits(width) for _ in range(rng.randint(0, 14))
        )
        table = Table(Vocabulary.numbered(width), rows)
        least, support = rng.choice([0.5, 0.7, 0.75, 0.9]), rng.choice([0, 2])
        exact = envelope_of_table(table).basis
        found = almost_rules_of_table(table, exact, most, least, support)
        case = (rows, width, most, least, support)

        def counts(rule, rows=rows):
            spoken = [x for x in rows if rule.antecedent & ~x == 0]
            return len(spoken), [i for i, x in enumerate(rows, 1) if not rule.satisfied_by(x)]

        for each in found.rules:
            of, breaking = counts(each.rule)
            assert (each.of, each.broken) == (of, len(breaking)) and breaking, case
            assert list(each.lines) == breaking, case
            assert each.exceptions == tuple(rows[i - 1] for i in breaking)
            assert Fraction(of - len(breaking), of) >= Fraction(str(least)) and of >= support
        rules = [each.rule for each in found.rules]
        for i in range(len(rules)):
            others = exact + Theory(width, tuple(rules[:i] + rules[i + 1 :]))
            assert not others.entails(rules[i]), case
        together = exact + Theory(width, tuple(rules))
        for rule in short_rules(Space.of_variables(table.vocabulary), most):
            of, breaking = counts(rule)
            if rule.is_negative or of < max(1, support):
                continue
            if Fraction(of - len(breaking), of) >= Fraction(str(least)):
                assert together.entails(rule), (case, rule)
