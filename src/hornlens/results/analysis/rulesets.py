"""A result as it is compared: its name, its rules, what was accepted, and how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hornlens.errors import HornlensError, InputError
from hornlens.logic.certificates import Certificate
from hornlens.logic.decisions import YES, accepts
from hornlens.logic.envelope import Envelope
from hornlens.logic.theory import Theory
from hornlens.results.documents.envelope import envelope_from_json, read_envelope
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.reading import extraction_from_json


@dataclass(frozen=True)
class AcceptedExample:
    """An interpretation that a model accepted, and the prompts that show it.

    `abstained`: it accepted because it would not decide, and the policy lets that pass. Without a
    label, it claims nothing that the model could have rejected.
    """

    accepted: tuple[str, ...]
    prompts: tuple[str, ...]
    abstained: bool = False

    def __post_init__(self) -> None:
        """Refuse an example that nothing shows."""
        if not self.prompts:
            raise ValueError("has an accepted example without what shows it")


@dataclass(frozen=True)
class RuleSet:
    """A result as it is compared: its rules. `accepted` are the answers that the model gave.

    `made` says how it was made, by setting; `prompts` has the prompts of each cell, if any.
    """

    name: str
    envelope: Envelope
    accepted: tuple[AcceptedExample, ...]
    made: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def known(self) -> Theory:
        """All that is said to hold: the rules and the background."""
        return self.envelope.basis + self.envelope.background


def load_result(path: Path, name: str = "") -> RuleSet:
    """Read a result: its folder, or its envelope.json or table.json; `name` is what to call it."""
    content, file = read_envelope(path)
    if isinstance(content, dict) and content.get("kind") == "classifier":
        raise InputError("is of a classifier: results of classifiers cannot be compared yet", path)
    called = name or _parts(path)[-1]
    if isinstance(content, dict) and "probe" in content:
        extraction = extraction_from_json(content, file)
        return result_of(extraction, called, str(content.get("hornlens", "")))
    envelope = envelope_from_json(content, file)
    made = {
        "certificate": _claim(envelope.certificate),
        "hornlens": str(content.get("hornlens", "")),
    }
    return RuleSet(called, envelope, (), made)


def load_results(paths: Sequence[Path], names: Sequence[str] = ()) -> list[RuleSet]:
    """Read results; those without a name of their own are called by their folders."""
    if len(names) > len(paths):
        raise HornlensError(f"there are {len(names)} names for {len(paths)} results")
    called = distinct_names(paths)
    called[: len(names)] = names
    return [load_result(path, name) for path, name in zip(paths, called, strict=True)]


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
    found: list[str] = []
    for name in names:
        apart, number = name, 2
        while apart in found:
            apart, number = f"{name} ({number})", number + 1
        found.append(apart)
    return found


def _parts(path: Path) -> tuple[str, ...]:
    """Return what a result can be called by: its folders, or its file without its ending."""
    whole = path.resolve() if path.name == ".." else path.absolute()
    if whole.name in ("envelope.json", "table.json"):
        whole = whole.parent
    stem = whole.stem if whole.suffix == ".json" else whole.name
    return (*whole.parts[1:-1], stem)


def result_of(extraction: Findings, name: str = "", version: str = "") -> RuleSet:
    """Return an extraction as it is compared: its rules, and what its target accepted."""
    question = extraction.question
    cells = sorted({cell for each in extraction.each for cell in each.decisions})
    shown = {
        cell: tuple(text for e in extraction.each if cell in e.decisions for text in e.show(cell))
        for cell in (cells if question.templates else ())
    }
    made = {
        "model": extraction.name,
        "identity": extraction.identity_text,
        "probe": question.name,
        "templates": " | ".join(question.templates),
        "label words": ", ".join(f"{label}: {word}" for label, word in question.words.items()),
        "variants": ", ".join(each.world for each in extraction.worlds),
        **{key.replace("_", " "): _said(value) for key, value in asdict(extraction.policy).items()},
        "certificate": _claim(extraction.envelope.certificate),
        "hornlens": version,
    }
    accepted = tuple(_accepted(extraction))
    return RuleSet(name or extraction.title, extraction.envelope, accepted, made, shown)


def _said(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "off" if value is None else str(value)


def _claim(certificate: Certificate) -> str:
    """Return what is claimed, as far as two claims of different strength differ."""
    joint, complete = certificate.joint or certificate.trial, certificate.complete
    values = {
        "epsilon": None if joint is None else joint.epsilon,
        "delta": None if joint is None else joint.delta,
        "max conditions": complete.max_conditions,
        "min support": complete.min_support,
    }
    limits = ", ".join(f"{key} {value:g}" for key, value in values.items() if value is not None)
    kind = certificate.kind.replace("_", " ")
    return f"{kind} ({limits})" if limits else kind


def _accepted(extraction: Findings) -> Iterator[AcceptedExample]:
    """Yield what a target accepted, in any way of asking: first with a label, then without one."""
    space = extraction.space
    labels = [YES] if space.label is None else [*range(len(space.label.variables)), -1]
    for labelled in (True, False):
        for world in extraction.each:
            for cell, decision in sorted(world.decisions.items()):
                winner = decision.place
                taken = accepts(world.policy, winner, labels, undecided=False).tolist()
                for label, yes in zip(labels, taken, strict=True):
                    if yes and (label >= 0) == labelled:
                        x = space.with_label(cell, label) if space.label and labelled else cell
                        names = space.vocabulary.names_of(x)
                        yield AcceptedExample(names, world.show(cell), labelled and winner < 0)
