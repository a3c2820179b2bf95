"""Equivalence oracles that need no formula: exhaustive, sampled (PAC), budgeted.

None of them answers "no difference found" with silence: what they accept, they accept with a
certificate that says on what grounds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, log
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError
from hornlens.exact.grid import LabelledSpace
from hornlens.learning.protocol import (
    Accepted,
    Ask,
    Counterexample,
    EquivalenceOracle,
    Hypothesis,
    MembershipOracle,
    Verdict,
)
from hornlens.logic.batch import Words, obeys, pack, unpack
from hornlens.logic.certificates import EXACT, SMALLEST, cut_off, pac
from hornlens.logic.space import Space
from hornlens.oracles.known import KnownAnswers

Kind = Literal["full", "horn"]
"""What a yes means. `full`: H ∪ Q ≡ φ. `horn`: H ≡ env(φ)."""

Choose = Callable[[Sequence[int]], int]
"""Picks one of several counterexamples; adversaries plug in here."""


def first(counterexamples: Sequence[int]) -> int:
    """Choose the one that was met first."""
    return counterexamples[0]


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
        points = list(domain)
        known = dict(zip(points, membership.ask(points), strict=True))
        return cls(LabelledSpace.of(domain, known.__getitem__), kind, choose)

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


def judging_of(
    oracle: EquivalenceOracle, hypothesis: Hypothesis
) -> Generator[Ask, Sequence[bool] | None, Verdict]:
    """Yield what an oracle wants to be asked; one that asks by itself yields nothing."""
    own = getattr(oracle, "judging", None)
    if own is None:
        return oracle.judge(hypothesis)
    verdict: Verdict = yield from own(hypothesis)
    return verdict


def pac_samples(query: int, epsilon: float, delta: float) -> int:
    """Return how many samples the query-th (from 1) of the equivalence queries that draw any draws.

    The i-th of them errs with probability at most (1-ε)^q ≤ δ/(i(i+1)). These shares add up to δ.
    """
    return ceil(_doubt(query, delta) / epsilon)


def _doubt(query: int, delta: float) -> float:
    """Return ln(query · (query + 1) / δ): ε times the samples that the query needs."""
    return log(query * (query + 1) / delta)


class SampledEquivalence:
    """Looks for counterexamples in what is known, then in random samples, by the PAC schedule.

    An accepted H ∪ Q disagrees with the target on a random interpretation with probability at most
    ε; that claim fails with probability at most δ.

    Proof. Only a query that draws samples can accept: call it paid, and let it be the i-th such
    query. Its number and its hypothesis are fixed before its samples are drawn, and these are
    independent of all that happened before. So if the hypothesis errs on more than ε, all q_i
    samples agree with it with probability at most (1-ε)^q_i ≤ δ/(i(i+1)), whatever the past was.
    A wrong hypothesis is accepted only if that happens at some i; over all i, this has probability
    at most Σ δ/(i(i+1)) = δ, however many queries there will have been. A query that known answers
    refute before it draws anything accepts nothing and uses up no number. One that known answers
    refute after its samples agreed has used up its number: the second look only turns a yes into a
    counterexample, so the probability of a wrong yes does not grow.
    """

    def __init__(
        self,
        membership: MembershipOracle,
        sample: Callable[[Random], int],
        width: int,
        epsilon: float,
        delta: float,
        rng: Random,
        known: KnownAnswers | None = None,
        chunk: int = 256,
        samples: int | None = None,
        measures: str | None = None,
        choose: Choose = first,
        size: int | None = None,
    ):
        """Sample from `sample(rng)`, which `measures` says in words; check what is `known` first.

        `samples` fixes the number of samples a query; ε then follows from it and from δ. `choose`
        picks among the counterexamples of a chunk. There are `size` interpretations, if that is
        known: when all of them are, the verdict is exact.
        """
        if not (SMALLEST <= epsilon < 1 and SMALLEST <= delta < 1):
            raise ValueError(f"epsilon and delta must lie between {SMALLEST:g} and 1 (exclusive)")
        if samples is not None and samples <= (least := _doubt(1, delta)):
            raise HornlensError(
                f"{samples} samples an equivalence query are too few to claim anything: "
                f"with delta {delta:g}, at least {floor(least) + 1} are needed"
            )
        self.membership, self.sample, self.width = membership, sample, width
        self.epsilon, self.delta, self.rng = epsilon, delta, rng
        self.known = KnownAnswers(width) if known is None else known
        self.chunk, self.samples, self.measures, self.choose = chunk, samples, measures, choose
        self.size = size
        self.queries = 0
        self.paid = 0
        """How many of the queries drew samples: the union bound is over these."""
        self.drawn = 0
        """How many samples were drawn, in all queries."""

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return a counterexample, or yes with ε, δ and the number of samples."""
        judging, answers = self.judging(hypothesis), None
        while True:
            try:
                answers = self.membership.ask(judging.send(answers).batch)
            except StopIteration as end:
                verdict: Verdict = end.value
                return verdict

    def judging(self, hypothesis: Hypothesis) -> Generator[Ask, Sequence[bool] | None, Verdict]:
        """Yield the samples to be asked about, and return the verdict; nothing is asked here."""
        self.queries += 1
        example = self.known.first_wrong(hypothesis)
        if example is not None:
            return Counterexample(example)
        if self._all_known:
            return Accepted(EXACT)
        self.paid += 1
        samples = self._needed()
        accepted = 0
        for start in range(0, samples, self.chunk):
            batch = [self.sample(self.rng) for _ in range(min(self.chunk, samples - start))]
            labels = np.array((yield Ask(tuple(batch), all_answers=True)), dtype=np.bool_)
            self.drawn += len(batch)
            wrong = np.flatnonzero(accepted_by(hypothesis, pack(batch, self.width)) != labels)
            if len(wrong):
                return Counterexample(self.choose([batch[i] for i in wrong]))
            accepted += int(labels.sum())
            if self._all_known:
                break
        example = self.known.first_wrong(hypothesis)  # a sample can tell of more than itself
        if example is not None:
            return Counterexample(example)
        if self._all_known:
            return Accepted(EXACT)
        epsilon = self.epsilon
        if self.samples is not None:  # what so many samples are good for, by the same reckoning
            epsilon = _doubt(self.paid, self.delta) / samples
        if epsilon >= 1:
            return Accepted(cut_off(self.queries, samples))
        return Accepted(pac(epsilon, self.delta, samples, self.measures, accepted, self.paid))

    @property
    def _all_known(self) -> bool:
        return self.size is not None and len(self.known) >= self.size

    def _needed(self) -> int:
        """Return how many samples the query draws that has just been paid for."""
        return self.samples or pac_samples(self.paid, self.epsilon, self.delta)


@dataclass
class BudgetedEquivalence:
    """Passes on `limit` queries and then accepts whatever stands, saying that it gave up."""

    oracle: EquivalenceOracle
    limit: int
    used: int = 0

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Ask the oracle while there is budget."""
        if self.used >= self.limit:
            return Accepted(cut_off(self.limit))
        self.used += 1
        return self.oracle.judge(hypothesis)

    def judging(self, hypothesis: Hypothesis) -> Generator[Ask, Sequence[bool] | None, Verdict]:
        """The same, of an oracle that yields what it wants to be asked."""
        if self.used >= self.limit:
            return Accepted(cut_off(self.limit))
        self.used += 1
        return (yield from judging_of(self.oracle, hypothesis))
