"""Comparing results: which rules of one hold in another, by entailment and not by spelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.exact.grid import LabelledSpace
from hornlens.formats.backgrounds import theory_from_json, vocabulary_of
from hornlens.formats.jsonfiles import read_json
from hornlens.logic.batch import obeys
from hornlens.logic.readable import readable
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary

COMMON_LIMIT = 1 << 22
"""Up to so many interpretations, the common consequences are worked out."""


@dataclass(frozen=True)
class Said:
    """An interpretation that a model accepted, and the prompts that show it.

    `abstained`: it accepted because it would not decide, and the policy lets that pass. Without a
    label, `x` claims nothing that the model could have rejected.
    """

    x: int
    prompts: tuple[str, ...]
    abstained: bool = False


@dataclass(frozen=True)
class Result:
    """A result as envelope.json has it. `accepted` are the answers that the model gave."""

    name: str
    vocabulary: Vocabulary
    basis: Theory
    readable: Theory
    background: Theory
    accepted: tuple[Said, ...]
    certificate: str


@dataclass(frozen=True)
class Fate:
    """What becomes of a rule in another result: `entailed`, `contradicted` or `unknown`.

    A contradicted rule comes with an answer of the other model that breaks it. Unknown: it does not
    follow from the other's rules, but no recorded answer breaks it either.
    """

    rule: Rule
    kind: str
    witness: Said | None = None


@dataclass(frozen=True)
class Comparison:
    """Two results: the fate of each rule of `left` in `right`, and the other way round."""

    left: Result
    right: Result
    lost: tuple[Fate, ...]
    """The rules of the left result."""
    gained: tuple[Fate, ...]
    """The rules of the right result, and what becomes of them in the left one."""

    @property
    def new(self) -> tuple[Fate, ...]:
        """The rules of the right result that the left one does not entail."""
        return tuple(fate for fate in self.gained if fate.kind != "entailed")


def load_result(path: Path) -> Result:
    """Read a result: an envelope.json, or the folder that has one."""
    file = path / "envelope.json" if path.is_dir() else path
    try:
        return result_of(read_json(file), path)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise InputError("is not an envelope.json of hornlens", file) from None
    except InputError as error:
        raise InputError(error.message, file, error.line) from None


def result_of(content: dict[str, Any], path: Path) -> Result:
    """Return the result that the contents of an envelope.json describe."""
    probe, vocabulary = content.get("probe"), vocabulary_of(content)
    basis, short, background = (
        theory_from_json(content[key], vocabulary, path)
        for key in ("rules", "readable", "background")
    )
    accepted, unlabelled = [], []
    for answer in content.get("answers", []):
        winner, prompts = answer["winner"], tuple(answer["prompts"])
        if winner is not None:
            accepted.append(Said(vocabulary.mask([*answer["set"], winner]), prompts))
        elif content["policy"]["abstain"] == "accept":
            accepted += [
                Said(vocabulary.mask([*answer["set"], label]), prompts, abstained=True)
                for label in content["probe"]["label"]
            ]
        if content["policy"]["label_unset"] == "accept":
            unlabelled.append(Said(vocabulary.mask(answer["set"]), prompts))
    name = f"{content['model']['name']} on {probe['name']}" if probe else path.name
    return Result(
        name,
        vocabulary,
        basis,
        short,
        background,
        (*accepted, *unlabelled),
        content["certificate"]["kind"],
    )


def compare(left: Result, right: Result) -> Comparison:
    """Compare two results over the same variables; other variables are an InputError."""
    if left.vocabulary.names != right.vocabulary.names:
        odd = set(left.vocabulary.names) ^ set(right.vocabulary.names)
        what = f"such as {sorted(odd)[0]!r}" if odd else "in another order"
        raise InputError(f"{left.name} and {right.name} have different variables, {what}")
    return Comparison(left, right, _fates(left, right), _fates(right, left))


def _fates(owner: Result, other: Result) -> tuple[Fate, ...]:
    known = other.basis + other.background
    fates = []
    for rule in owner.readable:
        if known.entails(rule):
            fates.append(Fate(rule, "entailed"))
            continue
        witness = next((said for said in other.accepted if not rule.satisfied_by(said.x)), None)
        fates.append(Fate(rule, "unknown" if witness is None else "contradicted", witness))
    return tuple(fates)


def common_consequences(results: Sequence[Result]) -> Theory | None:
    """Return the rules that follow from every one of the results, in readable form.

    An interpretation is accepted by them if it is an intersection of such as some result accepts.
    None if there are too many interpretations to work that out.
    """
    first = results[0]
    domain = Domain(first.vocabulary)
    if domain.count > COMMON_LIMIT:
        return None
    masks, width = domain.masks(), len(first.vocabulary)
    accepted = obeys(masks, results[0].basis + results[0].background)
    for result in results[1:]:
        accepted |= obeys(masks, result.basis + result.background)
    basis = LabelledSpace(domain, accepted).dg_basis(first.background)
    return readable(basis, first.background)
