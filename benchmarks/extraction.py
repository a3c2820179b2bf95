"""What Hornlens itself costs in an extraction: on functions and full caches, which cost nothing.

All of it runs on one thread, so seconds are the processor's: other programs disturb them less.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any

from benchmarks.targets import planted_probe, planted_rules, says_yes
from hornlens.api import extract
from hornlens.exact.readings import reading
from hornlens.extraction.asking import Questions
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
from hornlens.logic.certificates import EXACT
from hornlens.logic.theory import Theory
from hornlens.models.demo import DemoModel
from hornlens.models.protocol import Answer
from hornlens.oracles.equivalence import SampledEquivalence, pac_samples
from hornlens.oracles.known import KnownAnswers
from hornlens.probes.loading import DEFAULT, load_probe
from hornlens.probes.probe import Probe
from hornlens.results.documents.settings import Settings, paper_protocol
from hornlens.store.sqlite import AnswerCache
from hornlens.targets.prompted import PromptedModel

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
    assert result.record.reused == 660
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
                assert done.record.asked == 0
                queries += done.envelope.statistics["equivalence_queries"]
        seconds = process_time() - start
        cache.close()
    return {"runs": seeds * len(budgets), "equivalence_queries": queries, "seconds": seconds}


def pac(attributes: int, values: int, rules: int, seed: int) -> dict[str, Any]:
    """A PAC run, ε = δ = 0.01, against a function with planted rules; the fastest of seven."""
    probe = planted_probe(attributes, values)
    planted = planted_rules(probe, rules, seed)
    settings = Settings(equivalence="pac", epsilon=0.01, delta=0.01, seed=seed)
    seconds, own = [], []
    for _ in range(7):
        function, spent = _timed(says_yes(probe, planted))
        start = process_time()
        result = extract(function, probe, settings=settings, cache=False)
        seconds.append(process_time() - start)
        own.append(seconds[-1] - spent[0])
    calls = result.envelope.statistics["model_calls"]
    queries = result.envelope.statistics["equivalence_queries"]
    joint = result.envelope.certificate.joint
    assert joint is not None and joint.queries is not None
    bound = sum(pac_samples(i, 0.01, 0.01) for i in range(1, joint.queries + 1))
    return {
        "prompts": probe.prompt_count,
        "variables": len(probe.vocabulary),
        "seconds": min(seconds),
        "own_seconds": min(own),
        # What the learner took for true: of a space so large, hardly a rule is proved.
        "rules": len(result.envelope.learned.basis),
        "planted": len(planted),
        "planted_found": len(set(result.envelope.learned.basis) & set(planted)),
        "equivalence_queries": queries,
        "paid_queries": joint.queries,
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
    with tempfile.TemporaryDirectory() as folder:
        start = process_time()
        result.save(folder)
        files = process_time() - start
    return {
        "interpretations": probe.space.count,
        "prompts": probe.prompt_count,
        "rules": len(planted),
        "own_seconds": seconds - spent[0],
        "evidence_and_files_seconds": files,
        "function_seconds": spent[0],
    }


class Counted:
    """A function as a model that counts prompts, and the batches they come in."""

    name = "counted"

    def __init__(self, function: Function):
        """Take the function."""
        self.function, self.prompts, self.batches = function, 0, 0

    def check(self, candidates: Sequence[str]) -> None:
        """Accept the words."""

    def identity(self) -> str:
        """Return nothing that a cache could use."""
        return "counted"

    def score(
        self, prompts: Sequence[str], candidates: Sequence[str]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Call the function for each prompt."""
        self.prompts += len(prompts)
        self.batches += 1
        yield [(i, Answer(tuple(self.function(p, candidates)))) for i, p in enumerate(prompts)]


@dataclass
class Forgetful:
    """Puts every membership query to the model anew, one by one, unless it has no label."""

    questions: Questions
    target: PromptedModel

    def ask(self, batch: Sequence[int]) -> list[bool]:
        """Ask, and forget."""
        answers = []
        for x in batch:
            answers += self.questions.ask([x])
            self.questions.decisions.clear()
            self.target.answers[0][0].known.clear()
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


def fewer_questions(target: str, seeds: int) -> dict[str, Any]:
    """Model calls until the envelope is found: by us, and by the same learner without our thrift.

    We ask a prompt once, hold hypotheses against all that is known before samples are drawn, and
    send refinements out in batches. *Plain* asks a prompt once, too, but draws samples at once, and
    refines query by query. *Forgetful* puts every query to the model.
    """
    calls: dict[str, list[int]] = {"ours": [], "plain": [], "forgetful": []}
    batches: dict[str, list[int]] = {"ours": [], "plain": [], "forgetful": []}
    for seed in range(seeds):
        probe, function, exact = _target(target, seed)
        asked = {how: _until_exact(how, seed, probe, function, exact) for how in calls}
        if None not in asked.values():
            for how, model in asked.items():
                assert model is not None
                calls[how].append(model.prompts)
                batches[how].append(model.batches)
    figures: dict[str, Any] = {"seeds": seeds, "found": len(calls["ours"])}
    for how in calls:
        figures |= {f"calls_{how}": median(calls[how]), f"batches_{how}": median(batches[how])}
        if how != "ours":
            ratios = [a / b for a, b in zip(calls[how], calls["ours"], strict=True)]
            figures |= {
                f"{how}_over_ours": median(ratios),
                f"{how}_over_ours_min": min(ratios),
                f"{how}_over_ours_max": max(ratios),
            }
    return figures


def _target(name: str, seed: int) -> tuple[Probe, Function, Theory]:
    """Return the built-in model, or eight attributes with 20 planted rules, and the envelope."""
    if name == "planted":
        probe = planted_probe(8, 10)
        rules = planted_rules(probe, 20, seed)
        exact = dg_basis(Theory(len(probe.vocabulary), tuple(rules)), probe.space.background)
        return probe, says_yes(probe, rules), exact
    return _demo()


@cache
def _demo() -> tuple[Probe, Function, Theory]:
    """Return the built-in probe, the answers of the built-in model, recorded, and its envelope."""
    probe = load_probe(DEFAULT)
    target = PromptedModel(probe, DemoModel(), probe.policy)
    questions = Questions(target, probe.policy)
    questions.decide(list(probe.space.cells()))
    exact = reading(questions.knowledge).dg_basis()
    recorded = target.scores
    return probe, lambda prompt, words: [recorded[prompt][word] for word in words], exact


def _until_exact(
    how: str, seed: int, probe: Probe, function: Function, exact: Theory
) -> Counted | None:
    """Return the model, with what was asked of it; None if samples ran out before."""
    model, width = Counted(function), len(probe.vocabulary)
    target = PromptedModel(probe, model, probe.policy)
    known = KnownAnswers(width) if how == "ours" else None
    questions = Questions(target, probe.policy, known)
    oracle: MembershipOracle = questions
    if how == "forgetful":
        oracle = Forgetful(questions, target)
    sampled = SampledEquivalence(
        *(oracle, probe.space.sample, width, 0.05, 0.05, Random(seed), known),
        chunk=256 if how == "ours" else 1,  # a plain learner stops at the first counterexample
        samples=50_000,
    )
    until = UntilExact(sampled, exact, probe.space.background)
    run(EnvelopeLearner(width), oracle, until, speculate=how == "ours")
    return model if until.found else None
