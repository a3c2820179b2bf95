"""A study's document, worked out again from the files of its runs and of the exact results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import TYPE_CHECKING, Any

from hornlens.formats.digests import KEY, digest_of
from hornlens.formats.jsonfiles import read_json
from hornlens.verifying.attributes import Rule
from hornlens.verifying.grids import LIMIT, Grid, Space, Wrong, breaks, chain
from hornlens.verifying.verify import verify_alone

if TYPE_CHECKING:
    from hornlens.verifying.documents import DocumentNotes

VARIED = ("max_equivalence_queries", "seed")
"""What differs between the settings of the runs."""


@dataclass(frozen=True)
class RulesOnDisk:
    """The rules of a run, or of an exact result: as the learner left them, with the background."""

    where: str
    content: Mapping[str, Any]
    space: Space

    @classmethod
    def read(cls, folder: Path, where: str) -> RulesOnDisk:
        """Read the envelope.json of a run; its digest has to be its own."""
        content = read_json(folder / where / "envelope.json")
        if content.get(KEY, digest_of(content)) != digest_of(content):
            raise Wrong(f"{where}: its digest is another, so it was changed")
        return cls(where, content, Space.of(content))

    @cached_property
    def learned(self) -> Mapping[str, Any]:
        """The hypothesis of the learner, where it is listed apart."""
        learned: Mapping[str, Any] = self.content.get("hypothesis", self.content)
        return learned

    @cached_property
    def rules(self) -> list[Rule]:
        """The rules without the background."""
        return self.space.rules(self.learned["rules"])

    @cached_property
    def known(self) -> list[Rule]:
        """The rules and the background."""
        return self.rules + self.space.rules(self.content["background"])

    @cached_property
    def readable(self) -> list[Rule]:
        """The rules in short, of a result that has no hypothesis beside them."""
        return self.space.rules(self.content["readable"])

    @cached_property
    def labels(self) -> list[int]:
        """The labels that an interpretation can have about which a prompt asks."""
        masks = list(self.space.label_masks)
        return masks if self.space.label_always else [0, *masks]

    def entails(self, rule: Rule, known: Sequence[Rule] | None = None) -> bool:
        """Return whether a rule follows, whatever the label is."""
        rules = self.known if known is None else known
        for label in self.labels or [0]:
            closed = chain(rule[0] | label, rules)
            if closed is not None and (rule[1] is None or rule[1] & ~closed):
                return False
        return True

    def independent(self) -> list[Rule]:
        """Return the readable rules without those that the others entail, whatever the label."""
        kept = list(self.readable)
        background = self.space.rules(self.content["background"])
        for rule in reversed(self.readable):
            rest = [other for other in kept if other != rule]
            if self.entails(rule, rest + background):
                kept.remove(rule)
        return kept

    def accepted(self, grid: Grid) -> int:
        """Return the points of a grid that obey all rules."""
        return grid.everything & ~grid.breaking_any(self.known)


def check_study(content: Any, path: Path, notes: DocumentNotes) -> DocumentNotes:
    """Work a study out again from the files of its runs."""
    from hornlens.verifying.ledgers.studies import STUDY_ALONE

    plan, folder = content["study"], path.parent
    if [line["model"] for line in content["models"]] and len(content["models"]) != len(
        plan["models"]
    ):
        raise Wrong("models: not as many as the plan has")
    exacts: list[RulesOnDisk | None] = []
    for line in content["models"]:
        if [part["budget"] for part in line["budgets"]] != plan["budgets"]:
            raise Wrong(f"models: {line['model']} has other budgets than the plan")
        for part in line["budgets"]:
            if [run["seed"] for run in part["runs"]] != plan["seeds"]:
                raise Wrong(f"models: {line['model']} has other seeds than the plan")
    _check_stable(content)
    where = [_inside(each["folder"]) for line in content["models"] for each in _sources(line)]
    missing = [each for each in where if not (folder / each / "envelope.json").is_file()]
    if missing:
        notes.missing += [f"{each}/envelope.json" for each in missing]
        notes.ledger = STUDY_ALONE
        notes.checked.append("shared rules: those that are stable in every model")
        return notes
    for line in content["models"]:
        exacts.append(_check_model(content, line, folder))
    runs = sum(len(part["runs"]) for line in content["models"] for part in line["budgets"])
    notes.checked += [
        f"runs: {runs:,}, with what each asked; recall, agreement, means, and how many runs entail "
        "each rule, from the runs' own files",
        "shared rules: those that are stable in every model",
    ]
    if any(exacts):
        notes.checked.append("exact results: each verified by its answers")
    _check_common(content, [each for each in exacts if each is not None])
    notes.not_checked.append("that runs are what their learner found: run them again")
    return notes


def _sources(line: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the lines of a model that name a folder."""
    runs = [run for part in line["budgets"] for run in part["runs"]]
    return runs if line["exact"] is None else [line["exact"], *runs]


