"""The paper's published tables, read into our rules, to stand beside ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.probes.probe import Probe
from hornlens.studies.plan import Plan
from hornlens.studies.published import Published, PublishedRule

MODELS = {
    "bert-base-cased": "bert-base",
    "bert-large-cased": "bert-large",
    "roberta-base": "roberta-base",
    "roberta-large": "roberta-large",
}
"""The hub's names of the paper's models, and what the paper calls them."""
OWNERS = ("google-bert", "FacebookAI")
"""Whose they are on the hub, if that is said."""
PROBE = "gender-occupation"


@cache
def load_tables() -> dict[str, Any]:
    """Return the paper's tables as they are kept (also in docs/paper_tables.json)."""
    file = resources.files("hornlens.pronouns") / "builtin" / "paper_tables.json"
    tables: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return tables


def published_for(plan: Plan) -> Published:
    """Return what the paper has of a study's models, if it asks the paper's probe."""
    return published_of(plan.probe, plan.models, plan.budgets)


def published_of(probe: Probe, models: Sequence[str], budgets: Sequence[int]) -> Published:
    """Return what the paper has of some models, if its probe is asked."""
    if probe.name != PROBE:
        return Published()
    specs = [spec for spec in models if paper_name(spec) is not None]
    return Published(
        {spec: {n: published_rules(spec, n, probe) for n in budgets} for spec in specs},
        {spec: {n: published_minutes(spec, n) for n in budgets} for spec in specs},
        published_intersection(probe) if is_the_papers(models) else None,
    )


def paper_name(spec: str) -> str | None:
    """Return what the paper calls a model; None if it has none like it."""
    kind, _, rest = spec.partition("/")
    path = Path(rest) if Path(rest).exists() else Path(rest.partition("@")[0])
    if kind != "hf" or not (path.exists() or str(path.parent) in (".", *OWNERS)):
        return None
    return MODELS.get(path.name)


def is_the_papers(specs: Sequence[str]) -> bool:
    """Say whether these are the paper's four models."""
    return {paper_name(spec) for spec in specs} == set(MODELS.values())


def published_intersection(probe: Probe) -> tuple[int, tuple[Rule, ...]]:
    """Return a budget, and the rules that the paper found with it in every run of every model."""
    listed = load_tables()["intersection_10_of_10_at_200"]
    return 200, tuple(read_rule(text, probe) for text in listed)


def published_rules(spec: str, budget: int, probe: Probe) -> tuple[PublishedRule, ...]:
    """Return what the paper found of a model with a budget: rules in at least 7 of 10 runs."""
    tables = load_tables()["rules_in_at_least_7_of_10_runs"]
    listed = tables.get(str(budget), {}).get(paper_name(spec), [])
    return tuple(PublishedRule(read_rule(text, probe), runs) for runs, text in listed)


def published_minutes(spec: str, budget: int) -> float | None:
    """Return how many minutes a run took the paper."""
    minutes: float | None = (
        load_tables()["runtimes_minutes_per_run"].get(str(budget), {}).get(paper_name(spec))
    )
    return minutes


def read_rule(text: str, probe: Probe) -> Rule:
    """Return a rule that is written in the paper's words, such as ``nurse & male -> false``."""
    names = {value.text: value.name for attribute in probe.attributes for value in attribute.values}
    rule = NamedRule.parse(text)

    def named(side: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(word, word) for word in side)

    right = None if rule.consequent is None else named(rule.consequent)
    return NamedRule(named(rule.antecedent), right).rule(probe.vocabulary)
