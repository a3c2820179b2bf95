"""Attribute exploration: rules are asked about, one after the other, until none is left to ask.

Ganter's algorithm. Go through the sets of variables that obey all rules accepted so far, in lectic
order. What all known examples above a set P have beyond P may follow from P: "does P always imply
it?" *Yes* is a rule of the DG basis. *No* comes with an example, which settles more than was asked.
*Don't know* leaves it open; of a conclusion of several variables, each is asked about by itself, so
that what is known of some of them is not lost.

An example may be known in part (Burmeister): it has some variables, lacks others, and of the rest
nobody knows. It refutes P → v if it has P and lacks v; what the accepted rules make of it counts.

All is a function of what was answered: what is asked next does not depend on when it is asked, and
an answer is taken back by leaving it out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from hornlens.errors import HornlensError
from hornlens.learning.protocol import (
    Answer,
    Counterexample,
    Entails,
    Holds,
    Hypothesis,
    Learned,
    Reply,
    Unknown,
)
from hornlens.logic.basis import dg_basis
from hornlens.logic.bits import BOTTOM, bits
from hornlens.logic.certificates import Certificate, explored
from hornlens.logic.closures import next_closed
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory, forward_chain


@dataclass(frozen=True)
class Example:
    """A positive, perhaps known in part: it has all of `has`, and nothing that is not in `may`."""

    has: int
    may: int

    @classmethod
    def of(cls, reply: Counterexample) -> Example:
        """Return the example of a "no"."""
        return cls(reply.example, reply.example if reply.may is None else reply.may)

    def refutes(self, rule: Rule) -> bool:
        """Say whether it is known to break the rule."""
        return rule.antecedent & ~self.has == 0 and rule.consequent & ~self.may != 0


class Conflict(HornlensError):
    """An answer that cannot be true beside what was accepted or shown before."""

    def __init__(self, message: str, rule: Rule | None = None, example: Example | None = None):
        """Say what is wrong; `rule` or `example` is what it is at odds with."""
        super().__init__(message)
        self.rule, self.example = rule, example


class Explorer:
    """Explores the rules of a domain over `width` variables, relative to a background.

    It is a learner that asks nothing but whether rules hold. Whoever answers truthfully, and never
    says "don't know", makes `basis` the DG basis of the domain. Otherwise each rule that holds
    follows from the basis and what is `open`.
    """

    def __init__(self, width: int, background: Theory | None = None, rows: Iterable[int] = ()):
        """Begin with the examples that are known already; they have to obey the background."""
        self.width, self.full = width, (1 << width) - 1
        self.background = background or Theory(width)
        self.examples: list[Example] = []
        self.accepted: list[Rule] = []
        self.declined: dict[Rule, None] = {}
        self.answers = self.sampled = 0
        self._at = 0
        self._split: set[int] = set()
        for row in dict.fromkeys(rows):
            self._show(Example(row, row))

    # --- questions ---

    def question(self) -> Rule | None:
        """Return the rule to ask about next; None: there is nothing left to ask."""
        rules, exclusive = self._rules(), self.background.exclusive
        x = self._at
        if forward_chain(rules, x, exclusive) != x:
            later = next_closed(rules, x, self.width, exclusive)
            x = later if x else forward_chain(rules, 0, exclusive)
        shown = [self._completed(example, rules) for example in self.examples]
        while x != BOTTOM:
            self._at = x
            rule = self._question_about(x, shown, rules)
            if rule is not None:
                return rule
            x = next_closed(rules, x, self.width, exclusive)
        self._at = self.full
        return None

    def _question_about(self, x: int, shown: list[Example], rules: list[Rule]) -> Rule | None:
        possible = BOTTOM
        for example in shown:
            if x & ~example.has == 0:
                possible &= example.may
        if possible == BOTTOM:
            if Rule(x, BOTTOM) not in self.declined:
                return Rule(x, BOTTOM)
            # What nothing can have beside x would say again that nothing has x.
            groups = self.background.exclusive
            possible = sum(
                1 << v
                for v in bits(self.full & ~x)
                if forward_chain(rules, x | 1 << v, groups) != BOTTOM
            )
        singles = [v for v in bits(possible & ~x) if Rule(x, x | 1 << v) not in self.declined]
        if not singles:
            return None
        if x in self._split:
            return Rule(x, x | 1 << singles[0])
        return Rule(x, x | sum(1 << v for v in singles))

    def _rules(self) -> list[Rule]:
        return [*self.background.rules, *self.accepted]

    def _completed(self, example: Example, rules: list[Rule]) -> Example:
        """Return an example with all that the rules make of it."""
        if example.has == example.may:
            return example
        groups = self.background.exclusive
        has = forward_chain(rules, example.has, groups)
        may = has
        for v in bits(example.may & ~has):
            if forward_chain(rules, has | 1 << v, groups) & ~example.may == 0:
                may |= 1 << v
        return Example(has, may)

    # --- answers ---

    def answer(self, rule: Rule, reply: Reply) -> None:
        """Take in what was said about a rule; what cannot be is a Conflict, and changes nothing."""
        if isinstance(reply, Counterexample):
            example = Example.of(reply)
            if not example.refutes(rule):
                raise Conflict("it does not break the rule", rule)
            self._show(example)
        elif isinstance(reply, Holds):
            self._accept(rule)
            self.sampled += reply.samples is not None
        else:
            self.declined[rule] = None
            if rule.consequent == BOTTOM or (rule.consequent & ~rule.antecedent).bit_count() > 1:
                self._split.add(rule.antecedent)
        self.answers += 1

    def _accept(self, rule: Rule) -> None:
        rules = [*self._rules(), rule]
        for example in self.examples:
            whole = example.has == example.may
            if example.refutes(rule) or not (whole or self._is_possible(example, rules)):
                raise Conflict("a known example breaks the rule", example=example)
        self.accepted.append(rule)

    def _show(self, example: Example) -> None:
        if example.has & ~example.may or (example.has | example.may) & ~self.full:
            raise Conflict("no such example can be")
        rules = self._rules()
        if not self._is_possible(example, rules):
            groups = (Theory(self.width, (), (g,)) for g in self.background.exclusive)
            pairs = [rule for group in groups for rule in group]
            broken = next((r for r in (*rules, *pairs) if example.refutes(r)), None)
            raise Conflict("it breaks a rule that holds", broken)
        self.examples.append(example)

    def _is_possible(self, example: Example, rules: list[Rule]) -> bool:
        return forward_chain(rules, example.has, self.background.exclusive) & ~example.may == 0

    # --- the learner's protocol ---

    def steps(self) -> Generator[Entails, Answer, Certificate]:
        """Ask until there is nothing left to ask; return what may be claimed."""
        while (rule := self.question()) is not None:
            reply = yield Entails(rule)
            assert isinstance(reply, Holds | Counterexample | Unknown)
            self.answer(rule, reply)
        return self.certificate()

    def certificate(self) -> Certificate:
        """Return what may be claimed when there is nothing left to ask."""
        return explored(self.answers, len(self.open()), self.sampled)

    def basis(self) -> Theory:
        """Return the DG basis of what was accepted, relative to the background."""
        return dg_basis(Theory(self.width, tuple(self.accepted)), self.background)

    def open(self) -> tuple[Rule, ...]:
        """Return the rules that nobody knew, and that nothing said later has settled."""
        rules = self._rules()
        known = Theory(self.width, tuple(rules), self.background.exclusive)
        shown = [self._completed(example, rules) for example in self.examples]
        single = (
            rule
            for rule in self.declined
            if rule.is_negative or (rule.consequent & ~rule.antecedent).bit_count() == 1
        )
        return tuple(
            rule
            for rule in single
            if not known.entails(rule) and not any(example.refutes(rule) for example in shown)
        )

    def learned(self) -> Learned:
        """Return what is known: the rules, and the examples that are known in full."""
        whole = tuple(e.has for e in self.examples if e.has == e.may)
        return Learned(Hypothesis(self.basis()), whole, (), ())
