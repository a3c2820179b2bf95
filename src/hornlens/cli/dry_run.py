"""`hornlens extract --dry-run`: what a run will take. Nothing is asked, but by a pilot."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hornlens.cli.asking import Doing
from hornlens.cli.costs import (
    CellCost,
    cost_of_cells,
    recheck_count,
    show_cell_cost,
    show_costs,
    ways_of,
)
from hornlens.cli.pilot import Pilot, ask_pilot
from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.extraction.inside import LEARNED, engine_of
from hornlens.formats.jsonfiles import json_text
from hornlens.learning.sifting.planning import SiftPlan, planned
from hornlens.logic.decisions import Policy
from hornlens.logic.space import Space
from hornlens.models.chat.budget import cost_of
from hornlens.models.registry import open_model
from hornlens.probes.loading import default_model
from hornlens.probes.probe import Probe
from hornlens.report.terminal import Terminal
from hornlens.results.documents.settings import Settings
from hornlens.targets.classifiers.target import ClassifierTarget
from hornlens.targets.prompted import prompted
from hornlens.targets.registry import open_target
from hornlens.targets.worlds import Worlds

if TYPE_CHECKING:
    from hornlens.cli.commands.models import ExtractOptions


class BudgetLimit(NamedTuple):
    """The limit that a run reaches first, and how many questions it lets be asked."""

    name: str
    value: float
    questions: int


@dataclass(frozen=True)
class DryRun:
    """What a run will take."""

    name: str
    space: Space
    asks: str
    """What the run will ask: everything, nothing, what an engine of its own needs, or cells that
    sift, pac or budget choose."""
    questions: int = 0
    """How many cells will be asked at most, or are expected to be."""
    prompts: int | None = None
    """How many prompts all cells take; None of a target that is not asked in prompts."""
    plan: SiftPlan | None = None
    one: CellCost | None = None
    pilot: Pilot | None = None
    budget: BudgetLimit | None = None
    again: float = 0.0
    """How many cells' worth of prompts are asked again at the end."""

    def as_json(self) -> dict[str, Any]:
        """Return it as it is printed for machines."""
        total = None if self.one is None else self.one.times(self.questions + self.again)
        budget = None
        if self.budget is not None and self.plan is not None:
            verdict = self.plan.verdict_on(self.budget.questions)
            budget = {"limit": self.budget.name, **self.budget._asdict(), "verdict": verdict}
            del budget["name"]
        return {
            "name": self.name,
            "asks": self.asks,
            "cells": self.space.cell_count,
            "prompts": self.prompts,
            "questions": self.questions,
            "plan": None if self.plan is None else self.plan.as_json(),
            "question": None if self.one is None else self.one.as_json(),
            "cost": None if total is None else {"questions": self.questions, **total._asdict()},
            "budget": budget,
            "pilot": None if self.pilot is None else self.pilot.as_json(),
        }

    @property
    def size(self) -> str:
        """How many prompts or cells there are."""
        if self.prompts is None:
            return plural(self.space.cell_count, "cell")
        return plural(self.prompts, "prompt")

    def show_plan(self, terminal: Terminal) -> None:
        """Print the table of the plan, and what to know of it."""
        assert self.plan is not None
        terminal.say(
            f"{self.name}: {self.size}. Some of them are asked, to sift out every rule with few "
            "conditions:"
        )
        terminal.say()
        self._show_table(terminal, self.plan)
        terminal.say()
        for text in (*(self.pilot.sentences() if self.pilot else ()), *self.plan.sentences()):
            terminal.say(text)
        if self.pilot is None:
            terminal.say("--pilot 40 asks 40 random cells to find out how often each is answered.")
        if self.budget is not None:
            if self.budget.name != "max_questions":
                flag, value = self.budget.name.replace("_", "-"), self.budget.value
                buys = plural(self.budget.questions, "question")
                terminal.say(f"--{flag} {value:,} lets about {buys} be asked.")
            terminal.say(self.plan.verdict_on(self.budget.questions))

    def _show_table(self, terminal: Terminal, plan: SiftPlan) -> None:
        columns = ["conditions", "candidates", "at least", "questions", "usually"]
        lines = []
        for row in plan.rows:
            numbers = (row.conditions, row.candidates, row.least, row.questions)
            lines.append([*(f"{n:,}" for n in numbers), f"{row.low:,} to {row.high:,}"])
        if self.one is not None:
            columns += ["calls", "tokens in", "tokens out"]
            columns += ["cost"] if self.one.cost is not None else []
            for line, row in zip(lines, plan.rows, strict=True):
                *counts, cost = self.one.times(row.questions)
                line += [f"{count:,}" for count in counts]
                line += [f"{cost:,.4g}"] if cost is not None else []
        terminal.table(columns, lines)


