"""Equivalence oracles of envelopes: they compare a hypothesis with closed sets, not with positives.

Each belongs to a way of learning beside the paper's: from entailment queries and samples
(Borchmann, Hanika and Obiedkov), from a set of positives that is closed first (Dechter and Pearl),
from positives alone (Kautz, Kearns and Selman).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random

from hornlens.errors import HornlensError
from hornlens.learning.protocol import (
    Accepted,
    Counterexample,
    EntailmentOracle,
    Hypothesis,
    Verdict,
)
from hornlens.logic.bits import BOTTOM
from hornlens.logic.certificates import EXACT, pac
from hornlens.logic.closures import next_closed
from hornlens.logic.rule import Rule
from hornlens.logic.theory import forward_chain
from hornlens.oracles.entailment import Closures
from hornlens.oracles.equivalence import pac_samples

MEASURES = "sets of variables, each variable in it with equal chance, as to what follows from them"


class SampledClosures:
    """Draws sets, and compares what follows from each by the hypothesis and in the target.

    An accepted hypothesis gives another closure than the target to a random set with probability at
    most ε; that claim fails with probability at most δ. Then it also errs on at most ε of all sets
    in saying which are closed.

    Closures that are known are looked at first. Only a query that draws sets can accept, so only
    these share δ: the proof is that of `SampledEquivalence`.
    """

    def __init__(
        self,
        closures: Closures,
        sample: Callable[[Random], int],
        epsilon: float,
        delta: float,
        rng: Random,
    ):
        """Nothing is drawn yet."""
        self.closures, self.sample, self.rng = closures, sample, rng
        self.epsilon, self.delta = epsilon, delta
        self.queries = self.drawn = 0
        self.paid = 0
        """How many of the queries drew sets: the union bound is over these."""

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return a closed set that breaks a rule, or what obeys all and is not closed; or yes."""
        self.queries += 1
        if self.closures.known is not None:
            example = self.closures.known.first_wrong(hypothesis)
            if example is not None:
                return Counterexample(example)
        self.paid += 1
        samples = pac_samples(self.paid, self.epsilon, self.delta)
        for _ in range(samples):
            self.drawn += 1
            x = self.sample(self.rng)
            mine, theirs = hypothesis.theory.closure(x), self.closures.closure(x)
            if mine == theirs:
                continue
            if theirs != BOTTOM and not hypothesis.theory.satisfied_by(theirs):
                return Counterexample(theirs)
            return Counterexample(mine)  # x ⊆ mine ⊂ theirs: it is not closed
        return Accepted(pac(self.epsilon, self.delta, samples, MEASURES, queries=self.paid))


class ClosedEquivalence:
    """Compares a hypothesis with all closed sets, which are known: exactly.

    What the hypothesis accepts is enumerated until something is not closed. That happens before
    one more is found than there are closed sets, or never.
    """

    def __init__(self, closed: Collection[int], width: int):
        """Take a set that is closed under intersection."""
        self.width = width
        self.closed = frozenset(closed)
        self._in_order = sorted(self.closed)

    def ask(self, batch: Collection[int]) -> list[bool]:
        """Say of each set whether it is closed: the membership oracle of the envelope."""
        return [x in self.closed for x in batch]

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return a counterexample, positive ones first, or yes."""
        for x in self._in_order:
            if not hypothesis.satisfied_by(x):
                return Counterexample(x)
        rules = hypothesis.theory.rules
        x = forward_chain(rules, 0)
        while x != BOTTOM:
            if x not in self.closed and x not in hypothesis.excluded:
                return Counterexample(x)
            x = next_closed(rules, x, self.width)
        return Accepted(EXACT)


class StrongestEquivalence:
    """Judges hypotheses that are never too weak: each of their rules is asked about."""

    def __init__(self, oracle: EntailmentOracle):
        """Remember which rules hold."""
        self.oracle = oracle
        self._valid: set[Rule] = set()

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Return a positive that breaks a rule, or yes."""
        for rule in hypothesis.theory:
            if rule in self._valid:
                continue
            reply = self.oracle.entails(rule)
            if isinstance(reply, Counterexample):
                return reply
            self._valid.add(rule)
        return Accepted(EXACT)


def closed_sets(rows: Collection[int], most: int) -> set[int]:
    """Return the closure of rows under intersection; more than `most` are refused."""
    closed: set[int] = set()
    for row in dict.fromkeys(rows):
        closed |= {row & other for other in closed}
        closed.add(row)
        if len(closed) > most:
            raise HornlensError(
                f"the positives have more than {most:,} intersections, too many to be listed: "
                "use --algorithm envelope, or pac-basis"
            )
    return closed
