"""Is a rule true of a result? By a recorded answer, by proof, by a test; else it is open.

One function for gates, for variants and for comparisons: what counts is what is known, in this
order. An *answer* is what a target said. That it said nothing, or that a policy accepts what claims
no label, breaks no rule and proves none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import accepts
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.theory import Theory
from hornlens.logic.warrants import OPEN, PROVED, Warrant

if TYPE_CHECKING:
    from hornlens.results.documents.findings import Findings

Outcome = Literal["holds", "vacuous", "broken", "tested", "open"]


class Truth(NamedTuple):
    """What becomes of a rule: an outcome, what stands behind it, and an answer that breaks it.

    `silent` cells that the rule speaks of got no answer, or none that is decided: they leave it
    open.
    """

    outcome: Outcome
    warrant: Warrant = OPEN
    breaking: int | None = None
    silent: int = 0

    @property
    def holds(self) -> bool:
        """Whether it is proved, vacuously or not."""
        return self.outcome in ("holds", "vacuous")


def truth_of(rule: Rule, result: Findings) -> Truth:
    """Return what is known of a rule, in all ways of asking of a result at once."""
    envelope, certificate = result.envelope, result.envelope.certificate
    vacuous: Outcome = "vacuous" if envelope.holds_vacuously(rule) else "holds"
    if envelope.background.entails(rule):
        return Truth(vacuous, PROVED)
    breaking = result.breaking(rule)
    answer = next((x for x in breaking if is_answer(x, result)), None)
    if answer is not None:
        return Truth("broken", breaking=answer)
    silent = len({x & ~result.space.label_mask for x in breaking})
    if certificate.unanswered:
        return Truth("open", silent=silent)
    if proved_rules(result).entails(rule):
        return Truth(vacuous, PROVED)
    if certificate.all_rules and not breaking:
        return Truth("broken")  # all rules are known, of a formula or by an oracle of one's own
    if certificate.proved and result.asked_all and not breaking:
        # Everything was asked: a longer rule that nothing breaks holds, too.
        return Truth(vacuous, PROVED)
    if not breaking and envelope.entails(rule):
        warrant = _tested(rule, result)
        if warrant.known:
            return Truth("tested", warrant)
    return Truth("open", silent=silent)


def truth_of_all(rules: tuple[Rule, ...], result: Findings) -> Truth:
    """Return what is known of several rules together: the weakest of what is known of each.

    Each may be broken by other cases: bounds of the rules' own add up.
    """
    truths = [truth_of(rule, result) for rule in rules]
    tested = [truth.warrant for truth in truths if truth.outcome == "tested"]
    own = result.envelope.certificate.joint is None
    if own and len(tested) > 1 and all(t.holds or t.outcome == "tested" for t in truths):
        bound = sum(warrant.bound or 1.0 for warrant in tested)
        if bound >= 1:
            return Truth("open")
        return Truth("tested", Warrant("tested", min(w.tested for w in tested), bound))
    order: tuple[Outcome, ...] = ("broken", "open", "tested", "holds", "vacuous")
    return min(truths, key=lambda truth: (order.index(truth.outcome), -(truth.warrant.bound or 0)))


def is_answer(x: int, result: Findings) -> bool:
    """Return whether a target, in some way of asking, answered with this very interpretation."""
    space = result.space
    label = space.label_of(x)
    if space.label is not None and label is None:
        return False
    cell = x & ~space.label_mask
    return any(
        decision is not None and decision.winner is not None and _said(world, cell, label)
        for world in result.each
        for decision in [world.decisions.get(cell)]
    )


def _said(world: Findings, cell: int, label: int | None) -> bool:
    winner = world.decisions[cell].place
    asked = 1 if label is None else label
    return bool(accepts(world.policy, winner, asked, undecided=False))


def proved_rules(result: Findings) -> Theory:
    """Return the rules that are proved, and the background."""
    envelope = result.envelope
    pairs = zip(envelope.basis.rules, envelope.warrants, strict=True)
    rules = tuple(rule for rule, warrant in pairs if warrant.proved)
    return Theory(envelope.space.width, rules) + envelope.background


def _tested(rule: Rule, result: Findings) -> Warrant:
    """Return what samples show of a rule that follows from those listed, or else that it is open.

    All that the hypothesis rejects and the target accepts has a chance of at most ε. So of the
    rule's own cases, at most ε by the chance of its left side break it.
    """
    envelope = result.envelope
    joint = envelope.certificate.joint
    if joint is None:
        pairs = zip(envelope.basis, envelope.warrants, strict=True)
        carrying = [warrant for own, warrant in pairs if _carries(own, rule, envelope.space)]
        return min(carrying, key=lambda warrant: warrant.bound or 1.0, default=OPEN)
    return joint.warrant(envelope.space.chance(rule.antecedent))


def _carries(own: Rule, rule: Rule, space: Space) -> bool:
    """Return whether a bound on a listed rule is one on another: it has the same cases.

    A bound says nothing of special cases, which all may break the rule.
    """
    background, labels = space.background, space.label_mask
    left, other = background.closure(own.antecedent), background.closure(rule.antecedent)
    if BOTTOM in (left, other) or (left ^ other) & ~labels:
        return False
    if all(each.is_negative or not each.new & ~labels for each in (own, rule)):
        return (Theory(space.width, (own,)) + background).entails(rule)
    right = (background.closure(each.antecedent | each.consequent) for each in (own, rule))
    return left == other and own.is_negative == rule.is_negative and len({*right}) == 1
