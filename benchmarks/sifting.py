"""Every short rule of a space that nobody can enumerate: questions, errors, time, and baselines.

Each case runs on boxes of several seeds: questions are means, rules are counted over all seeds.
*Found* are planted rules that a listed one states; *special* those that are only special cases of a
rule with exceptions ("hardly ever this label", where it is rare everywhere); *missed* those that
nothing covers, listed, open or with exceptions. *Unsound* are listed rules that more of 20,000
random cells inside them break than their bound allows, *broken* those that any of them breaks.
*Estimate* is what a plan expects that knows the labels' rates and how many rules there will be.
The same boxes are put to two others: uniform sampling with a union bound over all candidates, and
Algorithm 1 with sampled equivalence queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.baselines import DELTA, EPSILON, learned, uniform
from benchmarks.boxes import TRIED, Box
from benchmarks.planted import decision_list, planted_box, smooth_box
from hornlens import Settings, extract
from hornlens.learning.sifting.estimating import expected
from hornlens.learning.sifting.run import SiftOptions
from hornlens.learning.sifting.sift import Sift
from hornlens.learning.strategies import Lines
from hornlens.logic.decisions import Decision, Policy
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space

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


def sift_every(box: Box, conditions: int, seed: int, most: int | None = None) -> Run:
    """The same, but a rare label is sifted as any other: no setting of an extraction does that."""
    options = SiftOptions(conditions, EPSILON, DELTA, seed, most, rare=0.0)
    target, start = Timed(box), process_time()
    strategy = Sift(box.space, [Policy(label_unset="reject")], options)
    steps, reply = strategy.steps(), None
    with suppress(StopIteration):
        while True:
            step = steps.send(reply)  # type: ignore[arg-type]
            reply = None
            if isinstance(step, Lines):
                winners = [decision.place for decision in target.decide(step.cells)]
                reply = np.eye(box.labels, dtype=np.int8)[winners]
    proposal = strategy.proposal()
    own, sifted = process_time() - start - target.seconds, proposal.sifted
    assert sifted is not None
    return Run(
        [(rule, 0.0 if w.proved else w.bound or 1.0) for rule, w in sifted.listed],
        [(one.rule, one.bound) for one in sifted.record.almost],
        sifted.open,
        sifted.open_count,
        sifted.record.candidates,
        len(sifted.record.order),
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

    figures = _measured(make, conditions, seeds)
    goal = GOALS.get((attributes, values, conditions, base))
    if goal is not None:
        figures |= {"goal": goal, "goal_met": figures["questions"] <= goal}
    if baselines:
        questions = round(figures["questions"])
        figures |= uniform(make, conditions, seeds, questions)
        figures |= learned(make, conditions, seeds, questions)
    return figures


def sifted_rare(
    attributes: int, values: int, conditions: int, base: float, seeds: int
) -> dict[str, Any]:
    """The same, but a rare label is sifted like any other: where it is never given is listed."""

    def make(seed: int) -> Box:
        return planted_box(attributes, values, RARE_RULES, seed, base=base)

    figures = _measured(make, conditions, seeds, how=sift_every)
    goal = GOALS[attributes, values, conditions, base]
    return {**figures, "goal": goal, "goal_met": figures["questions"] <= goal}


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
    most: int | None = None,
    how: Callable[..., Run] = sift,
) -> dict[str, Any]:
    """Sift a box of each seed; count right and wrong rules, questions and time."""
    questions, own, planted, estimates = [], 0.0, 0, []
    names = ("found", "special", "missed", "listed", "almost", "broken", "unsound", "open")
    counts, unseen = dict.fromkeys(names, 0), 0
    for seed in range(seeds):
        box, rng = make(seed), np.random.default_rng(seed)
        run = how(box, conditions, seed, most)
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
        else:
            unseen += 1
        counts["listed"] += len(run.listed)
        counts["almost"] += len(run.almost)
        counts["open"] += run.open_count
        for rule, bound in [*run.listed, *run.almost]:
            share = box.share_broken(rule, rng)
            counts["unsound"] += share > bound
            counts["broken"] += share > 0 and rule not in broad
        many = len(run.listed) + len(run.almost)
        estimates.append(_estimated(box, conditions, many, rng))
    ratios = sorted(q / e for q, e in zip(questions, estimates, strict=True))
    return {
        "seeds": seeds,
        "candidates": run.candidates,
        "cells": math.prod(box.sizes),
        "questions": mean(questions),
        "questions_least": min(questions),
        "questions_most": max(questions),
        "planted": planted,
        **counts,
        "not_all_open_rules_kept": unseen,
        "estimate": mean(estimates),
        "over_estimate": sum(questions) / sum(estimates),
        "over_estimate_least": ratios[0],
        "over_estimate_most": ratios[-1],
        "own_ms_a_question": 1000 * own / sum(questions),
    }


def _estimated(box: Box, conditions: int, rules: int, rng: np.random.Generator) -> int:
    """Return the questions that a plan expects, if it knows the labels' rates and the rules."""
    labels = box.answers(box.draw({}, TRIED, rng))
    rates = (np.bincount(labels, minlength=box.labels) + 0.5) / (TRIED + 0.5 * box.labels)
    return expected(
        box.space,
        conditions,
        rates=tuple(rates),
        rules=rules,
        epsilon=EPSILON,
        delta=DELTA,
    ).questions
