"""Sifting where answers are compared: claims hold, and few questions find where answers differ."""

from collections import Counter

import numpy as np
import pytest

from hornlens import FunctionTarget, Nominal, Policy, Settings, Space, extract
from hornlens.learning.sifting.guessing import Forms
from hornlens.learning.sifting.run import SiftOptions
from hornlens.learning.sifting.sift import Sift
from hornlens.learning.strategies import Lines
from hornlens.targets.differences import DifferencesTarget
from hornlens.targets.flipping import FlippingTarget
from tests.comparing_cases import differing_case, flipping_case, sized
from tests.learning.sifting.judging import claims_of, judge, too_many

DELTA = 0.2


def judged_run(case, target):
    """Sift a comparison; return what is unsound, and how many rules rest on tests."""
    result = extract(target, settings=case.settings, policy=case.box.policy)
    assert result.policy.label_unset == "reject"
    for cell, decision in result.decisions.items():
        assert decision.winner == case.box.answers[0][cell], case.seed
    claims = claims_of(result)
    judged = judge(case.box, claims, case.conditions)
    assert not judged.refuted, case.seed
    assert not judged.missing, case.seed
    assert not judged.unrecorded, case.seed
    return judged.unsound, sum(bound > 0 for *_, bound in claims.listed) + len(claims.almost)


def run_all(make, seeds):
    counts = Counter()
    for seed in seeds:
        case, target, *_ = make(seed, DELTA)
        if sized(case):
            unsound, tested = judged_run(case, target)
            counts += Counter(runs=1, unsound=bool(unsound), tested=tested)
    return counts


def test_what_is_listed_of_two_targets_holds_and_all_else_has_an_exception():
    counts = run_all(differing_case, range(120))
    assert counts["runs"] > 110 and counts["tested"] > 30
    assert not too_many(counts["unsound"], counts["runs"], DELTA)


def test_what_is_listed_of_a_change_holds_and_all_else_has_an_exception():
    counts = run_all(flipping_case, range(1000, 1120))
    assert counts["runs"] > 60 and counts["tested"] > 10
    assert not too_many(counts["unsound"], counts["runs"], DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("make", [differing_case, flipping_case])
def test_the_same_of_thousands(make):
    counts = run_all(make, range(20_000, 21_000))
    assert not too_many(counts["unsound"], counts["runs"], DELTA)


# --- how many questions it takes ---


def boxes(count, size):
    attributes = (Nominal(f"a{i}", tuple(f"a{i}v{v}" for v in range(size))) for i in range(count))
    return Space(tuple(attributes), Nominal("answers", ("same", "differ")), complete=True)


def questions(space, answers, forms, guided, seed=0, epsilon=0.01, most=6000):
    """How many questions a sift asks, and how many of these find different answers."""
    made = {}

    def known(masks):
        return answers(made["sift"].run.ground.levels(masks)).astype(np.int64)

    options = SiftOptions(2, epsilon, 0.05, seed, most)
    told = Forms(forms, 2, known) if guided else None
    made["sift"] = sift = Sift(space, [Policy(label_unset="reject")], options, forms=told)
    steps, reply, found = sift.steps(), None, []
    while True:
        try:
            step = steps.send(reply)
        except StopIteration:
            return len(found), sum(found)
        reply = None
        if isinstance(step, Lines):
            said = answers(sift.run.ground.levels(step.cells))
            differ = (said != said[:, :1]).any(axis=1)
            found += differ.tolist()
            reply = np.stack([~differ, differ], axis=1).astype(np.int8)


def additive(count, size, noise, forms, seed=1):
    """Additive scores that are a little different for each form: answers differ where they turn."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(count, size))
    every = weights + noise * rng.normal(size=(forms, count, size))
    cells = rng.integers(0, size, (20_000, count))
    middles = np.median(every[:, np.arange(count), cells].sum(axis=2), axis=1)

    def answers(cells):
        return (middles < every[:, np.arange(count), cells].sum(axis=2).T).astype(int)

    return answers


@pytest.mark.parametrize("forms", [2, 4])
def test_answers_tell_where_they_are_likely_to_differ(forms):
    """Where differences are rare and no rule about them holds, a fraction refutes all."""
    space, answers = boxes(10, 6), additive(10, 6, 0.1, forms)
    plain, few = questions(space, answers, forms, guided=False)
    guided, many = questions(space, answers, forms, guided=True)
    assert guided < 0.5 * plain
    assert many / guided > 3 * few / plain


def test_a_region_of_differences_is_found_with_hardly_more_questions():
    """Where the answers tell nothing of where they differ, little is lost."""
    space = boxes(10, 6)
    base = additive(10, 6, 0.0, 1)

    def answers(cells):
        inside = (cells[:, 1] == 2) & (cells[:, 4] == 5)
        first = base(cells)[:, 0]
        return np.stack([first, np.where(inside, 1 - first, first)], axis=1)

    counts = [
        [questions(space, answers, 2, guided, seed, 0.01)[0] for seed in range(3)]
        for guided in (False, True)
    ]
    assert np.mean(counts[1]) < 1.4 * np.mean(counts[0])


def test_a_model_and_itself_never_differ():
    label = Nominal("answer", ("yes", "no"))
    space = Space(tuple(Nominal(f"a{i}", (f"x{i}", f"y{i}")) for i in range(12)), label)
    model = FunctionTarget(lambda names: "yes" if len(names) % 2 else "no", space, "one")
    result = extract(
        DifferencesTarget(model, model), settings=Settings(equivalence="sift", epsilon=0.02)
    )
    assert [str(rule) for rule in result.rules] == ["⊤ → same"]
    (rule,) = result.rules
    assert rule.warrant.bound == 0.02 and rule.warrant.tested >= 148
    assert rule.sentence.endswith("one (1) and one (2) never give different answers.")


def test_a_change_that_is_ruled_out_is_refuted_by_a_pair_on_record():
    label = Nominal("answer", ("yes", "no"))
    race = Nominal("race", ("black", "white", "other"))
    rest = tuple(Nominal(f"a{i}", tuple(f"a{i}v{v}" for v in range(5))) for i in range(6))
    space = Space((race, *rest), label)

    def bank(names):
        return "no" if {"black", "a2v3"} <= set(names) else "yes"

    target = FlippingTarget(FunctionTarget(bank, space), "race")
    result = extract(target, settings=Settings(equivalence="sift"))
    assert result.entails("a2v3 -> changes") and result.entails("changes -> a2v3")
    checked = result.check({"require": ["-> stays"], "at_least": "tested"})
    (outcome,) = [o for o in checked.outcomes if o.kind == "require"]
    assert outcome.status == "broken"
    (shown, *_) = outcome.answers
    assert any(text.startswith("black → no: ") for text in shown.prompts)
    assert any(text.startswith("white → yes: ") for text in shown.prompts)
