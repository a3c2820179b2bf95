"""A rule about a classifier as it is read: in which cases it speaks of an input, or is broken."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hornlens.classifiers.explanation import Explained
from hornlens.logic.named import NamedRule
from hornlens.targets.classifiers.cases import Case, Cases
from hornlens.targets.classifiers.conditions import (
    Either,
    ParsedRule,
    atoms,
    conditions_in,
)
from hornlens.targets.classifiers.grammar import Words, parse_expression


@dataclass(frozen=True, eq=False)
class ReadRule:
    """A rule as it was read: in which cases it speaks of an input, and in which one breaks it."""

    rule: ParsedRule
    given: list[Case]
    exceptions: list[Case]
    unseen: list[str]
    """Columns that it asks to be missing, of which X has no missing values."""
    wanted: int
    """The classes that it allows; all, where it says something of columns as well."""

    @classmethod
    def of(cls, result: Explained, rule: ParsedRule) -> ReadRule:
        """Return a rule in cases over the features of a result."""
        features = {feature.name: feature for feature in result.binned.every}
        every = (1 << len(result.binned.classifier.labels)) - 1
        cases = Cases(features, result.binned.classifier.bits_of, every)
        exceptions = cases.of(rule.exceptions)
        unseen = list(cases.unseen)
        given = cases.of(rule.given)
        wanted = every
        if not conditions_in(rule.follows):
            wanted = 0
            for case in cases.of(rule.follows):
                wanted |= case.classes
        return cls(rule, given, exceptions, unseen, wanted)

    @property
    def is_plain(self) -> bool:
        """Whether its left side has conditions on columns only, and its right side classes only."""
        left = len(conditions_in(self.rule.given)) == len(list(atoms(self.rule.given)))
        return left and not conditions_in(self.rule.follows)


def meant_rule(result: Explained, rule: NamedRule) -> NamedRule:
    """Return a rule whose right side is ⊤ or ⊥ as one of the class that is called True or False.

    "age < 30 → True" is how a rule of a Boolean class is shown, and nobody requires ⊤. That
    something never has a class names one on the left.
    """
    if rule.consequent or (
        rule.consequent is None
        and any(_class_of(result, name) is not None for name in rule.antecedent)
    ):
        return rule
    word = "false" if rule.consequent is None else "true"
    labels = [label for label in result.binned.classifier.labels if label.lower() == word]
    return replace(rule, consequent=(f"class = {labels[0]}",)) if labels else rule


def parsed_rule(result: Explained, rule: NamedRule) -> ParsedRule:
    """Return what the names of a rule mean: conditions about columns, or classes.

    A rule is split into names at each "and", also inside of parentheses: it is read as a whole.
    """
    classifier = result.binned.classifier
    labels = classifier.labels
    values = {
        feature.name: tuple(map(str, feature.values))
        for feature in result.binned.every
        if feature.values
    }
    words = Words(result.feature_names, labels, result.target, values)
    given = parse_expression(" & ".join(rule.antecedent), words)
    if rule.consequent is None:
        return ParsedRule(given, Either())
    return ParsedRule(given, parse_expression(" & ".join(rule.consequent), words, is_right=True))


def _class_of(result: Explained, name: str) -> int | None:
    """Return the place of the class that a name is, as "yes" or "class = yes"."""
    labels = result.binned.classifier.labels
    for begin in ("", f"{result.target} = ", "class = "):
        if name.startswith(begin) and name[len(begin) :] in labels:
            return labels.index(name[len(begin) :])
    return None
