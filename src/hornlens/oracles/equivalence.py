"""Equivalence oracles that need no formula: exhaustive, sampled (PAC), budgeted, chained.

None of them answers "no difference found" with silence: what they accept, they accept with a
certificate that says on what grounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import ceil, log
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hornlens.exact.grid import LabelledSpace
from hornlens.learning.protocol import (
    Accepted,
    Counterexample,
    EquivalenceOracle,
    Hypothesis,
    MembershipOracle,
    Verdict,
)
from hornlens.logic.batch import Words, broken_rules, obeys, pack, unpack
from hornlens.logic.envelope import EXACT, SMALLEST, Certificate
from hornlens.logic.rule import Rule

Kind = Literal["full", "horn"]
"""What a yes means. `full`: H ∪ Q ≡ φ. `horn`: H ≡ env(φ)."""

Choose = Callable[[Sequence[int]], int]
"""Picks one of several counterexamples; adversaries plug in here."""


def accepted_by(hypothesis: Hypothesis, batch: Words) -> NDArray[np.bool_]:
    """Say of each packed interpretation whether H ∪ Q accepts it."""
    accepted = obeys(batch, hypothesis.theory)
    if hypothesis.excluded:
        where = np.flatnonzero(accepted)
        masks = unpack(batch[where])
        accepted[where] = [mask not in hypothesis.excluded for mask in masks]
    return accepted


@dataclass(frozen=True)
class ExhaustiveEquivalence:
    """Compares the hypothesis with the target on every interpretation of a labelled domain."""

    labelled: LabelledSpace
    kind: Kind = "horn"
    choose: Choose = min

    @classmethod
    def of(
        cls, domain: Space, membership: MembershipOracle, kind: Kind = "horn", choose: Choose = min
    ) -> ExhaustiveEquivalence:
        """Label a domain by asking an oracle everything, in one batch."""
        labels = np.array(membership.ask(list(domain)), dtype=np.bool_)
        return cls(LabelledSpace(domain, labels), kind, choose)

    @cached_property
    def _masks(self) -> Words:
        return self.labelled.space.masks()

    @cached_property
    def _closed(self) -> NDArray[np.bool_]:
        return self.labelled.closed()

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return one of all counterexamples, or yes: exactly."""
        if self.kind == "horn":
            horn = obeys(self._masks, hypothesis.theory)
            if np.array_equal(horn, self._closed):
                return Accepted(EXACT)
        wrong = accepted_by(hypothesis, self._masks) != self.labelled.positive
        if not wrong.any():
            return Accepted(EXACT)
        return Counterexample(self.choose(unpack(self._masks[wrong])))


def pac_samples(query: int, epsilon: float, delta: float) -> int:
    """Return how many samples the query-th equivalence query (from 1) draws.

    Query i errs with probability at most (1-ε)^q ≤ δ/2^i, so all of them together at most δ.
    """
    return ceil((log(1 / delta) + query * log(2)) / epsilon)


class KnownAnswers:
    """Answers that are there already, and may become more, to hold hypotheses against.

    A hypothesis differs from the one before in a few rules. So it is kept how many rules each
    interpretation breaks, and only rules and interpretations that are new are looked at.
    """

    def __init__(self, answers: Mapping[int, bool], width: int):
        """Take answers by interpretation; others may be added to them, in order, at any time."""
        self.answers, self.width = answers, width
        self._place: dict[int, int] = {}
        self._packed = pack([], width)
        self._labels = np.zeros(0, dtype=np.bool_)
        self._broken = np.zeros(0, dtype=np.int64)
        self._rules: frozenset[Rule] = frozenset()

    def first_wrong(self, hypothesis: Hypothesis) -> int | None:
        """Return the first of them that the hypothesis gets wrong, if there is one."""
        rules = frozenset(hypothesis.theory)
        self._broken -= broken_rules(self._packed, self._rules - rules, self.width)
        self._broken += broken_rules(self._packed, rules - self._rules, self.width)
        self._rules = rules
        self._take_in_new_ones()
        accepted = self._broken == 0
        accepted[[self._place[x] for x in hypothesis.excluded if x in self._place]] = False
        wrong = np.flatnonzero(accepted != self._labels)
        return unpack(self._packed[wrong[:1]])[0] if len(wrong) else None

    def _take_in_new_ones(self) -> None:
        new = dict(islice(self.answers.items(), len(self._place), None))
        if not new:
            return
        packed = pack(list(new), self.width)
        broken = broken_rules(packed, self._rules, self.width)
        self._place |= {x: place for place, x in enumerate(new, len(self._place))}
        self._packed = np.concatenate([self._packed, packed])
        self._labels = np.concatenate([self._labels, np.array(list(new.values()), dtype=np.bool_)])
        self._broken = np.concatenate([self._broken, broken])


