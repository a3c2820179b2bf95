"""A study's plan: which models, which budgets, how many runs. A YAML file, or a built-in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from math import ceil
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hornlens.errors import HornlensError, InputError
from hornlens.formats.documents import builtin_documents, parse_yaml
from hornlens.formats.files import read_text
from hornlens.formats.shapes import Part, Text
from hornlens.logic.decisions import Policy
from hornlens.probes.loading import DEFAULT, load_probe
from hornlens.probes.loading import builtin_names as builtin_probes
from hornlens.probes.probe import Probe
from hornlens.probes.schema import PolicyFile
from hornlens.results.documents.settings import Settings, paper_protocol

Positive = Annotated[int, Field(ge=1, strict=True)]
Tolerance = Annotated[float, Field(gt=0, lt=1)]


class StudyFile(Part):
    """A study: every model is asked with every budget of equivalence queries, once a seed."""

    hornlens: Literal[1] = Field(description="the version of this format")
    name: Text
    description: str = ""
    probe: Text = Field(DEFAULT, description="a built-in probe, or a file beside this one")
    models: list[Text] = Field(min_length=1, description="models as --model takes them")
    budgets: list[Positive] = Field(min_length=1, description="numbers of equivalence queries")
    runs: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = Field(
        None, description="how many runs: the seeds are 0, 1, …"
    )
    seeds: list[Annotated[int, Field(strict=True)]] | None = Field(
        None, min_length=1, description="the seeds themselves, instead of `runs`"
    )
    protocol: Literal["default", "paper"] = Field(
        "default", description="paper: policy and samples as the paper's experiment had them"
    )
    samples: Positive | None = Field(
        None, description="samples an equivalence query; without it, as epsilon and delta ask"
    )
    epsilon: Tolerance = 0.05
    delta: Tolerance = 0.05
    policy: PolicyFile | None = Field(None, description="what differs from the probe's policy")
    stable: Positive | None = Field(
        None, description="a rule is stable if so many runs find it; default: seven of ten"
    )
    limit: Positive = Field(200_000, description="how many prompts the exact envelope may take")


@dataclass(frozen=True)
class Plan:
    """What a study does, ready to run."""

    name: str
    description: str
    probe: Probe
    models: tuple[str, ...]
    budgets: tuple[int, ...]
    seeds: tuple[int, ...]
    settings: Settings
    policy: Policy
    stable: int

    @property
    def enumerable(self) -> bool:
        """Whether the exact envelope can be had: then every run is judged by it."""
        return self.probe.prompt_count <= self.settings.limit

    @property
    def exact(self) -> Settings:
        """The settings of the exact extraction."""
        return replace(self.settings, equivalence="exhaustive", samples=None)

    def run(self, budget: int, seed: int) -> Settings:
        """The settings of one run."""
        return replace(self.settings, max_equivalence_queries=budget, seed=seed)

    def with_models(self, models: tuple[str, ...]) -> Plan:
        """Return the plan for other models."""
        if repeated := _repeated(models):
            raise HornlensError(f"the model {repeated} is given twice")
        described = f"{self.description} Here on other models: {', '.join(models)}.".strip()
        return replace(self, models=models, description=described)


def builtin_names() -> list[str]:
    """Return the names of the built-in studies."""
    return builtin_documents("hornlens.studies")


def load_plan(name_or_path: str | Path) -> Plan:
    """Return a built-in study by its name, or read one from a file."""
    if str(name_or_path) in builtin_names():
        file = resources.files("hornlens.studies") / "builtin" / f"{name_or_path}.yaml"
        return parse_plan(file.read_text("utf-8"), str(name_or_path))
    path = Path(name_or_path)
    if not path.exists() and not path.suffix:
        known = ", ".join(builtin_names())
        raise InputError(f"no such file, nor a built-in study (there are: {known})", path)
    return parse_plan(read_text(path), path)


def parse_plan(text: str, path: Path | str = "<text>") -> Plan:
    """Return the plan that YAML text describes; every mistake is an InputError with its line."""
    document = parse_yaml(text, path, StudyFile)
    content, refuse = document.content, document.refuse
    for field in ("models", "budgets", "seeds"):
        if repeated := _repeated(getattr(content, field) or ()):
            raise refuse(f"{repeated!r} stands twice", field)
    if (content.runs is None) == (content.seeds is None):
        raise refuse("say either how many runs, or which seeds", "runs")
    seeds = tuple(content.seeds or range(content.runs or 0))
    stable = content.stable or ceil(0.7 * len(seeds))
    if stable > len(seeds):
        raise refuse(f"there are only {len(seeds)} runs", "stable")
    probe = load_probe(_beside(path, content.probe))
    settings = Settings(
        "budget", content.epsilon, content.delta, limit=content.limit, samples=content.samples
    )
    policy = probe.policy
    if content.protocol == "paper":
        if content.samples is not None:
            raise refuse("the paper's protocol fixes the samples", "samples")
        settings, policy = paper_protocol(settings, policy)
    if content.policy is not None:
        policy = replace(policy, **content.policy.model_dump(exclude_unset=True))
    return Plan(
        name=content.name,
        description=content.description,
        probe=probe,
        models=tuple(content.models),
        budgets=tuple(sorted(content.budgets)),
        seeds=seeds,
        settings=settings,
        policy=policy,
        stable=stable,
    )


def _beside(path: Path | str, probe: str) -> str | Path:
    """Return where a study's probe is: built in, or relative to the study's own file."""
    return probe if probe in builtin_probes() else Path(path).parent / probe


def _repeated(items: Sequence[object]) -> object | None:
    return next((item for i, item in enumerate(items) if item in items[:i]), None)
