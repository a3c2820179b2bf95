"""Complete spaces: every cell sets every attribute, against their definition and the verifier."""

import json
from itertools import product
from random import Random

import pytest

import hornlens
from hornlens.errors import HornlensError, InputError
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.readings import reading
from hornlens.exploring.experts import TargetEntailment
from hornlens.extraction.asking import Questions
from hornlens.formats.spaces import space_as_json, space_from_json
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.protocol import Holds
from hornlens.limits import Stopped
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
from hornlens.targets.functions import FunctionTarget
from hornlens.targets.worlds import Worlds
from hornlens.verifying import grids
from tests import brute
from tests.targets import random_space

KINDS = ("nominal", "ordered", "taxonomy", "missing")

LABEL = Nominal("says", ("yes", "no", "perhaps"))


def small_space(rng):
    space = random_space(rng, KINDS)
    while space.count > 400:  # brute force squares it
        space = random_space(rng, KINDS)
    return space


def completed(space, assumed=()):
    return Space(space.attributes, space.label, assumed, complete=True)


def whole_choices(attribute):
    """The choices with nothing above them; with one value, unset as well."""
    choices = attribute.choices
    top = [c for c in choices if not any(c != d and c & ~d == 0 for d in choices)]
    return list(choices) if len(attribute.variables) == 1 else top


def random_complete(rng):
    space = completed(small_space(rng))
    if space.label is None and rng.random() < 0.7:
        space = Space(space.attributes, LABEL, complete=True)
    cells = list(space.cells())
    if rng.random() < 0.4 and len(cells) > 2:  # take some cells away
        cell, other = rng.sample(cells, 2)
        rule = Rule(cell, BOTTOM) if rng.random() < 0.5 else Rule(cell & other, other)
        smaller = Space(space.attributes, space.label, (rule,), complete=True)
        if rule.antecedent and any(True for _ in smaller.cells()):
            return smaller
    return space


@pytest.mark.parametrize("seed", range(300))
def test_a_cell_of_a_complete_space_says_all_that_can_be_said(seed):
    rng = Random(seed)
    space = small_space(rng)
    whole = completed(space)
    pairs = zip(whole.attributes, whole.offsets, strict=False)
    lists = [[leaf << at for leaf in whole_choices(attribute)] for attribute, at in pairs]
    expected = [sum(parts) for parts in product(*lists)]
    cells = list(whole.cells())
    assert sorted(cells) == sorted(expected) and whole.cell_count == len(cells) == len(set(cells))
    assert cells == [cell for cell in space.cells() if cell in set(expected)], "another order"
    assert whole.count == space.count and list(whole.vocabulary.names) == list(
        space.vocabulary.names
    )
    drawn = {whole.sample(rng) for _ in range(40)}
    assert {x & ~whole.label_mask for x in drawn} <= set(cells)
    assert whole.label is None or all(x & whole.label_mask for x in drawn)
    content = json.loads(json.dumps(space_as_json(whole)))
    assert space_from_json({"space": content}) == whole and content["complete"] is True
    assert "complete" not in space_as_json(space)
    names = list(whole.vocabulary.names)
    found = grids.Space.of({"space": content, "variables": names})
    assert found.ends is not None
    assert [sorted(end) for end in found.ends] == [sorted(line) for line in lists]
    own = {(r.antecedent, r.antecedent | r.consequent) for r in whole.assumed}
    assert own <= {(left, both) for left, both in found.own if both is not None}
    # What all cells obey is taken for granted, and is no finding.
    for x in range(1 << min(whole.width, 9)):
        above = [cell for cell in cells if x & ~cell == 0]
        if not x & whole.label_mask and above:
            common = above[0]
            for cell in above:
                common &= cell
            assert whole.background.closure(x) & ~whole.label_mask == common, (whole, x)


