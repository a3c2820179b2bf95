"""Spaces of nominal, ordered and taxonomic attributes, against their definitions."""

import json
from dataclasses import replace
from itertools import product
from random import Random
from time import process_time

import pytest

from hornlens.errors import InputError
from hornlens.exact.grid import LabelledSpace, labels_of_positives
from hornlens.formats.spaces import space_as_json, space_from_json
from hornlens.learning.driver import run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.logic.attributes import Nominal
from hornlens.logic.basis import dg_basis
from hornlens.logic.bits import BOTTOM
from hornlens.logic.counting import cells_above
from hornlens.logic.ordered import Ordered
from hornlens.logic.readable import readable
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
from hornlens.logic.theory import Theory
from hornlens.oracles.equivalence import ExhaustiveEquivalence
from hornlens.oracles.membership import FunctionMembership
from hornlens.verifying import grids
from tests import brute
from tests.targets import random_space


def ordered_choices(values):
    """Intervals over places of values, as sets of ("≥", cut) and ("<", cut)."""
    cuts = range(1, values)
    for low, high in product(range(values), repeat=2):
        if low <= high:
            yield {(">=", c) for c in cuts if c <= low} | {("<", c) for c in cuts if c > high}


@pytest.mark.parametrize("values", [2, 3, 4, 7])
def test_an_ordered_attribute_says_intervals_and_their_meet_is_the_hull(values):
    attribute = Ordered("size", tuple(f"s{i}" for i in range(values)))
    bit = {(">=", c): c - 1 for c in range(1, values)}
    bit |= {("<", c): values - 1 + c - 1 for c in range(1, values)}
    expected = {sum(1 << bit[said] for said in choice) for choice in ordered_choices(values)}
    assert set(attribute.choices) == expected and attribute.choices[0] == 0
    assert len(attribute.choices) == attribute.count == values * (values + 1) // 2
    for (a, b), (c, d) in product(product(range(values), repeat=2), repeat=2):
        if a <= b and c <= d:
            hull = attribute.interval(min(a, c), max(b, d))
            assert attribute.interval(a, b) & attribute.interval(c, d) == hull


def ancestors(parents, node):
    return set() if node is None else {node} | ancestors(parents, parents[node])


@pytest.mark.parametrize("seed", range(50))
def test_a_taxonomy_says_a_node_with_all_above_it_and_the_meet_is_the_common_ancestor(seed):
    rng = Random(seed)
    parents = tuple(rng.choice([None, *range(i)]) for i in range(rng.randint(1, 8)))
    attribute = Taxonomy("place", tuple(f"p{i}" for i in range(len(parents))), parents)
    lines = [ancestors(parents, node) for node in [None, *range(len(parents))]]
    expected = {sum(1 << i for i in line) for line in lines}
    assert set(attribute.choices) == expected and len(attribute.choices) == len(expected)
    assert {a & b for a in expected for b in expected} == expected


def places(part, count):
    """Places given as a slice or an array, as a sorted list."""
    return list(range(count))[part] if isinstance(part, slice) else sorted(part.tolist())


KINDS = ("nominal", "ordered", "taxonomy", "missing")


def any_space(rng, seed):
    """A space as it was before there was anything missing; of later seeds, one of every kind."""
    space = random_space(rng) if seed < 200 else random_space(rng, KINDS)
    while space.width > 11:  # all sets of variables are gone through
        space = random_space(rng, KINDS)
    return space