def dry_run_of_model(
    options: ExtractOptions, settings: Settings, policy: Policy, probe: Probe, terminal: Terminal
) -> None:
    """Print what a probe's questions to a model will take."""
    spec, repeats = options.model or default_model(probe.name), options.noise.options
    model = open_model(spec, options.noise.applied_to(options.how.options))
    cells, ways = probe.space.cell_count, ways_of(model, probe)
    asks = _asks(settings, probe.prompt_count * ways, "prompt")
    worlds = ways * (1 if policy.phrasings == "average" else len(probe.variants))
    _check_pilot(options, asks, plural(probe.prompt_count * ways, "prompt"))
    run = DryRun(
        model.name,
        probe.space,
        asks,
        _most_asked(options, settings, asks, cells),
        probe.prompt_count * ways,
    )
    if asks == "sift" and policy.calibration == "mean":
        raise HornlensError(
            "calibration mean is the mean over all cells, and these are too many to be asked: use "
            "calibration neutral"
        )
    if options.format == "json" or asks == "sift":
        run = replace(run, one=cost_of_cells(probe, model, repeats, asks == "sift"))
    if options.pilot is not None:
        run = _with_pilot(run, options, spec, policy, probe, ways, terminal)
    if asks == "sift":
        run = _with_plan(run, options, settings, worlds)
    each = len(probe.variants) * ways
    ends_early = run.budget is not None and run.budget.questions < run.questions
    again = 0
    if repeats is None and not ends_early:
        again = recheck_count(model, run.questions * each)
    run = replace(run, again=again / each)
    if options.format == "json":
        sys.stdout.write(json_text(run.as_json()))
    elif asks == "sift":
        run.show_plan(terminal)
        if again:
            terminal.say(f"Beside that, {plural(again, 'prompt')} are asked again at the end.")
        show_cell_cost(terminal, run.one, repeats)
        if run.pilot is not None:
            kept = "" if options.store.no_cache else ", and the answers are kept"
            terminal.say(f"The pilot sent {plural(run.pilot.asked, 'prompt')}{kept}.")
        elif run.one is not None:
            terminal.say("Beside that, a few calls that try the endpoint out. Nothing was sent.")
    else:
        note = ""
        if asks in LEARNED:
            note = f"--equivalence {asks} asks at most {run.questions:,} of them."
        show_costs(terminal, probe, model, repeats, run.questions, note)


def dry_run_of_target(options: ExtractOptions, settings: Settings, terminal: Terminal) -> None:
    """Print what a target, which has its own questions, will be asked."""
    target = open_target(options.target or "")
    space = target.space
    looks_inside = engine_of(target, settings) is not None
    if looks_inside:
        asks = "engine" if isinstance(target, ClassifierTarget) else "nothing"
    else:
        asks = _asks(settings, space.cell_count, "cell")
    _check_pilot(options, asks, plural(space.cell_count, "cell"))
    questions = 0 if looks_inside else _most_asked(options, settings, asks, space.cell_count)
    run, worlds = DryRun(target.name, space, asks, questions), 1
    if isinstance(target, Worlds):
        worlds = len(target.targets)
    if options.pilot is not None:
        run = replace(run, pilot=ask_pilot(target, options.pilot, settings.seed))
    if asks == "sift":
        run = _with_plan(run, options, settings, worlds)
    if options.format == "json":
        sys.stdout.write(json_text(run.as_json()))
        return
    if asks == "sift":
        run.show_plan(terminal)
    elif asks == "nothing":
        terminal.say(f"{run.name}: its rules are worked out, and nothing is asked.")
    elif asks == "engine":
        terminal.say(
            f"{run.name}: {run.size}. Its engine looks into the model where it can, and asks the "
            "cells that it needs; how many is not known before."
        )
    elif asks in LEARNED:
        note = f"--equivalence {asks} asks at most {questions:,} of them."
        terminal.say(f"{run.name}: {run.size}. {note}")
    else:
        terminal.say(f"{run.name}: {run.size}. All of them are asked.")
    if run.pilot is not None:
        terminal.say(f"The pilot asked {plural(run.pilot.asked, 'cell')}.")
    else:
        terminal.say("Nothing was asked.")


