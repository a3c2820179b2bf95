"""Targets that compare answers: of two targets, and of one with an attribute changed."""

import math
from random import Random
from typing import ClassVar

import numpy as np
import pytest

import hornlens
from hornlens import FunctionTarget, Nominal, Ordered, Policy, Space, Taxonomy, Worlds
from hornlens.errors import HornlensError, InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import UNDECIDED, Decision
from hornlens.logic.reduced import Reduced
from hornlens.logic.rule import Rule
from hornlens.models.functions import FunctionModel
from hornlens.probes.loading import DEFAULT, load_probe
from hornlens.targets.differences import (
    DifferencesTarget,
    PromptedDifferences,
    differences_of,
)
from hornlens.targets.flipping import FlippingTarget, PromptedFlipping, flipping
from hornlens.targets.noisy import NoisyModel
from hornlens.targets.prompted import PromptedModel
from hornlens.targets.protocol import Interruptible, PromptTarget
from hornlens.testing.targets import TargetConformance
from tests.comparing_cases import differing_case, flipping_case
from tests.learning.sifting.boxes import cells_of, random_space

WORK = Nominal("work", ("nurse", "priest", "brewer"))
AGE = Ordered.cut("age", ("30", "60"))
PLACE = Taxonomy.of("place", [("Europe", None), ("Germany", "Europe"), ("Asia", None)])
LOAN = Nominal("loan", ("granted", "refused"))
SPACE = Space((WORK, AGE, PLACE), LOAN)
YES_OR_NO = Space((WORK, PLACE))


def old(names):
    """Grant a loan to those who are 30 at least; of nurses elsewhere, say nothing."""
    if "age ≥ 30" in names:
        return "granted"
    return None if "nurse" in names else "refused"


def new(names):
    """The same, but to nobody from Asia."""
    return "refused" if "Asia" in names else old(names)


class Counts:
    """A function that counts its calls."""

    def __init__(self, call):
        self.call, self.calls = call, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.call(*arguments)


def bank(call, space=SPACE, name="bank"):
    return FunctionTarget(Counts(call), space, name, name)


class TestTwoFunctions(TargetConformance):
    options: ClassVar = {}

    def build(self):
        return DifferencesTarget(bank(old), bank(new), **self.options)

    def questions_asked(self, target):
        return sum(part.call.calls for part in target.parts)


class TestTwoFunctionsWithSides(TestTwoFunctions):
    options: ClassVar = {"sides": True}


class TestTwoFunctionsWhoseSilenceIsAnAnswer(TestTwoFunctions):
    options: ClassVar = {"silence": "answer", "sides": True}


class TestTwoFunctionsThatSayYesOrNo(TestTwoFunctions):
    def build(self):
        one = bank(lambda names: "nurse" in names, YES_OR_NO)
        return DifferencesTarget(one, bank(lambda names: "Asia" in names, YES_OR_NO))


class TestAChange(TestTwoFunctions):
    attribute = "place"

    def build(self):
        return FlippingTarget(bank(new), self.attribute, **self.options)


class TestAChangeOfAges(TestAChange):
    attribute = "age"
    options: ClassVar = {"silence": "answer"}


class TestAChangeOfTwo(TestAChange):
    attribute = ("work", "age")


class TestAChangeOfADifference(TestTwoFunctions):
    def build(self):
        return FlippingTarget(DifferencesTarget(bank(old), bank(new)), "work")

    def questions_asked(self, target):
        return sum(part.call.calls for part in target.base.parts)


def pronoun(prompt, words):
    return [math.log((len(prompt) % 7 + len(word)) / 30) for word in words]


def other(prompt, words):
    return [math.log((len(prompt) % 5 + len(word)) / 30) for word in words]


def prompted(call, name, **options):
    model = FunctionModel(Counts(call), name, identity=name)
    return PromptedModel(load_probe(DEFAULT), model, Policy(), **options)


class TestTwoModels(TargetConformance):
    def build(self):
        return PromptedDifferences(prompted(pronoun, "one"), prompted(other, "two"))

    def questions_asked(self, target):
        return sum(part.model.call.calls for part in target.parts)


class TestAChangeInPrompts(TargetConformance):
    def build(self):
        return PromptedFlipping(prompted(pronoun, "one"), "continent")

    def questions_asked(self, target):
        return target.base.model.call.calls


# --- by the definitions ---


def test_labels_of_two_are_those_of_the_definition():
    seen = {None: 0, 0: 0, 1: 0}
    for seed in range(150):
        case, target = differing_case(seed)
        cells = list(case.box.answers[0])
        assert sorted(cells) == sorted(target.space.cells())
        for cell, decision in zip(cells, target.decide(cells), strict=True):
            assert decision.winner == case.box.answers[0][cell]
            seen[decision.winner] += 1
    assert min(seen.values()) > 100


