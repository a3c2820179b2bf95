"""The envelope: the rules of a target, both canonical and readable, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hornlens.counts import plural
from hornlens.logic.almost import AlmostRules
from hornlens.logic.bits import BOTTOM, bits, canonical
from hornlens.logic.certificates import EXACT, Certificate
from hornlens.logic.levels import Levels
from hornlens.logic.named import NamedRule
from hornlens.logic.readable import readable
from hornlens.logic.rule import Rule
from hornlens.logic.sifting import SiftRecord
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.logic.warrants import Warrant

EXAMPLES = 10
"""How many non-Horn negatives are shown."""


@dataclass(frozen=True)
class NonHorn:
    """The non-Horn negatives of a target: what its envelope cannot reject.

    `count` is None where there are more than could be counted; then `at_least` many were seen.
    """

    count: int | None = 0
    examples: tuple[int, ...] = ()
    at_least: int = 0

    @classmethod
    def of(cls, negatives: Collection[int], complete: bool = True) -> NonHorn:
        """Return the number of these (if `complete`, of all), and the smallest as examples."""
        examples = tuple(sorted(negatives, key=canonical)[:EXAMPLES])
        return cls(len(negatives) if complete else None, examples, len(negatives))


@dataclass(frozen=True)
class LearnedRules:
    """The hypothesis of a learner, as a basis, and what its oracle claims of it."""

    basis: Theory
    certificate: Certificate


@dataclass(frozen=True, repr=False)
class Envelope:
    """The DG basis of a target's Horn consequences relative to a space, and its readable form.

    `readable` has the rules of `basis` in the same order; `support`, where known, counts for each
    the positive examples that it speaks of. `almost` and `levels`, where they were asked for, say
    what nearly holds, and how few rules say most of it: neither is part of the envelope.

    >>> from hornlens import FunctionTarget, Space, extract
    >>> from hornlens.theory import Vocabulary
    >>> space = Space.of_variables(Vocabulary(("flies", "penguin")))
    >>> target = FunctionTarget(lambda names: "penguin" not in names or "flies" not in names, space)
    >>> extract(target).envelope
    <Envelope: 1 rule over 2 variables, exact>
    >>> extract(target).envelope.entails("penguin & flies -> false")
    True
    """

    space: Space
    basis: Theory
    readable: Theory
    certificate: Certificate = EXACT
    non_horn: NonHorn = NonHorn()
    support: Sequence[int] | None = None
    statistics: Mapping[str, Any] = field(default_factory=dict)
    open: tuple[Rule, ...] = ()
    """Rules that no recorded answer breaks, and nothing proves."""
    almost: AlmostRules | None = None
    levels: Levels | None = None
    own_warrants: tuple[Warrant, ...] | None = None
    """What stands behind each rule, where they differ."""
    hypothesis: LearnedRules | None = None
    """What a learner took for true when it ended, whatever became of its rules."""
    sifted: SiftRecord | None = None
    """How a sift went, if the rules were sifted."""

    @cached_property
    def learned(self) -> Envelope:
        """The envelope as a learner left it, for studies of learners: nothing is claimed of it."""
        if self.hypothesis is None:
            return self
        basis, certificate = self.hypothesis.basis, self.hypothesis.certificate
        return replace(
            self,
            basis=basis,
            readable=readable(basis, self.space.background),
            certificate=certificate,
            support=None,
            own_warrants=None,
            open=(),
        )

    def __post_init__(self) -> None:
        """Let the certificate count the rules that are here."""
        counted = replace(self.certificate, rules=len(self.basis))
        object.__setattr__(self, "certificate", counted)

    @property
    def warrants(self) -> tuple[Warrant, ...]:
        """What stands behind each rule; without more, what stands behind the weakest of them."""
        if self.own_warrants is not None:
            return self.own_warrants
        return (Warrant(self.certificate.weakest),) * len(self.basis)

    @property
    def needs(self) -> tuple[int | None, ...]:
        """For each open rule how many clean random cases would list it; None: nobody knows."""
        known = () if self.sifted is None else self.sifted.needs
        return ((None,) * (len(self.open) - len(known)) + known)[: len(self.open)]

    @classmethod
    def of(
        cls, space: Space, basis: Theory, antecedents: Sequence[int] | None = None, **rest: Any
    ) -> Envelope:
        """Return the envelope of a basis, its readable form computed, or of given antecedents.

        What is proved is put shortly by what is proved: another rule that is only tested says that
        cells do not occur which nobody has asked.
        """
        warrants: Sequence[Warrant] = rest.get("own_warrants") or ()
        if antecedents is None and len({warrant.proved for warrant in warrants}) > 1:
            antecedents = _by_their_like(basis, space.background, warrants)
        return cls(space, basis, readable(basis, space.background, antecedents), **rest)

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of the variables."""
        return self.space.vocabulary

    @property
    def background(self) -> Theory:
        """What is taken for granted: never part of the basis."""
        return self.space.background

    def entails(self, rule: Rule | NamedRule | str) -> bool:
        """Say whether a rule follows from the basis and the background; text is read as a rule."""
        if isinstance(rule, str):
            rule = NamedRule.parse(rule)
        if isinstance(rule, NamedRule):
            rule = rule.rule(self.vocabulary)
        return (self.basis + self.background).entails(rule)

    def holds_vacuously(self, rule: Rule) -> bool:
        """Say of a rule that holds whether it does so only because of what never occurs.

        Nothing that has its antecedent is accepted, though that is not what the rule says; or its
        label is never given, or no other is: whatever else the antecedent asks for.
        """
        known, labels = self.basis + self.background, self.space.label_mask

        def never(x: int) -> bool:
            return known.closure(x) == BOTTOM

        answer, about = rule.antecedent & labels, rule.antecedent & ~labels
        if rule.is_negative:
            return bool(answer and about) and (never(answer) or never(about))
        given = rule.new & labels
        others = [1 << bit for bit in bits(labels & ~given)]
        always = bool(given and rule.antecedent) and all(map(never, others))
        return always or never(rule.antecedent)

    @cached_property
    def named(self) -> tuple[tuple[NamedRule, NamedRule], ...]:
        """Each rule in names, in its readable and in its canonical form."""
        pairs = zip(self.readable, self.basis, strict=True)
        names = self.vocabulary
        return tuple(
            (NamedRule.of(short, names), NamedRule.of(full, names)) for short, full in pairs
        )

    def __repr__(self) -> str:
        """Say what it is in a line."""
        size = f"{plural(len(self.basis), 'rule')} over {plural(self.space.width, 'variable')}"
        return f"<Envelope: {size}, {self.certificate.kind}>"


def _by_their_like(basis: Theory, background: Theory, warrants: Sequence[Warrant]) -> list[int]:
    """Return short antecedents: of proved rules by proved ones, of the others by all."""
    short = [rule.antecedent for rule in readable(basis, background)]
    places = [i for i, warrant in enumerate(warrants) if warrant.proved]
    proved = Theory(basis.width, tuple(basis.rules[i] for i in places))
    for i, rule in zip(places, readable(proved, background), strict=True):
        short[i] = rule.antecedent
    return short