@pytest.mark.parametrize("seed", range(400))
def test_the_order_of_an_attribute_is_that_of_its_sets(seed):
    rng = Random(seed)
    space = any_space(rng, seed)
    for attribute in space.all_attributes:
        choices = attribute.choices
        assert [attribute.choice(i) for i in range(attribute.count)] == list(choices)
        place = range(attribute.count)
        for i in place:
            above = [j for j in place if choices[i] & ~choices[j] == 0]
            assert places(attribute.above(i), attribute.count) == above
            assert all(j >= i for j in above), "an order that goes up"
        seen = set()
        for i, right_above in attribute.covers():
            indices = places(right_above, attribute.count)
            for j in indices:  # from the top down: what is above is done, or has nothing above it
                assert choices[i] & ~choices[j] == 0 and i != j
                assert j in seen or all(choices[j] & ~choices[k] for k in place if k != j)
            closed = {k for j in indices for k in place if choices[j] & ~choices[k] == 0}
            assert closed == {k for k in place if k != i and choices[i] & ~choices[k] == 0}
            seen.add(i)


@pytest.mark.parametrize("seed", range(400))
def test_a_space_is_what_obeys_its_background_and_is_closed_under_intersection(seed):
    rng = Random(seed)
    space = any_space(rng, seed)
    points = list(space)
    obeying = [x for x in range(1 << space.width) if space.background.satisfied_by(x)]
    assert sorted(points) == obeying == [x for x in range(1 << space.width) if x in space]
    assert len(set(points)) == len(points) == space.count
    assert {a & b for a in points for b in points} <= set(points)
    written_out = Theory(space.width, tuple(space.background))
    assert len(written_out.rules) == len(space.background)
    for x in range(1 << space.width):
        closed = space.background.closure(x)
        assert closed == written_out.closure(x)
        above = [y for y in points if x & ~y == 0]
        assert closed == (min(above, key=int.bit_count) if above else BOTTOM)
    cells = list(space.cells())
    assert cells == list(dict.fromkeys(x & ~space.label_mask for x in points))
    assert len(cells) == space.cell_count
    drawn = {space.sample(rng) for _ in range(60)}
    assert drawn <= set(points)
    assert space.label is None or all(x & space.label_mask for x in drawn)
    assert space_from_json({"space": space_as_json(space)}) == space


@pytest.mark.parametrize("seed", range(500))
def test_grid_search_and_learner_agree_with_brute_force_on_every_kind_of_attribute(seed):
    rng = Random(seed)
    space = any_space(rng, seed - 200)
    density = rng.random()
    positives = {x for x in space if rng.random() < density}
    expected = brute.dg(sorted(positives), list(space))
    labelled = LabelledSpace(space, labels_of_positives(space, sorted(positives)))
    case = (space, sorted(positives))
    basis = labelled.dg_basis()
    assert brute.pairs(basis) == expected, case
    learner, oracle = EnvelopeLearner(space.width), ExhaustiveEquivalence(labelled)
    done = run(learner, FunctionMembership(positives.__contains__), oracle)
    assert brute.pairs(dg_basis(done.learned.hypothesis.theory, space.background)) == expected, case
    short = readable(basis, space.background)
    assert (short + space.background).equivalent(basis + space.background), case
    for rule in short:
        assert "→" in space.show(rule)


@pytest.mark.parametrize("seed", range(200))
def test_rules_taken_for_granted_leave_out_what_breaks_them(seed):
    rng = Random(seed)
    space = random_space(rng)
    rules = []
    for _ in range(rng.randint(1, 2)):
        a, b = (rng.choice(list(space)) for _ in range(2))
        rules.append(Rule(a, BOTTOM if rng.random() < 0.3 else b))
    rules = tuple(r for r in rules if r.satisfied_by(0))
    smaller = Space(space.attributes, space.label, rules)
    points = [x for x in space if all(rule.satisfied_by(x) for rule in rules)]
    assert list(smaller) == points
    positives = [x for x in points if rng.random() < 0.6]
    labelled = LabelledSpace.of(smaller, set(positives).__contains__)
    assert brute.pairs(labelled.dg_basis()) == brute.dg(positives, points), (smaller, positives)
    assert set(labelled.non_horn()) == brute.close(positives) - set(positives)


