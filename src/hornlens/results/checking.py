"""Checking a result against requirements: by entailment, with the answers that show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from itertools import islice, zip_longest

from hornlens.errors import InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.certificates import Certificate
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.results.almost import Summary, nearly_all
from hornlens.results.checks import Checked, CheckOutcome, ShownAnswer, Status
from hornlens.results.evidence import evidence_for
from hornlens.results.extraction import Extraction
from hornlens.results.flips import flips_in
from hornlens.results.requirements import (
    CertaintyRequirement,
    Invariance,
    Requirement,
    Requirements,
    RuleCount,
    RuleRequirement,
)
from hornlens.results.sentences import plain
from hornlens.results.worlds import outcome_in

SHOWN = 3
"""How many answers, or flips, are listed of those that an outcome rests on."""
COUNTED = ("exact", "bounded")
"""Certificates of results in which every cell was asked: exceptions can be counted."""
STRENGTH = {"exact": 2, "bounded": 1, "pac": 1}
"""What certificates are worth; all others claim less.

A bounded result was asked everything: whether a rule holds is known of it, whatever its length. It
is not exact, as longer rules are not among those that it lists and counts.
"""


def check(result: Extraction, requirements: Requirements, name: str = "") -> Checked:
    """Say of every requirement whether a result obeys it, and what shows that.

    A name that the result does not have is an InputError with the requirement's line.
    """
    checking = _Checking(result, requirements.path or None)
    outcomes = tuple(checking.outcome(each) for each in requirements.each)
    return Checked(name or result.title, outcomes, requirements.path)


@dataclass(frozen=True)
class _Checking:
    result: Extraction
    path: str | None

    def outcome(self, required: Requirement) -> CheckOutcome:
        match required:
            case RuleRequirement():
                return self._rule(required)
            case Invariance():
                return self._invariance(required)
            case CertaintyRequirement():
                return self._certainty(required)
            case RuleCount():
                return self._count(required)

    # --- rules ---

    def _rule(self, required: RuleRequirement) -> CheckOutcome:
        """Look in each world, or in what all worlds have in common: does the rule hold in one?"""
        result = self.result
        rule = self._read(required.rule, required.line)
        if required.confidence is not None:
            return self._almost(required, rule, required.confidence)
        every = required.scope == "every variant" or not result.worlds
        looked_at = (result,) if every else result.worlds
        statuses = [outcome_in(world, rule)[0] for world in looked_at]
        kept = [w for w, s in zip(looked_at, statuses, strict=True) if s in ("holds", "vacuous")]
        status: Status
        if kept:
            status = "holds" if "holds" in statuses else "vacuous"
            count, of, answers = _support(rule, result.each if every else kept)
            finding = self._holding(rule, status, count, of, None if every else kept)
        else:
            status = "unknown" if "unknown" in statuses else "broken"
            count, of, answers, finding = self._broken(rule)
            if status == "unknown":
                finding = (
                    "Not proved: it does not follow from the rules that were found, which are not "
                    f"exact. {finding}"
                )
            if every and result.worlds:
                finding += self._where_it_holds(rule)
        return CheckOutcome(
            kind=required.kind,
            what=f"{required.rule}{'' if every else ' in any variant'}",
            passed=bool(kept) == (required.kind == "require"),
            status=status,
            finding=finding,
            because=required.because,
            line=required.line,
            count=count,
            of=of,
            answers=answers,
        )

    def _almost(self, required: RuleRequirement, rule: Rule, confidence: float) -> CheckOutcome:
        """Count what breaks a rule: does it hold often enough, in all worlds at once or in one?"""
        result = self.result
        every = required.scope == "every variant" or not result.worlds
        worlds: Sequence[Extraction] = (result,) if every else result.worlds
        held = [nearly_all(world, [rule])[0] for world in worlds]
        best, nearly = max(zip(worlds, held, strict=True), key=lambda pair: pair[1].confidence)
        settled = all(
            each.decisions and each.envelope.certificate.kind in COUNTED for each in worlds
        )
        enough = settled and Fraction(nearly.of - nearly.broken, max(1, nearly.of)) >= Fraction(
            repr(confidence)
        )
        enough = enough or (settled and not nearly.of)
        status: Status = "almost" if enough else "broken"
        if not settled:
            status = "unknown"
        elif not nearly.broken:
            status = "holds"
        finding = Summary(best).sentence(nearly)
        if nearly.of:
            finding += f" That is a confidence of {100 * nearly.confidence:.4g}%."
        if not settled:
            missing = "not all cells were asked" if best.decisions else "there are no answers"
            finding = f"Unknown: {missing}. {finding}"
        where = "" if every else " in any variant"
        return CheckOutcome(
            kind=required.kind,
            what=f"{required.rule} in {100 * confidence:.6g}% or more{where}",
            passed=enough == (required.kind == "require") and settled,
            status=status,
            finding=finding,
            because=required.because,
            line=required.line,
            count=nearly.broken,
            of=nearly.of,
            answers=tuple(ShownAnswer.of(best.each[e.world], e.cell) for e in nearly.exhibits),
        )

    def _read(self, named: NamedRule, line: int | None) -> Rule:
        """Return a rule in bits; what the background does not allow to follow is ⊥."""
        space = self.result.space
        names = (*named.antecedent, *(named.consequent or ()))
        self._known(names, space.vocabulary.names, "variable", line)
        rule = named.rule(space.vocabulary)
        if rule.is_negative:
            return rule
        impossible = space.background.closure(rule.antecedent | rule.consequent) == BOTTOM
        return Rule(rule.antecedent, BOTTOM) if impossible else rule

    def _known(
        self, names: Iterable[str], known: Sequence[str], noun: str, line: int | None
    ) -> None:
        """Refuse names that are not known, with what may have been meant."""
        for name in names:
            if name in known:
                continue
            folded = {each.casefold(): each for each in known}
            near = [folded[key] for key in get_close_matches(name.casefold(), folded)]
            near += [each for each in known if self.result.question.words.get(each) == name]
            there = ", ".join(dict.fromkeys(near)) or f"{', '.join(known[:8])}, …"
            what = "is it" if near else "there are"
            raise InputError(
                f"{self.result.title} has no {noun} {name!r} ({what}: {there})", self.path, line
            )

    def _holding(
        self, rule: Rule, status: Status, count: int, of: int, kept: Sequence[Extraction] | None
    ) -> str:
        result = self.result
        if result.space.background.entails(rule):
            return "It follows from the attributes and the background alone, whatever is answered."
        where = None if kept is None else [world.world for world in kept]
        finding = plain(result.telling.parts(rule, holds_in=where))
        if status == "vacuous":
            finding += " It holds vacuously: what it speaks of never occurs."
        if of:
            finding += f" {count:,} of {of:,} {result.question.unit}s speak for it."
        return finding

    def _broken(self, rule: Rule) -> tuple[int, int, tuple[ShownAnswer, ...], str]:
        """Return how many answers break a rule, of how many it speaks of; the first; in words."""
        each, space = self.result.each, self.result.space
        given = rule.antecedent & ~space.label_mask
        of = sum(given & ~cell == 0 for world in each for cell in world.decisions)
        if not of:
            return 0, 0, (), "It does not follow from the rules."
        breaking = [(x, place) for place, world in enumerate(each) for x in world.breaking(rule)]
        claiming = [one for one in breaking if space.label is None or one[0] & space.label_mask]
        found = sorted({(x & ~space.label_mask, place) for x, place in claiming})
        unit, verb = self.result.question.unit, "breaks" if len(found) == 1 else "break"
        finding = f"{len(found):,} of {of:,} {unit}s {verb} it."
        if len(claiming) < len(breaking):
            finding += " What claims no label breaks it: the policy accepts that (label_unset)."
        answers = tuple(ShownAnswer.of(each[place], cell) for cell, place in found[:SHOWN])
        return len(found), of, answers, finding

    def _where_it_holds(self, rule: Rule) -> str:
        """Return in which worlds a rule holds that does not hold in all."""
        result = self.result
        held = [w.world for w in result.worlds if outcome_in(w, rule)[0] in ("holds", "vacuous")]
        if not held:
            return f" It holds in no {result.noun}."
        of = f"{len(held)} of {len(result.worlds)} {result.noun}s"
        return f" It holds in {of}: {', '.join(held)}."

    # --- invariance ---

    def _invariance(self, required: Invariance) -> CheckOutcome:
        result, space = self.result, self.result.space
        names = [attribute.name for attribute in space.attributes]
        self._known(required.attributes, names, "attribute", required.line)
        chosen = [names.index(name) for name in required.attributes]
        free = sum(space.groups[place] for place in dict.fromkeys(chosen))
        each = [(world, *flips_in(world, free)) for world in result.each]
        # Divided, as 0.29 * 100 is less than 29.
        fine = [pairs > 0 and flips / pairs <= required.tolerance for _, flips, pairs, _ in each]
        passed = all(fine) if required.scope == "every variant" else any(fine)
        told = [
            f"{f'{world.world}: ' if world.world else ''}{flips:,} of {pairs:,} pairs "
            f"({100 * flips / max(1, pairs):.3g}%)"
            for world, flips, pairs, _ in each
        ]
        asked = any(pairs for _, _, pairs, _ in each)
        attributes = ", ".join(required.attributes)
        finding = "Unknown: there are no answers to compare."
        if asked:
            finding = (
                f"Of cells that differ only in {attributes}, answers differ in {'; '.join(told)}."
            )
            if not result.envelope.certificate.proved:
                finding += " Not all cells were asked."
        allowed = f", at most {100 * required.tolerance:.6g}%" if required.tolerance else ""
        scope = "" if required.scope == "every variant" or not result.worlds else " in any variant"
        worst = [shown[:SHOWN] for (*_, shown), ok in zip(each, fine, strict=True) if not ok]
        return CheckOutcome(
            kind="invariant",
            what=f"{attributes}{allowed}{scope}",
            passed=passed,
            status="holds" if passed else "broken" if asked else "unknown",
            finding=finding,
            because=required.because,
            line=required.line,
            count=sum(flips for _, flips, _, _ in each),
            of=sum(pairs for _, _, pairs, _ in each),
            flips=tuple(flip for rank in zip_longest(*worst) for flip in rank if flip)[:SHOWN],
        )

    # --- the result as a whole ---

    def _certainty(self, required: CertaintyRequirement) -> CheckOutcome:
        def strength(certificate: Certificate) -> int:
            return STRENGTH.get(certificate.kind, 0)

        every = [each.envelope.certificate for each in (self.result, *self.result.worlds)]
        weakest = min(every, key=strength)
        passed = strength(weakest) >= STRENGTH[required.at_least]
        return CheckOutcome(
            kind="at_least",
            what=required.at_least,
            passed=passed,
            status="holds" if passed else "broken",
            finding=f"{weakest.title}: {weakest.sentence}",
            line=required.line,
        )

    def _count(self, required: RuleCount) -> CheckOutcome:
        count, low, high = len(self.result.envelope.basis), required.at_least, required.at_most
        passed = (low is None or low <= count) and (high is None or count <= high)
        parts = ((f"at least {low}", low), (f"at most {high}", high))
        return CheckOutcome(
            kind="rules",
            what=", ".join(text for text, limit in parts if limit is not None) or "any number",
            passed=passed,
            status="holds" if passed else "broken",
            finding=f"There {'is 1 rule' if count == 1 else f'are {count:,} rules'}.",
            line=required.line,
            count=count,
        )


def _support(rule: Rule, worlds: Sequence[Extraction]) -> tuple[int, int, tuple[ShownAnswer, ...]]:
    """Return how many answers speak for a rule, of how many; the first, and the closest call."""
    said = [(world.policy, world.decisions) for world in worlds]
    (evidence,) = evidence_for([rule], worlds[0].space, said)
    shown = list(islice((e for e in evidence.exhibits if e.supports), SHOWN))
    if evidence.closest is not None and evidence.closest not in shown:
        shown[SHOWN - 1 :] = [evidence.closest]
    answers = tuple(ShownAnswer.of(worlds[e.world], e.cell, e.margin) for e in shown)
    return evidence.support, evidence.prompts, answers
