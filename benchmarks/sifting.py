"""Every short rule of a space that nobody can enumerate: questions, errors, time, and baselines.

Each case runs on boxes of several seeds: questions are means, rules are counted over all seeds.
*Found* are planted rules that a listed one states; *special* those that are only special cases of a
rule with exceptions ("hardly ever this label", where it is rare everywhere); *missed* those that
nothing covers, listed, open or with exceptions. *Unsound* are listed rules that more of 20,000
random cells inside them break than their bound allows, *broken* those that any of them breaks.
The same boxes are put to two others: uniform sampling with a union bound over all candidates, and
Algorithm 1 with sampled equivalence queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.boxes import Box, candidates, decision_list, planted_box, smooth_box
from hornlens import Settings, extract
from hornlens.logic.decisions import Decision
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory

EPSILON = DELTA = 0.05
RULES, RARE_RULES = 6, 4
"""So many rules are planted in a box, with two or three conditions each; fewer if a label is rare.

Rules that demand the rare label make it less rare, and the box easier.
"""
GOALS = {
    (12, 10, 2, 0.5): 900,
    (20, 10, 2, 0.5): 1_000,
    (12, 5, 3, 0.5): 2_500,
    (12, 10, 3, 0.5): 10_000,
    (12, 10, 2, 0.2): 1_400,
    (12, 10, 2, 0.1): 2_700,
    (12, 10, 2, 0.05): 6_000,
}
"""Questions allowed on average: by attributes, values, conditions, and the share of label 1."""
LEARNED = 5
"""So many boxes at most are put to the learner, which takes its time."""
CHUNK = 8_192
"""So many uniform samples are drawn at a time."""


@dataclass
class Timed:
    """A box that measures the time spent in it."""

    box: Box
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The box's name."""
        return self.box.name

    @property
    def space(self) -> Space:
        """The box's space."""
        return self.box.space

    def identity(self) -> None:
        """Keep no answers."""

    def decide(self, cells: Sequence[int]) -> list[Decision]:
        """Answer, by the clock."""
        start = process_time()
        decisions = self.box.decide(cells)
        self.seconds += process_time() - start
        return decisions

    def show(self, cell: int) -> tuple[str, ...]:
        """Return a cell as a row."""
        return self.box.show(cell)


class Run(NamedTuple):
    """What one run stated of a box, and what it took."""

    listed: Sequence[tuple[Rule, float]]
    """The rules, each with the share of its cells that may break it: 0 if it is proved."""
    almost: Sequence[tuple[Rule, float]]
    """The same of rules with exceptions."""
    open: Sequence[Rule]
    """The broadest of the open rules, if there are very many."""
    open_count: int
    candidates: int
    questions: int
    own_seconds: float


def sift(box: Box, conditions: int, seed: int, most: int | None = None) -> Run:
    """Sift a box for rules with so many conditions on attributes, within so many questions."""
    settings = Settings(
        equivalence="sift",
        max_conditions=conditions + 1,  # the label is one more
        max_questions=most,
        epsilon=EPSILON,
        delta=DELTA,
        seed=seed,
    )
    target, start = Timed(box), process_time()
    result = extract(target, settings=settings)
    own = process_time() - start - target.seconds
    envelope, counts = result.envelope, result.envelope.statistics
    bounds = [0.0 if w.proved else w.bound or 1.0 for w in envelope.warrants]
    assert envelope.sifted is not None
    return Run(
        list(zip(envelope.readable.rules, bounds, strict=True)),
        [(one.rule, one.bound) for one in envelope.sifted.almost],
        envelope.open,
        envelope.certificate.open,
        counts["candidates"],
        counts["questions"],
        own,
    )


# --- the cases ---


def sifted(
    attributes: int,
    values: int,
    conditions: int,
    base: float,
    seeds: int,
    baselines: bool,
) -> dict[str, Any]:
    """Planted rules over a noisy score, label 1 in a share of `base`."""
    share, rules = (None, RULES) if base == 0.5 else (base, RARE_RULES)

    def make(seed: int, complete: bool = True) -> Box:
        return planted_box(attributes, values, rules, seed, base=share, complete=complete)

    figures = _measured(make, conditions, seeds, base)
    goal = GOALS.get((attributes, values, conditions, base))
    if goal is not None:
        figures |= {"goal": goal, "goal_met": figures["questions"] <= goal}
    if baselines:
        questions = round(figures["questions"])
        figures |= _uniform(make, conditions, seeds, questions)
        figures |= _learned(make, conditions, min(seeds, LEARNED), questions)
    return figures


def sifted_smooth(attributes: int, values: int, conditions: int, seeds: int) -> dict[str, Any]:
    """An additive score: hundreds of rules nearly hold."""
    return _measured(lambda seed: smooth_box(attributes, values, 6, seed), conditions, seeds)


def sifted_list(
    attributes: int, values: int, rules: int, conditions: int, seeds: int
) -> dict[str, Any]:
    """A decision list: rules with exceptions, because earlier ones go first."""
    return _measured(lambda seed: decision_list(attributes, values, rules, seed), conditions, seeds)


