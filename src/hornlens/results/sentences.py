"""Rules as sentences about the target that obeys them."""

from __future__ import annotations

from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.results.question import Question

Part = tuple[str, str]
"""A kind, and a text: "" plain words, "word" the label's, "names" what is said of a cell."""


def parts_of(rule: Rule, space: Space, question: Question) -> list[Part]:
    """Return the sentence that says a rule, in parts that pages may mark up."""

    def names(mask: int) -> list[Part]:
        conditions = space.conditions(mask & ~space.label_mask)
        return [("names", " and ".join(conditions))] if conditions else []

    def label(mask: int) -> list[Part]:
        found = space.vocabulary.names_of(mask & space.label_mask)
        return [("word", question.words.get(name, name)) for name in found[:1]]

    given, word = names(rule.antecedent), label(rule.antecedent)
    # Where there are no labels, what is said of a cell is what is accepted or not.
    joint = " with " if space.label is None else " for "
    about: list[Part] = [("", joint), *given] if given else []
    subject, end = question.subject, ("", ".")
    if rule.is_negative:
        if word:
            return [("", f"{subject} never {question.verb} "), *word, *about, end]
        return [("", f"{subject} accepts nothing"), *about, end]
    new, new_word = names(rule.new), label(rule.new)
    if word and new:
        start = ("", f"{subject} {question.verb} ")
        return [start, *word, *about, ("", " only if it is "), *new, end]
    if space.label is None:
        start = ("", f"{subject} accepts ")
        return [start, *(given or [("", "something")]), ("", " only with "), *new, end]
    if new_word:
        return [("", f"{subject} always {question.verb} "), *new_word, *about, end]
    return [("", "Wherever it is "), *(given or [("", "anything")]), ("", ", it is "), *new, end]


def in_words(rule: Rule, space: Space, question: Question) -> str:
    """Return the rule as a sentence."""
    return "".join(
        f"“{text}”" if kind == "word" else text for kind, text in parts_of(rule, space, question)
    )
