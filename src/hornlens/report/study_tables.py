"""The tables of a study, from study.json and times.json: the paper's, and those beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from hornlens.report.tables import Cell, RuleCell, Table

Json = dict[str, Any]


def study_tables(content: Json) -> list[Table]:
    """Return all tables that do not depend on time."""
    tables = []
    if content["models"][0]["exact"] is not None:
        tables.append(_recall(content))
    tables.append(_queries(content))
    budgets = content["study"]["budgets"]
    tables += [_stable(content, i, budget) for i, budget in enumerate(budgets)]
    if len(content["models"]) > 1:
        tables.append(_intersection(content))
    if "published_intersection" in content:
        tables.append(_published_intersection(content))
    tables += [_exact(content, model) for model in content["models"] if model["exact"] is not None]
    tables += [
        _published(content, i, budget)
        for i, budget in enumerate(budgets)
        if any(model["budgets"][i].get("published") for model in content["models"])
    ]
    return tables


def times_table(times: Json) -> Table:
    """Return how long runs took: the only table that differs from one machine to the next."""
    rows: list[tuple[Cell, ...]] = []
    for model in times["models"]:
        if model["exact"] is not None:
            exact = model["exact"]
            seconds, asked = exact["seconds"], exact["asked_the_model"]
            rows.append((model["model"], "exact", seconds, seconds, seconds, asked, None))
        for budget in model["budgets"]:
            seconds = budget["seconds"]
            rows.append(
                (
                    model["model"],
                    str(budget["budget"]),
                    fmean(seconds),
                    *_range(seconds),
                    sum(budget["asked_the_model"]),
                    budget["published_minutes"],
                )
            )
    columns = (
        *("model", "budget", "seconds a run", "seconds min", "seconds max", "prompts asked"),
        "minutes a run in the paper",
    )
    return Table("times", "Run times, and prompts that were put to the model", columns, tuple(rows))


def _recall(content: Json) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for model in content["models"]:
        for budget in model["budgets"]:
            row: list[Cell] = [model["model"], budget["budget"]]
            for key in ("recall", "precision"):
                row += [budget["mean"][key], *_range([run[key] for run in budget["runs"]])]
            rows.append((*row, budget["mean"]["agreement"]))
    return Table(
        "recall-precision",
        "Recall (share of the exact rules that a run entails) and precision (share of a run's "
        "rules that are true), mean and range over runs; agreement with the exact envelope on the "
        "interpretations that can be asked",
        (
            *("model", "budget", "recall", "recall min", "recall max"),
            *("precision", "precision min", "precision max", "agreement"),
        ),
        tuple(rows),
    )


def _queries(content: Json) -> Table:
    keys = ("equivalence_queries", "membership_queries", "model_calls")
    rows: list[tuple[Cell, ...]] = []
    for model in content["models"]:
        for budget in model["budgets"]:
            runs = budget["runs"]
            means = [fmean(run["statistics"][key] for run in runs) for key in keys]
            kinds = [run["certificate"] for run in runs]
            rows.append(
                (
                    model["model"],
                    budget["budget"],
                    *means,
                    *_range([run["statistics"]["model_calls"] for run in runs]),
                    fmean(run["rules"] for run in runs),
                    kinds.count("budget_exhausted"),
                )
            )
    columns = (
        *("model", "budget", "equivalence queries", "membership queries", "model calls"),
        *("model calls min", "model calls max", "rules", "runs cut off"),
    )
    return Table("queries", "Queries and rules of a run, means over runs", columns, tuple(rows))


def _stable(content: Json, position: int, budget: int) -> Table:
    study = content["study"]
    rows: list[tuple[Cell, ...]] = [
        (model["model"], RuleCell.of(rule), rule["found"], rule["entailed"], rule["true"])
        for model in content["models"]
        for rule in model["budgets"][position]["rules"]
        if rule["found"] >= study["stable"]
    ]
    return Table(
        f"stable-rules-{budget}",
        f"Rules found in at least {study['stable']} of {len(study['seeds'])} runs with "
        f"{budget} equivalence queries",
        ("model", "rule", "runs that found it", "runs that entail it", "true"),
        tuple(rows),
    )


def _intersection(content: Json) -> Table:
    names = [model["model"] for model in content["models"]]
    rows: list[tuple[Cell, ...]] = [
        (part["budget"], RuleCell.of(rule), *(rule["found"][name] for name in names))
        for part in content["intersection"]
        for rule in part["rules"]
    ]
    study = content["study"]
    return Table(
        "intersection",
        f"Rules found in at least {study['stable']} of {len(study['seeds'])} runs of every model, "
        "and in how many runs of each",
        ("budget", "rule", *names),
        tuple(rows),
    )


def _published_intersection(content: Json) -> Table:
    part = content["published_intersection"]
    names = [model["model"] for model in content["models"]]
    return Table(
        "published-intersection",
        f"What the paper found in 10 of 10 runs of every model with {part['budget']} equivalence "
        "queries, and in how many runs it was found here",
        ("rule", *names),
        tuple(
            (RuleCell.of(rule), *(rule["found"][name] for name in names)) for rule in part["rules"]
        ),
    )


def _exact(content: Json, model: Json) -> Table:
    budgets = content["study"]["budgets"]
    rows: list[tuple[Cell, ...]] = [
        (
            RuleCell.of(rule),
            rule["support"],
            rule["mean_margin"],
            *(rule["entailed"][str(budget)] for budget in budgets),
        )
        for rule in sorted(
            model["exact"]["rules"], key=lambda r: (-r["support"], -(r["mean_margin"] or 0.0))
        )
    ]
    return Table(
        f"exact-{model['exact']['folder'].rpartition('/')[2]}",
        f"The exact rules of {model['model']}, and how many of {len(content['study']['seeds'])} "
        "runs entail each, by budget",
        ("rule", "support", "mean margin", *map(str, budgets)),
        tuple(rows),
    )


def _published(content: Json, position: int, budget: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for model in content["models"]:
        part = model["budgets"][position]
        published = part.get("published")
        if published is None:
            continue
        seen = []
        for rule in published:
            cell = RuleCell.of(rule)
            seen.append(cell)
            rows.append((model["model"], cell, rule["published"], *_counts(rule)))
        rows += [
            (model["model"], RuleCell.of(rule), None, *_counts(rule))
            for rule in part["rules"]
            if rule["found"] >= content["study"]["stable"] and RuleCell.of(rule) not in seen
        ]
    return Table(
        f"published-{budget}",
        f"The paper's rules with {budget} equivalence queries (in at least 7 of 10 runs) beside "
        "ours",
        ("model", "rule", "the paper's runs", "found here", "entailed here", "true here"),
        tuple(rows),
    )


def _counts(rule: Json) -> tuple[Cell, ...]:
    return rule["found"], rule["entailed"], rule["true"]


def _range(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else (None, None)