def sifted_labels(
    attributes: int, values: int, labels: int, conditions: int, seeds: int
) -> dict[str, Any]:
    """Several labels: a planted rule forbids each of the others."""

    def make(seed: int) -> Box:
        return planted_box(attributes, values, RULES, seed, labels=labels)

    return _measured(make, conditions, seeds)


def sifted_intervals(attributes: int, values: int, conditions: int, seeds: int) -> dict[str, Any]:
    """Ordered attributes, and rules whose conditions are intervals."""

    def make(seed: int) -> Box:
        return planted_box(attributes, values, RULES, seed, is_ordered=True)

    return _measured(make, conditions, seeds)


def sifted_partial(attributes: int, values: int, conditions: int, seeds: int) -> dict[str, Any]:
    """Cells that may leave attributes unset, and rules that conclude values."""

    def make(seed: int) -> Box:
        return planted_box(attributes, values, RULES, seed, complete=False)

    return _measured(make, conditions, seeds)


def sifted_within(
    attributes: int, values: int, conditions: int, questions: int, seeds: int
) -> dict[str, Any]:
    """A budget of questions: what is listed when it is spent."""

    def make(seed: int) -> Box:
        return planted_box(attributes, values, RULES, seed)

    return _measured(make, conditions, seeds, most=questions)


def sifted_million(attributes: int, values: int, conditions: int, questions: int) -> dict[str, Any]:
    """A million candidates and a budget: the peak memory of the process is what counts."""
    box = planted_box(attributes, values, RULES, 0)
    run = sift(box, conditions, 0, questions)
    return {
        "candidates": run.candidates,
        "questions": run.questions,
        "listed": len(run.listed),
        "open": run.open_count,
        "own_ms_a_question": 1000 * run.own_seconds / run.questions,
    }


def _measured(
    make: Callable[[int], Box],
    conditions: int,
    seeds: int,
    base: float = 0.5,
    most: int | None = None,
) -> dict[str, Any]:
    """Sift a box of each seed; count right and wrong rules, questions and time."""
    questions, own, planted, expected = [], 0.0, 0, []
    names = ("found", "special", "missed", "listed", "almost", "broken", "unsound", "open")
    counts = dict.fromkeys(names, 0)
    for seed in range(seeds):
        box, rng = make(seed), np.random.default_rng(seed)
        run = sift(box, conditions, seed, most)
        questions.append(run.questions)
        own += run.own_seconds
        true, broad = box.short_rules(conditions), [rule for rule, _ in run.almost]
        rules = [rule for rule, _ in run.listed]
        rest = [rule for rule in true if not box.follows(rule, rules)]
        planted += len(true)
        counts["found"] += len(true) - len(rest)
        counts["special"] += sum(box.follows(rule, broad) for rule in rest)
        if run.open_count == len(run.open):  # else, most of them are only counted
            counts["missed"] += sum(not box.follows(r, [*broad, *run.open]) for r in rest)
        counts["listed"] += len(run.listed)
        counts["almost"] += len(run.almost)
        counts["open"] += run.open_count
        for rule, bound in [*run.listed, *run.almost]:
            share = box.share_broken(rule, rng)
            counts["unsound"] += share > bound
            counts["broken"] += share > 0 and rule not in broad
        expected.append(formula(box.sizes, conditions, base, len(run.listed)))
    ratios = sorted(q / e for q, e in zip(questions, expected, strict=True))
    return {
        "seeds": seeds,
        "candidates": run.candidates,
        "cells": math.prod(box.sizes),
        "questions": mean(questions),
        "questions_least": min(questions),
        "questions_most": max(questions),
        "planted": planted,
        **counts,
        "formula": mean(expected),
        "over_formula": mean(ratios),
        "over_formula_least": ratios[0],
        "over_formula_most": ratios[-1],
        "own_ms_a_question": 1000 * own / sum(questions),
    }


def formula(sizes: Sequence[int], conditions: int, base: float, listed: int) -> float:
    """Return how many questions to expect: by the largest attributes, base rate and rules."""
    largest = math.prod(sorted(sizes, reverse=True)[:conditions])
    return 7 * largest * {0.5: 1.0, 0.2: 1.7, 0.1: 2.7, 0.05: 5.5}[base] + 80 * listed


# --- uniform sampling with a union bound ---


def clean_cases(count: int, epsilon: float = EPSILON, delta: float = DELTA) -> int:
    """Return how many clean cases each of so many candidates needs, with a union bound."""
    return math.ceil(math.log(count / delta) / -math.log1p(-epsilon))


def _uniform(
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


def _learned(
    make: Callable[..., Box], conditions: int, seeds: int, questions: int
) -> dict[str, Any]:
    """Return what Algorithm 1 makes of as many questions, in the space with unset attributes.

    It asks about partly set cells, so that complete ones do not suit it. *Stated* are the rules of
    its hypothesis when the questions end; what it lists is what the result claims.
    """
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
