"""The envelope where not every prompt is asked: learned from membership queries and samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from hornlens.extraction.extract import Settings
from hornlens.learning.driver import Run, run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.protocol import EquivalenceOracle
from hornlens.logic.basis import dg_basis
from hornlens.logic.decisions import Decision
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.theory import background_of
from hornlens.oracles.equivalence import BudgetedEquivalence, SampledEquivalence
from hornlens.oracles.known import KnownAnswers
from hornlens.oracles.membership import CachingMembership, CountingMembership
from hornlens.targets.prompted import ProbeMembership

MOST_LABELS = 10
"""Where there are more, what an answer says of most of them is not worth its place in memory."""
DRAWN = "interpretations drawn with each attribute uniform over its values and unset, the label"
"""Of what ε is a fraction; how the label is drawn depends on the probe."""


@dataclass
class EveryLabel:
    """Asks each cell once, and knows what follows: the answers for all labels that it can have.

    "She" for a nurse is also "not He". `known` holds all of it, for hypotheses to be held against;
    of many labels, only the one that the model chose.
    """

    membership: ProbeMembership

    def __post_init__(self) -> None:
        """Begin with nothing known."""
        self.known = KnownAnswers(len(self.membership.probe.vocabulary))
        self._cache = CachingMembership(self.membership, self.known)

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Answer from what is known; ask about the other cells in one batch."""
        probe = self.membership.probe
        labelled = (x for x in batch if x & probe.label_mask and x not in self._cache.answers)
        cells = list(dict.fromkeys(x & ~probe.label_mask for x in labelled))
        told = [
            probe.with_label(cell, label)
            for cell, decision in zip(cells, self.membership.decide(cells), strict=True)
            for label in self._worth_telling(decision)
        ]
        return self._cache.ask([*batch, *told])[: len(batch)]

    def _worth_telling(self, decision: Decision) -> Iterable[int]:
        labels = len(self.membership.probe.label.values)
        if labels <= MOST_LABELS:
            return range(labels)
        return () if decision.winner is None else (decision.winner,)


def learned(membership: ProbeMembership, settings: Settings) -> tuple[Envelope, Sequence[int]]:
    """Learn by queries: Algorithm 1 with sampled equivalence queries."""
    probe = membership.probe
    width = len(probe.vocabulary)
    answers = EveryLabel(membership)
    sampled = CountingMembership(answers, "equivalence")
    oracle: EquivalenceOracle = SampledEquivalence(
        sampled,
        probe.sample,
        width,
        settings.epsilon,
        settings.delta,
        Random(settings.seed),
        answers.known if settings.samples is None else None,
        samples=settings.samples,
        measures=f"{DRAWN} {'always set' if probe.sample_label == 'always' else 'likewise'}",
    )
    if settings.equivalence == "budget":
        oracle = BudgetedEquivalence(oracle, settings.max_equivalence_queries)
    done: Run = run(EnvelopeLearner(width), answers, oracle, speculate=True)
    background = background_of(probe.vocabulary)
    basis = dg_basis(done.learned.hypothesis.theory, background)
    seen = done.learned.non_horn
    prompts = len(membership.answers.known)
    envelope = Envelope.of(
        probe.vocabulary,
        basis,
        background,
        certificate=done.certificate,
        non_horn=NonHorn.of(seen, complete=False),
        statistics={
            "equivalence_queries": done.queries.equivalence,
            "membership_queries": done.queries.refinement
            + done.queries.speculative
            + sampled.count,
            "refinement": done.queries.refinement,
            "speculative": done.queries.speculative,
            "equivalence_samples": sampled.count,
            "model_calls": prompts,
            "distinct_prompts": prompts,
            "abstentions": sum(d.winner is None for d in membership.decisions.values()),
        },
    )
    return envelope, seen
