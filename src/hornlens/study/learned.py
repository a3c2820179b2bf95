"""The envelope where not every prompt is asked: learned from membership queries and samples."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hornlens.learning.driver import Run, run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.protocol import EquivalenceOracle
from hornlens.logic.basis import dg_basis
from hornlens.logic.envelope import Envelope, NonHorn
from hornlens.logic.theory import background_of
from hornlens.oracles.equivalence import BudgetedEquivalence, SampledEquivalence
from hornlens.oracles.membership import CachingMembership, CountingMembership
from hornlens.study.extraction import Settings
from hornlens.study.labels import ProbeMembership


def learned(membership: ProbeMembership, settings: Settings) -> tuple[Envelope, Sequence[int]]:
    """Learn by queries: Algorithm 1 with sampled equivalence queries."""
    probe = membership.probe
    width = len(probe.vocabulary)
    cache = CachingMembership(membership)
    sampled = CountingMembership(cache, "equivalence")
    oracle: EquivalenceOracle = SampledEquivalence(
        sampled,
        probe.sample,
        width,
        settings.epsilon,
        settings.delta,
        Random(settings.seed),
        cache.known if settings.samples is None else None,
        samples=settings.samples,
    )
    if settings.equivalence == "budget":
        oracle = BudgetedEquivalence(oracle, settings.max_equivalence_queries)
    done: Run = run(EnvelopeLearner(width, trace=False), cache, oracle, speculate=True)
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