def test_labels_of_a_change_are_those_of_the_definition():
    seen = {None: 0, 0: 0, 1: 0}
    for seed in range(150):
        case, target, _ = flipping_case(seed)
        cells = list(case.box.answers[0])
        for cell, decision in zip(cells, target.decide(cells), strict=True):
            assert decision.winner == case.box.answers[0][cell], seed
            seen[decision.winner] += 1
    assert min(seen.values()) > 40


def test_cells_of_a_change_are_those_in_which_two_values_can_occur():
    """All of them, and no other in a complete space: rules can say it there."""
    extra = exact = 0
    for seed in range(400):
        case, target, possible = flipping_case(seed)
        if not case.box.space.assumed and not target.base.space.assumed:
            continue
        cells = set(target.space.cells())
        assert possible <= cells, seed
        if target.base.space.complete:
            assert possible == cells, seed
        exact += possible == cells
        extra += possible != cells
    assert exact > 40


def test_what_rules_can_say_of_fixed_cells_is_said():
    """With many rules about the attribute, in complete spaces: always."""
    checked = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        is_complete = bool(rng.random() < 0.6)
        space = random_space(rng, 2, is_complete)
        if len(space.attributes) < 2:
            continue
        width = space.offsets[-1]
        rules = []
        for _ in range(int(rng.integers(1, 5))):
            a, b, c = (1 << int(rng.integers(width)) for _ in range(3))
            rules.append(Rule(a | b, BOTTOM) if rng.random() < 0.4 else Rule(a | b, a | b | c))
        space = Space(space.attributes, space.label, tuple(rules), complete=is_complete)
        own = [leaf << space.offsets[0] for leaf in space.attributes[0].leaves if leaf]
        if len(own) < 2:
            continue
        reduced = Reduced(space, (0,), tuple(own))
        cells = cells_of(space)
        rest = {}
        for cell in cells:
            if cell & space.groups[0] in own:
                rest.setdefault(cell & ~space.groups[0], []).append(cell & space.groups[0])
        small = Space(reduced.attributes, space.label, reduced.assumed, complete=is_complete)
        allowed = {reduced.whole(cell) for cell in small.cells()}
        free = {cell for cell, values in rest.items() if len(values) > 1}
        assert free <= allowed, seed
        if is_complete:
            assert allowed == free, seed
            checked += 1
        for cell in small.cells():
            values = [own[place] for place in reduced.possible(cell)]
            assert values == sorted(rest.get(reduced.whole(cell), []), key=own.index)
    assert checked > 60


def test_of_two_values_every_background_is_said():
    sex = Nominal("sex", ("female", "male"))
    pregnant = Nominal("pregnant", ("pregnant",))
    space = Space((sex, pregnant, WORK), LOAN, (Rule(0b100, 0b101),))
    changed = FlippingTarget(bank(lambda names: "granted", space), "sex")
    assert [str(rule) for rule in named(changed.space)] == ["pregnant → ⊥"]
    other = FlippingTarget(bank(lambda names: "granted", space), "pregnant")
    assert [str(rule) for rule in named(other.space)] == ["⊤ → female"]


def named(space):
    return [hornlens.NamedRule.of(rule, space.vocabulary) for rule in space.assumed]


# --- who is asked what ---


def test_values_are_asked_until_two_answers_differ():
    many = Nominal("name", tuple(f"name {i}" for i in range(10)))
    space = Space((many, WORK), LOAN)
    call = Counts(lambda names: "granted" if {"name 1", "nurse"} <= set(names) else "refused")
    target = FlippingTarget(FunctionTarget(call, space), "name")
    nurse, priest = 0b001, 0b010
    assert [d.winner for d in target.decide([nurse, priest])] == [1, 0]
    assert call.calls == 2 + 10
    assert len(target.show(nurse)) == 2 and len(target.show(priest)) == 10
    target.decide([nurse, priest])
    assert call.calls == 12 and target.asked_count == 12


def test_only_some_values_are_tried():
    target = FlippingTarget(bank(new), "place", values=("Asia", "Germany"))
    assert [value.name for value in target.choices] == ["Asia", "Germany"]
    assert target.show(0)[0].startswith("Asia: ")


def test_what_was_said_is_shown_and_kept():
    result = hornlens.differences(
        bank(old), bank(new), names=("before", "after"), silence="answer", sides=True
    )
    asia = result.space.vocabulary.mask(["Asia", "age ≥ 30"])
    assert result.reply_to(asia) == "before granted, after refused"
    assert result.show(asia) == (
        "before → granted: age ≥ 30, Asia",
        "after → refused: age ≥ 30, Asia",
    )
    nurse = result.space.vocabulary.mask(["nurse"])
    assert result.show(nurse)[0] == "before → no answer (it gave no answer): nurse"
    (answer,) = [a for a in result.as_json()["answers"] if a["set"] == ["age ≥ 30", "Asia"]]
    assert [one["reply"] for one in answer["phrasings"]] == ["granted", "refused"]


