"""What an extraction found: the envelope, what the target said, and on what each rule rests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hornlens.counts import plural
from hornlens.errors import HornlensError
from hornlens.formats.decisions.lists import DecisionList
from hornlens.formats.sent import Sent
from hornlens.logic.certificates import Certificate
from hornlens.logic.decisions import YES, Decision, Policy, accepts, reason_in_words
from hornlens.logic.envelope import Envelope
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.supersets import Supersets
from hornlens.logic.warrants import OPEN, Warrant
from hornlens.results.analysis.chance import chance_of, why_no_chance
from hornlens.results.analysis.choices import choices_of
from hornlens.results.analysis.disparities import Disparities, disparities_of
from hornlens.results.analysis.evidence import (
    Evidence,
    Exhibit,
    counts_for,
    evidence_for,
    rejects_in,
    room_of,
)
from hornlens.results.analysis.judged import JudgedByAnswers
from hornlens.results.analysis.left import columns_of, left_by, masks_of
from hornlens.results.analysis.ranking import order_of
from hornlens.results.analysis.rates import Rates, rates_of
from hornlens.results.documents.chance import Chance
from hornlens.results.documents.details import Details
from hornlens.results.documents.question import Question
from hornlens.results.documents.rules import RuleRow, Rules
from hornlens.results.documents.settings import Settings
from hornlens.results.wording.odds import Odds, are_probabilities
from hornlens.results.wording.pages import behind
from hornlens.results.wording.sentences import Part, Telling, plain
from hornlens.results.wording.sifting import NO_RATES

if TYPE_CHECKING:
    from hornlens.results.analysis.warnings import Warning
    from hornlens.results.documents.tables import TableDocument

Vacuity = Literal["label", "silence"]
"""Why a rule holds vacuously: what its label is, or that there are no answers."""


@dataclass(frozen=True)
class Record:
    """How a run went: what may differ in the next one."""

    started: str = ""
    seconds: float = 0.0
    asked: int = 0
    """What the target itself was asked."""
    reused: int = 0
    """What was known from the store."""


@dataclass(frozen=True)
class ShownCells:
    """How cells were shown: their prompts, or what is set in them. Unlike a function, it pickles.

    >>> from hornlens import Space
    >>> from hornlens.theory import Vocabulary
    >>> ShownCells(Space.of_variables(Vocabulary(("flies", "penguin"))))(0b11)
    ('flies, penguin',)
    """

    space: Space
    prompts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, cell: int) -> tuple[str, ...]:
        """Return how a cell was shown."""
        return self.prompts.get(cell) or (", ".join(self.space.conditions(cell)),)


@dataclass(frozen=True, repr=False)
class Findings(JudgedByAnswers):
    """The rules that a target obeys, with everything they rest on."""

    question: Question
    name: str
    """What people call the target: a model's spec."""
    identity: str | None
    """What its answers depend on; None: they cannot be told from another's."""
    policy: Policy
    settings: Settings
    envelope: Envelope
    decisions: Mapping[int, Decision]
    """What the target said, by cell."""
    show: Callable[[int], tuple[str, ...]]
    """Returns how a cell was shown to the target: its prompts, or a row of what is set."""
    scores: Mapping[str, Mapping[str, float]]
    """The model's raw scores, by prompt and candidate word; none where it named a word."""
    record: Record = Record()
    world: str = ""
    """The name of this way of asking, where it is one of several."""
    worlds: tuple[Findings, ...] = ()
    """The result of each way of asking, where there were several; the rules hold in all of them."""
    noun: str = "phrasing"
    """What people call a way of asking."""
    details: Mapping[str, Details] = field(default_factory=dict)
    """What the model said beside its scores, by prompt, where it is known."""
    possible: Envelope | None = None
    """Where answers vary: the rules that hold if what is undecided breaks none of them."""

    asked: bool = True
    """Whether a target was asked. The rules of a formula or a table were worked out instead."""
    table: TableDocument | None = None
    """The concept lattice, and what became of the columns, where the rules are those of a table."""
    context: Callable[[], TableDocument] | None = None
    """Works that out where it is not known yet: it may take longer than the rules."""
    sent: tuple[Sent, ...] = ()
    """What was sent to the model, with one full example for each phrasing; of several worlds, each
    has its own. Empty: the target does not say."""
    intersections: tuple[tuple[str, ...], ...] = ()
    """The attributes, two or more together, whose combinations of values have rates, too."""
    table_chance: Chance | None = None
    """What chance would give, where the rules are those of a table and that was asked for."""

    @cached_property
    def tabled(self) -> TableDocument | None:
        """What is known of the table beside its rules; None if they are not those of a table."""
        return self.context() if self.table is None and self.context is not None else self.table

    @property
    def certificate(self) -> Certificate:
        """What may be claimed of the rules."""
        return self.envelope.certificate

    @classmethod
    def of_envelope(
        cls,
        envelope: Envelope,
        name: str = "rules",
        identity: str | None = None,
        policy: Policy | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Return rules that rest on no answers as a result: of a formula, a table, experts.

        Args:
            envelope: The rules, and what may be claimed of them.
            name: What people call what they are of.
            identity: What the rules depend on, if that is known.
            policy: What missing labels count as.
            settings: Which rules were wanted.
        """
        return cls(
            Question(name),
            name,
            identity,
            policy or Policy(),
            settings or Settings(),
            envelope,
            {},
            ShownCells(envelope.space),
            {},
            asked=False,
        )

    @property
    def each(self) -> tuple[Findings, ...]:
        """The result of each way of asking: of the only one, this."""
        return self.worlds or (self,)

    @property
    def identity_text(self) -> str:
        """The identity, or something to call the target by where it has none."""
        return self.identity or f"function:{self.name}"

    @property
    def title(self) -> str:
        """What was asked of whom."""
        if not self.question.templates or self.question.compared is not None:
            return self.name or self.question.name
        return f"{self.question.name} on {self.name}"

    @property
    def space(self) -> Space:
        """What could be said of the target."""
        return self.envelope.space

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence for each readable rule, in the order of the rules."""
        answers = [(world.policy, world.decisions) for world in self.each]
        return evidence_for(self.envelope.readable.rules, self.space, answers)

    def accepted(self, x: Sequence[int], undecided: bool = True) -> NDArray[np.bool_]:
        """Say of interpretations whose cells were asked about whether the target accepts them.

        Of several worlds, one is enough. A cell that a world was not asked about is not accepted.
        What is not decided counts as is said.
        """
        space, found = self.space, np.zeros(len(x), dtype=np.bool_)
        cells = [each & ~space.label_mask for each in x]
        labels = [space.label_of(each) for each in x]
        asked = [YES if space.label is None else -1 if place is None else place for place in labels]
        for world in self.each:
            known = world.decisions
            decided = [known[cell].place if cell in known else -1 for cell in cells]
            there = np.array([cell in known for cell in cells], dtype=np.bool_)
            found |= accepts(world.policy, decided, asked, undecided).astype(np.bool_) & there
        return found

    def _labelled(self, cells: Iterable[int]) -> list[int]:
        """Return cells with each label, and with none."""
        space = self.space
        if space.label is None:
            return list(cells)
        places = range(len(space.label.variables))
        unset = not space.complete
        return [x for c in cells for x in (*[c] * unset, *(space.with_label(c, i) for i in places))]

    @cached_property
    def _cells(self) -> list[int]:
        """The cells that any world was asked about."""
        if len(self.each) == 1:
            return sorted(self.decisions)
        return sorted({cell for world in self.each for cell in world.decisions})

    @cached_property
    def asked_all(self) -> bool:
        """Whether every cell was asked, in every way of asking."""
        space = self.space
        if space.assumed:
            return all(cell in each.decisions for each in self.each for cell in space.cells())
        return all(len(each.decisions) == space.cell_count for each in self.each)

    @cached_property
    def vacuous(self) -> tuple[bool, ...]:
        """For each readable rule, whether it holds vacuously. Such a rule is true, and no finding.

        It holds only because of labels that are never, or always, chosen, or because no question
        that could break it got an answer.
        """
        return tuple(bool(reason) for reason in self.vacuity)

    @cached_property
    def vacuity(self) -> tuple[Vacuity | None, ...]:
        """For each readable rule, why it holds vacuously; None: it does not."""
        given = (decision for each in self.each for decision in each.decisions.values())
        choices = choices_of(self.space, given)
        reasons: list[Vacuity | None] = []
        for rule, evidence in zip(self.envelope.readable, self.evidence, strict=True):
            if choices.explain(rule, self.space):
                reasons.append("label")
            elif self.asked and not any(e.decision.answered for e in self.could_break(evidence)):
                reasons.append("silence")
            else:
                reasons.append(None)
        return tuple(reasons)

    @cached_property
    def shares(self) -> Mapping[int, float]:
        """For each cell, how much of the model's probability the candidates hold, where known.

        The mean over the prompts of the cell.
        """
        found: dict[int, list[float]] = {}
        for each in self.each:
            for cell in each.decisions if each.details else ():
                known = (each.details.get(prompt) for prompt in each.show(cell))
                shares = [d.share for d in known if d is not None and d.share is not None]
                if shares:
                    found.setdefault(cell, []).extend(shares)
        return {cell: sum(shares) / len(shares) for cell, shares in found.items()}

    def share_of(self, evidence: Evidence) -> float | None:
        """Return the mean of `shares` over what a rule speaks of; None if it is not known.

        Where a sift chose the cells, a mean over some of them says nothing.
        """
        if not self.has_rates and not self._warrants.get(evidence.rule, OPEN).proved:
            return None
        known = [self.shares[e.cell] for e in evidence.exhibits if e.cell in self.shares]
        return sum(known) / len(known) if known else None

    @cached_property
    def excluded(self) -> frozenset[int]:
        """What the target rejects, as far as it was asked, and no rule does.

        After an exact run: all non-Horn negatives.
        """
        cells = Supersets(self._cells, self.space.width)
        left = left_by(self.envelope.basis.rules, self.space, cells)
        if self.space.complete and self.space.label is not None:
            left[:, 0] = False  # no cell is without a label
        for world in self.each:
            known = [world.decisions.get(cell) for cell in cells.masks]
            decided = np.array([-1 if one is None else one.place for one in known])[:, None]
            there = np.array([one is not None for one in known], dtype=np.bool_)[:, None]
            left &= ~(there & accepts(world.policy, decided, columns_of(self.space)))
        return frozenset(masks_of(self.space, cells, left))

    def breaking(self, rule: Rule, undecided: bool = True) -> list[int]:
        """Return what the target accepts and the rule rejects, as far as it was asked."""
        given = rule.antecedent & ~self.space.label_mask
        about = self._labelled(cell for cell in self._cells if given & ~cell == 0)
        asked = [x for x in about if not rule.satisfied_by(x)]
        accepted = self.accepted(asked, undecided).tolist()
        return [x for x, yes in zip(asked, accepted, strict=True) if yes]

    def reply_to(self, cell: int) -> str:
        """Return what the target said of a cell, in its own words; or why it said nothing."""
        decision, label = self.decisions[cell], self.space.label
        if decision.winner is None:
            return f"no answer ({reason_in_words(decision.abstained)})"
        if label is None:
            return "accepted" if decision.winner == YES else "rejected"
        name = label.variables[decision.winner]
        return self.question.words.get(name, name)

    @property
    def abstentions(self) -> list[tuple[int, Decision]]:
        """The cells in which the target gave no answer, with the reason; in every world."""
        said = ((c, d) for world in self.each for c, d in sorted(world.decisions.items()))
        return [(cell, decision) for cell, decision in said if decision.winner is None]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The places of the readable rules, the strongest first, as the settings rank them."""
        if not self.asked and (known := self.envelope.support) is not None:
            return tuple(sorted(range(len(known)), key=lambda place: -known[place]))
        if not self.has_rates and self.settings.rank == "support":
            return tuple(range(len(self.envelope.readable)))  # the broadest come first
        if not self.has_rates and self.settings.rank == "margin":
            closest = [min(evidence.margins, default=0.0) for evidence in self.evidence]
            return tuple(sorted(range(len(closest)), key=lambda place: -closest[place]))
        return order_of(self.evidence, self.settings.rank, self.space, self._cells)

    @cached_property
    def telling(self) -> Telling:
        """All that the meaning of the rules depends on."""
        return Telling(
            self.space,
            self.question,
            self.policy,
            self.envelope.certificate.proved,
            tuple(world.world for world in self.worlds),
            self.noun,
            any(d.repeats for world in self.each for d in world.decisions.values()),
            self.envelope.certificate.noise is not None,
            self.asked,
            self.envelope.certificate.word is not None,
            self.envelope.certificate.unanswered,
            self.scored,
            self.in_odds,
        )

    @cached_property
    def scored(self) -> bool:
        """Whether every answer is the best of its scores; not so if one was named, or repeated."""
        given = [d for each in self.each for d in each.decisions.values()]
        answers = [d for d in given if d.winner is not None]
        measured = {bool(d.scores) and not d.repeats for d in answers or given}
        without = self.question.compared is not None or self.space.label is None
        return measured == {True} and not without

    @cached_property
    def in_odds(self) -> bool:
        """Whether the scores are log-probabilities, so that leads are odds."""
        every = (d.scores for each in self.each for d in each.decisions.values())
        return self.scored and self.policy.calibration == "none" and are_probabilities(every)

    def odds_of(self, evidence: Evidence) -> Odds | None:
        """Return the odds by which a rule holds, where every case that could break it has some."""
        if not self.in_odds or self.space.label is None:
            return None
        could = self.could_break(evidence)
        margins = [e.margin for e in could if e.margin is not None]
        if not margins or len(margins) < len(could):
            return None
        proved = self._warrants.get(evidence.rule, OPEN).proved
        return Odds.of(margins, self.has_rates or proved)

    def could_break(self, evidence: Evidence) -> list[Exhibit]:
        """Return the recorded answers, or missing ones, that could have broken a rule."""
        rule, space = evidence.rule, self.space
        return [e for e in evidence.exhibits if rejects_in(rule, space, e.cell)]

    def parts(self, evidence: Evidence) -> list[Part]:
        """Return what a rule says in words, in parts that pages may mark up."""
        key = id(evidence)  # which stays its own as long as it is kept here
        if key not in self._parts:
            broken, of = evidence.broken, evidence.prompts
            warrant = None if broken else self._warrants.get(evidence.rule)
            if warrant is not None and warrant.proved and not self._is_covered(evidence):
                warrant = None  # its canonical form is proved, which says less without the others
            odds = None if broken else self.odds_of(evidence)
            could = self.could_break(evidence)
            cases = len(could) if all(e.decision.winner is not None for e in could) else None
            if warrant is not None and warrant.tested:
                of, cases = self.cases_of(evidence), None
            sentence = self.telling.parts(
                evidence.rule,
                broken,
                of,
                warrant=warrant,
                odds=odds,
                cases=cases or None,
                unmet=None if broken else self._unmet(evidence),
            )
            self._parts[key] = evidence, sentence
        return self._parts[key][1]

    def _unmet(self, evidence: Evidence) -> tuple[int, int] | None:
        """Return how many cells of how many have no answer, where a rule lets its answer be given.

        None if it is given there, or each of them has an answer, or not all were asked.
        """
        rule, space = evidence.rule, self.space
        label = space.label_of(rule.antecedent)
        if label is None or not self.asked_all or rule.is_negative or rule.new & space.label_mask:
            return None
        within = [e for e in evidence.exhibits if not rejects_in(rule, space, e.cell)]
        if any(e.decision.winner == label for e in within):
            return None
        silent = sum(e.decision.winner is None for e in within)
        return (silent, len(within)) if silent else None

    def _is_covered(self, evidence: Evidence) -> bool:
        """Return whether every cell that could break a rule was asked, or no more is claimed."""
        if self.telling.proved or self.asked_all:
            return True
        room = room_of(evidence.rule, self.space)
        return room is None or len(self.could_break(evidence)) >= room * len(self.each)

    @cached_property
    def _warrants(self) -> dict[Rule, Warrant]:
        """What stands behind each rule, where more can be said of one than of all together."""
        envelope = self.envelope
        if envelope.certificate.unanswered:
            return {}
        pairs = zip(envelope.readable, envelope.warrants, strict=True)
        return {rule: warrant for rule, warrant in pairs if warrant.known}

    def cases_of(self, evidence: Evidence) -> int:
        """Return how many different cells that could break a rule were asked."""
        rule, space = evidence.rule, self.space
        return len({e.cell for e in evidence.exhibits if rejects_in(rule, space, e.cell)})

    def behind(self, place: int) -> tuple[str, str]:
        """Return what stands behind a readable rule, in a few words and in a sentence."""
        evidence, certificate = self.evidence[place], self.envelope.certificate
        cases = room = None
        if certificate.sift is not None:
            cases, room = self.cases_of(evidence), room_of(evidence.rule, self.space)
        warrant = self.envelope.warrants[place]
        return behind(warrant, certificate, evidence.broken, self.asked, cases, room)

    def mean_margin_of(self, place: int) -> float | None:
        """Return the mean margin of a readable rule; None where its cases were chosen."""
        is_known = self.has_rates or self.envelope.warrants[place].proved
        return self.evidence[place].mean_margin if is_known else None

    @cached_property
    def has_rates(self) -> bool:
        """Whether shares among the answers say something of the target.

        Not where a sift chose the cells for what they might break, unless it asked all of them.
        """
        return self.envelope.sifted is None or self.asked_all

    @cached_property
    def _parts(self) -> dict[int, tuple[Evidence, list[Part]]]:
        return {}

    def sentence(self, evidence: Evidence) -> str:
        """Return what a rule says in words: true of the answers, and no more than was shown."""
        return plain(self.parts(evidence))

    @cached_property
    def rules(self) -> Rules:
        """The rules as a table, the strongest first."""
        return Rules([self.row(place) for place in self.order])

    @cached_property
    def open(self) -> Rules:
        """The rules that no recorded answer breaks and nothing shows, as a table of the same kind.

        Those of a sift are the broadest ones, each with how many clean random cases would list it.
        """
        envelope = self.envelope
        if not envelope.open:
            return Rules([])
        answers = [(world.policy, world.decisions) for world in self.each]
        counts = counts_for(envelope.open, self.space, answers)
        unit = f"{self.question.unit}s" if self.asked else "rows"
        return Rules(
            [
                RuleRow(
                    named,
                    count.support,
                    count.prompts,
                    None,
                    None,
                    plain(self.telling.parts(rule, warrant=OPEN)),
                    named,
                    warrant=OPEN,
                    label=self._label_of(rule),
                    unit=unit,
                    cells=count.cells if self.asked else None,
                    needs=needs,
                )
                for rule, count, needs in zip(envelope.open, counts, envelope.needs, strict=True)
                for named in [NamedRule.of(rule, envelope.vocabulary)]
            ]
        )

    def row(self, place: int) -> RuleRow:
        """Return the line of a rule in the table, by its place among the readable rules."""
        evidence, (short, full) = self.evidence[place], self.envelope.named[place]
        counted = None if self.asked else self.envelope.support
        return RuleRow(
            short,
            evidence.support if counted is None else counted[place],
            evidence.prompts if counted is None else counted[place],
            self.mean_margin_of(place),
            min(evidence.margins, default=None),
            self.sentence(evidence),
            full,
            self.vacuous[place],
            self.share_of(evidence),
            self.envelope.warrants[place],
            self._label_of(evidence.rule),
            f"{self.question.unit}s" if counted is None else "rows",
            len({exhibit.cell for exhibit in evidence.exhibits}) if self.asked else None,
            could_break=len(self.could_break(evidence)) if self.asked else None,
            by_chance=partial(self.p_value_of, place),
        )

    def _label_of(self, rule: Rule) -> str:
        """Return the label that a rule implies; "" if it implies none."""
        label, space = None if rule.is_negative else self.space.label_of(rule.new), self.space
        return "" if label is None or space.label is None else space.label.variables[label]

    @cached_property
    def rates(self) -> Rates:
        """How often each value of each attribute gets each label, and how often it changes it.

        Where a sift chose the cells, there are none: a HornlensError.
        """
        if not self.has_rates:
            raise HornlensError(NO_RATES)
        return rates_of(self.space, [(each.world, each.decisions) for each in self.each])

    def disparities(
        self, *attributes: str, level: float = 0.95, as_sample: bool = False
    ) -> Disparities:
        """Return how far the rates of an attribute's values are apart, with intervals.

        Args:
            *attributes: An attribute; several are taken together: all combinations of values.
            level: That of the intervals; those of differences and ratios hold all together.
            as_sample: Give intervals even if rates are exact, as if more could have been asked.

        Raises:
            HornlensError: where a sift chose the cells, or there is no such attribute.
        """
        if not self.has_rates:
            raise HornlensError(NO_RATES)
        return disparities_of(self, self._axes_of(attributes), level, as_sample)

    def _axes_of(self, attributes: Sequence[str]) -> list[int]:
        from hornlens.results.analysis.judging import check_names

        names = [each.name for each in self.space.attributes]
        check_names(self, attributes, names, "attribute")
        if not attributes or len(set(attributes)) < len(attributes):
            raise HornlensError("rates need the names of different attributes")
        return [names.index(name) for name in attributes]

    def with_intersections(self, *groups: Sequence[str]) -> Self:
        """Return the result with rates of combinations of values: ("race", "gender"), and others.

        They are then in its files, and on its page.
        """
        for group in groups:
            self._axes_of(group)
            if len(group) < 2:
                raise HornlensError("an intersection needs two attributes or more")
        return replace(self, intersections=tuple(tuple(group) for group in groups))

    @cached_property
    def all_disparities(self) -> tuple[Disparities, ...]:
        """Those of each attribute, and of the intersections that were asked for."""
        single = ((attribute.name,) for attribute in self.space.attributes)
        return tuple(self.disparities(*group) for group in (*single, *self.intersections))

    def chance(self, permutations: int | None = None, seed: int = 0) -> Chance:
        """Return what a target that answers at random, with the same rates of labels, would give.

        The recorded answers are permuted among the cells; nothing is asked.

        Args:
            permutations: How many; by default as many as take no time to speak of, 999 or 199.
            seed: The same seed gives the same permutations.

        Raises:
            HornlensError: where it cannot be told; `why_no_chance` says why.
        """
        if self.table_chance is not None:
            return self.table_chance
        if permutations is None and not seed:
            return self._chance
        return chance_of(self, permutations, seed)

    @cached_property
    def _chance(self) -> Chance:
        return chance_of(self)

    @cached_property
    def why_no_chance(self) -> str:
        """Why nothing can be said of chance; "" if `chance` can."""
        return why_no_chance(self)

    def p_value_of(self, place: int) -> float | None:
        """Return how likely chance gives a rule as unlikely as a readable one; None if unknown."""
        if self.table_chance is not None:
            return self.table_chance.p_values[place]
        return None if self.why_no_chance else self._chance.p_values[place]

    @cached_property
    def warnings(self) -> tuple[Warning, ...]:
        """What to know before the rules are read: what they rest on that is weak or odd."""
        from hornlens.results.analysis.warnings import warnings_of

        return warnings_of(self)

    def strongest_first(self) -> list[Evidence]:
        """Return the evidence in the order of `rules`."""
        return [self.evidence[place] for place in self.order]

    def findings(self) -> list[Evidence]:
        """Return the evidence of the rules that are not vacuous, in the order of `rules`."""
        return [self.evidence[place] for place in self.order if not self.vacuous[place]]

    def decision_list(self, otherwise: str | None = None) -> DecisionList:
        """Return the rules as what decides a row: only those of a classifier do."""
        raise HornlensError(
            f"the rules of {self.name} decide no rows, as these formats do: they are for rules of "
            "a classifier, from `hornlens explain`"
        )

    def entails(self, rule: Rule | NamedRule | str) -> bool:
        """Say whether a rule follows from those found, given the background.

        Text is read as a rule: ``result.entails("nurse & male -> false")``.
        """
        return self.envelope.entails(rule)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but what can be worked out again."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        if not is_dataclass(self.show):  # a method of the target, which may not pickle
            shown = {cell: self.show(cell) for cell in self._cells}
            state["show"] = ShownCells(self.space, shown)
        return state

    def __repr__(self) -> str:
        """Say what it is in a line."""
        found = f"{plural(len(self.envelope.basis), 'rule')}, {self.envelope.certificate.kind}"
        return f"<{type(self).__name__}: {self.title}, {found}>"
