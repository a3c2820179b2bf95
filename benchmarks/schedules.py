"""What the PAC schedule saves: questions for the same ε and δ, on the same targets and seeds."""

from math import ceil, log
from random import Random
from statistics import median
from typing import Any, NamedTuple

from benchmarks.targets import planted_probe, planted_rules, says_yes
from hornlens.extraction.asking import Questions
from hornlens.learning.driver import run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.models.functions import FunctionModel
from hornlens.oracles.equivalence import SampledEquivalence
from hornlens.oracles.known import KnownAnswers
from hornlens.probes.probe import Probe
from hornlens.targets.prompted import PromptedModel

FRESH = 20_000
"""So many further samples measure how often a hypothesis errs."""


class EveryQueryPays(SampledEquivalence):
    """The schedule of version 0.2: the i-th of all equivalence queries has the share δ/2^i."""

    def _needed(self) -> int:
        return ceil((log(1 / self.delta) + self.queries * log(2)) / self.epsilon)


class Learned(NamedTuple):
    """What a run asked, and how often its hypothesis errs on fresh samples."""

    questions: int
    queries: int
    paid: int
    error: float


def pac_schedule(
    attributes: int, values: int, rules: int, epsilon: float, delta: float, seeds: int
) -> dict[str, Any]:
    """Questions of PAC runs against planted rules, by the old schedule divided by those by ours."""
    probe = planted_probe(attributes, values)
    pairs = [
        (
            _learned(SampledEquivalence, probe, rules, epsilon, delta, seed),
            _learned(EveryQueryPays, probe, rules, epsilon, delta, seed),
        )
        for seed in range(seeds)
    ]
    ours, old = zip(*pairs, strict=True)
    ratios = [b.questions / a.questions for a, b in pairs]
    return {
        "prompts": probe.prompt_count,
        "questions": median(each.questions for each in ours),
        "questions_old": median(each.questions for each in old),
        "ratio": median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "equivalence_queries": median(each.queries for each in ours),
        "paid_queries": median(each.paid for each in ours),
        "worst_error": max(each.error for each in ours),
        "worst_error_old": max(each.error for each in old),
        "runs_beyond_epsilon": sum(each.error > epsilon for each in ours),
    }


def _learned(
    oracle: type[SampledEquivalence],
    probe: Probe,
    rules: int,
    epsilon: float,
    delta: float,
    seed: int,
) -> Learned:
    """Learn planted rules; both schedules see the same target, and the same samples at first."""
    model = FunctionModel(says_yes(probe, planted_rules(probe, rules, seed)))
    width, space = len(probe.vocabulary), probe.space
    known = KnownAnswers(width)
    questions = Questions(PromptedModel(probe, model, probe.policy), probe.policy, known)
    sampled = oracle(questions, space.sample, width, epsilon, delta, Random(seed), known)
    done = run(EnvelopeLearner(width), questions, sampled, speculate=True)
    asked, rng = len(questions.decisions), Random(-1 - seed)
    fresh = [space.sample(rng) for _ in range(FRESH)]
    hypothesis = done.learned.hypothesis
    answers = questions.ask(fresh)
    wrong = sum(hypothesis.satisfied_by(x) != yes for x, yes in zip(fresh, answers, strict=True))
    return Learned(asked, sampled.queries, sampled.paid, wrong / FRESH)
