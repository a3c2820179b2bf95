"""Experts: whoever can be asked whether a rule holds. Targets, language models, several at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Literal, NamedTuple, Protocol, TypeAlias

from hornlens.errors import InputError
from hornlens.exact.readings import reading
from hornlens.exploring.variables import Variables
from hornlens.extraction.asking import Questions
from hornlens.learning.protocol import (
    Counterexample,
    EntailmentOracle,
    Holds,
    Reply,
    Unknown,
)
from hornlens.logic.batch import unpack
from hornlens.logic.bits import BOTTOM, bits, mask_of
from hornlens.logic.decisions import Policy
from hornlens.logic.rule import Rule
from hornlens.logic.vocabulary import Vocabulary
from hornlens.oracles.entailment import RowsEntailment
from hornlens.targets.answers import Answers
from hornlens.targets.asking import check_scored, decision_of
from hornlens.targets.protocol import Target

LIMIT = 200_000
"""Up to so many cells of a target are all decided; of more, samples are drawn."""
SAMPLES = 1_000
"""How many are drawn for a question, if nothing else is said."""
How: TypeAlias = Literal["first", "all"]
"""Of several experts, the first who knows decides; or all are asked, and one "no" is enough."""


class Expert(EntailmentOracle, Protocol):
    """Somebody who says whether rules hold, and has a name."""

    @property
    def name(self) -> str:
        """How answers are signed."""
        ...


@dataclass(frozen=True)
class Named:
    """An entailment oracle under a name; its variables may stand in another order, or be more."""

    name: str
    oracle: EntailmentOracle
    ours: Vocabulary
    theirs: Vocabulary

    def __post_init__(self) -> None:
        """Refuse an expert who does not know a variable."""
        for name in self.ours.names:
            if name not in self.theirs:
                raise InputError(f"expert {self.name} knows nothing of the variable {name!r}")

    @cached_property
    def _places(self) -> tuple[int, ...]:
        return tuple(self.theirs.index(name) for name in self.ours.names)

    def entails(self, rule: Rule) -> Reply:
        """Ask in their variables; what they show is cut down to ours."""
        if self.ours == self.theirs:
            return self.oracle.entails(rule)
        reply = self.oracle.entails(Rule(self._to_theirs(rule.antecedent), self._head(rule)))
        if not isinstance(reply, Counterexample):
            return reply
        may = None if reply.may is None else self._to_ours(reply.may)
        return Counterexample(self._to_ours(reply.example), may)

    def _head(self, rule: Rule) -> int:
        return BOTTOM if rule.is_negative else self._to_theirs(rule.consequent)

    def _to_theirs(self, x: int) -> int:
        return mask_of(self._places[i] for i in bits(x))

    def _to_ours(self, x: int) -> int:
        return mask_of(i for i, place in enumerate(self._places) if x >> place & 1)


class TargetEntailment:
    """Asks a target: all its cells, if there are not too many; else random ones above a rule.

    A "no" is certain: an example was accepted. A "yes" after samples says how many there were.
    """

    def __init__(
        self,
        target: Target,
        policy: Policy | None = None,
        samples: int = SAMPLES,
        limit: int = LIMIT,
        rng: Random | None = None,
    ):
        """Nothing is asked yet. Without a policy, the target's own if it has one."""
        chosen = policy or getattr(target, "policy", None) or Policy()
        self.space = target.space
        self.questions = Questions(target, chosen)
        self.samples, self.limit, self.rng = samples, limit, rng or Random(0)

    @cached_property
    def _all(self) -> RowsEntailment:
        self.questions.decide(list(self.space.cells()))
        labelled = reading(self.questions.knowledge)
        return RowsEntailment(unpack(self.space.masks()[labelled.positive]), self.space.width)

    def entails(self, rule: Rule) -> Reply:
        """Look for an accepted interpretation that breaks the rule."""
        if self.space.count <= self.limit:
            return self._all.entails(rule)
        drawn = dict.fromkeys(self._above(rule.antecedent) for _ in range(self.samples))
        batch = [x for x in drawn if x is not None and not rule.satisfied_by(x)]
        for x, accepted in zip(batch, self.questions.ask(batch), strict=True):
            if accepted:
                return Counterexample(x)
        return Holds(self.samples)

    def _above(self, x: int) -> int | None:
        """Draw an interpretation that has all of `x`; None if what was drawn breaks a rule."""
        drawn = self.space.sample(self.rng)
        for axis, group in enumerate(self.space.groups):
            if not x & group:
                continue
            choice = x & group
            if self.space.complete and axis < len(self.space.attributes):
                fitting = [leaf for leaf in self.space.leaves[axis] if not choice & ~leaf]
                if not fitting:
                    return None
                choice = self.rng.choice(fitting)
            drawn = drawn & ~group | choice
        return drawn if drawn in self.space else None


