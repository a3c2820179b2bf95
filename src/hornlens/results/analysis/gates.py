"""Gates that every kind of result shares: how sure it is, how many rules, how much was answered.

A gate fails safe: what is not known is a violation, unless the file of requirements allows it by
name; the message says by which.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hornlens.counts import plural
from hornlens.logic.certificates import Certificate
from hornlens.logic.scopes import percent
from hornlens.results.analysis.truth import Truth
from hornlens.results.documents.checks import CheckOutcome
from hornlens.results.documents.requirements import (
    Allowance,
    AnsweredShare,
    CertaintyRequirement,
    RuleCount,
    RuleRequirement,
)


def certainty(
    required: CertaintyRequirement,
    certificates: Sequence[Certificate],
    allow: Collection[Allowance] = (),
) -> CheckOutcome:
    """Hold the weakest of some certificates against the level that is asked for."""
    weakest = min(certificates, key=lambda certificate: certificate.strength)
    passed = all(certificate.meets(required.at_least) for certificate in certificates)
    finding = f"{weakest.title}: {weakest.sentence}"
    if not passed and not weakest.scope.direct and required.at_least != "exact":
        passed = "surrogate" in allow and all(
            certificate.about_itself.meets(required.at_least) for certificate in certificates
        )
    return CheckOutcome(
        kind="at_least",
        what=required.at_least,
        passed=passed,
        status="holds" if passed else "broken",
        finding=finding,
        line=required.line,
    )


def rule_count(required: RuleCount, count: int) -> CheckOutcome:
    """Hold the number of rules against its limits."""
    low, high = required.at_least, required.at_most
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


def answered(required: AnsweredShare, answers: int, questions: int) -> CheckOutcome | None:
    """Hold the share of questions that got an answer against the least; None: nothing to say.

    A file that does not ask for it is told only where too few were answered.
    """
    share = answers / questions if questions else 1.0
    passed = share >= required.share
    if passed and not required.named:
        return None
    finding = f"{answers:,} of {plural(questions, 'question')} got an answer ({percent(share)})."
    if not passed and not required.named:
        finding += " To allow that, give the file a smaller share: answered: 50%."
    return CheckOutcome(
        kind="answered",
        what=f"at least {percent(required.share)}",
        passed=passed,
        status="holds" if passed else "broken",
        finding=finding,
        line=required.line,
        count=answers,
        of=questions,
    )


def rule_passes(
    required: RuleRequirement, truth: Truth, direct: bool, allow: Collection[Allowance]
) -> tuple[bool, str]:
    """Return whether a rule requirement is met, and what would have to be allowed for that.

    A required rule passes on a proof, or on a bound that the file allows; a forbidden one only if
    an answer on record refutes it.
    """
    if required.kind == "forbid":
        if truth.outcome == "broken":
            return True, ""
        if truth.outcome == "open" and "open" in allow:
            return True, ""
        hint = "To let that pass, give the file: allow: [open]." if truth.outcome == "open" else ""
        return False, hint
    if truth.outcome == "tested":
        if required.at_most is not None and truth.warrant.within(required.at_most):
            return _by_scope(direct, allow)
        return False, "A bound will do if the file says which: at_most: 1%."
    if truth.holds:
        return _by_scope(direct, allow)
    return False, ""


def _by_scope(direct: bool, allow: Collection[Allowance]) -> tuple[bool, str]:
    if direct or "surrogate" in allow:
        return True, ""
    hint = "It holds of the binned model only. To let that pass, give: allow: [surrogate]."
    return False, hint
