"""Rules against questions on the recorded answers of real models, with the exact truth beside it.

A model answers all 660 prompts of the built-in probe once. Then a sift and the learner of the paper
are given the recorded answers with budgets. *True* are the rules of the exact result that say where
a word is never filled in, with at most two conditions on attributes; *found* those that follow from
what is listed, *special* those that do not, but are special cases of a rule with exceptions that is
listed, *false* the listed rules that do not follow from the exact result.
"""

from __future__ import annotations

from itertools import product
from math import exp
from statistics import mean
from typing import Any

from hornlens import Settings, extract, load_probe
from hornlens.logic.rule import Rule
from hornlens.models.demo import DemoModel
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Model, ModelOptions
from hornlens.result import Result
from hornlens.targets.prompted import PromptedModel

CONDITIONS = 3
"""Two on attributes, and the label."""


def recorded(kind: str, budgets: list[int | None], seeds: int) -> dict[str, Any]:
    """Return what is found with each budget of questions, as means over seeds; None: no limit."""
    probe = load_probe("gender-occupation")
    exact = extract(PromptedModel(probe, _opened(kind), probe.policy))
    shares = {
        prompt: [exp(score) for score in by_word.values()]
        for prompt, by_word in exact.scores.items()
    }
    model = FunctionModel(lambda prompt, _: shares[prompt])
    short = (r for r in exact.envelope.readable.rules if r.antecedent.bit_count() <= CONDITIONS)
    true = [rule for rule in short if rule.is_negative]
    figures: dict[str, Any] = {"prompts": len(exact.decisions), "true": len(true)}
    for how, most in product(("sift", "pac"), budgets):
        runs = []
        for seed in range(seeds):
            settings = Settings(
                equivalence=how,  # type: ignore[arg-type]
                max_conditions=CONDITIONS if how == "sift" else None,
                max_questions=most,
                seed=seed,
            )
            result = extract(PromptedModel(probe, model, probe.policy), settings=settings)
            runs.append(_judged(result, exact, true))
        for name in runs[0]:
            average = mean(run[name] for run in runs)
            figures[f"{how}_{most or 'all'}_{name}"] = round(average, 1)
    return figures


def _opened(kind: str) -> Model:
    if kind == "demo":
        return DemoModel()
    from hornlens.models.smollm2 import smollm2

    return smollm2(ModelOptions(threads=1))


def _judged(result: Result, exact: Result, true: list[Rule]) -> dict[str, int]:
    """Count questions, listed rules, true rules that follow from them, and false ones."""
    listed = list(result.envelope.readable.rules)
    return {
        "questions": len(result.decisions),
        "listed": len(listed),
        "found": sum(result.entails(rule) for rule in true),
        "special": sum(_is_special(result, rule) for rule in true),
        "false": sum(not exact.entails(rule) for rule in listed),
        "open": result.certificate.open or 0,
    }


def _is_special(result: Result, rule: Rule) -> bool:
    """Say whether a rule is not listed, but a special case of one with exceptions that is."""
    sifted = result.envelope.sifted
    if sifted is None or result.entails(rule):
        return False
    return any(one.rule.antecedent & ~rule.antecedent == 0 for one in sifted.almost)