class ModelExpert:
    """Asks a language model in words. It shows no examples: a "no" tells of one what was asked."""

    def __init__(self, answers: Answers, variables: Variables):
        """Keep how to ask; nothing is asked yet."""
        self.answers, self.variables = answers, variables
        self.full = (1 << variables.space.width) - 1

    @property
    def name(self) -> str:
        """The model's spec."""
        return self.answers.model.name

    def entails(self, rule: Rule) -> Reply:
        """Ask about each conclusion by itself."""
        if rule.is_negative:
            return self._never(rule)
        heads = list(bits(rule.new))
        verdicts = self._verdicts([self._prompt(rule.antecedent, head) for head in heads])
        if False in verdicts:
            lacks = heads[verdicts.index(False)]
            return Counterexample(rule.antecedent, self.full & ~(1 << lacks))
        return Unknown() if None in verdicts else Holds()

    def _never(self, rule: Rule) -> Reply:
        if not rule.antecedent:
            return Counterexample(0, self.full)  # that there is something needs no model
        wording = self.variables.asking.something.replace("{if}", self._words(rule.antecedent))
        (verdict,) = self._verdicts([wording])
        if verdict is None:
            return Unknown()
        return Counterexample(rule.antecedent, self.full) if verdict else Holds()

    def _prompt(self, x: int, head: int) -> str:
        asking = self.variables.asking
        then = self._words(1 << head)
        if not x:
            return asking.everything.replace("{then}", then)
        return asking.implies.replace("{if}", self._words(x)).replace("{then}", then)

    def _words(self, x: int) -> str:
        return " and ".join(self.variables.text(n) for n in self.variables.vocabulary.names_of(x))

    def _verdicts(self, prompts: Sequence[str]) -> list[bool | None]:
        """Return of each prompt whether the answer is yes; None: neither, or by too little."""
        policy = Policy(margin=self.variables.asking.margin)
        if self.answers.sampled:
            check_scored(self.name, policy, 1)
        answers = self.answers.ask(prompts)
        if any(answer.named is not None for answer in answers):
            check_scored(self.name, policy, 1)
        winners = [decision_of(answer, policy).winner for answer in answers]
        return [None if winner is None else winner == 0 for winner in winners]


@dataclass(frozen=True)
class FunctionExpert:
    """A Python function: it gets a rule and gives a Reply."""

    call: Callable[[Rule], Reply]
    name: str = "function"

    def entails(self, rule: Rule) -> Reply:
        """Call it."""
        return self.call(rule)


class Consulted(NamedTuple):
    """What experts said of a rule, who of them, and who said otherwise."""

    reply: Reply
    by: str
    against: tuple[str, ...] = ()


@dataclass
class Experts:
    """Several experts, asked in order.

    `first`: the first who knows decides. `all`: everybody is asked until one knows an example that
    breaks the rule, for that settles it; who had said yes to it is named in `against`.
    """

    experts: Sequence[Expert]
    how: How = "first"
    last: Consulted | None = field(default=None, repr=False)

    def entails(self, rule: Rule) -> Reply:
        """Ask them; what they said last, and who, is in `last`."""
        self.last = self.consult(rule)
        return self.last.reply

    def consult(self, rule: Rule) -> Consulted:
        """Ask them about a rule."""
        agreed: list[tuple[Reply, str]] = []
        for expert in self.experts:
            reply = expert.entails(rule)
            if isinstance(reply, Unknown):
                continue
            if isinstance(reply, Counterexample) or self.how == "first":
                return Consulted(reply, expert.name, tuple(name for _, name in agreed))
            agreed.append((reply, expert.name))
        if not agreed:
            return Consulted(Unknown(), ", ".join(expert.name for expert in self.experts))
        return Consulted(agreed[0][0], ", ".join(name for _, name in agreed))
