"""Levels of detail: what they explain and what they get wrong is counted, and counted right."""

from random import Random

import pytest

from hornlens.errors import HornlensError
from hornlens.exact.candidates import candidates_of
from hornlens.exact.levels import levels_of_grid
from hornlens.logic.levels import Detail, parse_detail
from hornlens.logic.theory import Theory
from tests.exact.test_almost import counted, random_target, short_rules


def best_gain(rules, space, rejected, accepted, done, spent, cost):
    """The best that any candidate could do next, by the definition."""
    return max(
        (
            sum(not r.satisfied_by(x) for x in rejected - done)
            - cost * sum(not r.satisfied_by(x) for x in accepted - spent)
            for r in rules
        ),
        default=0,
    )


@pytest.mark.parametrize("seed", range(20))
def test_every_level_is_counted_by_the_definition(seed):
    rng = Random(seed)
    for round in range(25):
        space, accepted, labelled = random_target(rng, 150)
        most, least = rng.randint(1, 3), rng.choice([0.5, 0.7, 0.9, 1.0])
        cost = rng.choice([0.0, 0.5, 1.0, 2.0])
        exact = labelled.dg_basis()
        levels = levels_of_grid(labelled, exact, most, least, cost)
        case = (seed, round, space, accepted, most, least, cost)
        rejected = {x for x in space if x not in accepted}
        assert levels.rejections == len(rejected)
        assert levels.by_exact == sum(not exact.satisfied_by(x) for x in rejected), case
        rules = []
        for rule in short_rules(space, most):
            of, broken, _ = counted(rule, space, accepted)
            if of and (of - broken) >= least * of - 1e-9:
                rules.append(rule)
        done, spent = set(), set()
        gains = []
        for step in levels.steps:
            gain = best_gain(rules, space, rejected, accepted, done, spent, cost)
            new = {x for x in rejected - done if not step.rule.satisfied_by(x)}
            wrong = {x for x in accepted - spent if not step.rule.satisfied_by(x)}
            assert len(new) - cost * len(wrong) == pytest.approx(gain), case
            assert step.rule in rules, case
            done |= new
            spent |= wrong
            assert step.explained == len(done), case
            assert set(step.exceptions) == wrong and len(step.exceptions) == len(wrong), case
            gains.append(len(new))
        assert best_gain(rules, space, rejected, accepted, done, spent, cost) <= 0, case
        # No level says what its rules do not: the theory of a level rejects just what is counted.
        level = rng.randint(0, len(levels.steps))
        theory = Theory(space.width, tuple(step.rule for step in levels.steps[:level]))
        out = [x for x in space if not theory.satisfied_by(x)]
        assert sum(x not in accepted for x in out) == levels.explained(level)
        assert sum(x in accepted for x in out) == levels.exceptions(level)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_of_other_choices_is_true(seed):
    """No choice of as many candidates explains more than `at_most`; greedy keeps its promise."""
    from itertools import combinations

    rng = Random(100 + seed)
    tried = 0
    while tried < 12:
        space, accepted, labelled = random_target(rng, 60)
        cost = rng.choice([0.0, 1.0])
        levels = levels_of_grid(labelled, labelled.dg_basis(), 2, 0.7, cost)
        found = candidates_of(labelled, 2, 0.7)
        if not levels.steps or len(found) > 40:
            continue
        tried += 1
        rejected = [x for x in space if x not in accepted]
        regions = {
            frozenset(x for x in rejected if not found.rule(i).satisfied_by(x))
            for i in range(len(found))
        }
        for count in range(1, min(3, len(levels.steps)) + 1):
            some = min(count, len(regions))
            most = max(len(frozenset().union(*each)) for each in combinations(regions, some))
            step = levels.steps[count - 1]
            assert step.explained <= most <= step.at_most or cost, (seed, space, accepted)
            assert most <= step.at_most
            if cost == 0:
                assert step.explained >= (1 - (1 - 1 / count) ** count) * most
        assert bool(levels.guarantee) == (cost == 0)


def test_what_detail_means():
    assert parse_detail("5") == Detail(rules=5) and parse_detail("exact") == Detail()
    assert parse_detail("90%") == Detail(share=0.9) and parse_detail("100%") == Detail(share=1.0)
    assert parse_detail("best:3") == Detail(best=3)
    for wrong in ("", "-1", "5.5", "101%", "all", "٥"):
        with pytest.raises(HornlensError, match="--detail"):
            parse_detail(wrong)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_level_is_the_best(seed):
    from itertools import combinations

    from hornlens.exact.best_level import best_level

    rng = Random(200 + seed)
    tried = 0
    while tried < 12:
        space, accepted, labelled = random_target(rng, 60)
        cost, count = rng.choice([0.0, 0.5, 1.0]), rng.randint(1, 3)
        levels = levels_of_grid(labelled, labelled.dg_basis(), 2, 0.7, cost)
        found = candidates_of(labelled, 2, 0.7)
        if not levels.steps or len(found) > 30:
            continue
        tried += 1
        best = best_level(labelled, levels, count)

        def worth(rules, space=space, accepted=accepted, cost=cost):
            out = [x for x in space if any(not r.satisfied_by(x) for r in rules)]
            return sum(-cost if x in accepted else 1 for x in out)

        candidates = [found.rule(i) for i in range(len(found))]
        most = max(worth(some) for n in range(count + 1) for some in combinations(candidates, n))
        assert len(best.steps) <= count and best.optimal and "MaxSAT" in best.guarantee
        chosen = [step.rule for step in best.steps]
        assert worth(chosen) == pytest.approx(most), (seed, space, accepted)
        last = len(best.steps)
        assert worth(chosen) == pytest.approx(best.explained(last) - cost * best.exceptions(last))


def test_where_the_best_level_cannot_be_had_it_is_said(monkeypatch):
    from hornlens.exact import best_level

    _, _, labelled = random_target(Random(5), 60)
    levels = levels_of_grid(labelled, labelled.dg_basis(), 2, 0.7)
    monkeypatch.setattr(best_level, "MOST_POINTS", 1)
    with pytest.raises(HornlensError, match="leave out --optimal"):
        best_level.best_level(labelled, levels, 2)
