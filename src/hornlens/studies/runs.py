"""Running a study: every model, budget and seed, by an executor, each run once.

First every model's whole question space is asked, if it can be enumerated: that gives the exact
envelope, and after it no run has to ask the model anything. A run that is finished is a folder with
its envelope.json and run.json; run again, a study takes those as they are and goes on with the
rest. So killing it costs at most the runs that were under way, and no answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hornlens import __version__
from hornlens.errors import HornlensError, InputError
from hornlens.executors.local import LocalExecutor
from hornlens.executors.protocol import Advance, Executor
from hornlens.extraction.extract import extract
from hornlens.formats.digests import with_digest
from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import json_text, read_json
from hornlens.logic.decisions import Policy
from hornlens.logic.envelope import Envelope
from hornlens.models.protocol import Model, ModelOptions
from hornlens.probes.probe import Probe
from hornlens.results.documents.envelope import envelope_from_json
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.record import RUN, RunRecord, run_record
from hornlens.results.documents.saving import write_extraction
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import summary_as_json
from hornlens.store.opening import open_store
from hornlens.store.protocol import AnswerStore, ManagedStore
from hornlens.studies.plan import Plan
from hornlens.targets.prompted import prompted

LONGEST = 100
"""How many characters the name of a model's folder may have."""


@dataclass(frozen=True)
class Run:
    """A finished run: what it found, and how it went."""

    budget: int
    seed: int
    folder: str
    envelope: Envelope
    record: RunRecord


@dataclass
class ModelRuns:
    """All that was found of one model."""

    spec: str
    name: str
    identity: str
    folder: str
    exact: Findings | None = None
    runs: list[Run] = field(default_factory=list)


@dataclass(frozen=True)
class _Task:
    """One run, as it is handed to an executor."""

    spec: str
    identity: str
    options: ModelOptions
    probe: Probe
    policy: Policy
    settings: Settings
    folder: Path

    @property
    def key(self) -> str:
        """All that decides the run's result: a finished run with the same key is not repeated."""
        parts = (__version__, self.identity, self.probe, self.policy, self.settings)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def load(self) -> tuple[Envelope, RunRecord] | None:
        """Return what the run found and how it went, if it is on disk already and undamaged."""
        path = self.folder / "envelope.json"
        try:
            record = RUN.read(self.folder / "run.json")
            envelope = envelope_from_json(read_json(path), path)
        except InputError:
            return None
        return (envelope, record) if record.key == self.key else None


def run_study(
    plan: Plan,
    out: Path,
    cache: ManagedStore,
    *,
    options: ModelOptions | None = None,
    executor: Executor | None = None,
    on_prompts: Advance | None = None,
    on_runs: Advance | None = None,
) -> list[ModelRuns]:
    """Carry a plan out, or go on with it, under a folder; return everything that was found.

    Without an executor, all is done in this process. `on_prompts` and `on_runs` are called with
    how many more are done.
    """
    executor = executor or LocalExecutor()
    chosen = options or ModelOptions()
    folders = _folders(plan.models)
    models: list[ModelRuns] = []
    for spec in plan.models:  # all of them first: the last must not fail after hours
        model = executor.model(spec, chosen)
        identity = prompted(plan.probe, model, plan.policy, cache).identity()
        if identity is None:
            raise HornlensError(
                f"{spec} has no identity: its finished runs could not be told apart"
            )
        if twin := next((each.spec for each in models if each.identity == identity), None):
            raise HornlensError(f"{twin} and {spec} are the same model: leave one out")
        models.append(ModelRuns(spec, model.name, identity, folders[spec]))

    def task(each: ModelRuns, settings: Settings, folder: str) -> _Task:
        place = out / folder
        return _Task(each.spec, each.identity, chosen, plan.probe, plan.policy, settings, place)

    if plan.enumerable:
        for each in models:
            exact = task(each, plan.exact, f"exact/{each.folder}")
            findings = _extract(exact, executor.model(each.spec, chosen), cache, on_prompts)
            each.exact = _written(exact, findings)
    tasks = [
        (each, budget, seed, task(each, plan.run(budget, seed), _run_folder(each, budget, seed)))
        for each in models
        for budget in plan.budgets
        for seed in plan.seeds
    ]
    missing = [each for *_, each in tasks if each.load() is None]
    if on_runs is not None:
        on_runs(len(tasks) - len(missing))
    # Where everything has been asked already, runs have no prompts to tell of.
    tell = None if plan.enumerable else on_prompts
    for ended, files in executor.carry_out(_run, missing, partial(open_store, cache.place), tell):
        if not (isinstance(files, _Files) and all(isinstance(text, str) for text in files)):
            raise HornlensError("a node of the cluster returned something else than a run's files")
        # The envelope last: a folder that has one is complete.
        (ended.folder / "envelope.json").unlink(missing_ok=True)
        write_file(ended.folder / "run.json", files.run)
        write_file(ended.folder / "envelope.json", files.envelope)
        if on_runs is not None:
            on_runs(1)
    for each, budget, seed, done in tasks:
        loaded = done.load()
        if loaded is None:
            raise HornlensError(f"{done.folder}: this run was changed while the study ran")
        each.runs.append(
            Run(budget, seed, _run_folder(each, budget, seed), loaded[0].learned, loaded[1])
        )
    return models


def _folders(specs: Sequence[str]) -> dict[str, str]:
    """Return a folder name for each model: its spec in characters that every system takes."""
    names: dict[str, str] = {}
    for spec in specs:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", spec).strip("-.") or "model"
        plain = plain[-LONGEST:]  # of a path, the end says more
        name, number = plain, 2
        while name.lower() in {taken.lower() for taken in names.values()}:
            name, number = f"{plain}-{number}", number + 1
        names[spec] = name
    return names


def _run_folder(model: ModelRuns, budget: int, seed: int) -> str:
    return f"runs/{model.folder}/budget-{budget}/seed-{seed}"


def _written(task: _Task, findings: Findings) -> Findings:
    """Write a model's exact envelope. How long it took is kept from the first time."""
    before = task.load()
    exact = replace(findings, record=before[1].record) if before else findings
    write_extraction(task.folder, exact, task.key)
    return exact


class _Files(NamedTuple):
    """What a finished run leaves: the texts of run.json and envelope.json."""

    run: str
    envelope: str


def _run(task: _Task, model: Model, store: AnswerStore, on_prompts: Advance | None) -> _Files:
    findings = _extract(task, model, store, on_prompts)
    return _Files(
        RUN.text(run_record(findings, task.key)), json_text(with_digest(summary_as_json(findings)))
    )


def _extract(task: _Task, model: Model, store: AnswerStore, on_prompts: Advance | None) -> Findings:
    """Return what a run found. A study's run has to be whole, or it is not counted among them."""
    target = prompted(task.probe, model, task.policy, store, on_prompts)
    findings = extract(target, settings=task.settings)
    envelope = findings.envelope
    reason = envelope.certificate.stopped or envelope.learned.certificate.stopped
    if reason is not None:
        limit = getattr(task.options.limits, reason.removeprefix("max_"), None)
        raise HornlensError(
            f"--{reason.replace('_', '-')} {'' if limit is None else f'{limit:,} '}is reached; "
            "what was answered before is kept, run the same command to go on"
        )
    return findings