def _inside(where: str) -> str:
    """Return a folder of a study; one that lies elsewhere is Wrong."""
    if not where.startswith(("exact/", "runs/")) or ".." in PurePosixPath(where).parts:
        raise Wrong(f"folder: {where!r} is none of a study")
    return where


def _check_model(content: Any, line: Mapping[str, Any], folder: Path) -> RulesOnDisk | None:
    plan, name = content["study"], line["model"]
    exact = None
    if line["exact"] is not None:
        where = line["exact"]["folder"]
        done = verify_alone(folder / where / "envelope.json")
        if not done.ok:
            raise Wrong(f"{where}: {done.wrong}")
        exact = RulesOnDisk.read(folder, where)
        _check_made(content, line, exact)
    wanted = [] if exact is None else _wanted(plan, exact)
    entailed: dict[str, list[RulesOnDisk]] = {}
    for part in line["budgets"]:
        runs = [RulesOnDisk.read(folder, run["folder"]) for run in part["runs"]]
        entailed[str(part["budget"])] = runs
        for stated, run in zip(part["runs"], runs, strict=True):
            _check_made(content, line, run, part["budget"], stated["seed"])
            _check_run(stated, run, exact, wanted)
        _check_mean(part, exact is not None)
        for rule in [*part["rules"], *(part.get("published") or [])]:
            _check_entailed(f"{name}, budget {part['budget']}", rule, runs, exact)
    if exact is not None:
        _check_exact(line["exact"], exact, wanted, entailed)
    return exact


def _wanted(plan: Mapping[str, Any], exact: RulesOnDisk) -> list[Rule]:
    accepts = plan["policy"]["label_unset"] == "accept"
    return exact.readable if accepts else exact.independent()


def _check_made(
    content: Any,
    line: Mapping[str, Any],
    run: RulesOnDisk,
    budget: int | None = None,
    seed: int | None = None,
) -> None:
    """Check that a run was made as the plan says."""
    plan, made = content["study"], run.content
    if content["variables"] != made["variables"]:
        raise Wrong(f"{run.where}: of other variables")
    if (line["model"], line["identity"]) != (made["model"]["name"], made["model"]["identity"]):
        raise Wrong(f"{run.where}: of another model")
    if plan["policy"] != made["policy"] or plan["probe"] != made["probe"]["name"]:
        raise Wrong(f"{run.where}: of another probe or policy")
    if budget is None:
        return
    settings = {key: value for key, value in made["settings"].items() if key not in VARIED}
    if plan["settings"] != settings:
        raise Wrong(f"{run.where}: made by other settings")
    if (made["settings"]["max_equivalence_queries"], made["settings"]["seed"]) != (budget, seed):
        raise Wrong(f"{run.where}: of another budget or seed")


def _check_run(
    stated: Mapping[str, Any],
    run: RulesOnDisk,
    exact: RulesOnDisk | None,
    wanted: Sequence[Rule],
) -> None:
    counted = {
        "rules": len(run.rules),
        "certificate": run.learned["certificate"]["kind"],
        "statistics": run.content["statistics"],
    }
    for key, value in counted.items():
        if stated[key] != value or type(stated[key]) is not type(value):
            raise Wrong(f"{run.where}: {key} is {value}, not {stated[key]}")
    if exact is None:
        if any(key in stated for key in ("recall", "precision", "agreement")):
            raise Wrong(f"{run.where}: is measured, though nothing exact is known")
        return
    share = [run.entails(rule) for rule in wanted]
    _same(f"{run.where}: recall", stated["recall"], sum(share) / len(share) if share else None)
    if (agreement := _agreement(run, exact)) is not None:
        _same(f"{run.where}: agreement", stated["agreement"], agreement)


def _agreement(run: RulesOnDisk, exact: RulesOnDisk) -> float | None:
    """Return on which share of the points that can be asked both say the same; None: too many."""
    space = run.space
    grid_size = 1
    for axis in space.axes:
        grid_size *= len(axis)
    if grid_size > LIMIT:
        return None
    grid = Grid(space.axes, len(space.names))
    asked = grid.everything
    if space.label_always and space.label_masks:
        asked = 0
        for label in space.label_masks:
            asked |= grid.having(label)
    differ = (run.accepted(grid) ^ exact.accepted(grid)) & asked
    return 1 - differ.bit_count() / asked.bit_count()


def _same(what: str, stated: Any, value: float | None) -> None:
    fits = stated is None if value is None else isinstance(stated, int | float)
    if not fits or (value is not None and not isclose(stated, value, rel_tol=1e-9, abs_tol=1e-12)):
        raise Wrong(f"{what} is {value}, not {stated}")


def _check_mean(part: Mapping[str, Any], measured: bool) -> None:
    if not measured:
        if part.get("mean") is not None:
            raise Wrong("mean: of runs that were not measured")
        return
    for key in ("recall", "precision", "agreement"):
        values = [run[key] for run in part["runs"] if run[key] is not None]
        _same(f"mean {key}", part["mean"][key], fmean(values) if values else None)


