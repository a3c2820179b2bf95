"""A study's findings as one JSON document: stability, recall, precision, queries.

Nothing in it depends on when, in how many processes or in how many attempts the study was run; the
times stand in a document of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from hornlens import __version__
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.vocabulary import Vocabulary
from hornlens.pronouns.published import (
    PROBE,
    is_the_papers,
    paper_name,
    published_intersection,
    published_minutes,
    published_rules,
)
from hornlens.results.comparison import result_of
from hornlens.results.extraction import summary_as_json
from hornlens.studies.plan import Plan
from hornlens.studies.runs import ModelRuns, Run
from hornlens.studies.stability import Judge, Stability, stability

Json = dict[str, Any]
VARIED = ("max_equivalence_queries", "seed")
"""What differs from run to run."""


def study_as_json(plan: Plan, found: Sequence[ModelRuns]) -> Json:
    """Return the contents of study.json."""
    models = [_model(plan, each) for each in found]
    settings = asdict(plan.settings)
    return {
        "hornlens": __version__,
        "study": {
            "name": plan.name,
            "description": plan.description,
            "probe": plan.probe.name,
            "models": list(plan.models),
            "budgets": list(plan.budgets),
            "seeds": list(plan.seeds),
            "stable": plan.stable,
            "settings": {key: value for key, value in settings.items() if key not in VARIED},
            "policy": asdict(plan.policy),
        },
        "variables": list(plan.probe.vocabulary.names),
        "models": models,
        "intersection": [
            _intersection(models, position, plan.stable) for position in range(len(plan.budgets))
        ],
        **_published_intersection(plan, found),
    }


def times_as_json(plan: Plan, found: Sequence[ModelRuns]) -> Json:
    """Return the contents of times.json: how long each run took, and what it asked the model."""
    models = []
    for each in found:
        budgets = []
        for budget in plan.budgets:
            records = [run.record for run in each.runs if run.budget == budget]
            budgets.append(
                {
                    "budget": budget,
                    "seconds": [record["seconds"] for record in records],
                    "asked_the_model": [record["asked_the_model"] for record in records],
                    "published_minutes": published_minutes(each.spec, budget),
                }
            )
        models.append({"model": each.name, "exact": _times(each), "budgets": budgets})
    return {"hornlens": __version__, "study": plan.name, "models": models}


def _times(each: ModelRuns) -> Json | None:
    if each.exact is None:
        return None
    keys = ("seconds", "asked_the_model", "answered_from_cache")
    return {key: each.exact_record[key] for key in keys}


def _labels(plan: Plan) -> Sequence[int]:
    """Return the labels that a sampled interpretation can have."""
    labels = plan.probe.domain.axes[-1]
    return labels[1:] if plan.probe.sample_label == "always" else labels


def _judges(plan: Plan, each: ModelRuns, budget: int) -> list[tuple[Run, Judge]]:
    labels = _labels(plan)
    return [
        (run, Judge(result_of(run.content, Path(run.folder)), labels))
        for run in each.runs
        if run.budget == budget
    ]


def _exact(plan: Plan, each: ModelRuns) -> Judge | None:
    if each.exact is None:
        return None
    return Judge(result_of(summary_as_json(each.exact), Path(each.folder)), _labels(plan))


def _model(plan: Plan, each: ModelRuns) -> Json:
    exact = _exact(plan, each)
    wanted = _to_find(plan, exact)
    names = plan.probe.vocabulary
    by_budget = {budget: _judges(plan, each, budget) for budget in plan.budgets}
    content: Json = {
        "model": each.name,
        "identity": each.identity,
        "exact": None,
        "budgets": [
            _budget(plan, each, budget, runs, exact, wanted) for budget, runs in by_budget.items()
        ],
    }
    if each.exact is not None and exact is not None:
        content["exact"] = {
            "folder": f"exact/{each.folder}",
            "rules": [
                {
                    **NamedRule.of(rule, names).as_json(),
                    "support": evidence.support,
                    "mean_margin": evidence.mean_margin,
                    "entailed": {
                        str(budget): sum(judge.entails(rule) for _, judge in runs)
                        for budget, runs in by_budget.items()
                    },
                }
                for rule, evidence in zip(exact.result.readable, each.exact.evidence, strict=True)
            ],
            "to_find": len(wanted),
            "non_horn": each.exact.envelope.non_horn.count,
            "model_calls": each.exact.envelope.statistics["model_calls"],
        }
    return content


def _to_find(plan: Plan, exact: Judge | None) -> list[Rule]:
    """Return the exact rules by which recall is measured, each saying something of its own.

    If label-less interpretations are accepted, every rule speaks of a label, and all count.
    """
    if exact is None:
        return []
    accepted = plan.policy.label_unset == "accept"
    return list(exact.result.readable) if accepted else exact.independent()


def _budget(
    plan: Plan,
    each: ModelRuns,
    budget: int,
    runs: list[tuple[Run, Judge]],
    exact: Judge | None,
    wanted: list[Rule],
) -> Json:
    names = plan.probe.vocabulary
    rules = stability([judge for _, judge in runs], exact)
    content: Json = {
        "budget": budget,
        "runs": [_run(plan, run, judge, exact, wanted) for run, judge in runs],
        "rules": [_stability(item, names) for item in rules],
    }
    if exact is not None:
        lines = content["runs"]
        content["mean"] = {
            key: _mean([line[key] for line in lines])
            for key in ("recall", "precision", "agreement")
        }
    if paper_name(each.spec) is not None and plan.probe.name == PROBE:
        content["published"] = [
            {
                **_stability(_judged(item.rule, runs, exact), names),
                "published": item.runs,
            }
            for item in published_rules(each.spec, budget, plan.probe)
        ]
    return content


def _judged(rule: Rule, runs: list[tuple[Run, Judge]], exact: Judge | None) -> Stability:
    return Stability(
        rule,
        sum(rule in judge.result.readable.rules for _, judge in runs),
        sum(judge.entails(rule) for _, judge in runs),
        None if exact is None else exact.entails(rule),
    )


def _run(plan: Plan, run: Run, judge: Judge, exact: Judge | None, wanted: list[Rule]) -> Json:
    content: Json = {
        "seed": run.seed,
        "folder": run.folder,
        "rules": len(judge.result.readable),
        "certificate": run.content["certificate"]["kind"],
        "statistics": run.content["statistics"],
    }
    if exact is not None:
        content["recall"] = judge.share_of(wanted)
        content["precision"] = exact.share_of(judge.result.readable)
        content["agreement"] = judge.agreement(exact, plan.probe.domain)
    return content


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _stability(item: Stability, names: Vocabulary) -> Json:
    return {
        **NamedRule.of(item.rule, names).as_json(),
        "found": item.found,
        "entailed": item.entailed,
        "true": item.true,
    }


def _intersection(models: Sequence[Json], position: int, stable: int) -> Json:
    """Return the rules that are stable in every model, with how often each found them."""
    budgets = [model["budgets"][position] for model in models]
    counts = [
        {(tuple(r["if"]), tuple(r["then"] or ())): r["found"] for r in budget["rules"]}
        for budget in budgets
    ]
    shared = []
    for rule in budgets[0]["rules"]:
        key = tuple(rule["if"]), tuple(rule["then"] or ())
        found = [count.get(key, 0) for count in counts]
        if min(found) >= stable:
            names = (model["model"] for model in models)
            line = {"if": rule["if"], "then": rule["then"]}
            shared.append({**line, "found": dict(zip(names, found, strict=True))})
    shared.sort(key=lambda line: -min(line["found"].values()))
    return {"budget": budgets[0]["budget"], "rules": shared}


def _published_intersection(plan: Plan, found: Sequence[ModelRuns]) -> Json:
    """Return the rules that the paper found in all its models, if these are its models."""
    if plan.probe.name != PROBE or not is_the_papers([each.spec for each in found]):
        return {}
    budget, rules = published_intersection(plan.probe)
    if budget not in plan.budgets:
        return {}
    names = plan.probe.vocabulary
    runs = {each.name: _judges(plan, each, budget) for each in found}
    return {
        "published_intersection": {
            "budget": budget,
            "rules": [
                {
                    **NamedRule.of(rule, names).as_json(),
                    "found": {
                        name: _judged(rule, judges, None).found for name, judges in runs.items()
                    },
                }
                for rule in rules
            ],
        }
    }
