"""Comparing results: which rules of one hold in another, by entailment and not by spelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import ClassVar, Literal

from hornlens.counts import plural
from hornlens.errors import HornlensError, InputError
from hornlens.logic.named import NamedRule
from hornlens.results.analysis.compared_rates import ComparedRate, compare_rates
from hornlens.results.analysis.differences import SettingDifference, setting_differences
from hornlens.results.analysis.rulesets import AcceptedExample, RuleSet, numbered
from hornlens.results.documents.codec import INLINE, Codec
from hornlens.results.wording.measures import TOY

Outcome = Literal["entailed", "vacuous", "contradicted", "unknown"]
VACUOUSLY = (
    "A rule holds vacuously where the other result never gives the answer that it speaks of, or "
    "always gives the same one, or accepts nothing that the rule speaks of."
)


@dataclass(frozen=True)
class RuleOutcome:
    """What becomes of a rule in another result.

    A contradicted rule comes with an answer of the other model that breaks it. Unknown: it does not
    follow from the other's rules, but no recorded answer breaks it either. Vacuous: it follows, but
    only because of what the other never, or always, answers.
    """

    rule: NamedRule = field(metadata=INLINE)
    outcome: Outcome = field(metadata={"key": "fate"})
    witness: AcceptedExample | None = None
    sentence: str = ""
    """What the rule says of the result that it is of."""


@dataclass(frozen=True)
class ComparedPair:
    """Two results: what becomes of the rules of each in the other."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("sentences",)
    left: str
    right: str
    rules_of_left_in_right: tuple[RuleOutcome, ...]
    rules_of_right_in_left: tuple[RuleOutcome, ...]

    @property
    def new(self) -> tuple[RuleOutcome, ...]:
        """The rules of the right result that do not hold in the left one, or only vacuously."""
        return tuple(line for line in self.rules_of_right_in_left if line.outcome != "entailed")

    @property
    def sentences(self) -> tuple[str, str]:
        """What became of the rules of each, in a sentence."""
        return (
            _counted(self.left, self.right, self.rules_of_left_in_right),
            _counted(self.right, self.left, self.rules_of_right_in_left),
        )


@dataclass(frozen=True)
class ComparedResult:
    """A result that was compared: its name, the kind of its certificate, and of what it is.

    `partial`: it may not have all rules of what it is about. `path` and `digest`, of one that was
    read from a file, say which file that was.
    """

    name: str
    certificate: str
    of: str = ""
    partial: bool = False
    path: str = ""
    digest: str = ""


