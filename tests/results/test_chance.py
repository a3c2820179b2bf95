"""More than chance: permuted answers, by definition, by simulation, and in every file."""

import csv
import io
import json
from itertools import permutations
from math import exp
from random import Random

import numpy as np
import pytest

from hornlens import verify
from hornlens.api import extract, load
from hornlens.errors import HornlensError
from hornlens.exact.permuted import PermutedGrid
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import Decision, Policy, accepts
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
from hornlens.report.chance import show_chance
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.chance import answers_of_world
from hornlens.results.documents.settings import Settings
from hornlens.targets.functions import FunctionTarget
from tests.report_cases import PAPER, probe

LEVEL = 0.05


def nominal(name, count):
    return Nominal(name, tuple(f"{name}{i}" for i in range(count)))


def small_space(rng):
    """A space of a few cells, of every kind."""
    kinds = [
        lambda i: nominal(f"n{i}", rng.randint(1, 3)),
        lambda i: Ordered(f"o{i}", ("low", "mid", "high")),
        lambda i: Taxonomy(f"t{i}", (f"E{i}", f"G{i}", f"F{i}", f"A{i}"), (None, 0, 0, None)),
    ]
    attributes = tuple(rng.choice(kinds)(i) for i in range(rng.randint(1, 2)))
    label = rng.choice([None, nominal("l", 2), nominal("l", 3)])
    complete = rng.random() < 0.4
    return Space(attributes, label, complete=complete)


def random_worlds(rng, space, count):
    labels = 2 if space.label is None else len(space.label.variables)
    cells = list(space.cells())
    policy = Policy(
        label_unset="accept" if space.complete else rng.choice(["accept", "reject"]),
        abstain=rng.choice(["accept", "reject"]),
    )
    return cells, [
        (policy, [Decision(rng.choice([None, *range(labels)])) for _ in cells])
        for _ in range(count)
    ]


def accepted_points(space, cells, worlds):
    """All interpretations that some world accepts, by definition."""
    found = set()
    for policy, decisions in worlds:
        for cell, decision in zip(cells, decisions, strict=True):
            if space.label is None:
                if accepts(policy, decision.place, 1):
                    found.add(cell)
                continue
            if not space.complete and accepts(policy, decision.place, -1):
                found.add(cell)
            for place in range(len(space.label.variables)):
                if accepts(policy, decision.place, place):
                    found.add(space.with_label(cell, place))
    return found


def possible_points(space, cells):
    labels = [] if space.label is None else range(len(space.label.variables))
    bare = [] if space.complete and space.label is not None else cells
    return {*bare, *(space.with_label(cell, place) for cell in cells for place in labels)}


def closure(points, x, width):
    above = [p for p in points if x & ~p == 0]
    if not above:
        return BOTTOM
    result = (1 << width) - 1
    for point in above:
        result &= point
    return result


def count_by_hand(space, cells, worlds):
    """Left sides from which something follows that follows from no part, by their conditions."""
    points, every = accepted_points(space, cells, worlds), possible_points(space, cells)
    everything = list(space)
    counts = [0] * (len(space.all_attributes) + 1)
    for x in everything:
        granted = closure(every, x, space.width)
        if granted == BOTTOM:
            continue
        own = closure(points, x, space.width)
        parts = [y for y in everything if y != x and y & ~x == 0]
        below = [closure(points, y, space.width) for y in parts]
        if own == BOTTOM:
            derived = any(c == BOTTOM for c in below) or any(
                closure(every, x | c, space.width) == BOTTOM and _excludes(space, c, x)
                for c in below
            )
            is_new = not derived
        else:
            known = x | granted
            for c in below:
                known |= c
            is_new = bool(own & ~known)
        if is_new:
            counts[sum(bool(x & group) for group in space.groups)] += 1
    return counts


def _excludes(space, consequence, x):
    """Whether a consequence says of an attribute what nothing above x says of it."""
    for attribute, group, at in zip(space.all_attributes, space.groups, space.offsets, strict=True):
        mine = (x & group) >> at
        union = 0
        for choice in attribute.choices:
            if mine & ~choice == 0:
                union |= choice
        if mine and (consequence & group) >> at & ~union:
            return True
    return False


def grid_of(space, cells, worlds):
    answers = [answers_of_world(space, policy, decisions) for policy, decisions in worlds]
    return PermutedGrid(space, cells, answers)


