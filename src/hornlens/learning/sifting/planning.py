"""A plan: what a run over a large space will take, as rows and sentences; a pilot's cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hornlens.counts import plural
from hornlens.learning.sifting.axes import Ground
from hornlens.learning.sifting.drawing import first_cells
from hornlens.learning.sifting.estimating import (
    ASSUMED_RULES,
    RARITIES,
    Expectation,
    breaking_answers,
    expected,
    fewest_draws,
    is_exact,
    rarest_of,
)
from hornlens.logic.space import Space

USUAL_CONDITIONS = 2
"""So many conditions on attributes a rule has at most, unless others are asked for."""
SHOWN_CONDITIONS = (1, 2, 3)
"""For these a plan says what to expect."""


@dataclass(frozen=True)
class SiftPlan:
    """What rules with few conditions take, before a run: a row for each number of conditions."""

    space: Space
    rows: tuple[Expectation, ...]
    chosen: Expectation
    """The row of what the run looks for."""
    rates: tuple[float, ...] | None
    rules: int
    epsilon: float
    delta: float
    worlds: int = 1

    @property
    def is_bound(self) -> bool:
        """Whether `least` is a fact; with background it is an estimate."""
        return is_exact(self.space)

    @property
    def draws(self) -> int:
        """How many random cases inside it each listed rule needs at least."""
        return fewest_draws(self.epsilon, self.delta)

    def sentences(self) -> list[str]:
        """Return what to know of the numbers, a sentence or two each."""
        row, about = self.chosen, "" if self.is_bound else "about "
        texts = [
            f"If no rule holds, refuting all with {plural(row.conditions, 'condition')} or fewer "
            f"takes at least {about}{row.least:,} questions, however they are chosen. Each listed "
            f"rule needs at least {self.draws:,} random cases inside it, or all that it has.",
            f"Expect {row.questions:,} questions if {plural(self.rules, 'rule')} are listed, "
            f"usually {row.low:,} to {row.high:,}. About {row.refuting:,} of them refute what does "
            f"not hold, and each listed rule takes {row.a_rule:.0f}: how many there are is not "
            "known before.",
        ]
        if self.rates is None:
            shares = [known.share / len(self._even) for known in RARITIES[1:]]
            percents = _listed([f"{100 * share:.3g}" for share in shares])
            numbers = _listed([f"{self._at_share(share).questions:,}" for share in shares])
            even = "all labels are answered equally often. If the rarest has"
            if breaking_answers(self.space) == 1:
                even = "only half of the cells can break a rule. If it is"
            texts.append(f"It is assumed that {even} {percents} %, expect {numbers} questions.")
        else:
            rate = rarest_of(self.space, self.rates)
            texts.append(
                f"It is assumed that the rarest answer that breaks rules has {100 * rate:.2g} %."
            )
        return texts

    @property
    def _even(self) -> tuple[float, ...]:
        outcomes = max(2, breaking_answers(self.space))
        return (1 / outcomes,) * outcomes

    def _at_share(self, share: float) -> Expectation:
        """Return what to expect if the rarest label has this share, and the others the rest."""
        others = len(self._even) - 1
        return expected(
            self.space,
            self.chosen.conditions,
            rates=((1 - share) / others,) * others + (share,),
            rules=self.rules,
            epsilon=self.epsilon,
            delta=self.delta,
            worlds=self.worlds,
        )

    def verdict_on(self, budget: int) -> str:
        """Return what so many questions will buy, in a sentence."""
        row, few = self.chosen, f"{budget:,} questions"
        if budget < row.least:
            return (
                f"{few} are too few: not even all rules that do not hold can be refuted (at least "
                f"{row.least:,}); most will stay open, and hardly any will be listed."
            )
        if budget < row.refuting:
            return (
                f"{few} are too few: they tell refuted rules from open ones, and buy little else. "
                f"Rules begin to be confirmed after about {row.refuting:,}."
            )
        if budget < row.questions:
            return (
                f"{few} may be too few: about {row.questions:,} are expected, so some rules may "
                "stay open; the broad ones are confirmed first."
            )
        if budget < row.high:
            return f"{few} are expected to be enough, if not by much (usually up to {row.high:,})."
        return f"{few} are expected to be enough."

    def as_json(self) -> dict[str, Any]:
        """Return it as files have it."""
        return {
            "cells": self.space.cell_count,
            "rates": None if self.rates is None else [round(rate, 6) for rate in self.rates],
            "rules_assumed": self.rules,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "draws_a_rule_at_least": self.draws,
            "at_least_is_exact": self.is_bound,
            "conditions": self.chosen.conditions,
            "rows": [row.as_json() for row in self.rows],
        }


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} or {texts[-1]}"


def planned(
    space: Space,
    *,
    conditions: int | None = None,
    rates: Sequence[float] | None = None,
    rules: int = ASSUMED_RULES,
    epsilon: float = 0.05,
    delta: float = 0.05,
    pilot: int = 0,
    worlds: int = 1,
) -> SiftPlan:
    """Return what to expect of rules with 1, 2, 3 conditions, and with those that are asked for.

    The arguments are those of `expected`.

    >>> from hornlens import Nominal, Space
    >>> names = [f"a{i}" for i in range(12)]
    >>> each = tuple(Nominal(n, tuple(f"{n}{v}" for v in range(10))) for n in names)
    >>> plan = planned(Space(each, Nominal("answer", ("yes", "no")), complete=True))
    >>> plan.chosen.conditions, plan.chosen.least, plan.chosen.candidates
    (2, 200, 13442)
    """
    most = len(space.attributes)
    wanted = min(USUAL_CONDITIONS if conditions is None else conditions, most)
    shown = sorted({*(many for many in SHOWN_CONDITIONS if many <= most), wanted})
    rows = {
        many: expected(
            space,
            many,
            rates=rates,
            rules=rules,
            epsilon=epsilon,
            delta=delta,
            pilot=pilot,
            worlds=worlds,
        )
        for many in shown
    }
    own = None if rates is None else tuple(rates)
    return SiftPlan(space, tuple(rows.values()), rows[wanted], own, rules, epsilon, delta, worlds)


def pilot_cells(space: Space, count: int, seed: int = 0) -> list[int]:
    """Draw so many distinct cells by chance: a run with the same seed begins with these."""
    ground = Ground.of(space)
    return ground.masks(first_cells(ground, count, seed))
