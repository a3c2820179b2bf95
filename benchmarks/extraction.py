"""What Hornlens itself costs in an extraction: on functions and full caches, which cost nothing.

All of it runs on one thread, so seconds are the processor's: other programs disturb them less.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any

from benchmarks.targets import planted_probe, planted_rules, says_yes
from hornlens.learning.driver import run
from hornlens.learning.envelope import EnvelopeLearner
from hornlens.learning.protocol import (
    Accepted,
    EquivalenceOracle,
    Hypothesis,
    MembershipOracle,
    Verdict,
)
from hornlens.logic.basis import dg_basis
from hornlens.logic.envelope import EXACT
from hornlens.logic.theory import Theory, background_of
from hornlens.models.demo import DemoModel
from hornlens.models.protocol import Answer
from hornlens.oracles.equivalence import SampledEquivalence, pac_samples
from hornlens.oracles.membership import CachingMembership
from hornlens.probes.loading import DEFAULT, load_probe
from hornlens.store.cache import AnswerCache
from hornlens.study.answers import Answers
from hornlens.study.extraction import Settings, extract, paper_protocol
from hornlens.study.labels import ProbeMembership

Function = Callable[[str, Sequence[str]], Sequence[float]]


def _timed(function: Function) -> tuple[Function, list[float]]:
    """Return a function that keeps book of the seconds spent in it."""
    spent = [0.0]

    def call(prompt: str, words: Sequence[str]) -> Sequence[float]:
        start = process_time()
        scores = function(prompt, words)
        spent[0] += process_time() - start
        return scores

    return call, spent


def exact_demo() -> dict[str, Any]:
    """An exact extraction of the built-in probe, with an empty cache and then with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        cache = AnswerCache(Path(folder) / "answers.sqlite")
        model = DemoModel()
        model.check(load_probe(DEFAULT).label.words)
        seconds = []
        for _ in range(4):
            start = process_time()
            result = extract(model, cache=cache)
            seconds.append(process_time() - start)
        cache.close()
    assert result.reused == 660
    return {
        "rules": len(result.envelope.basis),
        "seconds_empty_cache": seconds[0],
        "seconds_full_cache": min(seconds[1:]),
    }


def study(seeds: int, budgets: list[int]) -> dict[str, Any]:
    """The paper's protocol on a full cache, for some seeds and budgets, one after the other."""
    probe = load_probe(DEFAULT)
    with tempfile.TemporaryDirectory() as folder:
        cache = AnswerCache(Path(folder) / "answers.sqlite")
        extract(DemoModel(), probe, cache=cache)
        start = process_time()
        queries = 0
        for budget in budgets:
            for seed in range(seeds):
                plain = Settings(max_equivalence_queries=budget, seed=seed)
                settings, policy = paper_protocol(plain, probe.policy)
                done = extract(DemoModel(), probe, settings=settings, policy=policy, cache=cache)
                assert done.asked == 0
                queries += done.envelope.statistics["equivalence_queries"]
        seconds = process_time() - start
        cache.close()
    return {"runs": seeds * len(budgets), "equivalence_queries": queries, "seconds": seconds}


def pac(attributes: int, values: int, rules: int, seed: int) -> dict[str, Any]:
    """A PAC run, ε = δ = 0.01, against a function with planted rules; the fastest of three."""
    probe = planted_probe(attributes, values)
    planted = planted_rules(probe, rules, seed)
    settings = Settings(equivalence="pac", epsilon=0.01, delta=0.01, seed=seed, limit=0)
    seconds, own = [], []
    for _ in range(3):
        function, spent = _timed(says_yes(probe, planted))
        start = process_time()
        result = extract(function, probe, settings=settings, cache=False)
        seconds.append(process_time() - start)
        own.append(seconds[-1] - spent[0])
    calls = result.envelope.statistics["model_calls"]
    queries = result.envelope.statistics["equivalence_queries"]
    bound = sum(pac_samples(i, 0.01, 0.01) for i in range(1, queries + 1))
    return {
        "prompts": probe.prompt_count,
        "variables": len(probe.vocabulary),
        "seconds": min(seconds),
        "own_seconds": min(own),
        "rules": len(result.envelope.basis),
        "planted": len(planted),
        "planted_found": len(set(result.envelope.basis) & set(planted)),
        "equivalence_queries": queries,
        "own_ms_a_query": 1000 * min(own) / queries,
        "own_us_a_call": 1e6 * min(own) / calls,
        "model_calls": calls,
        "sample_bound": bound,
        "calls_over_bound": calls / bound,
    }


