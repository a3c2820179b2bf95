"""From runs to findings: a study's two documents, built of what its runs and the exact ones say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean

from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.results.analysis.common import common_consequences
from hornlens.results.analysis.worlds import survival_of
from hornlens.studies.documents import (
    BudgetFindings,
    BudgetTimes,
    CommonRules,
    ExactFindings,
    ExactRule,
    ExactTimes,
    Measures,
    ModelFindings,
    ModelTimes,
    RuleInModels,
    RunFindings,
    SharedRule,
    SharedRules,
    Study,
    StudyPlan,
    StudyTimes,
)
from hornlens.studies.plan import Plan
from hornlens.studies.published import Published
from hornlens.studies.runs import ModelRuns, Run
from hornlens.studies.stability import Judge, stability, stability_of

VARIED = ("max_equivalence_queries", "seed")
"""What differs from run to run."""


def plan_document(plan: Plan) -> StudyPlan:
    """Return a plan as study.json has it."""
    settings = asdict(plan.settings)
    return StudyPlan(
        plan.name,
        plan.description,
        plan.probe.name,
        plan.models,
        plan.budgets,
        plan.seeds,
        plan.stable,
        {key: value for key, value in settings.items() if key not in VARIED},
        asdict(plan.policy),
    )


def summarise(plan: Plan, runs: Sequence[ModelRuns], published: Published | None = None) -> Study:
    """Return what a study found, with what was published of its models beside it."""
    return summary_of(plan_document(plan), runs, published)


def summary_of(
    plan: StudyPlan, runs: Sequence[ModelRuns], published: Published | None = None
) -> Study:
    """Return what the runs of a plan found: nothing else of the plan is needed."""
    known = published or Published()
    models = tuple(_model(plan, each, known) for each in runs)
    return Study(
        plan,
        runs[0].runs[0].envelope.vocabulary.names,
        models,
        tuple(_intersection(models, i, plan.stable) for i in range(len(plan.budgets))),
        _published_intersection(plan, runs, known),
        _common(runs),
    )


def times_of(
    plan: Plan | StudyPlan, runs: Sequence[ModelRuns], published: Published | None = None
) -> StudyTimes:
    """Return how long each run of a study took, and what it asked the model."""
    minutes = (published or Published()).minutes
    models = []
    for each in runs:
        budgets = []
        for budget in plan.budgets:
            records = [run.record for run in each.runs if run.budget == budget]
            budgets.append(
                BudgetTimes(
                    budget,
                    tuple(done.seconds for done in records),
                    tuple(done.asked_the_model for done in records),
                    minutes.get(each.spec, {}).get(budget),
                )
            )
        exact = None
        if each.exact is not None:
            record = each.exact.record
            exact = ExactTimes(round(record.seconds, 3), record.asked, record.reused)
        models.append(ModelTimes(each.name, exact, tuple(budgets)))
    return StudyTimes(plan.name, tuple(models))


def _judges(runs: Iterable[Run]) -> list[Judge]:
    return [_judge(run.envelope) for run in runs]


def _judge(envelope: Envelope) -> Judge:
    """Return what judges by an envelope, with the labels that a sampled interpretation can have."""
    labels = envelope.space.axes[-1]
    return Judge(envelope, labels[1:] if envelope.space.label_always else labels)


def _model(plan: StudyPlan, each: ModelRuns, published: Published) -> ModelFindings:
    exact = None if each.exact is None else _judge(each.exact.envelope)
    wanted = _to_find(plan, exact)
    budgets, judges = [], {}
    for budget in plan.budgets:
        runs = [run for run in each.runs if run.budget == budget]
        judges[budget] = _judges(runs)
        lines = tuple(
            _run(run, judge, exact, wanted) for run, judge in zip(runs, judges[budget], strict=True)
        )
        theirs = published.rules[each.spec][budget] if each.spec in published.rules else None
        budgets.append(
            BudgetFindings(
                budget,
                lines,
                stability(judges[budget], exact),
                _means([line.measures for line in lines if line.measures]),
                None
                if theirs is None
                else tuple(stability_of(p.rule, judges[budget], exact, p.runs) for p in theirs),
            )
        )
    return ModelFindings(each.name, each.identity, _exact(each, judges, wanted), tuple(budgets))


def _exact(
    each: ModelRuns, runs: Mapping[int, list[Judge]], wanted: list[Rule]
) -> ExactFindings | None:
    if each.exact is None:
        return None
    envelope = each.exact.envelope
    return ExactFindings(
        f"exact/{each.folder}",
        tuple(
            ExactRule(
                NamedRule.of(rule, envelope.vocabulary),
                evidence.support,
                evidence.mean_margin,
                {str(n): sum(j.entails(rule) for j in judges) for n, judges in runs.items()},
            )
            for rule, evidence in zip(envelope.readable, each.exact.evidence, strict=True)
        ),
        len(wanted),
        envelope.non_horn.count,
        envelope.statistics["model_calls"],
    )


def _to_find(plan: StudyPlan, exact: Judge | None) -> list[Rule]:
    """Return the exact rules by which recall is measured, each saying something of its own.

    If label-less interpretations are accepted, every rule speaks of a label, and all count.
    """
    if exact is None:
        return []
    accepted = plan.policy["label_unset"] == "accept"
    return list(exact.envelope.readable) if accepted else exact.independent()


def _run(run: Run, judge: Judge, exact: Judge | None, wanted: list[Rule]) -> RunFindings:
    rules = run.envelope.readable
    return RunFindings(
        run.seed,
        run.folder,
        len(rules),
        run.envelope.certificate.kind,
        run.envelope.statistics,
        None
        if exact is None
        else Measures(judge.share_of(wanted), exact.share_of(rules), judge.agreement(exact)),
    )


def _means(runs: Sequence[Measures]) -> Measures | None:
    def mean(measure: str) -> float | None:
        known = [value for run in runs if (value := run.get(measure)) is not None]
        return fmean(known) if known else None

    return Measures(mean("recall"), mean("precision"), mean("agreement")) if runs else None


def _intersection(models: Sequence[ModelFindings], position: int, stable: int) -> SharedRules:
    """Return the rules that are stable in every model, with how often each found them."""
    budgets = [model.budgets[position] for model in models]
    counts = {
        model.model: {line.rule: line.found for line in budget.rules}
        for model, budget in zip(models, budgets, strict=True)
    }
    shared = []
    for line in budgets[0].rules:
        times = {name: by_rule.get(line.rule, 0) for name, by_rule in counts.items()}
        if min(times.values()) >= stable:
            shared.append(SharedRule(line.rule, times))
    shared.sort(key=lambda line: -min(line.found.values()))
    return SharedRules(budgets[0].budget, tuple(shared))


def _common(runs: Sequence[ModelRuns]) -> CommonRules | None:
    """Return what holds in every model, if all have exact envelopes and there are several."""
    exact = [each.exact for each in runs if each.exact is not None]
    if len(exact) < max(2, len(runs)):
        return None
    common = common_consequences([each.envelope for each in exact])
    if common is None:
        return None
    names, vocabulary = [each.name for each in runs], exact[0].space.vocabulary
    rules = (*common, *(rule for each in exact for rule in each.envelope.readable))
    return CommonRules(
        tuple(NamedRule.of(rule, vocabulary) for rule in common),
        tuple(
            RuleInModels(
                NamedRule.of(line.rule, vocabulary),
                tuple(line.where(names, "holds")),
                tuple(line.where(names, "vacuous")),
            )
            for line in survival_of(rules, exact)
        ),
    )


def _published_intersection(
    plan: StudyPlan, models: Sequence[ModelRuns], published: Published
) -> SharedRules | None:
    """Return the rules that were published of all models, and how often they were found here."""
    budget, rules = published.intersection or (None, ())
    if budget is None or budget not in plan.budgets:
        return None
    judges = {
        each.name: _judges(run for run in each.runs if run.budget == budget) for each in models
    }
    return SharedRules(
        budget,
        tuple(
            SharedRule(
                NamedRule.of(rule, models[0].runs[0].envelope.vocabulary),
                {name: sum(judge.finds(rule) for judge in runs) for name, runs in judges.items()},
            )
            for rule in rules
        ),
    )
