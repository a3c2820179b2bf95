"""Rules as sentences that say what was shown, and no more: for terminal, pages and files alike.

What a rule may be said to mean depends on how answers became decisions (the policy), on how the
target was asked (phrasings, repeats), and on what was proved (the certificate).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hornlens.logic.attributes import Nominal
from hornlens.logic.decisions import Policy
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.warrants import Warrant
from hornlens.results.documents.question import ComparedAnswers, Question
from hornlens.results.wording.odds import Odds, odds_of_lead

Almost = Literal["exactly", "at most"]
Part = tuple[str, str]
"""A kind, and a text: "" plain words, "word" the label's, "names" what is said of a cell."""


@dataclass(frozen=True)
class Telling:
    """All that the meaning of a result's rules depends on.

    `proved`: they are exact. `worlds` are the names of the ways of asking, if there are several,
    and `noun` what people call one. `repeated`: every answer is what most of several said; if it is
    `noisy`, what was said most often. `asked`: a target was; the rules of a formula or a table say
    what goes together, and of an exploration so `by_word` of its experts. `unanswered`: it gave no
    answer at all. `scored`: every answer is the best of its scores, and nothing was said;
    `in_odds`: these are log-probabilities.
    """

    space: Space
    question: Question
    policy: Policy
    proved: bool = True
    worlds: tuple[str, ...] = ()
    noun: str = "phrasing"
    repeated: bool = False
    noisy: bool = False
    asked: bool = True
    by_word: bool = False
    unanswered: bool = False
    scored: bool = False
    in_odds: bool = False

    def sentence(self, rule: Rule, broken: int = 0, of: int = 0) -> str:
        """Return the rule as a sentence; `broken` answers `of` so many it speaks of break it."""
        return plain(self.parts(rule, broken, of))

    def parts(
        self,
        rule: Rule,
        broken: int = 0,
        of: int = 0,
        holds_in: Sequence[str] | None = None,
        almost: Almost | None = None,
        warrant: Warrant | None = None,
        but: str = "",
        odds: Odds | None = None,
        cases: int | None = None,
        unmet: tuple[int, int] | None = None,
    ) -> list[Part]:
        """Return the sentence that says a rule, in parts that pages may mark up.

        `warrant` is what stands behind it, if more is known than of all rules together; of a rule
        that was tried at random, `of` are all cases that were asked.

        `holds_in`: the worlds in which it holds, if that is not all of them. `almost`: it is an
        almost-rule, which `broken` cells break `of` those in which it rejects something; at most,
        where there was no answer in some of them. `but` is another proviso, in words.

        `odds` are those by which it holds, where all cases that could break it have answers, and
        `cases` is then their number. `unmet`: where its right side holds, the answer was never
        given either, and so many of so many cases there have none.
        """
        if not self.asked:
            return self._reading(rule, broken if almost else 0, of, warrant)
        scope = self._scope(0 if almost else broken, of, holds_in, warrant)
        if almost:
            # Of several worlds, a cell breaks it if it does so in one.
            unit = "cell" if self.worlds else self.question.unit
            could = "" if self._rejects_everywhere(rule) else " that could break it"
            many = f"at most {broken:,}" if almost == "at most" else f"{broken:,}"
            but = f"but for {many} of {of:,} {unit}{'' if of == 1 else 's'}{could}"
        if but:
            scope = f"{scope}, {but}" if scope else but
        if warrant is not None and not warrant.known:
            scope = f"open: {scope}" if scope else "open"
        exact = None if almost or broken or self.repeated else cases
        who, within, claim = self._said_of(rule, self._is_shown(warrant), exact)
        start = f"{scope[0].upper()}{scope[1:]}, {within} " if scope else f"{who} "
        measure = [] if odds is None else self._measure(rule, odds)
        silent = [] if unmet is None else [("", self._unmet(*unmet))]
        return [("", start), *claim, *measure, *silent, ("", ".")]

    def _unmet(self, silent: int, of: int) -> str:
        """Return that “only if” is not “if”: there was no answer where it might be."""
        if silent == of:
            return " (and has no answer there)"
        return f" (and never does there: {silent:,} of {of:,} {self._units(of)} have no answer)"

    def _said_of(
        self, rule: Rule, shown: bool, cases: int | None = None
    ) -> tuple[str, str, list[Part]]:
        """Return the subject, at the start of a sentence and within one, and what it does."""
        compared, who = self.question.compared, self.question.subject
        if compared is not None:
            given, new = self._where(rule.antecedent), self._clauses(rule.new)
            labels = self._word(rule.antecedent), self._word(rule.new)
            sure = self.policy.abstain == "accept"
            if claim := compared_claim(compared, labels, given, new, sure):
                return compared.start, compared.who, claim
        return who, who.lower(), self._claim(rule, shown, cases)

    def more_often(self, conditions: int, label: int, shares: str) -> list[Part]:
        """Return that a label is given more often where some conditions hold, as `shares` say."""
        compared, name = self.question.compared, self._word(label) or ""
        act: list[Part] = [("", compared.act(name))] if compared is not None else self._act(name)
        who = self.question.subject.lower() if compared is None else compared.who
        return [
            ("", "Where "),
            *self._clauses(conditions),
            ("", f", {who} "),
            *act,
            ("", f" {shares}."),
        ]

    def _is_shown(self, warrant: Warrant | None) -> bool:
        """Say whether a rule is proved, or was tried at random."""
        return self.proved if warrant is None else warrant.proved or warrant.tested > 0

    def _reading(self, rule: Rule, broken: int, of: int, warrant: Warrant | None) -> list[Part]:
        """Return what goes together, and what for, where nobody was asked."""
        right = None if rule.is_negative else tuple(self.space.conditions(rule.new))
        named = NamedRule(tuple(self.space.conditions(rule.antecedent)), right)
        lead = []
        if warrant is not None and not warrant.known:
            lead.append("open: perhaps")
        elif self.by_word:
            lead.append("according to the answers")
        elif not self.proved:
            lead.append("as far as it was tested")
        if broken:
            lead.append(f"but for {broken:,} of {of:,} cases")
        return together(named, ", ".join(lead))

    def _scope(
        self,
        broken: int,
        of: int,
        holds_in: Sequence[str] | None,
        warrant: Warrant | None = None,
    ) -> str:
        """Return in what the claim is to be believed: ""; "as far as it was asked"; …"""
        found = []
        if self.unanswered and self.space.label is None:
            found.append(f"counting no answer as {self.policy.abstain}ed")
        elif warrant is not None and warrant.tested:
            found.append(f"in all {of:,} cases asked ({warrant.tested:,} at random)")
        elif not self._is_shown(warrant):
            found.append("as far as it was asked")
            if broken:
                found.append(f"but for at most {broken:,} of {of:,} {self.question.unit}s")
        if self.repeated and self.noisy:
            found.append(f"in its most frequent answer to each {self.question.unit}")
        elif self.repeated:
            found.append(f"in most of its answers to each {self.question.unit}")
        if self.question.averaged:
            found.append(f"on average over {len(self.question.templates)} phrasings")
        many = len(self.worlds)
        if many and holds_in is not None and len(holds_in) < many:
            found.append(f"in {len(holds_in)} of {many} {self.noun}s ({', '.join(holds_in)})")
        elif many:
            found.append(f"in every one of {many} {self.noun}s")
        return ", ".join(found)

    def _rejects_everywhere(self, rule: Rule) -> bool:
        """Say whether a rule rejects something in every cell that it speaks of."""
        return rule.is_negative or not rule.new & ~self.space.label_mask

    def _claim(self, rule: Rule, shown: bool, cases: int | None) -> list[Part]:
        given, new = self._where(rule.antecedent), self._clauses(rule.new)
        word = self._word(rule.antecedent)
        if self.space.label is None:
            if rule.is_negative:
                return [("", "accepts nothing"), *given]
            return [("", "accepts something"), *given, ("", " only if "), *new]
        if rule.is_negative:
            if word is None:
                return [("", "settles on no answer"), *given]
            other = self._other(word)
            if other and self._answers_all(shown) and self.policy.calibration == "none":
                return self._always(other, given, cases)
            return [("", "never "), *self._act(word), *self._in(cases), *given]
        if word:
            return [*self._act(word), *given, ("", " only if "), *new]
        settled = self._word(rule.new)
        only = [] if settled is None else self._act(settled, nothing_but=True)
        if not new:
            if settled and self._answers_all(shown):
                return self._always(settled, given, cases)
            return [*only, *given]
        answers: list[Part] = [("", "settles on an answer"), *given, ("", " only if "), *new]
        return [*answers, ("", ", and then "), *only] if only else answers

    def _answers_all(self, shown: bool) -> bool:
        """Return whether a rule that holds leaves no cell that it covers without an answer.

        Such a cell would be accepted with every label, and so break the rule.
        """
        return shown and self.policy.abstain == "accept"

    def _always(self, word: str, given: list[Part], cases: int | None) -> list[Part]:
        """Return that an answer is always given; of replies, in how many cases of how many."""
        if cases is None or not self.replied:
            return [("", "always "), *self._act(word), *given]
        many = f" in {cases:,} of {cases:,} {self._units(cases)}"
        return [*self._act(word), ("", many), *given]

    def _in(self, cases: int | None) -> list[Part]:
        """Return in how many replies a word was never the answer."""
        if cases is None or not self.replied:
            return []
        return [("", f" in {cases:,} {self._units(cases)}")]

    def _units(self, count: int) -> str:
        return self.question.unit if count == 1 else f"{self.question.unit}s"

    @property
    def replied(self) -> bool:
        """Whether answers are what a model said, and not the best of its scores."""
        return self.question.verb == "answered" and not self.scored

    def _measure(self, rule: Rule, odds: Odds) -> list[Part]:
        """Return the odds by which a rule holds, in brackets, and of what."""
        word, settled = self._word(rule.antecedent), self._word(rule.new)
        if self.policy.calibration != "none" or (word is None and settled is None):
            return []
        where = "" if rule.is_negative or word is None else "otherwise "
        if word is None:
            if self._clauses(rule.new):
                return []
            next_one = "" if self._other(settled or "") else "over the next word, "
            return [("", f" ({next_one}{odds.words})")]
        other = self._other(word)
        if other is None:
            own: list[Part] = [("", "its answer leads "), ("word", self._said(word)), ("", " by ")]
            return [("", f" ({where}"), *own, ("", f"{odds.words})")]
        if not where and self._answers_all(True):
            return [("", f" ({odds.words})")]
        return [("", f" ({where}"), ("word", self._said(other)), ("", f" leads by {odds.words})")]

    def _other(self, word: str) -> str | None:
        """Return the other label, where there are two."""
        label = self.space.label
        others = [] if label is None else [name for name in label.variables if name != word]
        return others[0] if len(others) == 1 else None

    def _act(self, word: str, nothing_but: bool = False) -> list[Part]:
        """Return what it does with a word, as the policy has it: a verb, the word, the proviso."""
        policy = self.policy
        but = "nothing but " if nothing_but else ""
        said: Part = ("word", self._said(word))
        other, rest = self._other(word), list[Part]()
        if policy.calibration != "none":
            verb = "favours"
            if not nothing_but:
                over: Part = ("word", self._said(other)) if other else ("", "every other word")
                rest = [("", " over "), over]
            rest.append(("", " more than its own baseline does"))
        elif self.scored:
            verb = "scores"
            if other and not nothing_but:
                rest = [("", " higher than "), ("word", self._said(other))]
            else:
                rest = [("", " highest")]
        else:
            verb = self.question.verb
        if policy.abstain == "reject":  # what is not clear enough counts as not said
            if policy.margin:
                rest.append(("", f" with a lead of at least {policy.margin:g}"))
                if self.in_odds and policy.calibration == "none":
                    rest.append(("", f" ({odds_of_lead(policy.margin)})"))
            if policy.top_k:
                rest.append(("", f" as one of its first {policy.top_k} words"))
        return [("", f"{verb} {but}"), said, *rest]

    def _word(self, mask: int) -> str | None:
        """Return the name of the label value that a side of a rule sets."""
        label = self.space.label
        place = None if mask < 0 or label is None else self.space.label_of(mask)
        return None if place is None or label is None else label.variables[place]

    def _said(self, name: str) -> str:
        return self.question.words.get(name, name)

    def _where(self, mask: int) -> list[Part]:
        found = self._clauses(mask)
        return [("", " where "), *found] if found else []

    def _clauses(self, mask: int) -> list[Part]:
        """Return what a side of a rule says of a cell: clauses, with "and" between them."""
        parts: list[Part] = []
        for clause in clauses(self.space, 0 if mask < 0 else mask, self.question):
            parts += [("", " and ")] if parts else []
            parts.append(("names", clause))
        return parts