class SampledEquivalence:
    """Looks for counterexamples in what is known, then in random samples, by the PAC schedule.

    An accepted H ∪ Q disagrees with the target on a random interpretation with probability at most
    ε; that claim fails with probability at most δ.
    """

    def __init__(
        self,
        membership: MembershipOracle,
        sample: Callable[[Random], int],
        width: int,
        epsilon: float,
        delta: float,
        rng: Random,
        known: Mapping[int, bool] | None = None,
        chunk: int = 256,
        samples: int | None = None,
    ):
        """Sample from `sample(rng)`; check the answers in `known` first (a cache's, say).

        `samples` fixes the number of samples a query; ε then follows from it and from δ.
        """
        if not (SMALLEST <= epsilon < 1 and SMALLEST <= delta < 1):
            raise ValueError(f"epsilon and delta must lie between {SMALLEST:g} and 1 (exclusive)")
        self.membership, self.sample, self.width = membership, sample, width
        self.epsilon, self.delta, self.rng = epsilon, delta, rng
        self.known = KnownAnswers(known if known is not None else {}, width)
        self.chunk, self.samples = chunk, samples
        self.queries = 0

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return the first counterexample met, or yes with ε, δ and the number of samples."""
        self.queries += 1
        found = self.known.first_wrong(hypothesis)
        if found is not None:
            return Counterexample(found)
        samples = self.samples or pac_samples(self.queries, self.epsilon, self.delta)
        for start in range(0, samples, self.chunk):
            batch = [self.sample(self.rng) for _ in range(min(self.chunk, samples - start))]
            labels = np.array(self.membership.ask(batch), dtype=np.bool_)
            wrong = np.flatnonzero(accepted_by(hypothesis, pack(batch, self.width)) != labels)
            if len(wrong):
                return Counterexample(batch[wrong[0]])
        found = self.known.first_wrong(hypothesis)  # a sample can tell of more than itself
        if found is not None:
            return Counterexample(found)
        epsilon = self.epsilon
        if self.samples is not None:  # what so many samples are good for, by the same reckoning
            epsilon = (log(1 / self.delta) + self.queries * log(2)) / samples
        details = {"epsilon": epsilon, "delta": self.delta, "samples": samples}
        return Accepted(Certificate("pac", details))


@dataclass
class BudgetedEquivalence:
    """Passes on `limit` queries and then accepts whatever stands, saying that it gave up."""

    oracle: EquivalenceOracle
    limit: int
    used: int = 0

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Ask the oracle while there is budget."""
        if self.used >= self.limit:
            return Accepted(Certificate("budget_exhausted", {"equivalence_queries": self.limit}))
        self.used += 1
        return self.oracle.judge(hypothesis)


@dataclass(frozen=True)
class ChainedEquivalence:
    """Asks several oracles in turn, cheap ones first; a counterexample of any counts.

    If all accept, the strongest of their certificates holds.
    """

    oracles: tuple[EquivalenceOracle, ...]

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return the first counterexample, or the strongest claim."""
        claims = []
        for oracle in self.oracles:
            verdict = oracle.judge(hypothesis)
            if isinstance(verdict, Counterexample):
                return verdict
            claims.append(verdict.certificate)
        return Accepted(max(claims, key=lambda certificate: certificate.strength))
