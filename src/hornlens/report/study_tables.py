"""The tables of a study: the paper's, and those beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from hornlens.logic.certificates import names_cut_off
from hornlens.report.tables import Cell, Table
from hornlens.studies.documents import (
    BudgetFindings,
    CommonRules,
    ExactFindings,
    RuleInModels,
    RuleStability,
    SharedRules,
    Study,
    StudyTimes,
)

Row = tuple[Cell, ...]
NONE = (None, None)


def study_tables(study: Study) -> list[Table]:
    """Return all tables that do not depend on time."""
    tables = []
    if study.models[0].exact is not None:
        tables.append(_recall(study))
    tables.append(_queries(study))
    budgets = study.study.budgets
    tables += [_stable(study, i, budget) for i, budget in enumerate(budgets)]
    if len(study.models) > 1:
        tables.append(_intersection(study))
    if study.common is not None:
        tables.append(_common(study, study.common))
    if study.published_intersection is not None:
        tables.append(_published_intersection(study, study.published_intersection))
    tables += [_exact(study, m.model, m.exact) for m in study.models if m.exact is not None]
    tables += [
        _published(study, i, budget)
        for i, budget in enumerate(budgets)
        if any(model.budgets[i].published for model in study.models)
    ]
    return tables


def times_table(times: StudyTimes) -> Table:
    """Return how long runs took: the only table that differs from one machine to the next."""
    rows: list[Row] = []
    for model in times.models:
        if model.exact is not None:
            seconds, asked = model.exact.seconds, model.exact.asked_the_model
            rows.append((model.model, "exact", seconds, seconds, seconds, asked, None))
        for part in model.budgets:
            rows.append(
                (
                    model.model,
                    str(part.budget),
                    fmean(part.seconds),
                    min(part.seconds),
                    max(part.seconds),
                    sum(part.asked_the_model),
                    part.published_minutes,
                )
            )
    columns = (
        *("model", "budget", "seconds a run", "seconds min", "seconds max", "prompts asked"),
        "minutes a run in the paper",
    )
    return Table("times", "Run times, and prompts that were put to the model", columns, tuple(rows))


def _parts(study: Study) -> Iterator[tuple[str, BudgetFindings]]:
    return ((model.model, part) for model in study.models for part in model.budgets)


def _recall(study: Study) -> Table:
    rows: list[Row] = [
        (
            *(model, part.budget),
            *(part.mean.recall, *(part.spread("recall") or NONE)),
            *(part.mean.precision, *(part.spread("precision") or NONE)),
            part.mean.agreement,
        )
        for model, part in _parts(study)
        if part.mean is not None
    ]
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


def _queries(study: Study) -> Table:
    keys = ("equivalence_queries", "membership_queries", "model_calls")
    rows: list[Row] = [
        (
            *(model, part.budget),
            *(fmean(run.statistics[key] for run in part.runs) for key in keys),
            *(find(run.statistics["model_calls"] for run in part.runs) for find in (min, max)),
            fmean(run.rules for run in part.runs),
            sum(names_cut_off(run.certificate) for run in part.runs),
        )
        for model, part in _parts(study)
    ]
    columns = (
        *("model", "budget", "equivalence queries", "membership queries", "model calls"),
        *("model calls min", "model calls max", "rules", "runs cut off"),
    )
    return Table("queries", "Queries and rules of a run, means over runs", columns, tuple(rows))


def _stable(study: Study, position: int, budget: int) -> Table:
    plan = study.study
    rows: list[Row] = [
        (model.model, line.rule, *_counts(line))
        for model in study.models
        for line in model.budgets[position].stable(plan.stable)
    ]
    return Table(
        f"stable-rules-{budget}",
        f"Rules found in at least {plan.stable} of {len(plan.seeds)} runs with "
        f"{budget} equivalence queries",
        ("model", "rule", "runs that found it", "runs that entail it", "true"),
        tuple(rows),
    )


def _intersection(study: Study) -> Table:
    names = [model.model for model in study.models]
    rows: list[Row] = [
        (part.budget, line.rule, *(line.found[name] for name in names))
        for part in study.intersection
        for line in part.rules
    ]
    return Table(
        "intersection",
        f"Rules found in at least {study.study.stable} of {len(study.study.seeds)} runs of every "
        "model, and in how many runs of each",
        ("budget", "rule", *names),
        tuple(rows),
    )


def _common(study: Study, common: CommonRules) -> Table:
    names = [model.model for model in study.models]

    def outcome(line: RuleInModels, name: str) -> str:
        return "yes" if name in line.holds_in else "vacuously" if name in line.vacuous_in else "no"

    rows: list[Row] = [
        (line.rule, len(line.holds_in), *(outcome(line, name) for name in names))
        for line in common.survival
    ]
    return Table(
        "models-in-common",
        f"In which of {len(names)} models each exact rule holds; {len(common.rules)} "
        f"{'rule says' if len(common.rules) == 1 else 'rules say'} all that holds in every one",
        ("rule", "models", *names),
        tuple(rows),
    )


def _published_intersection(study: Study, shared: SharedRules) -> Table:
    names = [model.model for model in study.models]
    return Table(
        "published-intersection",
        f"What the paper found in 10 of 10 runs of every model with {shared.budget} equivalence "
        "queries, and in how many runs it was found here",
        ("rule", *names),
        tuple((line.rule, *(line.found[name] for name in names)) for line in shared.rules),
    )


def _exact(study: Study, model: str, exact: ExactFindings) -> Table:
    budgets = study.study.budgets
    rows: list[Row] = [
        (line.rule, line.support, line.mean_margin, *(line.entailed[str(n)] for n in budgets))
        for line in exact.strongest_first()
    ]
    return Table(
        f"exact-{exact.folder.rpartition('/')[2]}",
        f"The exact rules of {model}, and how many of {len(study.study.seeds)} runs entail each, "
        "by budget",
        ("rule", "support", "mean margin", *map(str, budgets)),
        tuple(rows),
    )


def _published(study: Study, position: int, budget: int) -> Table:
    rows: list[Row] = []
    for model in study.models:
        part = model.budgets[position]
        if part.published is not None:
            rows += [
                (model.model, line.rule, line.published, *_counts(line))
                for line in part.beside_published(study.study.stable)
            ]
    return Table(
        f"published-{budget}",
        f"The paper's rules with {budget} equivalence queries (in at least 7 of 10 runs) beside "
        "ours",
        ("model", "rule", "the paper's runs", "found here", "entailed here", "true here"),
        tuple(rows),
    )


def _counts(line: RuleStability) -> Row:
    return line.found, line.entailed, line.true