def test_half_an_answer_is_none():
    result = hornlens.differences(bank(old), bank(new), policy=Policy(abstain="accept"))
    half = result.space.vocabulary.mask(["nurse", "Asia"])
    neither = result.space.vocabulary.mask(["nurse"])
    assert result.decisions[half] == Decision(None, abstained="half")
    assert result.decisions[neither] == Decision(None, abstained="none")
    assert result.reply_to(half) == "no answer (only some of the answers to compare were given)"
    assert not result.entails("nurse & Asia -> differ") and not result.entails("nurse -> same")
    rejecting = hornlens.differences(bank(old), bank(new), policy=Policy(abstain="reject"))
    assert rejecting.entails("nurse & Germany -> same")
    counted = hornlens.differences(bank(old), bank(new), silence="answer")
    assert counted.entails("nurse & Germany -> same")
    assert counted.entails("nurse & age < 30 & Asia -> differ")


def test_answers_that_are_not_known_leave_it_open():
    class Undecided:
        name, space = "undecided", SPACE

        def identity(self):
            return None

        def decide(self, cells):
            return [Decision(None, abstained=UNDECIDED) for _ in cells]

        def show(self, cell):
            return ("?",)

    target = DifferencesTarget(Undecided(), bank(new))
    assert target.decide([0])[0].abstained == UNDECIDED


def test_several_ways_of_asking_are_compared_each():
    ways = {"a": bank(old, name="one"), "b": bank(new, name="one")}
    others = {"a": bank(old, name="two"), "b": bank(old, name="two")}
    both = differences_of(Worlds("one", ways), Worlds("two", others))
    result = hornlens.extract(both, policy=Policy(abstain="reject"))
    assert [each.entails("-> same") for each in result.worlds] == [True, False]
    assert not result.entails("-> same") and result.entails("differ -> Asia")
    assert result.title == "one and two"
    with pytest.raises(HornlensError, match="not asked in the same ways"):
        differences_of(Worlds("one", ways), bank(old))
    changed = flipping(Worlds("one", ways), "place")
    assert changed.name == "one, changing place"
    result = hornlens.extract(changed, policy=Policy(abstain="reject"))
    assert [each.entails("-> stays") for each in result.worlds] == [True, False]