def answers_of(rng, space):
    labels = 2 if space.label is None else len(space.label.variables)
    weights = [rng.random() for _ in range(labels)]
    table = {cell: rng.choices(range(labels), weights)[0] for cell in space.cells()}
    silent = set() if rng.random() < 0.7 else {c for c in table if rng.random() < 0.2}
    names = space.vocabulary.names_of

    def call(said):
        cell = cells[said]
        if cell in silent:
            return None
        return bool(table[cell]) if space.label is None else space.label.variables[table[cell]]

    cells = {names(cell): cell for cell in table}
    return FunctionTarget(call, space), {c: p for c, p in table.items() if c not in silent}, silent


def positives_of(space, table, silent):
    """Accepted: a cell with its label; without an answer, as the policy has it (none is)."""
    if space.label is None:
        return {cell for cell, place in table.items() if place}
    return {space.with_label(cell, place) for cell, place in table.items()}


@pytest.mark.parametrize("seed", range(250))
def test_the_rules_are_those_of_the_complete_cells_and_the_verifier_agrees(seed, tmp_path):
    rng = Random(seed)
    space = random_complete(rng)
    target, table, silent = answers_of(rng, space)
    policy = hornlens.Policy(abstain="reject")
    settings = rng.choice(
        [
            {},
            {"min_confidence": 0.6, "detail": "2"},
            {"max_conditions": rng.randint(1, 2)},
            {"min_support": rng.randint(1, 3)},
        ]
    )
    result = hornlens.extract(target, settings=hornlens.Settings(**settings), policy=policy)
    case = (seed, space, table, silent, settings)
    positives = positives_of(space, table, silent)
    if not settings.keys() & {"max_conditions", "min_support"}:
        expected = brute.dg(sorted(positives), list(space))
        assert brute.pairs(result.envelope.basis) == expected, case
    if all(len(attribute.variables) > 1 for attribute in space.attributes):
        assert result.envelope.non_horn.count == 0, case
    assert set(result.decisions) == set(space.cells()), case
    for rule in result.envelope.readable:
        assert all(rule.satisfied_by(x) for x in positives), (case, rule)
    result.save(tmp_path)
    done = hornlens.verify(tmp_path)
    assert done.ok, (case, done.wrong)
    again = hornlens.load(tmp_path)
    assert again.space.attributes == space.attributes and again.space.complete


class Ending:
    """A target that ends the run after so many calls."""

    def __init__(self, target, calls):
        self.target, self.calls = target, calls
        self.name, self.space, self.show = target.name, target.space, target.show
        self.identity = target.identity

    def decide(self, cells):
        self.calls -= 1
        if self.calls < 0:
            raise Stopped("time_limit")
        return self.target.decide(cells)


@pytest.mark.parametrize("seed", range(60))
def test_several_worlds_and_runs_that_end_early_are_verified(seed, tmp_path):
    rng = Random(seed)
    space = random_complete(rng)
    one, *_ = answers_of(rng, space)
    two, *_ = answers_of(rng, space)
    together = hornlens.extract(Worlds("both", {"one": one, "two": two}))
    together.save(tmp_path / "worlds")
    done = hornlens.verify(tmp_path / "worlds")
    assert done.ok, (seed, space, done.wrong)
    for limits, calls in (
        (hornlens.Limits(max_rules=rng.randint(1, 2)), 10),
        (hornlens.Limits(), 2),
    ):
        ended = hornlens.extract(Ending(one, calls), limits=limits)
        ended.save(tmp_path / "ended")
        done = hornlens.verify(tmp_path / "ended")
        assert done.ok, (seed, space, calls, done.wrong)


