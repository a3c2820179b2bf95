"""What sifting claims, against small boxes of every kind of which every cell is known.

Of each run: no rule that holds without exception is missing, every other candidate has an exception
on record, and nothing that is listed or open is refuted. Of all runs together: the share of those
that list a rule which is broken by more than its bound is at most δ.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from hornlens import extract
from hornlens.limits import Limits
from tests.learning.sifting.boxes import World, random_case, trap_case
from tests.learning.sifting.judging import claims_of, judge, too_many


def sifted(case, limits=None, target=None):
    target = target or case.box.target
    return extract(target, settings=case.settings, policy=case.box.policy, limits=limits)


def judged_run(case, *more):
    """Sift a box; return what is unsound, and how many rules rest on tests."""
    result = sifted(case, *more)
    claims = claims_of(result)
    judged = judge(case.box, claims, case.conditions)
    assert not judged.refuted, case.seed
    assert not judged.missing, case.seed
    assert not judged.unrecorded, case.seed
    if case.questions is not None:
        assert all(len(cells) <= case.questions for cells in claims.asked), case.seed
    tested = sum(bound > 0 for *_, bound in claims.listed) + len(claims.almost)
    return judged.unsound, tested


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
    counts = run_all(random_case, range(100), 0.2)
    assert counts["tested"] > 40
    assert not too_many(counts["unsound"], counts["runs"], 0.2)


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_few_runs_are_unsound_where_every_rule_is_nearly_one(delta):
    counts = run_all(trap_case, range(50), delta)
    assert not too_many(counts["unsound"], counts["runs"], delta)


def test_the_traps_are_traps():
    """With many times the δ that is claimed, the same boxes give unsound rules too often."""
    unsound = 0
    for seed in range(60):
        case = trap_case(seed, 0.95)
        unsound += bool(judge(case.box, claims_of(sifted(case)), case.conditions).unsound)
    assert too_many(unsound, 60, 0.05)


@dataclass
class EndedByHand:
    """A target during whose answers somebody ends the run: after so many cells."""

    target: World
    limits: Limits
    cells: int

    def __getattr__(self, name):
        return getattr(self.target, name)

    def decide(self, cells):
        self.cells -= len(cells)
        if self.cells <= 0:
            self.limits.interrupt()
        return self.target.decide(cells)


def test_a_run_that_is_ended_by_hand_says_nothing_wrong():
    unsound = ended = runs = 0
    for seed in range(60):
        case = (random_case, trap_case)[seed % 2](seed, 0.2)
        if len(case.box.answers) > 1:
            continue
        limits = Limits()
        after = int(np.random.default_rng(seed).integers(1, len(case.box.cells)))
        target = EndedByHand(case.box.target, limits, after)
        unsound += bool(judged_run(case, limits, target)[0])
        runs += 1
        ended += limits.reason == "interrupt"
    assert ended > 15
    assert not too_many(unsound, runs, 0.2)


def test_a_background_that_cannot_be_counted_changes_no_claim(monkeypatch):
    monkeypatch.setattr("hornlens.learning.sifting.axes.MOST_COMBINED", 1)
    cases = [random_case(seed) for seed in range(60)]
    judged = [judged_run(case) for case in cases if case.box.space.assumed]
    assert len(judged) > 8
    assert not too_many(sum(bool(unsound) for unsound, _ in judged), len(judged), 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_same_of_thousands(delta, part):
    seeds = range(10_000 + 200 * part, 10_000 + 200 * (part + 1))
    for make in (random_case, trap_case):
        counts = run_all(make, seeds, delta)
        assert not too_many(counts["unsound"], counts["runs"], delta)