def test_names_that_are_taken_get_a_mark():
    same = Nominal("answers", ("same", "differ"))
    space = Space((same, WORK), LOAN)
    target = DifferencesTarget(bank(old, space), bank(new, space))
    assert target.space.label == Nominal("answers’", ("same’", "differ’"))
    result = hornlens.extract(target, policy=Policy(abstain="reject"))
    assert result.rules[0].sentence == "bank (1) and bank (2) never give different answers."


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DifferencesTarget(bank(old), bank(old, YES_OR_NO)), "different attributes"),
        (
            lambda: DifferencesTarget(bank(old), bank(old, Space((WORK, AGE, PLACE), WORK2))),
            "different labels",
        ),
        (
            lambda: DifferencesTarget(
                bank(old), bank(old, Space((WORK, AGE, PLACE), LOAN, (Rule(1, 0b1001),)))
            ),
            "different background",
        ),
        (lambda: DifferencesTarget(bank(old), bank(new), silence="loud"), "silence must be one of"),
        (lambda: FlippingTarget(bank(old), "wrok"), "there is no attribute 'wrok'"),
        (lambda: FlippingTarget(bank(old), ()), "needs the name of an attribute"),
        (lambda: FlippingTarget(bank(old), ("work", "age", "place")), "there is nothing beside"),
        (lambda: FlippingTarget(bank(old), "work", ("nurse",)), "one value only"),
        (lambda: FlippingTarget(bank(old), "work", ("nurse", "x")), "has no value 'x'"),
        (lambda: FlippingTarget(bank(old), ("work", "age"), ("nurse",)), "for one attribute only"),
        (lambda: hornlens.differences(bank(old), "demo"), "cannot be compared with a target"),
        (lambda: hornlens.changes(bank(old), "work", "x"), "asks its own questions"),
        (lambda: hornlens.changes("demo", "work", repeats="auto"), "must be a number"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_line(make, message):
    with pytest.raises(HornlensError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


WORK2 = Nominal("loan", ("yes", "no"))


def test_too_many_values_and_labels_are_refused():
    names = [Nominal(f"n{i}", tuple(f"n{i}v{v}" for v in range(50))) for i in range(3)]
    space = Space((*names, WORK), LOAN)
    with pytest.raises(HornlensError, match="125,000 combinations"):
        FlippingTarget(bank(old, space), ("n0", "n1", "n2"))
    many = Nominal("loan", tuple("abcde"))
    with pytest.raises(HornlensError, match="4 labels at most"):
        target = bank(old, Space((WORK,), many))
        DifferencesTarget(target, target, sides=True)


def test_answers_that_a_test_decides_cannot_be_compared():
    model = FunctionModel(pronoun, "one")
    noisy = NoisyModel(load_probe(DEFAULT), model, Policy())
    with pytest.raises(HornlensError, match="cannot be compared"):
        DifferencesTarget(noisy, noisy)


# --- models that are asked in prompts ---


def test_prompts_of_both_count():
    result = hornlens.differences(
        FunctionModel(Counts(pronoun), "one"), FunctionModel(Counts(other), "two"), cache=False
    )
    statistics = result.envelope.statistics
    assert statistics["distinct_prompts"] == statistics["model_calls"] == 2 * 660
    assert result.record.asked == 1320 and result.question.unit == "cell"
    target = differences_of(prompted(pronoun, "one"), prompted(other, "two"))
    assert isinstance(target, PromptTarget) and isinstance(target, Interruptible)
    assert target.prompt_count == 1320
    changed = flipping(prompted(pronoun, "one"), "continent")
    assert isinstance(changed, PromptTarget) and changed.prompt_count == 66 * 9


def test_a_run_that_is_ended_keeps_what_both_answered():
    target = differences_of(prompted(pronoun, "one"), prompted(other, "two"))
    first, second = target.parts
    cells = list(target.space.cells())[:40]
    first.decide(cells)
    second.decide(cells[:15])
    assert target.answered(cells) == cells[:15]
    assert [d.winner is not None for d in target.decide(cells[:15])] == [True] * 15


def test_a_limit_ends_with_what_is_known():
    limits = hornlens.Limits(max_questions=400)
    result = hornlens.differences(pronoun, other, cache=False, limits=limits)
    assert result.certificate.ended.reason == "max_questions"
    assert 0 < len(result.decisions) <= 200


def test_the_store_keeps_the_answers_of_both(tmp_path):
    one, two = (FunctionModel(Counts(c), n, identity=n) for c, n in ((pronoun, "1"), (other, "2")))
    first = hornlens.differences(one, two, cache=tmp_path / "cache.db")
    asked = one.call.calls, two.call.calls
    again = hornlens.differences(one, two, cache=tmp_path / "cache.db")
    assert (one.call.calls, two.call.calls) == asked
    assert again.record.asked == 0 and again.record.reused == 1320
    assert again.as_json() == first.as_json()
    changed = hornlens.changes(one, "continent", cache=tmp_path / "cache.db")
    assert one.call.calls == asked[0] and changed.record.asked == 0


def test_repeats_count_the_majority():
    rng = Random(0)

    def wavers(prompt, words):
        return pronoun(prompt, words) if rng.random() < 0.9 else pronoun(prompt, words)[::-1]

    result = hornlens.differences(wavers, pronoun, cache=False, repeats=9)
    differing = sum(d.winner == 1 for d in result.decisions.values())
    assert differing < 0.05 * len(result.decisions)


# --- two classifiers ---


def test_classifiers_with_other_thresholds_are_compared_over_those_of_both():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 100, (200, 2)).astype(float)

    def bank_at(cut):
        return lambda rows: np.where(rows[:, 0] >= cut, "yes", "no")

    targets = [
        hornlens.ClassifierTarget.of(bank_at(cut), rows, bins={"x0": [cut], "x1": [50]})
        for cut in (30, 60)
    ]
    result = hornlens.differences(*targets, names=("old", "new"))
    assert result.space.complete
    assert result.entails("x0 ≥ 30 & x0 < 60 -> differ") and result.entails("x0 < 30 -> same")
    between = result.space.vocabulary.mask(["x0 ≥ 30", "x0 < 60", "x1 < 50"])
    shown = result.show(between)
    assert [text.split(":")[0] for text in shown] == ["old → class = yes", "new → class = no"]
    sentences = [rule.sentence for rule in result.rules]
    assert "old and new never give different answers where x0 < 30." in sentences
    changed = hornlens.changes(targets[0], "x1")
    assert [str(rule) for rule in changed.rules] == ["⊤ → stays"]
    with pytest.raises(InputError, match="different columns"):
        hornlens.differences(
            targets[0], hornlens.ClassifierTarget.of(lambda r: r[:, 0] > 3, rows[:, :1])
        )