def tabulated(attributes: int, values: int, rules: int, seed: int) -> dict[str, Any]:
    """An exact extraction of a large domain, against a function with planted rules."""
    probe = planted_probe(attributes, values)
    planted = planted_rules(probe, rules, seed)
    function, spent = _timed(says_yes(probe, planted))
    settings = Settings(equivalence="exhaustive", limit=probe.prompt_count)
    start = process_time()
    result = extract(function, probe, settings=settings, cache=False)
    seconds = process_time() - start
    assert set(result.envelope.basis) == set(planted)
    return {
        "interpretations": probe.domain.count,
        "prompts": probe.prompt_count,
        "rules": len(planted),
        "own_seconds": seconds - spent[0],
        "function_seconds": spent[0],
    }


class Recorded:
    """The built-in model's answers, recorded; counts prompts, and the batches they come in."""

    name = "recorded"

    def __init__(self, answers: dict[str, Answer]):
        """Take the answers by prompt."""
        self.answers, self.prompts, self.batches = answers, 0, 0

    def check(self, candidates: Sequence[str]) -> None:
        """Accept the words."""

    def identity(self) -> str:
        """Return nothing that a cache could use."""
        return "recorded"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Look the prompts up."""
        self.prompts += len(prompts)
        self.batches += 1
        yield [(i, self.answers[prompt]) for i, prompt in enumerate(prompts)]


@dataclass
class Forgetful:
    """Puts every membership query to the model anew, one by one, unless it has no label."""

    membership: ProbeMembership

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Ask, and forget."""
        answers = []
        for x in batch:
            answers += self.membership.ask([x])
            self.membership.decisions.clear()
            self.membership.answers.known.clear()
        return answers


@dataclass
class UntilExact:
    """Accepts as soon as the hypothesis is the envelope."""

    oracle: EquivalenceOracle
    envelope: Theory
    background: Theory
    found: bool = False

    def judge(self, hypothesis: Hypothesis) -> Verdict:
        """Compare, then ask."""
        theory = hypothesis.theory
        if len(theory) == len(self.envelope):
            self.found = dg_basis(theory, self.background) == self.envelope
        return Accepted(EXACT) if self.found else self.oracle.judge(hypothesis)


def fewer_questions(seeds: int) -> dict[str, Any]:
    """Model calls until the envelope of the built-in model is found: with reuse, and without.

    With: every prompt is asked once, known answers are searched before samples are drawn, and
    refinements go out in batches. Without: every query is a call, one after the other.
    """
    probe = load_probe(DEFAULT)
    answers = Answers(DemoModel(), probe.label.words)
    exact = ProbeMembership(probe, probe.policy, answers).tabulate().dg_basis()

    def until_exact(seed: int, reuse: bool) -> tuple[Recorded, bool]:
        model, width = Recorded(answers.known), len(probe.vocabulary)
        membership = ProbeMembership(probe, probe.policy, Answers(model, probe.label.words))
        remembering = CachingMembership(membership)
        oracle: MembershipOracle = remembering if reuse else Forgetful(membership)
        sampled = SampledEquivalence(
            *(oracle, probe.sample, width, 0.05, 0.05, Random(seed)),
            known=remembering.known if reuse else None,
            samples=50_000,
        )
        until = UntilExact(sampled, exact, background_of(probe.vocabulary))
        run(EnvelopeLearner(width, trace=False), oracle, until, speculate=reuse)
        return model, until.found

    pairs = []
    for seed in range(seeds):
        (ours, found), (theirs, found_too) = until_exact(seed, True), until_exact(seed, False)
        if found and found_too:
            pairs.append((ours, theirs))
    ratios = [theirs.prompts / ours.prompts for ours, theirs in pairs]
    return {
        "seeds": seeds,
        "found": len(pairs),
        "calls": median(ours.prompts for ours, _ in pairs),
        "calls_without": median(theirs.prompts for _, theirs in pairs),
        "ratio_median": median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "batches": median(ours.batches for ours, _ in pairs),
        "batches_without": median(theirs.batches for _, theirs in pairs),
    }
