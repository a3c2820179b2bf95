"""Who else could find all short rules: uniform sampling with a union bound, and the learner."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from statistics import mean
from typing import Any

import numpy as np

from benchmarks.boxes import Box, candidates
from hornlens import Settings, extract
from hornlens.logic.theory import Theory

EPSILON = DELTA = 0.05
LEARNED = 5
"""So many boxes at most are put to the learner, which takes its time."""
CHUNK = 8_192
"""So many uniform samples are drawn at a time."""

# --- uniform sampling with a union bound ---


def clean_cases(count: int, epsilon: float = EPSILON, delta: float = DELTA) -> int:
    """Return how many clean cases each of so many candidates needs, with a union bound."""
    return math.ceil(math.log(count / delta) / -math.log1p(-epsilon))


def uniform(
    make: Callable[[int], Box], conditions: int, seeds: int, questions: int
) -> dict[str, Any]:
    """Return what uniform sampling needs, by formula and by simulation, and leaves after so many.

    The formula is the mean of one rule with as many conditions as are allowed; the simulation draws
    until every planted rule that holds has its clean cases.
    """
    simulated, unrefuted = [], []
    for seed in range(seeds):
        box, rng = make(seed), np.random.default_rng(seed)
        need = clean_cases(candidates(box.sizes, conditions, box.labels))
        if box.short_rules(conditions):
            simulated.append(_draws_until_tested(box, conditions, need, rng))
        unrefuted.append(_unrefuted(box, conditions, questions, rng))
    per_rule = math.prod(sorted(box.sizes, reverse=True)[:conditions])
    return {
        "uniform_formula": need * per_rule,
        "uniform_simulated": mean(simulated) if simulated else None,
        "uniform_unrefuted": mean(unrefuted),
    }


def _draws_until_tested(box: Box, conditions: int, need: int, rng: np.random.Generator) -> int:
    """Draw uniform cells until each planted rule that holds was tried on as many as it needs."""
    where = [box.ranges(rule.antecedent) for rule in box.short_rules(conditions)]
    waiting, drawn, last = [(ranges, need) for ranges in where], 0, 0
    while waiting:
        levels = box.draw({}, CHUNK, rng)
        rest = []
        for ranges, missing in waiting:
            inside = np.ones(CHUNK, dtype=np.bool_)
            for column, (low, high) in ranges.items():
                inside &= (levels[:, column] >= low) & (levels[:, column] <= high)
            hits = np.flatnonzero(inside)
            if len(hits) < missing:
                rest.append((ranges, missing - len(hits)))
            else:
                last = max(last, drawn + int(hits[missing - 1]) + 1)
        waiting, drawn = rest, drawn + CHUNK
    return last


def _unrefuted(box: Box, conditions: int, questions: int, rng: np.random.Generator) -> int:
    """Return how many candidates have no exception among so many uniform cells."""
    levels = box.draw({}, questions, rng)
    labels, alive = box.answers(levels), 0
    for count in range(conditions + 1):
        for chosen in combinations(range(len(box.sizes)), count):
            key, size = labels.copy(), box.labels
            for column in chosen:
                key, size = key * box.sizes[column] + levels[:, column], size * box.sizes[column]
            alive += size - len(np.unique(key))
    return alive


# --- the learner ---


def learned(
    make: Callable[..., Box], conditions: int, seeds: int, questions: int
) -> dict[str, Any]:
    """Return what Algorithm 1 makes of as many questions, in the space with unset attributes.

    It asks about partly set cells, so that complete ones do not suit it. *Stated* are the rules of
    its hypothesis when the questions end; what it lists is what the result claims.
    """
    seeds = min(seeds, LEARNED)
    planted, figures = 0, {"listed": 0, "found": 0, "false": 0, "stated": 0, "stated_false": 0}
    for seed in range(seeds):
        box, rng = make(seed, complete=False), np.random.default_rng(seed)
        settings = Settings(
            equivalence="pac", epsilon=EPSILON, delta=DELTA, limit=questions, seed=seed
        )
        envelope = extract(box, settings=settings).envelope
        true, width = box.short_rules(conditions), box.space.width
        listed, stated = envelope.readable.rules, envelope.learned.readable.rules
        known = Theory(width, tuple(stated)) + box.space.background
        planted += len(true)
        figures["listed"] += len(listed)
        figures["stated"] += len(stated)
        figures["found"] += sum(known.entails(rule) for rule in true)
        figures["false"] += sum(box.share_broken(rule, rng, 2_000) > EPSILON for rule in listed)
        figures["stated_false"] += sum(
            box.share_broken(rule, rng, 2_000) > EPSILON for rule in stated
        )
    return {"learner_planted": planted, **{f"learner_{k}": v for k, v in figures.items()}}