@pytest.mark.parametrize("seed", range(60))
def test_rules_are_counted_as_defined(seed):
    rng = Random(seed)
    space = small_space(rng)
    cells, worlds = random_worlds(rng, space, rng.choice([1, 1, 2]))
    grid = grid_of(space, cells, worlds)
    permuted = grid.permute(70, seed)  # more than one word
    assert permuted.counts[0].tolist() == count_by_hand(space, cells, worlds)
    assert len(permuted.counts) == len(permuted.smallest) == 71
    # the smallest chance is that of a rule that holds, and no rule that holds is less likely
    points = accepted_points(space, cells, worlds)
    chances = [0.0]
    for x in space:
        right = [None, *(1 << v for v in range(space.width) if not x >> v & 1)]
        for v in right:
            broken = any(x & ~p == 0 and (v is None or not p & v) for p in points)
            rule = Rule(x, BOTTOM if v is None else x | v)
            chance = grid.chance_of(rule)
            if chance is not None and not broken:
                chances.append(chance)
    assert permuted.smallest[0] == pytest.approx(min(chances))


def test_the_chance_of_a_rule_is_its_share_of_all_permutations():
    rng = Random(3)
    space = Space((nominal("a", 2), nominal("b", 1)), nominal("l", 2))
    cells = list(space.cells())
    policy = Policy(abstain="accept")
    decisions = [Decision(w) for w in (0, 0, 0, 1, None, 0)]
    rng.shuffle(decisions)
    grid = grid_of(space, cells, [(policy, decisions)])
    for text_left, right in ((0b1 | 1 << 4, None), (1 << 4, 0b1), (0b100 | 1 << 3, 0b1)):
        rule = Rule(text_left, BOTTOM if right is None else text_left | right)
        held = total = 0
        for order in permutations(decisions):
            points = accepted_points(space, cells, [(policy, order)])
            held += all(rule.satisfied_by(p) for p in points)
            total += 1
        chance = grid.chance_of(rule)
        assert held / total == pytest.approx(0 if chance is None else exp(chance))


def test_permutations_are_the_same_for_everybody():
    space = Space((nominal("a", 3), nominal("b", 2)), nominal("l", 2))
    cells, worlds = random_worlds(Random(5), space, 2)
    one, other = (grid_of(space, cells, worlds).permute(99, 7) for _ in range(2))
    assert (one.counts == other.counts).all() and (one.smallest == other.smallest).all()
    assert one.counts[1:].sum(axis=0).tolist() == [0, 80, 569, 0]  # whatever numpy's version


def simulate(seed, rates, worlds, silent):
    """A random probe of 63 cells: whether any rule would be marked."""
    rng = np.random.default_rng(seed)
    space = Space((nominal("a", 6), nominal("b", 8)), nominal("l", len(rates)))
    cells = list(space.cells())
    chances = [silent, *((1 - silent) * rate for rate in rates)]
    policy = Policy()
    answers = [
        (
            policy,
            [Decision(None if k == 0 else k - 1) for k in rng.choice(len(chances), 63, p=chances)],
        )
        for _ in range(worlds)
    ]
    permuted = grid_of(space, cells, answers).permute(99, seed)
    return permuted.p_value(permuted.smallest[0]) <= LEVEL


CASES = {
    "even": ([0.5, 0.5], 1, 0.0),
    "rare": ([0.8, 0.2], 1, 0.0),
    "three": ([0.5, 0.3, 0.2], 1, 0.0),
    "worlds": ([0.5, 0.5], 3, 0.0),
    "rare in worlds": ([0.9, 0.1], 3, 0.0),
    "silent": ([0.7, 0.3], 1, 0.2),
}


@pytest.mark.parametrize("case", CASES)
def test_random_answers_are_hardly_ever_marked(case):
    runs = 150
    marked = sum(simulate(seed, *CASES[case]) for seed in range(runs))
    assert marked <= LEVEL * runs + 3.1 * (runs * LEVEL * (1 - LEVEL)) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_level_is_kept_in_a_thousand_simulations(case):
    runs = 1_000
    marked = sum(simulate(10_000 + seed, *CASES[case]) for seed in range(runs))
    assert marked <= LEVEL * runs + 2.6 * (runs * LEVEL * (1 - LEVEL)) ** 0.5
    # In 3 worlds with even labels, no size of a rule has a chance just below the level.
    assert marked or case == "worlds"


def coin_probe():
    return probe(
        "coin",
        ["The {a} {b} [MASK].", "A {a} {b} [MASK].", "Some {a} {b} [MASK]."],
        {"a": [f"a{i}" for i in range(6)], "b": [f"b{i}" for i in range(8)]},
        {"yes": "Yes", "no": "No"},
    )