def _asks(settings: Settings, questions: int, unit: str) -> str:
    if settings.is_exhaustive(questions, unit):
        return "everything"
    return settings.equivalence if settings.equivalence in LEARNED else "sift"


def _most_asked(options: ExtractOptions, settings: Settings, asks: str, cells: int) -> int:
    """Return how many cells a run asks at most: samples of a learner are limited."""
    if asks not in LEARNED or asks == "budget":
        return cells
    return min(cells, settings.limit, options.max_questions or settings.limit)


def _check_pilot(options: ExtractOptions, asks: str, size: str) -> None:
    """Reject a pilot that would cost something and tell nothing."""
    if options.pilot is None or asks == "sift":
        if options.pilot is not None and options.noise.repeats is not None:
            raise HornlensError("--pilot asks each cell once: leave out --repeats")
        return
    if asks in ("nothing", "engine"):
        raise HornlensError("--pilot tells nothing: an engine of its own works out the rules")
    if asks == "everything":
        raise HornlensError(f"--pilot tells nothing: all {size} are asked")
    raise HornlensError(f"--pilot is for plans: --equivalence {asks} has none")


def _with_plan(run: DryRun, options: ExtractOptions, settings: Settings, worlds: int = 1) -> DryRun:
    conditions = settings.max_conditions
    if conditions is not None and run.space.label is not None:
        conditions = max(0, conditions - 1)  # the label is one of them
    plan = planned(
        run.space,
        conditions=conditions,
        rates=None if run.pilot is None else run.pilot.rates,
        epsilon=settings.epsilon,
        delta=settings.delta,
        pilot=0 if run.pilot is None else run.pilot.cells,
        worlds=worlds,
    )
    budget = _budget(options, run.one)
    return replace(run, plan=plan, questions=plan.chosen.questions, budget=budget)


def _budget(options: ExtractOptions, one: CellCost | None) -> BudgetLimit | None:
    """Return the limit that is reached first; None where there is none."""
    how, limits = options.how, []
    if options.max_questions is not None:
        limits.append(BudgetLimit("max_questions", options.max_questions, options.max_questions))
    if one is not None:
        each = {
            "max_calls": (how.max_calls, one.calls),
            "max_tokens": (how.max_tokens, one.tokens_in + one.tokens_out),
            "max_cost": (how.max_cost, one.cost),
        }
        for name, (most, takes) in each.items():
            if most is not None and takes:
                limits.append(BudgetLimit(name, most, int(most / takes)))
    return min(limits, key=lambda limit: limit.questions, default=None)


def _with_pilot(
    run: DryRun,
    options: ExtractOptions,
    spec: str,
    policy: Policy,
    probe: Probe,
    ways: int,
    terminal: Terminal,
) -> DryRun:
    """Ask a few cells as the run would ask them, and measure what they take."""
    spending, count = options.how.options.limits, options.pilot or 0
    prompts = len(probe.variants) * ways
    store = options.store.open(terminal.warn)
    with closing(options.where.open(None, terminal.warn)) as executor:
        model = executor.model(spec, options.noise.applied_to(options.how.options))
        doing = Doing(f"Asking {model.name}", executor)
        with store as cache, terminal.bar(doing, count * prompts, "prompts") as progress:
            target = prompted(probe, model, policy, cache, progress)
            target.identity()  # which tries an endpoint out, if need be
            before = replace(spending.used)
            pilot = ask_pilot(target, count, options.seed)
    used = spending.used
    sent, replied = used.tokens_in - before.tokens_in, used.tokens_out - before.tokens_out
    one = run.one
    if one is not None and pilot.asked and sent:
        cost = cost_of(spending, sent, replied)
        one = one.measured(pilot.asked / prompts, sent, replied, cost)
    return replace(run, pilot=pilot, one=one)
