"""Concluding: from what is known to rules with warrants. A pure function of knowledge.

What ended a run (done, time, money, questions, Ctrl-C, an abstaining model) changes what is known,
and never which code decides what may be claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hornlens.exact.engine import run
from hornlens.exact.grid import GridEngine, LabelledSpace
from hornlens.exact.readings import reading
from hornlens.learning.strategies import Proposal
from hornlens.limits import Limits, Reason
from hornlens.logic.basis import dg_basis
from hornlens.logic.bits import BOTTOM, intersection
from hornlens.logic.certificates import EXACT, Certificate
from hornlens.logic.envelope import Envelope, LearnedRules, NonHorn
from hornlens.logic.grounds import NOTHING, Complete, Ending, Joint, Noise, Sieve
from hornlens.logic.knowledge import Knowledge, count_above
from hornlens.logic.readable import readable
from hornlens.logic.rule import Rule
from hornlens.logic.sifting import Sifted
from hornlens.logic.supersets import Supersets
from hornlens.logic.theory import Theory
from hornlens.logic.warrants import PROVED, Warrant

GRID_LIMIT = 1 << 20
"""Up to so many interpretations, all rules that are certain are found."""
FINISHING = 10.0
"""Seconds that may still be spent on the rules, when a run has been ended."""


@dataclass(frozen=True)
class Wanted:
    """Which rules are wanted: with at most so many conditions, that speak of at least so many.

    Support is counted in `unit`s, each cell once in each of the worlds.
    """

    max_conditions: int | None = None
    min_support: int | None = None
    unit: str = "cell"

    @property
    def complete(self) -> Complete:
        """What is promised, where all is known."""
        bounded = self.max_conditions is not None or self.min_support is not None
        return Complete(
            every=not bounded,
            max_conditions=self.max_conditions,
            min_support=self.min_support,
            unit=f"{self.unit}s" if self.min_support is not None else "",
        )


def assuming(envelope: Envelope) -> Envelope:
    """Return an envelope whose certificate says that rules were taken for granted."""
    scope = replace(envelope.certificate.scope, assumed=True)
    return replace(envelope, certificate=replace(envelope.certificate, scope=scope))


@dataclass(frozen=True)
class Conclusion:
    """The rules that may be claimed, and the possible ones where they are more."""

    envelope: Envelope
    possible: Envelope | None = None
    labelled: LabelledSpace | None = None
    """All that may be accepted, where every cell was asked."""

    def given_background(self) -> Conclusion:
        """Return the same, with certificates that say that rules were taken for granted."""
        possible = None if self.possible is None else assuming(self.possible)
        return replace(self, envelope=assuming(self.envelope), possible=possible)

    def alone(self, knowledge: Knowledge) -> Conclusion:
        """Return what is known of one of several ways of asking that were sifted together."""
        certificate = self.envelope.certificate
        sift = None if certificate.sift is None else replace(certificate.sift, alone=True)
        own = replace(certificate, sift=sift, answered=knowledge.answered, sources=None)
        return Conclusion(replace(self.envelope, certificate=own))


def conclude(
    knowledge: Knowledge,
    wanted: Wanted,
    proposal: Proposal | None = None,
    ended: Reason | None = None,
    limits: Limits | None = None,
    noise: Noise | None = None,
) -> Conclusion:
    """Return what may be claimed of a target of which so much is known.

    A `proposal` is judged rule by rule where not all is known. `ended` says why no more was asked;
    `limits` bound the work here. With `noise`, answers vary, and what is undecided is told apart.
    """
    conclusion = _conclude(knowledge, wanted, proposal, ended, limits, noise)
    return conclusion.given_background() if knowledge.space.assumed else conclusion


def _conclude(
    knowledge: Knowledge,
    wanted: Wanted,
    proposal: Proposal | None,
    ended: Reason | None,
    limits: Limits | None,
    noise: Noise | None,
) -> Conclusion:
    """Return the same, whether or not some rules were taken for granted."""
    work = _Concluding(knowledge, wanted, proposal or Proposal(), ended, limits)
    if proposal is not None and proposal.sifted is not None:
        return Conclusion(work.sifted(proposal.sifted))
    labelled = reading(knowledge) if knowledge.unasked == 0 else None
    envelope = work.partly_known() if labelled is None else work.all_known(labelled)
    envelope = replace(
        envelope, certificate=replace(envelope.certificate, answered=knowledge.answered)
    )
    if noise is None:
        return Conclusion(envelope, labelled=labelled)
    certificate = replace(_settled_part(envelope.certificate, wanted), noise=noise)
    if ended is not None and noise.undecided:  # what is undecided might have been decided
        certificate = replace(certificate, ended=Ending(ended))
    possible = None
    if knowledge.space.count <= GRID_LIMIT or knowledge.unasked == 0:
        accepted = reading(knowledge, may=False)
        possible = replace(_whole(accepted, wanted, knowledge, None), certificate=certificate)
    return Conclusion(replace(envelope, certificate=certificate), possible)


def _settled_part(certificate: Certificate, wanted: Wanted) -> Certificate:
    """Return what is left of a claim where answers vary: only the possible rules are complete.

    They are that only where everything was asked.
    """
    is_part = certificate.ended or certificate.unasked
    complete = NOTHING if is_part else replace(wanted.complete, every=False)
    return replace(certificate, complete=complete)


@dataclass(frozen=True)
class _Concluding:
    knowledge: Knowledge
    wanted: Wanted
    proposal: Proposal
    ended: Reason | None
    limits: Limits | None

    # --- everything was asked ---

    def all_known(self, labelled: LabelledSpace) -> Envelope:
        """Return the rules of a space of which every cell was asked: exact up to what is wanted."""
        limits = self.limits if self.ended is None else self._finishing
        envelope = _whole(labelled, self.wanted, self.knowledge, limits)
        if not self.proposal.statistics:
            return envelope
        asked = ("equivalence_queries", "membership_queries", "negatives")
        counted = {key: n for key, n in envelope.statistics.items() if key not in asked}
        statistics = {**self.proposal.statistics, **counted}
        return replace(envelope, statistics=statistics, hypothesis=self._hypothesis())

    # --- sifted ---

    def sifted(self, sifted: Sifted) -> Envelope:
        """Return what a sift has shown: its rules as they are, each with its own warrant."""
        space, record = self.knowledge.space, sifted.record
        listed = sifted.listed
        most = None if self.limits is None else self.limits.max_rules
        why = self.ended
        if most is not None and len(listed) > most:
            listed, why = listed[:most], why or "max_rules"
        if not sifted.done:
            why = why or "max_questions"
        basis = Theory(space.width, tuple(rule for rule, _ in listed))
        tested = any(not warrant.proved for _, warrant in listed)
        certificate = Certificate(
            "tested" if tested else "proved",
            rules=len(listed),
            open=sifted.open_count + len(sifted.listed) - len(listed),
            answered=self.knowledge.answered,
            ended=None if why is None else Ending(why),
            sift=Sieve.of(record),
        )
        return Envelope(
            space,
            basis,
            Theory(space.width, tuple(Rule(rule.antecedent, rule.new) for rule in basis)),
            certificate=certificate,
            non_horn=NonHorn(None),
            statistics=self._statistics(),
            open=(*(rule for rule, _ in sifted.listed[len(listed) :]), *sifted.open),
            own_warrants=tuple(warrant for _, warrant in listed),
            sifted=record,
        )

    # --- some was not ---

    def partly_known(self) -> Envelope:
        """Return what holds whatever the other answers would be, and what else was proposed."""
        certain = self._certain()
        theory, claimed = self.proposal.theory, self.proposal.certificate
        held = Theory(self.knowledge.space.width)
        joint = None
        if theory is not None:
            held = self._unbroken(theory)
            unchanged = all(held.entails(rule) for rule in theory)
            if claimed is not None and unchanged:
                if claimed.all_rules:
                    return self._on_the_oracle(theory)
                # A sample that is undecided agrees with nothing.
                joint = None if self.knowledge.undecided else claimed.joint
        space = self.knowledge.space
        proved, singles = self._proved(certain, held, joint is None)
        candidates = dg_basis(proved + held, space.background)
        listed = self._listed(proved, candidates, joint)
        if self.limits is not None and self.limits.max_rules is not None:
            listed = listed[: self.limits.max_rules]
        basis = Theory(space.width, tuple(rule for rule, _ in listed))
        known = basis + space.background
        open_rules = tuple(
            rule
            for rule in readable(candidates, space.background)
            if not known.entails(rule)
            and self._is_wanted(rule)
            and (joint is not None or self._cells(rule) != 1)
        )
        if joint is not None:
            stated = known + Theory(space.width, open_rules)
            joint = replace(joint, whole=all(stated.entails(rule) for rule in candidates))
        tested = any(not warrant.proved for _, warrant in listed)
        certificate = Certificate(
            "tested" if tested else "proved",
            rules=len(listed),
            open=len(open_rules),
            ended=self._why(claimed),
            cells=self.knowledge.total,
            unasked=self.knowledge.unasked,
            joint=joint,
        )
        statistics = self._statistics()
        if singles:
            statistics["single_cells"] = singles
        return Envelope.of(
            self.knowledge.space,
            basis,
            certificate=certificate,
            non_horn=NonHorn.of(self.proposal.non_horn, complete=False),
            statistics=statistics,
            open=open_rules,
            own_warrants=tuple(warrant for _, warrant in listed),
            hypothesis=self._hypothesis(),
        )

    def _why(self, claimed: Certificate | None) -> Ending | None:
        if self.ended is not None:
            return Ending(self.ended)
        return None if claimed is None else claimed.ended

    def _on_the_oracle(self, theory: Theory) -> Envelope:
        """Return the rules of an oracle that looked at everything, where no answer breaks one."""
        space = self.knowledge.space
        return Envelope.of(
            space,
            dg_basis(theory, space.background),
            certificate=EXACT,
            non_horn=NonHorn.of(self.proposal.non_horn, complete=False),
            statistics=self._statistics(),
        )

    def _certain(self) -> Theory:
        """Return the rules that hold whatever was not asked; of a large space none are sought."""
        space = self.knowledge.space
        if space.count > GRID_LIMIT:
            return Theory(space.width)
        return _whole(reading(self.knowledge), self.wanted, self.knowledge, self._finishing).basis

    @property
    def _finishing(self) -> Limits:
        """The limits of what may still be done when a run has been ended."""
        return Limits(FINISHING, None if self.limits is None else self.limits.max_rules)

    def _proved(self, certain: Theory, held: Theory, broad: bool) -> tuple[Theory, int]:
        """Return all rules that are proved, and how many speak of one cell only.

        Those only repeat an answer. They are left out if only `broad` rules are wanted: where
        nothing is claimed of all rules together.
        """
        space = self.knowledge.space
        settled = self.knowledge.is_settled(held.rules)
        whole = tuple(r for r, is_whole in zip(held, settled, strict=True) if is_whole)
        rules = dg_basis(certain + Theory(space.width, whole), space.background)
        kept = tuple(rule for rule in rules if not (broad and self._cells(rule) == 1))
        return Theory(space.width, kept), len(rules) - len(kept)

    def _cells(self, rule: Rule) -> int | None:
        """Return how many cells a rule speaks of; None if that takes going through them."""
        space = self.knowledge.space
        return count_above(space, rule.antecedent & ~space.label_mask)

    def _unbroken(self, theory: Theory) -> Theory:
        """Return what no answer breaks of a theory's rules: with less on the right, or left out."""
        space, knowledge = self.knowledge.space, self.knowledge
        accepted = Supersets(knowledge.accepted(), space.width)
        unset = any(world.policy.label_unset == "accept" for world in knowledge.worlds)
        kept = []
        for rule in theory:
            x = rule.antecedent
            if space.label is not None and unset and not x & space.label_mask:
                continue  # whatever has no label is accepted: so is its own left side
            right = rule.consequent & intersection(accepted.having(x))
            if right == BOTTOM or right & ~x:
                kept.append(Rule(x, right))
        return Theory(space.width, tuple(kept))

    def _listed(
        self, proved: Theory, candidates: Theory, joint: Joint | None
    ) -> list[tuple[Rule, Warrant]]:
        """Return the rules that are proved or, by samples, tested, each with its warrant."""
        space = self.knowledge.space
        if joint is None:
            return [(rule, PROVED) for rule in proved if self._is_wanted(rule)]
        known = proved + space.background
        judged = [
            (rule, PROVED if known.entails(rule) else joint.warrant(space.chance(rule.antecedent)))
            for rule in candidates
        ]
        return [(r, warrant) for r, warrant in judged if warrant.known and self._is_wanted(r)]

    def _is_wanted(self, rule: Rule) -> bool:
        """Return whether a rule is as short, and speaks of as much, as is wanted."""
        space, wanted = self.knowledge.space, self.wanted
        most, least = wanted.max_conditions, wanted.min_support
        if most is not None:
            groups = sum(bool(rule.antecedent & group) for group in space.groups)
            if groups > most:
                return False
        if least is None:
            return True
        cells = self._cells(rule)
        return cells is None or cells * len(self.knowledge.worlds) >= least

    def _statistics(self) -> dict[str, Any]:
        if self.proposal.statistics:
            return dict(self.proposal.statistics)
        asked = len(self.knowledge.asked)
        return {"equivalence_queries": 0, "membership_queries": asked * len(self.knowledge.labels)}

    def _hypothesis(self) -> LearnedRules | None:
        """Return the rules that were proposed, as a basis, whatever became of them."""
        theory, claimed = self.proposal.theory, self.proposal.certificate
        if theory is None:
            return None
        certificate = claimed or Certificate("open", ended=Ending(self.ended or "interrupt"))
        return LearnedRules(dg_basis(theory, self.knowledge.space.background), certificate)


def _whole(
    labelled: LabelledSpace, wanted: Wanted, knowledge: Knowledge, limits: Limits | None
) -> Envelope:
    """Return the rules of a labelled space: exact, up to what is wanted."""
    inside, positive = labelled.inside(), labelled.positive
    statistics: Mapping[str, Any] = {
        "equivalence_queries": 0,
        "membership_queries": int(inside.sum()),
        "negatives": int((inside & ~positive).sum()),
    }
    most = wanted.max_conditions
    if wanted.min_support is not None:
        from hornlens.exact.supported import supported_envelope_of_grid

        worlds, unit = len(knowledge.worlds), f"{wanted.unit}s"
        return supported_envelope_of_grid(
            labelled, wanted.min_support, most, statistics, unit, worlds, limits
        )
    if most is not None:
        from hornlens.exact.bounded import bounded_envelope_of_grid

        return bounded_envelope_of_grid(labelled, most, statistics, limits)
    done = run(GridEngine(labelled), limits)
    return Envelope.of(
        labelled.space,
        done.basis,
        certificate=done.certificate,
        non_horn=NonHorn.of(labelled.non_horn()) if done.ended is None else NonHorn(None),
        statistics=statistics,
    )