def coin(seed, rate=0.5):
    return lambda prompt, words: (
        {"Yes": 1.0, "No": 0.0}
        if Random(f"{seed}{prompt}").random() < rate
        else {"Yes": 0.0, "No": 1.0}
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_rules_of_a_coin_are_not_marked(seed):
    """A coin gives rules in every one of 3 phrasings; none is more than chance."""
    result = extract(coin(seed), coin_probe(), cache=False)
    chance = result.chance()
    assert len(result.rules) and not chance.marked
    assert chance.total.rules <= chance.total.high and chance.total.mean > 1
    assert all(p > LEVEL for p in chance.p_values if p is not None)


def noisy(prompt, words):
    """What is said of a3 is always no, and of a1 with b2; of all others it is a coin's answer."""
    if " a3 " in prompt:
        return {"Yes": 0.0, "No": 1.0}
    return coin(11)(prompt, words)


def test_planted_rules_are_marked_and_others_are_not():
    result = extract(noisy, coin_probe(), cache=False)
    chance = result.chance()
    texts = [str(row) for row in result.rules]
    (place,) = (
        i for i, (rule, _) in enumerate(result.envelope.named) if str(rule) == "a3 ∧ yes → ⊥"
    )
    assert chance.marked == (place,) and len(texts) > 1
    (line,) = (line for line in chance.counts if line.conditions == 2)
    assert line.rules >= 1 and line.high == 0


def test_what_a_sure_rule_explains_makes_no_other_rule_more_than_chance():
    """A planted rule makes a label rare elsewhere: rules of the rest are judged by the rest."""

    def model(prompt, words):
        likely = 1.0 if "nurse" in prompt else 0.1
        return [1.0, 0.0] if Random(prompt).random() < likely else [0.0, 1.0]

    result = extract(model, PAPER, cache=False)
    assert [str(result.envelope.named[i][0]) for i in result.chance().marked] == [
        "nurse ∧ male → ⊥"
    ]


def test_a_label_that_is_never_chosen_is_no_finding():
    result = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    assert result.chance().p_values == (1.0,) and not result.chance().marked


def test_in_every_file(tmp_path, capsys):
    result = extract(noisy, coin_probe(), cache=False)
    chance = result.chance()
    result.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text())
    assert content["chance"]["p_values"] == list(chance.p_values)
    assert content["chance"]["total"]["rules"] == chance.total.rules
    lines = list(csv.DictReader(io.StringIO((tmp_path / "rules.csv").read_text())))
    assert [float(line["p_value"]) for line in lines] == [
        chance.p_values[place] for place in result.order
    ]
    page = (tmp_path / "report.html").read_text()
    assert page.count("more than chance (p ≤ 0.001)") == 2  # as a finding, and in the table
    assert "in every one of 3 phrasings" in page and "chance could give it" in page
    assert load(tmp_path).chance() == chance
    done = verify(tmp_path)
    assert done.ok and any(line.startswith("written again") for line in done.checked)
    show_chance(Terminal(), result)
    printed = capsys.readouterr().out
    assert f"1 of {len(result.rules)} rules is more than chance" in printed
    assert (
        f"Rules in every one of 3 phrasings, counted by left sides: {chance.total.rules}" in printed
    )


def test_more_permutations_and_another_seed():
    result = extract(noisy, coin_probe(), cache=False)
    chance = result.chance(permutations=19, seed=4)
    assert (chance.permutations, chance.seed) == (19, 4)
    assert min(p for p in chance.p_values if p is not None) == 1 / 20
    with pytest.raises(HornlensError, match="permutations must be 1 or more"):
        result.chance(permutations=0)


def test_where_it_cannot_be_known():
    space = Space(tuple(nominal(n, 6) for n in "abc"), nominal("l", 2))
    target = FunctionTarget(lambda row: "l0", space)
    part = extract(target, settings=Settings(equivalence="pac", samples=10, seed=1))
    assert not part.asked_all
    with pytest.raises(HornlensError, match="not every cell was asked"):
        part.chance()
    assert all(row.p_value is None for row in part.rules)


def test_large_grids_are_counted_in_time_or_not_at_all():
    rng = np.random.default_rng(0)
    space = Space(tuple(nominal(n, 9) for n in "abcd"), nominal("l", 2))
    cells = list(space.cells())
    assert len(cells) == 10_000
    answers = [(Policy(), [Decision(int(w)) for w in rng.integers(2, size=len(cells))])]
    permuted = grid_of(space, cells, answers).permute(19, 0)
    assert permuted.counts.shape == (20, 6)
