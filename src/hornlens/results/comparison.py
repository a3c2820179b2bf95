"""Comparing results: which rules of one hold in another, by entailment and not by spelling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hornlens.errors import HornlensError, InputError
from hornlens.exact.grid import LabelledSpace
from hornlens.formats.jsonfiles import read_json
from hornlens.logic.batch import obeys
from hornlens.logic.decisions import YES, accepts
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.readable import readable
from hornlens.logic.theory import Theory
from hornlens.results.codec import INLINE, Codec
from hornlens.results.documents import extraction_from_json
from hornlens.results.envelope import envelope_from_json
from hornlens.results.extraction import Extraction

COMMON_LIMIT = 1 << 22
"""Up to so many interpretations, the common consequences are worked out."""


@dataclass(frozen=True)
class AcceptedExample:
    """An interpretation that a model accepted, and the prompts that show it.

    `abstained`: it accepted because it would not decide, and the policy lets that pass. Without a
    label, it claims nothing that the model could have rejected.
    """

    accepted: tuple[str, ...]
    prompts: tuple[str, ...]
    abstained: bool = False


@dataclass(frozen=True)
class RuleSet:
    """A result as it is compared: its rules. `accepted` are the answers that the model gave."""

    name: str
    envelope: Envelope
    accepted: tuple[AcceptedExample, ...]

    @property
    def known(self) -> Theory:
        """All that is said to hold: the rules and the background."""
        return self.envelope.basis + self.envelope.background


@dataclass(frozen=True)
class RuleOutcome:
    """What becomes of a rule in another result.

    A contradicted rule comes with an answer of the other model that breaks it. Unknown: it does not
    follow from the other's rules, but no recorded answer breaks it either.
    """

    rule: NamedRule = field(metadata=INLINE)
    outcome: Literal["entailed", "contradicted", "unknown"] = field(metadata={"key": "fate"})
    witness: AcceptedExample | None = None


@dataclass(frozen=True)
class ComparedPair:
    """Two results: what becomes of the rules of each in the other."""

    left: str
    right: str
    rules_of_left_in_right: tuple[RuleOutcome, ...]
    rules_of_right_in_left: tuple[RuleOutcome, ...]

    @property
    def new(self) -> tuple[RuleOutcome, ...]:
        """The rules of the right result that the left one does not entail."""
        return tuple(line for line in self.rules_of_right_in_left if line.outcome != "entailed")


@dataclass(frozen=True)
class ComparedResult:
    """A result that was compared: its name, and the kind of its certificate."""

    name: str
    certificate: str


@dataclass(frozen=True)
class Comparison:
    """The first of some results compared with each of the others: comparison.json.

    `common` are the rules from which all follows that follows from every one of the results; None:
    there are too many interpretations to work that out.
    """

    results: tuple[ComparedResult, ...]
    comparisons: tuple[ComparedPair, ...]
    common: tuple[NamedRule, ...] | None

    def __post_init__(self) -> None:
        """Refuse pairs that are not of these results."""
        if not self.results or len(self.comparisons) != len(self.results) - 1:
            raise ValueError("does not compare its first result with each of the others")


COMPARISON = Codec(Comparison, "comparison.json")


def load_result(path: Path) -> RuleSet:
    """Read a result: an envelope.json, or the folder that has one."""
    file = path / "envelope.json" if path.is_dir() else path
    content = read_json(file)
    if isinstance(content, dict) and "probe" in content:
        return result_of(extraction_from_json(content, file))
    return RuleSet(path.name, envelope_from_json(content, file), ())


def result_of(extraction: Extraction) -> RuleSet:
    """Return an extraction as it is compared: its rules, and what its target accepted."""
    return RuleSet(
        f"{extraction.name} on {extraction.question.name}"
        if extraction.question.templates
        else extraction.name,
        extraction.envelope,
        tuple(_accepted(extraction)),
    )


def _accepted(extraction: Extraction) -> Iterator[AcceptedExample]:
    """Yield what a target accepted: first with a label, then without one."""
    space, policy = extraction.space, extraction.policy
    labels = [YES] if space.label is None else [*range(len(space.label.variables)), -1]
    answers = sorted(extraction.decisions.items())
    for labelled in (True, False):
        for cell, decision in answers:
            winner = decision.place
            for label, yes in zip(labels, accepts(policy, winner, labels).tolist(), strict=True):
                if yes and (label >= 0) == labelled:
                    x = space.with_label(cell, label) if space.label and labelled else cell
                    names = space.vocabulary.names_of(x)
                    yield AcceptedExample(names, extraction.show(cell), labelled and winner < 0)


def compare(results: Sequence[RuleSet]) -> Comparison:
    """Compare the first of two or more results with each of the others.

    Results over other variables than the first's are an InputError.
    """
    if len(results) < 2:
        raise HornlensError("compare needs two results or more")
    first, *others = results
    names = first.envelope.vocabulary
    for other in others:
        theirs = other.envelope.vocabulary
        if names.names != theirs.names:
            odd = set(names.names) ^ set(theirs.names)
            what = f"such as {sorted(odd)[0]!r}" if odd else "in another order"
            raise InputError(f"{first.name} and {other.name} have different variables, {what}")
    common = common_consequences(results)
    return Comparison(
        tuple(ComparedResult(each.name, each.envelope.certificate.kind) for each in results),
        tuple(
            ComparedPair(first.name, other.name, _outcomes(first, other), _outcomes(other, first))
            for other in others
        ),
        None if common is None else tuple(NamedRule.of(rule, names) for rule in common),
    )


def _outcomes(owner: RuleSet, other: RuleSet) -> tuple[RuleOutcome, ...]:
    names, known = owner.envelope.vocabulary, other.known
    examples = [(names.mask(example.accepted), example) for example in other.accepted]
    outcomes = []
    for rule in owner.envelope.readable:
        named = NamedRule.of(rule, names)
        if known.entails(rule):
            outcomes.append(RuleOutcome(named, "entailed"))
            continue
        witness = next((example for x, example in examples if not rule.satisfied_by(x)), None)
        outcomes.append(
            RuleOutcome(named, "unknown" if witness is None else "contradicted", witness)
        )
    return tuple(outcomes)


def common_consequences(results: Sequence[RuleSet]) -> Theory | None:
    """Return the rules that follow from every one of the results, in readable form.

    An interpretation is accepted by them if it is an intersection of such as some result accepts.
    None if there are too many interpretations to work that out.
    """
    first = results[0].envelope
    if first.space.count > COMMON_LIMIT:
        return None
    masks = first.space.masks()
    accepted = obeys(masks, results[0].known)
    for result in results[1:]:
        accepted |= obeys(masks, result.known)
    return readable(LabelledSpace(first.space, accepted).dg_basis(), first.background)
