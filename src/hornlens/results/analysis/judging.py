"""Judging a rule: what is known of it, in a sentence, with the answers that show it.

One protocol for gates, comparisons and whoever else holds a rule against a result: a result judges
a rule that is given in names. Here is how results with recorded answers do it, in bits; a
classifier's result reads names as conditions about columns instead, and judges by its cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.certificates import Certificate
from hornlens.logic.lookalikes import alike
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.results.analysis.almost import Summary, nearly_all
from hornlens.results.analysis.evidence import evidence_for
from hornlens.results.analysis.truth import Truth, is_answer, truth_of_all
from hornlens.results.documents.checks import ShownAnswer
from hornlens.results.documents.flips import Flips
from hornlens.results.documents.requirements import Scope
from hornlens.results.wording.sentences import plain
from hornlens.results.wording.sifting import needed, shown_by

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

SHOWN = 3
"""How many answers are listed of those that a judgement rests on."""
ORDER = ("broken", "open", "tested", "vacuous", "holds")
"""What may become of a rule, the weakest first."""


@dataclass(frozen=True)
class Judgement:
    """What is known of a rule, in words; of `of` answers it speaks of, `count` show it."""

    truth: Truth
    finding: str
    answers: tuple[ShownAnswer, ...] = ()
    count: int = 0
    of: int = 0


class Exceptions(NamedTuple):
    """How many of the cells that a rule speaks of break it, in words and with their answers.

    `settled`: whether all cells were asked and answered; `missing` says what else is the case.
    """

    broken: int
    of: int
    settled: bool
    finding: str
    answers: tuple[ShownAnswer, ...] = ()
    missing: str = ""


class Judged(Protocol):
    """What can be held against requirements: every result."""

    @property
    def title(self) -> str:
        """What was asked of whom."""

    @property
    def world(self) -> str:
        """The name of this way of asking, where it is one of several."""

    @property
    def worlds(self) -> Sequence[Judged]:
        """The result of each way of asking, where there are several."""

    @property
    def each(self) -> Sequence[Judged]:
        """The result of each way of asking: of the only one, this."""

    @property
    def certificates(self) -> Sequence[Certificate]:
        """What may be claimed of the whole, and of each way of asking."""

    @property
    def rule_count(self) -> int:
        """How many rules there are."""

    @property
    def questions(self) -> tuple[int, int]:
        """How many questions were answered, and how many there were."""

    def judge(self, rule: NamedRule | str, scope: Scope = "every variant") -> Judgement:
        """Return what is known of a rule."""

    def exceptions(self, rule: NamedRule | str, scope: Scope = "every variant") -> Exceptions:
        """Count what breaks a rule."""

    def flips(self, attribute: str | Sequence[str]) -> Flips:
        """Count what changing some attributes changes."""


def judge_by_answers(result: Findings, named: NamedRule, scope: Scope) -> Judgement:
    """Look in each world, or in what all worlds have in common: what is known of the rule?"""
    rules = _read(result, named)
    every = scope == "every variant" or not result.worlds
    worlds = (result,) if every else result.worlds
    truths = [truth_of_all(rules, world) for world in worlds]
    # Of several worlds one is enough to have a required rule, and to have a forbidden one.
    truth = max(truths, key=lambda each: ORDER.index(each.outcome))
    if truth.holds:
        kept = [w for w, each in zip(worlds, truths, strict=True) if each.holds]
        count, of, answers = _support(rules, result.each if every else kept)
        finding = _holding(result, rules, truth, count, of, None if every else kept)
    elif truth.outcome == "broken":
        count, of, answers, finding = _broken(result, rules)
    else:
        count, of, answers = _support(rules, result.each)
        finding = _open(result, rules, truth, of)
    if not truth.holds and every and result.worlds:
        finding += _where_it_holds(result, rules)
    own = named.rule(result.space.vocabulary)
    if len(rules) > 1 or rules[0] not in (own, _shortened(result, own)):
        finding += f" Read as: {'; '.join(result.space.show(rule) for rule in rules)}."
    return Judgement(truth, finding, answers, count, of)


def exceptions_by_answers(result: Findings, named: NamedRule, scope: Scope) -> Exceptions:
    """Count what breaks a rule, in all worlds at once or in the one that breaks it least."""
    rule = _read(result, named)[0]
    every = scope == "every variant" or not result.worlds
    worlds: Sequence[Findings] = (result,) if every else result.worlds
    held = [nearly_all(world, [rule])[0] for world in worlds]
    best, nearly = max(zip(worlds, held, strict=True), key=lambda pair: pair[1].confidence)
    return Exceptions(
        nearly.broken,
        nearly.of,
        all(each.asked_all and each.envelope.certificate.settled for each in worlds),
        Summary(best).sentence(nearly),
        tuple(ShownAnswer.of(best.each[e.world], e.cell) for e in nearly.exhibits),
        "not all cells were asked" if best.decisions else "there are no answers",
    )


def check_names(result: Findings, names: Iterable[str], known: Sequence[str], noun: str) -> None:
    """Refuse names that are not known, with what may have been meant."""
    for name in names:
        if name in known:
            continue
        folded = {each.casefold(): each for each in known}
        near = [folded[key] for key in get_close_matches(name.casefold(), folded)]
        near += [each for each in known if result.question.words.get(each) == name]
        there = ", ".join(dict.fromkeys(near)) or f"{', '.join(known[:8])}, …"
        what = "is it" if near else "there are"
        raise InputError(
            f"{result.title} has no {noun} {name!r} ({what}: {there}){alike(name, known)}"
        )


def _read(result: Findings, named: NamedRule) -> tuple[Rule, ...]:
    """Return what a rule means, in bits, as one or several rules.

    What the background does not allow to follow is ⊥. Where a label may be unset, a cell that
    claims none is always accepted: so "nurse → female" could never hold. It is read as people
    mean it: whatever label is given to a nurse, it is no other than that.
    """
    space = result.space
    names = (*named.antecedent, *(named.consequent or ()))
    check_names(result, names, space.vocabulary.names, "variable")
    rule = _shortened(result, named.rule(space.vocabulary))
    unset = any(world.policy.label_unset == "accept" for world in result.each)
    if space.label is None or not (unset and result.decisions):
        return (rule,)
    if rule.antecedent & space.label_mask or space.background.entails(rule):
        return (rule,)
    left, place = rule.antecedent, None if rule.is_negative else space.label_of(rule.new)
    about = BOTTOM if rule.is_negative else rule.new & ~space.label_mask
    read = []
    for label in range(len(space.label.variables)):
        right = BOTTOM if place is not None and label != place else about
        if right:
            read.append(Rule(space.with_label(left, label), right))
    return tuple(read) or (rule,)


def _shortened(result: Findings, rule: Rule) -> Rule:
    """Return a rule whose right side cannot be as one that never occurs."""
    if rule.is_negative:
        return rule
    closure = result.space.background.closure(rule.antecedent | rule.consequent)
    return Rule(rule.antecedent, BOTTOM) if closure == BOTTOM else rule


# --- in words ---


def _holding(
    result: Findings,
    rules: Sequence[Rule],
    truth: Truth,
    count: int,
    of: int,
    kept: Sequence[Findings] | None,
) -> str:
    if all(map(result.space.background.entails, rules)):
        return "It follows from the attributes and the background alone, whatever is answered."
    where = None if kept is None else [world.world for world in kept]
    warrant = truth.warrant if truth.warrant.proved else None
    finding = " ".join(
        plain(result.telling.parts(rule, holds_in=where, warrant=warrant)) for rule in rules
    )
    if truth.outcome == "vacuous":
        finding += " It holds vacuously: what it speaks of never occurs."
    if count:
        finding += (
            f" {plural(count, 'answer')} could break it, {'none' if count > 1 else 'and'} does"
        )
        finding += "." if count > 1 else " not."
    elif of:
        finding += f" No {result.question.unit} that could break it got an answer."
    return finding


def _broken(
    result: Findings, rules: Sequence[Rule]
) -> tuple[int, int, tuple[ShownAnswer, ...], str]:
    """Return how many answers break rules, of how many they speak of; the first; in words."""
    each, space = result.each, result.space
    given = [rule.antecedent & ~space.label_mask for rule in rules]
    of = sum(
        decision.winner is not None and any(left & ~cell == 0 for left in given)
        for world in each
        for cell, decision in world.decisions.items()
    )
    if not of:
        return 0, 0, (), "It does not follow from the rules."
    breaking = sorted(
        {
            (x & ~space.label_mask, place)
            for place, world in enumerate(each)
            for rule in rules
            for x in world.breaking(rule, undecided=False)
            if is_answer(x, world)
        }
    )
    verb = "breaks" if len(breaking) == 1 else "break"
    finding = f"{len(breaking):,} of {of:,} answers {verb} it."
    answers = tuple(ShownAnswer.of(each[place], cell) for cell, place in breaking[:SHOWN])
    return len(breaking), of, answers, finding


def _open(result: Findings, rules: Sequence[Rule], truth: Truth, of: int) -> str:
    """Return what is known of a rule that is neither proved nor broken."""
    unit, sieve = result.question.unit, result.envelope.certificate.sift
    if truth.outcome == "tested":
        shown = truth.warrant.sentence if sieve is None else shown_by(truth.warrant, sieve)
        return f"Not proved. {shown}"
    if truth.silent:
        silent = f"{truth.silent:,} of {of:,} {unit}s" if of else plural(truth.silent, unit)
        return f"Not known: {silent} that it speaks of got no answer, and no other breaks it."
    asked = f"none of {of:,} {unit}s that were asked breaks it" if of else "nothing breaks it"
    if sieve is not None and all(map(result.entails, rules)):
        special = "it is a special case of a tested rule, whose bound says nothing of it"
        return f"Not known: {special}; {asked}."
    if needs := _needed(result, rules):
        return f"Open: {asked}; {needed(needs)} would list it."
    return f"Not proved: it does not follow from the rules, and {asked}."


def _needed(result: Findings, rules: Sequence[Rule]) -> int | None:
    """Return how many clean random cases would list rules that are open; None if they are not."""
    envelope = result.envelope
    background = envelope.background

    def key(rule: Rule) -> tuple[int, int]:
        whole = BOTTOM if rule.is_negative else rule.antecedent | rule.consequent
        right = BOTTOM if whole == BOTTOM else background.closure(whole)
        return background.closure(rule.antecedent), right

    needs = dict(zip(map(key, envelope.open), envelope.needs, strict=True))
    return max((needs.get(key(rule)) or 0 for rule in rules), default=0) or None


def _where_it_holds(result: Findings, rules: tuple[Rule, ...]) -> str:
    """Return in which worlds a rule holds that does not hold in all."""
    held = [w.world for w in result.worlds if truth_of_all(rules, w).holds]
    if not held:
        return f" It holds in no {result.noun}."
    of = f"{len(held)} of {len(result.worlds)} {result.noun}s"
    return f" It holds in {of}: {', '.join(held)}."


def _support(
    rules: Sequence[Rule], worlds: Sequence[Findings]
) -> tuple[int, int, tuple[ShownAnswer, ...]]:
    """Return how many answers speak for rules, of how many; the first, and the closest call."""
    each = [(world.policy, world.decisions) for world in worlds]
    evidence = evidence_for(rules, worlds[0].space, each)
    exhibits = {(e.cell, e.world): e for one in evidence for e in one.exhibits}
    shown = list(islice((e for e in exhibits.values() if e.supports), SHOWN))
    closest = min(
        (one.closest for one in evidence if one.closest is not None),
        key=lambda e: (e.margin, e.cell, e.world),
        default=None,
    )
    if closest is not None and closest not in shown:
        shown[SHOWN - 1 :] = [closest]
    answers = tuple(ShownAnswer.of(worlds[e.world], e.cell, e.margin) for e in shown)
    return sum(e.supports for e in exhibits.values()), len(exhibits), answers
