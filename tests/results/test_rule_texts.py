"""Rules as text, read as they were written, and what follows from a result: with its background."""

import json
from random import Random

import pytest

import hornlens
from hornlens.exact.grid import LabelledSpace
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from tests import brute
from tests.targets import random_space, random_theory

PIECES = [
    *('"', "\\", "->", "=>", "→", "&", "∧", "⊤", "⊥", "true", "false", "True", "FALSE", " ", "  "),
    *("-", ">", "=", "\u00a0", "\u3000", "é", "名", "😀", "a", "b c", "'", "#", "\\n", "∨", "≥ 3"),
    *("\n", "\t", "\u2028", "\x1f", "ſ", "İ"),
]


def random_name(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 5])))


def random_rule(rng):
    left = dict.fromkeys(random_name(rng) for _ in range(rng.randint(0, 4)))
    right = dict.fromkeys(random_name(rng) for _ in range(rng.randint(0, 3)))
    return hornlens.NamedRule(tuple(left), None if rng.random() < 0.3 else tuple(right))


def in_ascii(rule):
    """The same rule as one types it: every name in quotes."""

    def side(names):
        quoted = (name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
        return " & ".join(f'"{name}"' for name in quoted) or "true"

    right = "false" if rule.consequent is None else side(rule.consequent)
    return f"{side(rule.antecedent)} -> {right}"


def test_every_rule_is_read_as_it_was_written():
    rng = Random(11)
    for _ in range(20_000):
        rule = random_rule(rng)
        assert hornlens.NamedRule.parse(str(rule)) == rule, str(rule)
        assert hornlens.NamedRule.parse(in_ascii(rule)) == rule, in_ascii(rule)
        line = json.loads(json.dumps(rule.as_json()))
        then = line["then"]
        sides = tuple(line["if"]), None if then is None else tuple(then)
        assert hornlens.NamedRule(*sides) == rule


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("nurse & male -> false", "nurse ∧ male → ⊥"),
        ("nurse∧male→⊥", "nurse ∧ male → ⊥"),
        ("nurse&male=>False", "nurse ∧ male → ⊥"),
        ("true -> she", "⊤ → she"),
        ("-> she", "⊤ → she"),
        (" → ⊥ ", "⊤ → ⊥"),
        ("a b  &  c-d -> e & f", "a b ∧ c-d → e ∧ f"),
        ('"true" -> "false"', '"true" → "false"'),
        ("a & a -> b", "a → b"),
        ("a -> true", "a → ⊤"),
    ],
)
def test_both_ways_to_write_a_rule_agree(typed, shown):
    rule = hornlens.NamedRule.parse(typed)
    assert str(rule) == shown
    assert hornlens.NamedRule.parse(shown) == rule


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "a", "a &", "a & b", "a ->", "a -> b ->", "a -> b -> c", "& a -> b", "a && b"),
        *("a & -> b", "a -> & b", '"a -> b', 'a "b" -> c', '"a" b -> c', "a -> false & b", "\n"),
        *("true & a -> b", "a -> b & true", "false -> a", "a & false -> b", "a -> b\n-> c", "->"),
        '"\\" -> a',
    ],
)
def test_what_is_no_rule_is_said_in_one_line(text):
    with pytest.raises(hornlens.InputError) as raised:
        hornlens.NamedRule.parse(text)
    assert str(raised.value).startswith(f"not a rule: {text!r}; write ")
    assert "\n" not in str(raised.value)


# What follows from a result, background included.


@pytest.mark.parametrize("seed", range(60))
def test_a_rule_is_entailed_if_all_that_the_envelope_accepts_obeys_it(seed):
    rng = Random(seed)
    space = random_space(rng)
    if rng.random() < 0.3:
        assumed = random_theory(rng, space.width, 1).rules
        space = hornlens.Space(space.attributes, space.label, assumed)
    density = rng.choice([0.05, 0.5, 0.9])
    positives = {x for x in space if rng.random() < density}
    labelled = LabelledSpace.of(space, positives.__contains__)
    envelope = hornlens.Envelope.of(space, labelled.dg_basis())
    assert_entails(envelope.entails, space, brute.close(positives), rng)


def assert_entails(entails, space, accepted, rng):
    rules = [Rule(x, BOTTOM) for x in space]
    for _ in range(200):
        left = rng.getrandbits(space.width) if space.width else 0
        left &= rng.getrandbits(space.width) if space.width else 0
        right = rng.getrandbits(space.width) if space.width and rng.random() < 0.8 else BOTTOM
        rules.append(Rule(left, right))
    for rule in rules:
        expected = all(brute.satisfying(brute.pairs([rule]), x) for x in accepted)
        named = hornlens.NamedRule.of(rule, space.vocabulary)
        assert entails(rule) == entails(named) == entails(str(named)) == expected, named


@pytest.mark.parametrize("seed", range(20))
def test_results_know_what_follows_from_them(seed, tmp_path):
    rng = Random(seed)
    space = random_space(rng)
    names = (True, False) if space.label is None else space.label.variables
    said = {cell: rng.choice(names) for cell in space.cells()}
    target = hornlens.FunctionTarget(lambda n: said[space.vocabulary.mask(n)], space)
    result = hornlens.extract(target)
    accepted = set()
    for x in space:
        label = space.label_of(x)
        answer = said[x & ~space.label_mask]
        if answer is True or (space.label and (label is None or names[label] == answer)):
            accepted.add(x)
    assert_entails(result.entails, space, brute.close(accepted), rng)
    result.save(tmp_path)
    assert_entails(hornlens.load(tmp_path).entails, space, brute.close(accepted), rng)
