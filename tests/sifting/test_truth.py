"""What sifting claims, against small boxes of every kind of which every cell is known.

Of each run: no rule that holds without exception is missing, every other candidate has an exception
on record, and nothing that is listed or open is refuted. Of all runs together: the share of those
that list a rule which is broken by more than its bound is at most δ.
"""

from collections import Counter

import pytest

from hornlens import Settings, extract
from tests.sifting.boxes import random_case, trap_case
from tests.sifting.judging import claims_of, judge, too_many


def sifted(case):
    settings = Settings(
        equivalence="sift",
        max_conditions=case.max_conditions,
        max_questions=case.questions,
        epsilon=case.epsilon,
        delta=case.delta,
        seed=case.seed,
    )
    return extract(case.box.target, settings=settings, policy=case.box.policy)


def judged_run(case):
    """Sift a box; return what is unsound, and how many rules rest on tests."""
    result = sifted(case)
    claims = claims_of(result)
    judged = judge(case.box, claims, case.conditions)
    assert not judged.refuted, case.seed
    assert not judged.missing, case.seed
    assert not judged.unrecorded, case.seed
    if case.questions is not None:
        assert all(len(cells) <= case.questions for cells in claims.asked), case.seed
    return judged.unsound, sum(bound > 0 for *_, bound in claims.listed)


def run_all(make, seeds, delta):
    """Sift the boxes of many seeds; return how many runs list an unsound rule, and other counts."""
    counts = Counter()
    for seed in seeds:
        unsound, tested = judged_run(make(seed, delta))
        counts["runs"] += 1
        counts["unsound"] += bool(unsound)
        counts["tested"] += tested
    return counts


def test_nothing_is_missing_and_few_runs_are_unsound():
    counts = run_all(random_case, range(250), 0.2)
    assert counts["tested"] > 50
    assert not too_many(counts["unsound"], counts["runs"], 0.2)


@pytest.mark.parametrize("delta", [0.05, 0.2, 0.5])
def test_few_runs_are_unsound_where_every_rule_is_nearly_one(delta):
    counts = run_all(trap_case, range(80), delta)
    assert not too_many(counts["unsound"], counts["runs"], delta)


def test_the_traps_are_traps():
    """With many times the δ that is claimed, the same boxes give unsound rules too often."""
    unsound = 0
    for seed in range(80):
        case = trap_case(seed, 0.95)
        unsound += bool(judge(case.box, claims_of(sifted(case)), case.conditions).unsound)
    assert too_many(unsound, 80, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_same_of_thousands(delta, part):
    seeds = range(10_000 + 200 * part, 10_000 + 200 * (part + 1))
    for make in (random_case, trap_case):
        counts = run_all(make, seeds, delta)
        assert not too_many(counts["unsound"], counts["runs"], delta)