def test_what_is_not_asked_may_be_any_label():
    space = Space(
        (Nominal("job", ("nurse", "pilot")), Ordered("age", ("young", "old"))), LABEL, complete=True
    )
    target = FunctionTarget(lambda names: "yes" if "nurse" in names else "no", space)
    questions = Questions(target, hornlens.Policy(label_unset="reject"))
    mask = space.vocabulary.mask
    nurses = [cell for cell in space.cells() if cell & mask(["nurse"])]
    questions.decide(nurses)
    possible = reading(questions.knowledge)
    assert isinstance(possible, LabelledSpace)
    assert int(possible.positive.sum()) == 2 + 2 * 3
    basis = possible.dg_basis()
    assert basis.entails(Rule(mask(["nurse"]), mask(["yes"])))
    assert not basis.entails(Rule(mask(["pilot"]), mask(["no"])))


def test_a_learner_is_refused_in_one_line():
    space = Space((Nominal("job", ("nurse", "pilot")),), LABEL, complete=True)
    target = FunctionTarget(lambda names: "yes" if "nurse" in names else "no", space)
    for options in (
        {"settings": hornlens.Settings(equivalence="pac")},
        {"settings": hornlens.Settings(equivalence="budget", max_equivalence_queries=2)},
        {"learner": EnvelopeLearner},
    ):
        with pytest.raises(HornlensError, match="has complete ones only") as error:
            hornlens.extract(target, **options)
        assert "\n" not in str(error.value)
    assert (
        hornlens.extract(target, settings=hornlens.Settings(limit=1)).certificate.sift is not None
    )
    with pytest.raises(InputError, match="the label is always set"):
        Space((), LABEL, label_always=False, complete=True)


@pytest.mark.parametrize("seed", range(60))
def test_an_expert_who_draws_cells_draws_complete_ones_and_says_no_only_if_it_is_so(seed):
    rng = Random(seed)
    space = random_complete(rng)
    target, table, silent = answers_of(rng, space)
    asked = set()

    class Listening(Ending):
        def decide(self, cells):
            asked.update(cells)
            return target.decide(cells)

    policy = hornlens.Policy(abstain="reject", label_unset="reject")
    whole = TargetEntailment(target, policy)
    drawing = TargetEntailment(Listening(target, 0), policy, 200, 0, rng)
    positives = positives_of(space, table, silent)
    for _ in range(20):
        rule = Rule(rng.choice(list(space)), rng.choice([BOTTOM, *space]))
        expected = all(rule.satisfied_by(x) for x in positives)
        assert isinstance(whole.entails(rule), Holds) == expected, (seed, space, rule)
        reply = drawing.entails(rule)
        if not isinstance(reply, Holds):
            assert not expected and reply.example in positives, (seed, space, rule, reply)
    assert asked <= set(space.cells())


def test_what_can_be_said_of_many_columns_is_never_laid_out():
    """Ten columns of four bins: a million cells, 10¹⁰ combinations of choices."""
    columns = tuple(Ordered.cut(f"x{i}", ("1", "2", "3")) for i in range(10))
    space = Space(columns, LABEL, complete=True)
    assert space.cell_count == 4**10 and space.count == 4 * 10**10
    assert next(space.cells()).bit_count() == 30
    assert space.sample(Random(0)).bit_count() == 31
    assert "none unset" in space.sampling and "label always set" in space.sampling
    target = FunctionTarget(lambda names: "yes", space)
    settings = hornlens.Settings(equivalence="exhaustive", limit=4**10)
    with pytest.raises(HornlensError, match="40,000,000,000 combinations"):
        hornlens.extract(target, settings=settings)


def test_flips_and_rates_are_of_complete_cells():
    place = Taxonomy.of(
        "place", [("Europe", None), ("Germany", "Europe"), ("France", "Europe"), ("Asia", None)]
    )
    space = Space((place, Nominal("old", ("old",))), LABEL, complete=True)
    target = FunctionTarget(lambda names: "yes" if "Europe" in names else "no", space)
    rates = hornlens.extract(target).rates
    by_name = {line.attribute: line for line in rates.attributes}
    assert [value.value for value in by_name["place"].values] == ["Germany", "France", "Asia"]
    assert by_name["place"].flips == 4 and by_name["place"].pairs == 6
    assert by_name["old"].flips == 0 and by_name["old"].pairs == 3