def compared_claim(
    compared: ComparedAnswers,
    labels: tuple[str | None, str | None],
    given: list[Part],
    new: list[Part],
    sure: bool,
) -> list[Part]:
    """Return what a rule says of answers that are compared; nothing if it says no more of them.

    `labels` are those on its left and on its right, `given` and `new` what it says of the cells.
    `sure`: no cell is without an answer.
    """
    left, right = labels
    if left is not None and new:
        return [("", compared.act(left)), *given, ("", " only if "), *new]
    if left is not None:
        return [("", f"never {compared.act(left)}"), *given]
    if right is None or new:
        return []
    if right in compared.opposites:
        return [("", f"never {compared.opposites[right]}"), *given]
    always = "always " if sure else "always, where there are answers, "
    return [("", f"{always}{compared.act(right)}"), *given]


def clauses(space: Space, mask: int, question: Question) -> list[str]:
    """Return what a mask says of a cell, a clause for each attribute: "the person is a nurse"."""
    found = []
    for attribute, at, group in zip(space.attributes, space.offsets, space.groups, strict=False):
        if not mask & group:
            continue
        value = attribute.describe((mask & group) >> at)
        if value in question.phrases:
            found.append(question.phrases[value])
        elif attribute.describes_itself:  # "30 ≤ age < 60" is a clause already
            found.append(value)
        elif isinstance(attribute, Nominal) and attribute.variables == (attribute.name,):
            found.append(f"{value} is true")
        else:
            found.append(f"{attribute.name} is {value}")
    return found