@dataclass(frozen=True)
class Comparison:
    """Some results, each compared with each of those after it: comparison.json.

    `common` are the rules from which all follows that follows from every one of the results; None:
    there are too many interpretations to work that out, or not all of them were asked. `rates` are
    those that differ, the largest difference first; None: not every result has rates.
    `differences` is what differs between the settings; None: in a file of an older version, which
    compared the first result only.

    >>> from hornlens import compare, extract
    >>> one = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    >>> two = extract(lambda prompt, words: [0.2, 0.8], cache=False)
    >>> print(compare([one, two], ["one", "two"]))
    Of the 1 rule of one, none holds in two, 1 is broken.
    Of the 1 rule of two, none holds in one, 1 is broken.
    0 rules in common: all that follows from every one of the results follows from these.
    """

    results: tuple[ComparedResult, ...]
    comparisons: tuple[ComparedPair, ...]
    common: tuple[NamedRule, ...] | None
    differences: tuple[SettingDifference, ...] | None = None
    rates: tuple[ComparedRate, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse pairs, differences or rates that are not of these results."""
        count = len(self.results)
        expected = count * (count - 1) // 2 if self.differences is not None else count - 1
        if not self.results or len(self.comparisons) != expected:
            raise ValueError("does not compare its results in pairs")
        if any(len(each.values) != count for each in self.differences or ()):
            raise ValueError("does not say of each result what differs")
        if any(len(each.given) != count for each in self.rates or ()):
            raise ValueError("does not say of each result how often an answer is given")

    @property
    def disturbing(self) -> tuple[SettingDifference, ...]:
        """The differences in wording or policy: rules may be new without a change of the model."""
        return tuple(each for each in self.differences or () if each.disturbs)

    @property
    def in_rates(self) -> str:
        """In how many rates the results differ, in a sentence; "" where there are none."""
        if self.rates is None:
            return ""
        if not self.rates:
            return "Rates: every value gets each answer equally often in all of them."
        count = len(self.rates)
        return f"Rates: {count:,} {'differs' if count == 1 else 'differ, the most first'}."

    @property
    def in_common(self) -> str:
        """What is in common, in a sentence."""
        if self.common is None:
            return (
                "What is in common was not worked out: there are too many interpretations, or not "
                "all of them were asked."
            )
        found = f"{plural(len(self.common), 'rule')} in common"
        partial = [each.name for each in self.results if each.partial]
        if not partial:
            return f"{found}: all that follows from every one of the results follows from these."
        return (
            f"{found}: all that follows from the rules of every one of the results follows from "
            f"these. {' and '.join(partial)} may not have all rules, so more may be in common."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What became of the rules of each result in each other one, and what is in common."""
        return (*(said for pair in self.comparisons for said in pair.sentences), self.in_common)

    def __str__(self) -> str:
        """Return the sentences, one a line."""
        return "\n".join(self.sentences)

    @property
    def new(self) -> tuple[RuleOutcome, ...]:
        """The rules of later results that the first one lacks."""
        first = self.comparisons[: len(self.results) - 1]
        return tuple(line for pair in first for line in pair.new)


COMPARISON = Codec(Comparison, "comparison.json")


def compare(results: Sequence[RuleSet]) -> Comparison:
    """Compare each of two or more results with each of the others.

    Results over other variables than the first's are an InputError. Those of one name get numbers.
    """
    if len(results) < 2:
        raise HornlensError("compare needs two results or more")
    names = numbered([result.name for result in results])
    results = [replace(each, name=name) for each, name in zip(results, names, strict=True)]
    first, *others = results
    for other in others:
        _check_names(first, other)
    return Comparison(
        tuple(
            ComparedResult(
                each.name,
                each.certificate.kind,
                _of(each),
                not each.result.has_all_rules,
                each.path,
                each.digest,
            )
            for each in results
        ),
        tuple(
            ComparedPair(left.name, right.name, _outcomes(left, right), _outcomes(right, left))
            for left, right in combinations(results, 2)
        ),
        first.result.common_with([other.result for other in others]),
        setting_differences(results),
        compare_rates([each.result.compared_rates for each in results]),
    )


def _check_names(first: RuleSet, other: RuleSet) -> None:
    """Refuse results that do not speak of the same things, with a name in which they differ."""
    ours, theirs = first.result.compared_over, other.result.compared_over
    both = f"{first.name} and {other.name}"
    if ours.keys() != theirs.keys():
        (one, *_), (two, *_) = ours, theirs
        raise InputError(f"{both} cannot be compared: rules over {one} and rules over {two}")
    for noun, names in ours.items():
        if names != theirs[noun]:
            odd = set(names) ^ set(theirs[noun])
            what = f"such as {min(odd)!r}" if odd else "in another order"
            raise InputError(f"{both} have different {noun}, {what}")


def _of(result: RuleSet) -> str:
    """Return of whom a result is, and what was asked."""
    made = result.made
    if not made.get("templates"):
        return made.get("model", "")
    toy = " (a toy model)" if made.get("identity", "").startswith(TOY) else ""
    return f"{made['model']}{toy} on {made['probe']}"


def _outcomes(owner: RuleSet, other: RuleSet) -> tuple[RuleOutcome, ...]:
    """Say what becomes of each rule of a result in another; a test's bound will do to hold."""
    outcomes = []
    rules = zip(owner.result.compared_rules, owner.result.compared_sentences, strict=True)
    for rule, sentence in rules:
        truth, witness = other.result.verdict_on(rule, owner.result)
        if witness is not None:
            outcomes.append(RuleOutcome(rule, "contradicted", witness, sentence))
        elif truth.outcome == "vacuous":
            outcomes.append(RuleOutcome(rule, "vacuous", None, sentence))
        else:
            known = truth.outcome in ("holds", "tested")
            outcome: Outcome = "entailed" if known else "unknown"
            outcomes.append(RuleOutcome(rule, outcome, None, sentence))
    return tuple(outcomes)


def _counted(owner: str, other: str, lines: Sequence[RuleOutcome]) -> str:
    if not lines:
        return f"{owner} has no rules."
    counts: Counter[str] = Counter(line.outcome for line in lines)
    held = counts["entailed"]
    rules = f"the {plural(len(lines), 'rule')}"
    none = "none is known to hold" if counts["unknown"] else "none holds"
    hold = f"{held:,} hold" if held > 1 else "1 holds" if held else none
    parts = [f"Of {rules} of {owner}, {hold} in {other}"]
    if counts["vacuous"]:
        parts.append(f"{counts['vacuous']:,}{' more' if held else ''} only vacuously")
    for outcome, what in (("contradicted", "broken"), ("unknown", "not known to hold")):
        if count := counts[outcome]:
            parts.append(f"{count:,} {'is' if count == 1 else 'are'} {what}")
    return ", ".join(parts) + "."