def test_an_interval_is_one_condition():
    age = Ordered.cut("age", ("30", "60"))
    space = Space((age, Nominal("work", ("nurse",))), Nominal("says", ("yes", "no")))
    rule = Rule(age.interval(1, 1) | space.vocabulary.mask(["nurse", "yes"]), BOTTOM)
    assert space.show(rule) == "30 ≤ age < 60 ∧ nurse ∧ yes → ⊥"
    assert space.conditions(age.interval(2, 2)) == ["age ≥ 60"]  # "≥ 30" follows from it
    assert space.conditions(age.interval(0, 1)) == ["age < 60"]
    size = Ordered("size", ("small", "medium", "large", "huge"))
    assert [size.describe(c) for c in size.choices[1:]] == [
        *("size ≤ large", "size ≥ medium", "size ≤ medium", "medium ≤ size ≤ large"),
        *("size ≥ large", "size = small", "size = medium", "size = large", "size = huge"),
    ]


def test_a_cut_is_shown_by_its_text_and_ordered_by_its_exact_number():
    at = (30.0, 30.000000000000004, 60.00000381469727)
    age = Ordered.cut("age", ("30", "30", "60"), at=at, after=(1, 2))
    above, below = ("age ≥ 30", "age > 30", "age > 60"), ("age < 30", "age ≤ 30", "age ≤ 60")
    assert age.variables == (*above, *below)
    ranges = [(a, b) for a in range(4) for b in range(a, 4) if (a, b) != (0, 3)]
    said = {(a, b): age.describe(age.interval(a, b)) for a, b in ranges}
    assert said == {
        (0, 0): "age < 30",
        (0, 1): "age ≤ 30",
        (0, 2): "age ≤ 60",
        (1, 1): "30 ≤ age ≤ 30",
        (1, 2): "30 ≤ age ≤ 60",
        (1, 3): "age ≥ 30",
        (2, 2): "30 < age ≤ 60",
        (2, 3): "age > 30",
        (3, 3): "age > 60",
    }
    space = Space((age,), Nominal("says", ("yes", "no")))
    content = json.loads(json.dumps(space_as_json(space)))
    assert content["attributes"] == [
        {"name": "age", "cuts": ["30", "30", "60"], "at": list(at), "after": [1, 2]}
    ]
    assert space_from_json({"space": content}) == space
    found = grids.Space.of({"space": content, "variables": list(space.vocabulary.names)})
    assert set(found.axes[0]) == set(space.axes[0])


def test_that_nothing_is_known_is_a_value_of_the_same_attribute():
    age = Ordered.cut("age", ("30", "60"), missing=True)
    *_, known, missing = age.variables
    assert (known, missing) == ("age is known", "age is missing")
    assert [age.describe(leaf) for leaf in age.leaves] == [
        *("age < 30", "30 ≤ age < 60", "age ≥ 60", "age is missing"),
    ]
    assert [age.describe(choice) for choice in age.choices[1:]] == [
        *("age is known", "age < 60", "age ≥ 30", "age < 30", "30 ≤ age < 60", "age ≥ 60"),
        "age is missing",
    ]
    ranges = {tuple(span): choice for span, choice in zip(age.spans(), age.choices, strict=True)}
    for (low, high), choice in ranges.items():  # one says another if it lies within it
        inside = {c for (a, b), c in ranges.items() if low <= a and b <= high}
        assert inside == {c for c in age.choices if choice & ~c == 0}
    space = Space((age, Ordered("size", ("S", "L"), missing=True)), Nominal("says", ("yes", "no")))
    content = json.loads(json.dumps(space_as_json(space)))
    assert [line["missing"] for line in content["attributes"]] == [True, True]
    assert space_from_json({"space": content}) == space
    found = grids.Space.of({"space": content, "variables": list(space.vocabulary.names)})
    assert [set(axis) for axis in found.axes] == [set(axis) for axis in space.axes]
    assert found.own == {
        (r.antecedent, None if r.is_negative else r.antecedent | r.consequent)
        for r in space.background
    }
    mask = space.vocabulary.mask
    assert space.background.closure(mask(["age ≥ 60"])) == mask(
        ["age ≥ 30", "age ≥ 60", "age is known"]
    )
    assert space.background.closure(mask(["age < 30", "age is missing"])) == BOTTOM