def together(rule: NamedRule, lead: str = "") -> list[Part]:
    """Return a rule as what goes together, in parts; `lead` says how far that is known.

    >>> plain(together(NamedRule(("bird", "big"), ("swims",))))
    'With bird and big always goes swims.'
    >>> plain(together(NamedRule(("flies", "big"), None), "but for 1 of 9 cases"))
    'But for 1 of 9 cases, flies and big never go together.'
    """
    left = _listed(rule.antecedent)
    if rule.consequent is None:
        if len(rule.antecedent) > 1:
            parts: list[Part] = [*left, ("", " never go together.")]
        elif left:
            parts = [("", "never "), *left, ("", ".")]
        else:
            parts = [("", "nothing is accepted.")]
    elif left:
        parts = [("", "with "), *left, ("", " always goes "), *_listed(rule.consequent), ("", ".")]
    else:
        parts = [("", "always "), *_listed(rule.consequent), ("", ".")]
    if lead:
        return [("", f"{lead[0].upper()}{lead[1:]}, "), *parts]
    kind, text = parts[0]
    return [(kind, text if kind else text[0].upper() + text[1:]), *parts[1:]]


def _listed(names: Sequence[str]) -> list[Part]:
    """Return names with commas and "and" between them."""
    parts: list[Part] = []
    for place, name in enumerate(names):
        if place:
            parts.append(("", " and " if place == len(names) - 1 else ", "))
        parts.append(("names", name))
    return parts


def plain(parts: Sequence[Part]) -> str:
    """Return a sentence without markup: the label's word in quotation marks."""
    return "".join(f"“{text}”" if kind == "word" else text for kind, text in parts)


ALWAYS, WHERE = "{} always says {}.", "Where {}, {} says {}."
"""What a rule of a classifier says, without conditions and with some."""


def class_rule(conditions: Sequence[str], label: str, who: str) -> str:
    """Return in words that conditions imply a class; `who` gives it."""
    if not conditions:
        return ALWAYS.format(who[0].upper() + who[1:], label)
    return WHERE.format(" and ".join(conditions), who, label)
