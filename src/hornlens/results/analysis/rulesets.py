"""A result as it is compared: its name, its rules, how it judges others', and how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hornlens.logic.certificates import Certificate
from hornlens.logic.decisions import accepts
from hornlens.logic.named import NamedRule
from hornlens.results.analysis.truth import Truth, truth_of

if TYPE_CHECKING:
    from hornlens.results.analysis.rates import Rates
    from hornlens.results.documents.findings import Findings


@dataclass(frozen=True)
class AcceptedExample:
    """An answer that breaks a rule of another result: what was accepted, and what shows it.

    `prompts` are the prompts or, of a classifier, its row; `said` is then the class. `abstained` is
    in files of 0.2, where not to decide was an answer: it accepted because the policy lets it pass.
    """

    accepted: tuple[str, ...]
    prompts: tuple[str, ...]
    abstained: bool = False
    said: str = ""

    def __post_init__(self) -> None:
        """Refuse an example that nothing shows."""
        if not self.prompts:
            raise ValueError("has an accepted example without what shows it")


class Verdict(NamedTuple):
    """What is known of a rule, and the answer that breaks it, if one does."""

    truth: Truth
    witness: AcceptedExample | None = None


class Compared(Protocol):
    """What can be compared: every result."""

    @property
    def title(self) -> str:
        """What was asked of whom."""

    @property
    def certificates(self) -> Sequence[Certificate]:
        """What may be claimed of the whole, and of each way of asking."""

    @property
    def compared_rules(self) -> tuple[NamedRule, ...]:
        """The rules that are held against other results."""

    @property
    def compared_sentences(self) -> tuple[str, ...]:
        """What each of them says, in words."""

    @property
    def compared_rates(self) -> Rates | None:
        """How often each value gets each answer, if that is known."""

    @property
    def compared_over(self) -> Mapping[str, tuple[str, ...]]:
        """The names that other results must have as well, by what they are."""

    @property
    def has_all_rules(self) -> bool:
        """Whether no rule that holds is missing from what is known."""

    @property
    def made(self) -> Mapping[str, str]:
        """How it was made, by setting."""

    @property
    def cell_prompts(self) -> Mapping[int, tuple[str, ...]]:
        """The prompts of each cell, if there are any."""

    def verdict_on(self, rule: NamedRule, owner: Any) -> Verdict:
        """Return what is known of a rule of another result, its owner."""

    def common_with(self, others: Sequence[Any]) -> tuple[NamedRule, ...] | None:
        """Return the rules from which all follows that this and others have in common."""


@dataclass(frozen=True)
class RuleSet:
    """A result under the name by which it is compared; `version` wrote its file, if it is known.

    `path` and `digest` are those of its file.
    """

    name: str
    result: Compared
    version: str = ""
    path: str = ""
    digest: str = ""

    @cached_property
    def made(self) -> dict[str, str]:
        """How it was made, by setting."""
        return {**self.result.made, "hornlens": self.version}

    @property
    def certificate(self) -> Certificate:
        """What may be claimed of the whole."""
        return self.result.certificates[0]


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each path: as many of its last folders as it takes to tell them apart."""
    parts = [_parts(path) for path in paths]
    for length in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(each[-length:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    return numbered(["/".join(each[-1:]) for each in parts])


def numbered(names: Sequence[str]) -> list[str]:
    """Return the names, each that stood before with a number behind it."""
    distinct: list[str] = []
    for name in names:
        apart, number = name, 2
        while apart in distinct:
            apart, number = f"{name} ({number})", number + 1
        distinct.append(apart)
    return distinct


def _parts(path: Path) -> tuple[str, ...]:
    """Return what a result can be called by: its folders, or its file without its ending."""
    whole = path.resolve() if path.name == ".." else path.absolute()
    if whole.name in ("envelope.json", "table.json", "explanation.json"):
        whole = whole.parent
    stem = whole.stem if whole.suffix == ".json" else whole.name
    return (*whole.parts[1:-1], stem)


# --- results with recorded answers ---


def verdict_by_answers(result: Findings, named: NamedRule) -> Verdict:
    """Return what is known of a rule, with the answer that breaks it."""
    truth = truth_of(named.rule(result.space.vocabulary), result)
    if truth.breaking is None:
        return Verdict(truth)
    x, space = truth.breaking, result.space
    cell, label = x & ~space.label_mask, space.label_of(x)
    for world in result.each:
        decision = world.decisions.get(cell)
        if decision is None or decision.winner is None:
            continue
        if accepts(world.policy, decision.place, 1 if label is None else label, undecided=False):
            return Verdict(truth, AcceptedExample(space.vocabulary.names_of(x), world.show(cell)))
    return Verdict(truth)


def settings_of(result: Findings) -> dict[str, str]:
    """Return how a result was made, by setting; of a formula or a table, what is claimed of it."""
    claim = {"certificate": claim_of(result.envelope.certificate)}
    if not result.asked:
        return claim
    question = result.question
    return {
        "model": result.name,
        "identity": result.identity_text,
        "probe": question.name,
        "templates": " | ".join(question.templates),
        "label words": ", ".join(f"{label}: {word}" for label, word in question.words.items()),
        "variants": ", ".join(each.world for each in result.worlds),
        **{key.replace("_", " "): _said(value) for key, value in asdict(result.policy).items()},
        **claim,
    }


def prompts_of(result: Findings) -> dict[int, tuple[str, ...]]:
    """Return the prompts of each cell, in every way of asking; none where there are no prompts."""
    if not result.question.templates:
        return {}
    cells = sorted({cell for each in result.each for cell in each.decisions})
    return {
        cell: tuple(text for e in result.each if cell in e.decisions for text in e.show(cell))
        for cell in cells
    }


def _said(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "off" if value is None else str(value)


def claim_of(certificate: Certificate) -> str:
    """Return what is claimed, as far as two claims of different strength differ."""
    sift, complete = certificate.sift, certificate.complete
    joint = certificate.joint or certificate.trial or sift
    values = {
        "epsilon": None if joint is None else joint.epsilon,
        "delta": None if joint is None else joint.delta,
        "max conditions": complete.max_conditions if sift is None else sift.conditions,
        "min support": complete.min_support,
    }
    limits = ", ".join(f"{key} {value:g}" for key, value in values.items() if value is not None)
    kind = certificate.kind.replace("_", " ")
    return f"{kind} ({limits})" if limits else kind
