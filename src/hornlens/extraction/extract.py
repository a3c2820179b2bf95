"""Extraction: a probe and a model in, the model's envelope and its evidence out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from hornlens.errors import HornlensError
from hornlens.logic.decisions import Decision, Policy
from hornlens.logic.envelope import EXACT, Envelope, NonHorn, check_tolerances
from hornlens.logic.theory import background_of
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Model
from hornlens.models.registry import open_model
from hornlens.probes.loading import DEFAULT, load_probe
from hornlens.probes.probe import Probe
from hornlens.results.evidence import Evidence, evidence_for
from hornlens.store.sqlite import AnswerCache, default_path
from hornlens.targets.answers import Answers
from hornlens.targets.prompted import ProbeMembership

Equivalence = Literal["auto", "exhaustive", "pac", "budget"]
PAPER_SAMPLES = 3132
"""What the paper's experiment drew for an equivalence query (ε 0.3, δ 0.1, 26 variables)."""


@dataclass(frozen=True)
class Settings:
    """How to extract. `samples` fixes the number of samples a query, as the paper's budget did."""

    equivalence: Equivalence = "auto"
    epsilon: float = 0.05
    delta: float = 0.05
    max_equivalence_queries: int = 200
    limit: int = 200_000
    seed: int = 0
    samples: int | None = None

    def check(self, probe: Probe) -> None:
        """Refuse what makes no sense, or does not fit the probe, before any model is loaded."""
        if self.equivalence == "exhaustive" and probe.prompt_count > self.limit:
            raise HornlensError(
                f"the probe has {probe.prompt_count:,} prompts, more than --limit {self.limit:,}: "
                "raise the limit, or use --equivalence pac"
            )
        check_tolerances(self.epsilon, self.delta)


def paper_protocol(settings: Settings, policy: Policy) -> tuple[Settings, Policy]:
    """Return settings and policy as the paper's experiment had them."""
    return (
        replace(settings, equivalence="budget", samples=PAPER_SAMPLES),
        replace(policy, label_unset="reject", abstain="reject", top_k=5, calibration="none"),
    )


@dataclass(frozen=True)
class Extraction:
    """What was found: the envelope, what the model said, and on what it rests."""

    probe: Probe
    model: str
    identity: str
    policy: Policy
    settings: Settings
    envelope: Envelope
    decisions: Mapping[int, Decision]
    scores: Mapping[str, tuple[float, ...]]
    """The model's raw scores, by prompt."""
    excluded: frozenset[int]
    """The non-Horn negatives: what the rules alone cannot reject. All of them, if exact."""
    asked: int
    reused: int

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence for each readable rule, in the order of the rules."""
        return evidence_for(self.envelope.readable, self.probe, self.decisions)

    @property
    def abstentions(self) -> list[tuple[int, Decision]]:
        """The cells in which the model gave no answer, with the reason."""
        return [(c, d) for c, d in sorted(self.decisions.items()) if d.winner is None]

    def strongest_first(self) -> list[Evidence]:
        """Return the evidence, by support and then by mean margin."""
        return sorted(
            self.evidence,
            key=lambda e: (-e.support, -(e.mean_margin or 0.0), e.rule.key),
        )


def extract(
    model: str | Model | Callable[[str, Sequence[str]], Any] = "demo",
    probe: str | Path | Probe = DEFAULT,
    *,
    settings: Settings | None = None,
    policy: Policy | None = None,
    cache: AnswerCache | Path | Literal[False] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Extraction:
    """Return the rules that a model obeys, as far as a probe asks.

    `model` is a spec (see `hornlens.models.registry`), a Model, or any function that is given a
    prompt and the candidate words and returns their scores. `cache=False` keeps nothing on disk.
    """
    chosen = settings or Settings()
    question = probe if isinstance(probe, Probe) else load_probe(probe)
    chosen.check(question)
    rules = policy or question.policy
    if isinstance(model, str):
        target: Model = open_model(model)
    elif isinstance(model, Model):
        target = model
    else:
        target = FunctionModel(model)
    opened = None
    if cache is not False and not isinstance(cache, AnswerCache):
        opened = cache = AnswerCache(cache or default_path())
    try:
        answers = Answers(target, question.label.words, cache or None)
        answers.prepare()
        membership = ProbeMembership(question, rules, answers, progress)
        envelope, excluded = _envelope(membership, chosen)
    finally:
        if opened is not None:
            opened.close()
    return Extraction(
        question,
        target.name,
        answers.identity,
        rules,
        chosen,
        envelope,
        membership.decisions,
        {prompt: answer.scores for prompt, answer in answers.known.items()},
        frozenset(excluded),
        answers.asked,
        answers.reused,
    )


def _envelope(membership: ProbeMembership, settings: Settings) -> tuple[Envelope, Sequence[int]]:
    probe = membership.probe
    fits = probe.prompt_count <= settings.limit
    if settings.equivalence == "exhaustive" or (settings.equivalence == "auto" and fits):
        return _tabulated(membership)
    from hornlens.extraction.learned import learned  # an exact run learns nothing

    return learned(membership, settings)


def _tabulated(membership: ProbeMembership) -> tuple[Envelope, Sequence[int]]:
    """Label the whole domain: the envelope is exact."""
    probe = membership.probe
    labelled = membership.tabulate()
    found = labelled.non_horn()
    prompts = len(membership.answers.known)
    envelope = Envelope.of(
        probe.vocabulary,
        labelled.dg_basis(),
        background_of(probe.vocabulary),
        certificate=EXACT,
        non_horn=NonHorn.of(found),
        statistics={
            "equivalence_queries": 0,
            "membership_queries": len(labelled.positive),
            "model_calls": prompts,
            "distinct_prompts": prompts,
            "negatives": int((~labelled.positive).sum()),
            "abstentions": sum(d.winner is None for d in membership.decisions.values()),
        },
    )
    return envelope, found