def test_files_without_exact_numbers_are_read_as_before():
    line = {"name": "age", "cuts": ["30", "60"]}
    space = space_from_json({"space": {"attributes": [line], "label": None}})
    assert space.attributes == (Ordered.cut("age", ("30", "60")),)
    assert space_as_json(space)["attributes"] == [line]
    assert space.vocabulary.names == ("age ≥ 30", "age ≥ 60", "age < 30", "age < 60")


@pytest.mark.parametrize(
    "line",
    [
        {"cuts": ["30", "60"], "at": [60.0, 30.0]},
        {"cuts": ["30", "60"], "at": [30.0]},
        {"cuts": ["30", "60"], "at": [30.0, 60.0], "after": [2]},
        {"cuts": ["30", "99"], "at": [30.0, 60.0]},
        {"cuts": ["30"], "at": [30.0], "after": [0]},
    ],
)
def test_the_verifier_refuses_cuts_that_are_not_what_they_are_shown_as(line):
    line = {"name": "age", **line}
    sides = [
        (">", "≤") if i in line.get("after", ()) else ("≥", "<") for i in range(len(line["cuts"]))
    ]
    names = [
        f"age {s[side]} {c}" for side in (0, 1) for s, c in zip(sides, line["cuts"], strict=True)
    ]
    content = {"space": {"attributes": [line], "label": None}, "variables": names}
    with pytest.raises(ValueError, match="cut"):
        grids.Space.of(content)


def test_a_rule_is_found_at_the_level_of_generality_at_which_it_holds():
    tree = [("Europe", None), ("Germany", "Europe"), ("France", "Europe"), ("Asia", None)]
    place = Taxonomy.of("place", tree)
    space = Space((place,), Nominal("says", ("yes", "no")))
    names = space.vocabulary
    europe, yes = names.mask(["Europe"]), names.mask(["yes"])
    labelled = LabelledSpace.of(space, lambda x: not (x & europe and x & yes))
    basis = labelled.dg_basis()
    assert [space.show(rule) for rule in basis] == ["Europe ∧ yes → ⊥"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda n: Nominal("a", tuple(f"v{i}" for i in range(n))),
        lambda n: Ordered("a", tuple(f"v{i}" for i in range(n))),
        lambda n: Taxonomy.of("a", [("v0", None), *((f"v{i}", f"v{i // 9}") for i in range(1, n))]),
    ],
    ids=["nominal", "ordered", "taxonomy"],
)
def test_attributes_cost_what_they_are(make):
    """Background, closure and samples of twenty thousand values: nothing is squared."""
    start = process_time()
    space = Space((make(20_000),), Nominal("label", ("yes", "no")))
    background = space.background
    assert len(background.rules) + len(background.exclusive) <= 3 * 20_000
    rng = Random(0)
    drawn = [space.sample(rng) for _ in range(20)]
    assert all(x in space for x in drawn)
    assert background.closure(drawn[0]) == drawn[0]
    assert background.closure(drawn[0] | space.label_mask) == BOTTOM
    rule = Rule(drawn[0], BOTTOM)
    assert readable(Theory(space.width, (rule,)), background).rules[0].antecedent & ~drawn[0] == 0
    assert process_time() - start < 20  # squared, it would be minutes


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ordered("a", ("one",)), "needs two ordered values"),
        (lambda: Ordered.cut("a", ()), "needs one cut or more"),
        (lambda: Ordered.cut("a", ("x",)), "a cut that is no number"),
        (lambda: Ordered.cut("a", ("2", "1")), "from low to high"),
        (lambda: Ordered.cut("a", ("1", "2"), at=(2, 1)), "from low to high"),
        (lambda: Ordered.cut("a", ("1", "2"), at=(1, float("inf"))), "from low to high"),
        (lambda: Ordered.cut("a", ("1", "2"), at=(1,)), "a number for each of its cuts"),
        (lambda: Ordered.cut("a", ("1",), after=(1,)), "no cut at one of the places"),
        (lambda: Ordered.cut("a", ("1", "1"), at=(1, 2)), "all apart"),
        (lambda: Taxonomy("a", ("x", "y"), (None,)), "a parent, or None, for each value"),
        (lambda: Taxonomy("a", ("x", "y"), (1, None)), "'x' stands before what is above it"),
        (lambda: Taxonomy.of("a", [("x", "z")]), "'x' stands under no value"),
        (lambda: Space((Nominal("a", ("x",)), Nominal("a", ("y",)))), "two attributes have"),
        (lambda: Space((Nominal("a", ("x",)), Nominal("b", ("x",)))).vocabulary, "two variables"),
    ],
)
def test_what_is_no_space_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_what_is_assumed_and_goes_without_saying_is_said_once():
    job = Nominal("job", ("nurse", "cook"))
    never = Rule(0b11, BOTTOM)
    own = Space((job,)).background
    assert Space((job,), assumed=(never,)).background == own
    assert Space((job,), assumed=(Rule(0b01, 0b10),)).background != own


