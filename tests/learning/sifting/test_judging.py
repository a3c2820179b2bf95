"""The judge of sifting: it lets an honest run pass, and notices each way of cheating."""

import numpy as np
import pytest

from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from tests.learning.sifting.boxes import cells_of, random_case
from tests.learning.sifting.judging import Claims, antecedents, breaking_of, judge, too_many


def naive(case, cheat=""):
    """Uniform samples and a union bound: sound and complete, for many more questions."""
    box, rng = case.box, np.random.default_rng(case.seed)
    many = int(case.questions or rng.integers(1, 3 * len(box.cells)))
    drawn = rng.integers(0, len(box.cells), many)
    asked = {box.cells[i] for i in drawn}
    known = box.accepted([asked] * len(box.answers))
    first, labels = box.first_label, max(1, box.labels)
    rules = []
    for left in antecedents(box, case.conditions):
        bits = [1 << first + label for label in range(box.labels)] or [0]
        rules += [(left | bit, None) for bit in bits]
        if box.labels and not box.label_may_be_unset:
            rules += [(left, bit) for bit in bits]
    if not box.space.complete:
        for left in antecedents(box, case.conditions - (box.labels > 0)):
            for label in range(labels):
                with_label = left | (1 << first + label if box.labels else 0)
                rules += [(with_label, 1 << bit) for bit in range(first)]
    listed, opened = [], []
    tolerance = case.delta / len(rules) if cheat != "no union bound" else 0.9
    for antecedent, consequent in rules:
        if (breaking_of(box, antecedent, consequent) & known).any():
            continue
        inside = breaking_of(box, antecedent, consequent).any(axis=1)
        tries = int(inside[drawn].sum())
        if {box.cells[i] for i in np.flatnonzero(inside)} <= asked:
            listed.append((antecedent, consequent, 0.0))
        elif (1 - case.epsilon) ** tries <= tolerance:
            listed.append((antecedent, consequent, case.epsilon))
        else:
            opened.append((antecedent, consequent))
    return Claims(listed, opened, [asked] * len(box.answers))


def test_the_cells_are_those_of_the_space():
    for seed in range(200):
        space = random_case(seed).box.space
        assert sorted(cells_of(space)) == sorted(space.cells()), seed


def test_boxes_are_of_all_kinds():
    cases = [random_case(seed) for seed in range(200)]
    boxes = [case.box for case in cases]
    assert {box.labels for box in boxes} == {0, 2, 3, 4}
    assert {len(box.answers) for box in boxes} == {1, 2, 3}
    assert {type(a).__name__ for b in boxes for a in b.space.attributes} == {
        *("Nominal", "Ordered", "Taxonomy")
    }
    kinds = {(b.space.complete, bool(b.space.assumed), b.policy.label_unset) for b in boxes}
    assert len(kinds) == 8
    assert any(None in answers.values() for box in boxes for answers in box.answers)
    assert sum(case.questions is not None for case in cases) > 30


def test_an_honest_run_passes():
    failures = 0
    for seed in range(50):
        case = random_case(seed)
        judged = judge(case.box, naive(case), case.conditions)
        assert not (judged.refuted or judged.missing or judged.unrecorded), seed
        failures += bool(judged.unsound)
    assert not too_many(failures, 50, 0.2)


def test_tests_without_a_union_bound_are_noticed():
    cases = [random_case(seed) for seed in range(50)]
    judged = [judge(c.box, naive(c, "no union bound"), c.conditions) for c in cases]
    assert too_many(sum(bool(each.unsound) for each in judged), 50, 0.2)


@pytest.mark.parametrize("seed", range(10))
def test_a_lost_rule_a_made_up_proof_and_a_lost_answer_are_noticed(seed):
    case = random_case(1000 + seed)
    box, honest = case.box, naive(case)
    nothing = Claims([], [], honest.asked)
    assert judge(box, nothing, case.conditions).unrecorded
    bits = [1 << box.first_label + label for label in range(box.labels)] or [0]
    made_up = Claims([*honest.listed, *((bit, None, 0.0) for bit in bits)], [], honest.asked)
    assert judge(box, made_up, case.conditions).refuted
    forgetful = Claims(honest.listed, honest.open, [set() for _ in honest.asked])
    assert judge(box, forgetful, case.conditions).unrecorded


def test_true_rules_that_are_not_stated_are_missing():
    seen = 0
    for seed in range(20):
        case = random_case(seed)
        everything = [set(case.box.cells)] * len(case.box.answers)
        judged = judge(case.box, Claims([], [], everything), case.conditions)
        assert judged.missing == judged.unrecorded  # where all is known, both are the same
        seen += len(judged.missing)
    assert seen > 100


def test_where_attributes_may_be_unset_the_judge_agrees_with_forward_chaining():
    seen = [0, 0]
    for seed in range(120):
        case = random_case(seed)
        box, rng = case.box, np.random.default_rng(seed)
        if box.space.complete:
            continue
        true = judge(box, Claims([], [], [set(box.cells)] * len(box.answers)), 2).missing
        rng.shuffle(true)
        stated, others = true[: len(true) // 2], true[len(true) // 2 :]
        known = Theory(box.space.width, tuple(as_rule(*rule) for rule in stated))
        known += box.space.background
        judged = judge(box, Claims([], stated, [set(box.cells)] * len(box.answers)), 2)
        for rule in others:
            follows = known.entails(as_rule(*rule))
            assert follows == (rule not in judged.missing), (seed, rule)
            seen[follows] += 1
    assert min(seen) > 50


def as_rule(antecedent, consequent):
    return Rule(antecedent, BOTTOM if consequent is None else consequent)


def test_too_many_failures():
    assert not too_many(0, 100, 0.05)
    assert not too_many(11, 100, 0.05)
    assert too_many(20, 100, 0.05)