def _check_entailed(
    what: str, line: Mapping[str, Any], runs: Sequence[RulesOnDisk], exact: RulesOnDisk | None
) -> None:
    (rule,) = runs[0].space.rules([line])
    count = sum(run.entails(rule) for run in runs)
    shown = runs[0].space.show_rule(rule)
    if line["entailed"] != count or type(line["entailed"]) is not int:
        raise Wrong(f"{what}: {count} runs entail {shown}, not {line['entailed']}")
    if type(line["found"]) is not int or not 0 <= line["found"] <= count:
        raise Wrong(f"{what}: {shown} is found by more runs than entail it")
    if line["true"] is not (None if exact is None else exact.entails(rule)):
        raise Wrong(f"{what}: whether {shown} is true is not {line['true']}")


def _check_exact(
    stated: Mapping[str, Any],
    exact: RulesOnDisk,
    wanted: Sequence[Rule],
    runs: Mapping[str, Sequence[RulesOnDisk]],
) -> None:
    own = exact.content
    if len(stated["rules"]) != len(own["readable"]):
        raise Wrong(f"{exact.where}: it has {len(own['readable'])} rules")
    for line, source, rule in zip(stated["rules"], own["readable"], exact.readable, strict=True):
        entailed = {budget: sum(run.entails(rule) for run in some) for budget, some in runs.items()}
        kept = {key: source[key] for key in ("if", "then", "support", "mean_margin")}
        if line != {**kept, "entailed": entailed}:
            raise Wrong(f"{exact.where}: {exact.space.show_rule(rule)} stands there otherwise")
    counts = {
        "to_find": len(wanted),
        "non_horn": own["non_horn"]["count"],
        "model_calls": own["statistics"]["model_calls"],
    }
    for key, value in counts.items():
        if stated[key] != value or type(stated[key]) is not type(value):
            raise Wrong(f"{exact.where}: {key} is {value}, not {stated[key]}")


# --- what models share ---


def _key(line: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(line["if"]), None if line["then"] is None else tuple(line["then"])


def _check_stable(content: Any) -> None:
    """Check the rules that are stable in every model, by how many runs found them in each."""
    plan = content["study"]
    if type(plan["stable"]) is not int or not 1 <= plan["stable"] <= len(plan["seeds"]):
        raise Wrong("study: stable is no number of runs")
    budgets = [part["budget"] for part in content["intersection"]]
    if budgets != plan["budgets"]:
        raise Wrong("intersection: of other budgets than the plan")
    for place, shared in enumerate(content["intersection"]):
        counts = {
            line["model"]: {_key(rule): rule["found"] for rule in line["budgets"][place]["rules"]}
            for line in content["models"]
        }
        first = next(iter(counts.values()))
        times = [(key, {name: own.get(key, 0) for name, own in counts.items()}) for key in first]
        stable = [(key, each) for key, each in times if min(each.values()) >= plan["stable"]]
        stable.sort(key=lambda pair: -min(pair[1].values()))
        if [(_key(line), line["found"]) for line in shared["rules"]] != stable:
            raise Wrong(f"intersection: with {shared['budget']} queries, other rules are stable")


def _check_common(content: Any, exacts: Sequence[RulesOnDisk]) -> None:
    """Check what holds in every model: by all points that some model accepts."""
    common = content.get("common")
    if common is None or len(exacts) < max(2, len(content["models"])):
        if common is not None:
            raise Wrong("common: not every model has exact rules")
        return
    space = exacts[0].space
    grid = Grid(space.axes, len(space.names))
    background = [
        rule
        for rule in space.rules(exacts[0].content["background"])
        if all(rule in each.space.rules(each.content["background"]) for each in exacts)
    ]
    inside = grid.everything & ~grid.breaking_any(background)
    accepted = 0
    for each in exacts:
        accepted |= each.accepted(grid)
    rules = space.rules(common["rules"])
    for rule in rules:
        if grid.breaking(rule) & accepted:
            raise Wrong(f"common: {space.show_rule(rule)} is broken in some model")
    left = inside & ~grid.breaking_any(rules) & ~grid.intersections(accepted)
    if left:
        raise Wrong(f"common: a rule is missing that rejects {space.show(grid.first(left))}")
    names = [line["model"] for line in content["models"]]
    answered = not any(each.content.get("abstentions") for each in exacts)
    for line in common["survival"]:
        (rule,) = space.rules([line])
        kept = [*line["holds_in"], *line.get("vacuous_in", [])]
        own = zip(names, exacts, strict=True)
        holds = {name for name, each in own if _holds(rule, each)}
        if answered and (set(kept) != holds or len(set(kept)) < len(kept)):
            raise Wrong(f"common: {space.show_rule(rule)} holds in other models than is said")


def _holds(rule: Rule, exact: RulesOnDisk) -> bool:
    closed = chain(rule[0], exact.known)
    return closed is None or (rule[1] is not None and not breaks(closed, rule))
