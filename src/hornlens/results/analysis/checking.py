"""Checking a result against requirements: by entailment, with the answers that show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from itertools import islice, zip_longest

from hornlens.counts import plural
from hornlens.errors import InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.results.analysis.almost import Summary, nearly_all
from hornlens.results.analysis.evidence import evidence_for
from hornlens.results.analysis.flips import flips_in
from hornlens.results.analysis.gates import answered, certainty, rule_count, rule_passes
from hornlens.results.analysis.truth import Truth, is_answer, truth_of_all
from hornlens.results.documents.checks import Checked, CheckOutcome, ShownAnswer, Status
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.requirements import (
    Allowance,
    AnsweredShare,
    CertaintyRequirement,
    Invariance,
    Requirement,
    Requirements,
    RuleCount,
    RuleRequirement,
)
from hornlens.results.wording.sentences import plain

SHOWN = 3
"""How many answers, or flips, are listed of those that an outcome rests on."""
ORDER = ("broken", "open", "tested", "vacuous", "holds")
"""What may become of a rule, the weakest first."""


def check(result: Findings, requirements: Requirements, name: str = "") -> Checked:
    """Say of every requirement whether a result obeys it, and what shows that.

    A name that the result does not have is an InputError with the requirement's line.
    """
    checking = _Checking(result, requirements.path or None, requirements.allow)
    found = map(checking.outcome, requirements.each)
    outcomes = tuple(outcome for outcome in found if outcome is not None)
    return Checked(name or result.title, outcomes, requirements.path)


@dataclass(frozen=True)
class _Checking:
    result: Findings
    path: str | None
    allow: frozenset[Allowance] = frozenset()

    def outcome(self, required: Requirement) -> CheckOutcome | None:
        match required:
            case RuleRequirement():
                return self._rule(required)
            case Invariance():
                return self._invariance(required)
            case CertaintyRequirement():
                every = [each.envelope.certificate for each in (self.result, *self.result.worlds)]
                return certainty(required, every, self.allow)
            case RuleCount():
                return rule_count(required, len(self.result.envelope.basis))
            case AnsweredShare():
                known = [d for world in self.result.each for d in world.decisions.values()]
                answers = sum(decision.answered for decision in known)
                return answered(required, answers, len(known))

    # --- rules ---

    def _rule(self, required: RuleRequirement) -> CheckOutcome:
        """Look in each world, or in what all worlds have in common: what is known of the rule?"""
        result = self.result
        rules = self._read(required.rule, required.line)
        if required.confidence is not None:
            return self._almost(required, rules[0], required.confidence)
        every = required.scope == "every variant" or not result.worlds
        worlds = (result,) if every else result.worlds
        truths = [truth_of_all(rules, world) for world in worlds]
        # Of several worlds one is enough to have a required rule, and to have a forbidden one.
        truth = max(truths, key=lambda each: ORDER.index(each.outcome))
        direct = result.envelope.certificate.scope.direct
        passed, hint = rule_passes(required, truth, direct, self.allow)
        if truth.holds:
            kept = [w for w, each in zip(worlds, truths, strict=True) if each.holds]
            status: Status = "vacuous" if truth.outcome == "vacuous" else "holds"
            count, of, answers = _support(rules, result.each if every else kept)
            finding = self._holding(rules, status, count, of, None if every else kept)
        elif truth.outcome == "broken":
            status = "broken"
            count, of, answers, finding = self._broken(rules)
        else:
            status = "tested" if truth.outcome == "tested" else "unknown"
            count, of, answers = _support(rules, result.each)
            finding = self._open(truth, of)
        if not truth.holds and every and result.worlds:
            finding += self._where_it_holds(rules)
        named = required.rule.rule(result.space.vocabulary)
        if len(rules) > 1 or rules[0] not in (named, self._shortened(named)):
            finding += f" Read as: {'; '.join(result.space.show(rule) for rule in rules)}."
        return CheckOutcome(
            kind=required.kind,
            what=f"{required.rule}{'' if every else ' in any variant'}",
            passed=passed,
            status=status,
            finding=f"{finding} {hint}" if hint and not passed else finding,
            because=required.because,
            line=required.line,
            count=count,
            of=of,
            answers=answers,
        )

    def _open(self, truth: Truth, of: int) -> str:
        """Return what is known of a rule that is neither proved nor broken."""
        unit = self.result.question.unit
        if truth.outcome == "tested":
            return f"Not proved. {truth.warrant.sentence}"
        if truth.silent:
            silent = f"{truth.silent:,} of {of:,} {unit}s" if of else plural(truth.silent, unit)
            return f"Not known: {silent} that it speaks of got no answer, and no other breaks it."
        asked = f"none of {of:,} {unit}s that were asked breaks it" if of else "nothing breaks it"
        return f"Not proved: it does not follow from the rules, and {asked}."

    def _almost(self, required: RuleRequirement, rule: Rule, confidence: float) -> CheckOutcome:
        """Count what breaks a rule: does it hold often enough, in all worlds at once or in one?"""
        result = self.result
        every = required.scope == "every variant" or not result.worlds
        worlds: Sequence[Findings] = (result,) if every else result.worlds
        held = [nearly_all(world, [rule])[0] for world in worlds]
        best, nearly = max(zip(worlds, held, strict=True), key=lambda pair: pair[1].confidence)
        settled = all(each.decisions and each.envelope.certificate.settled for each in worlds)
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

    def _read(self, named: NamedRule, line: int | None) -> tuple[Rule, ...]:
        """Return what a rule means, in bits, as one or several rules.

        What the background does not allow to follow is ⊥. Where a label may be unset, a cell that
        claims none is always accepted: so "nurse → female" could never hold. It is read as people
        mean it: whatever label is given to a nurse, it is no other than that.
        """
        space = self.result.space
        names = (*named.antecedent, *(named.consequent or ()))
        self._known(names, space.vocabulary.names, "variable", line)
        rule = self._shortened(named.rule(space.vocabulary))
        unset = any(world.policy.label_unset == "accept" for world in self.result.each)
        if space.label is None or not (unset and self.result.decisions):
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

    def _shortened(self, rule: Rule) -> Rule:
        """Return a rule whose right side cannot be as one that never occurs."""
        if rule.is_negative:
            return rule
        closure = self.result.space.background.closure(rule.antecedent | rule.consequent)
        return Rule(rule.antecedent, BOTTOM) if closure == BOTTOM else rule

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
        self,
        rules: Sequence[Rule],
        status: Status,
        count: int,
        of: int,
        kept: Sequence[Findings] | None,
    ) -> str:
        result = self.result
        if all(map(result.space.background.entails, rules)):
            return "It follows from the attributes and the background alone, whatever is answered."
        where = None if kept is None else [world.world for world in kept]
        finding = " ".join(plain(result.telling.parts(rule, holds_in=where)) for rule in rules)
        if status == "vacuous":
            finding += " It holds vacuously: what it speaks of never occurs."
        if of:
            finding += f" {count:,} of {of:,} {result.question.unit}s speak for it."
        return finding

    def _broken(self, rules: Sequence[Rule]) -> tuple[int, int, tuple[ShownAnswer, ...], str]:
        """Return how many answers break rules, of how many they speak of; the first; in words."""
        each, space = self.result.each, self.result.space
        given = [rule.antecedent & ~space.label_mask for rule in rules]
        of = sum(
            decision.winner is not None and any(left & ~cell == 0 for left in given)
            for world in each
            for cell, decision in world.decisions.items()
        )
        if not of:
            return 0, 0, (), "It does not follow from the rules."
        breaking = {
            (x & ~space.label_mask, place)
            for place, world in enumerate(each)
            for rule in rules
            for x in world.breaking(rule, undecided=False)
            if is_answer(x, world)
        }
        found = sorted(breaking)
        verb = "breaks" if len(found) == 1 else "break"
        finding = f"{len(found):,} of {of:,} answers {verb} it."
        answers = tuple(ShownAnswer.of(each[place], cell) for cell, place in found[:SHOWN])
        return len(found), of, answers, finding

    def _where_it_holds(self, rules: tuple[Rule, ...]) -> str:
        """Return in which worlds a rule holds that does not hold in all."""
        result = self.result
        held = [w.world for w in result.worlds if truth_of_all(rules, w).holds]
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
        whole = result.envelope.certificate.settled or "open" in self.allow
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
            if not result.envelope.certificate.settled:
                finding += " Not every cell was asked and decided."
                if passed and not whole:
                    finding += " To let that pass, give the file: allow: [open]."
        allowed = f", at most {100 * required.tolerance:.6g}%" if required.tolerance else ""
        scope = "" if required.scope == "every variant" or not result.worlds else " in any variant"
        worst = [shown[:SHOWN] for (*_, shown), ok in zip(each, fine, strict=True) if not ok]
        return CheckOutcome(
            kind="invariant",
            what=f"{attributes}{allowed}{scope}",
            passed=passed and whole,
            status="broken" if asked and not passed else "holds" if passed and whole else "unknown",
            finding=finding,
            because=required.because,
            line=required.line,
            count=sum(flips for _, flips, _, _ in each),
            of=sum(pairs for _, _, pairs, _ in each),
            flips=tuple(flip for rank in zip_longest(*worst) for flip in rank if flip)[:SHOWN],
        )


def _support(
    rules: Sequence[Rule], worlds: Sequence[Findings]
) -> tuple[int, int, tuple[ShownAnswer, ...]]:
    """Return how many answers speak for rules, of how many; the first, and the closest call."""
    each = [(world.policy, world.decisions) for world in worlds]
    found = evidence_for(rules, worlds[0].space, each)
    exhibits = {(e.cell, e.world): e for evidence in found for e in evidence.exhibits}
    shown = list(islice((e for e in exhibits.values() if e.supports), SHOWN))
    closest = min(
        (evidence.closest for evidence in found if evidence.closest is not None),
        key=lambda e: (e.margin, e.cell, e.world),
        default=None,
    )
    if closest is not None and closest not in shown:
        shown[SHOWN - 1 :] = [closest]
    answers = tuple(ShownAnswer.of(worlds[e.world], e.cell, e.margin) for e in shown)
    return sum(e.supports for e in exhibits.values()), len(exhibits), answers