@pytest.mark.parametrize("complete", [False, True])
def test_cells_are_counted_as_by_looking_at_each(complete):
    tied = 0
    for seed in range(150):
        rng = Random(seed)
        plain = random_space(rng)
        space = replace(plain, assumed=random_assumed(rng, plain), complete=complete)
        cells = list(space.cells())
        tied += len(cells) < space.cell_count
        assert cells_above(space) == len(cells), seed
        for _ in range(10):
            x = rng.getrandbits(space.width) & rng.getrandbits(space.width) & ~space.label_mask
            expected = sum(x & ~cell == 0 for cell in cells)
            assert cells_above(space, x) == expected, (seed, x)
            assert cells_above(space, x, most=0) in (None, expected)
    assert tied > 30


def random_assumed(rng, space):
    """A few rules about the attributes, often over several of them."""
    inside = (1 << space.width) - 1 & ~space.label_mask
    rules = []
    for _ in range(rng.randint(0, 3)):
        left = rng.getrandbits(space.width) & rng.getrandbits(space.width) & inside
        right = BOTTOM if rng.random() < 0.5 else left | rng.getrandbits(space.width) & inside
        if right != left:
            rules.append(Rule(left, right))
    return tuple(rules)


def test_cells_of_a_large_space_are_counted_by_the_attributes_that_its_rules_tie_together():
    attributes = tuple(Nominal(f"a{i}", tuple(f"a{i}v{j}" for j in range(9))) for i in range(12))
    space = Space(attributes)
    mask = space.vocabulary.mask
    pairs = (Rule(mask(["a0v0", "a1v1"]), BOTTOM), Rule(mask(["a5v0"]), mask(["a5v0", "a6v0"])))
    tied = replace(space, assumed=pairs)
    assert cells_above(tied) == 10**8 * (100 - 1) * (100 - 9)
    assert cells_above(tied, mask(["a5v0"])) == 10**8 * (100 - 1)
    assert cells_above(tied, mask(["a0v0", "a1v1"])) == 0
    everything = Rule(mask([f"a{i}v0" for i in range(12)]), BOTTOM)
    assert cells_above(replace(space, assumed=(everything,))) is None
    large = Rule(mask([f"a{i}v0" for i in range(7)]), BOTTOM)  # ten million: some at a time
    assert cells_above(replace(space, assumed=(large,))) == 10**12 - 10**5
