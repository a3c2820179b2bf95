"""Checking a result against requirements: each is judged by the result itself, and then gated.

Written once for every kind of result: a result judges a rule and counts flips (`judging.Judged`);
what passes is decided here and in `gates`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

from hornlens.errors import HornlensError, InputError
from hornlens.results.analysis.gates import answered, certainty, rule_count, rule_passes
from hornlens.results.analysis.judging import Judged
from hornlens.results.documents.checks import Checked, CheckOutcome, Flip, Status
from hornlens.results.documents.flips import Flips
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

SHOWN = 3
"""How many flips are listed of those that an outcome rests on."""


def check_requirements(result: Judged, requirements: Requirements, name: str = "") -> Checked:
    """Say of every requirement whether a result obeys it, and what shows that.

    A name that the result does not have is an InputError with the requirement's line.
    """
    checking = _Checking(result, requirements.path or None, requirements.allow)
    outcomes = filter(None, map(checking.outcome, requirements.each))
    return Checked(name or result.title, tuple(outcomes), requirements.path)


@dataclass(frozen=True)
class _Checking:
    result: Judged
    path: str | None
    allow: frozenset[Allowance] = frozenset()

    def outcome(self, required: Requirement) -> CheckOutcome | None:
        with self._at(required.line):
            match required:
                case RuleRequirement() if required.confidence is not None:
                    return self._almost(required, required.confidence)
                case RuleRequirement():
                    return self._rule(required)
                case Invariance():
                    return self._invariance(required)
                case CertaintyRequirement():
                    return certainty(required, self.result.certificates, self.allow)
                case RuleCount():
                    return rule_count(required, self.result.rule_count)
                case AnsweredShare():
                    return answered(required, *self.result.questions)

    @contextmanager
    def _at(self, line: int | None) -> Iterator[None]:
        """Say of what is wrong in which line of the file it stands."""
        try:
            yield
        except HornlensError as error:
            message = error.message if isinstance(error, InputError) else str(error)
            raise InputError(message, self.path, line) from None

    @property
    def _direct(self) -> bool:
        """Whether the result speaks of the target itself."""
        return self.result.certificates[0].scope.direct

    def _where(self, required: RuleRequirement | Invariance) -> str:
        either = required.scope == "any variant" and self.result.worlds
        return " in any variant" if either else ""

    def _rule(self, required: RuleRequirement) -> CheckOutcome:
        judged = self.result.judge(required.rule, required.scope)
        truth, finding = judged.truth, judged.finding
        passed, hint = rule_passes(required, truth, self._direct, self.allow)
        return CheckOutcome(
            kind=required.kind,
            what=f"{required.rule}{self._where(required)}",
            passed=passed,
            status="unknown" if truth.outcome == "open" else truth.outcome,
            finding=f"{finding} {hint}" if hint and not passed else finding,
            because=required.because,
            line=required.line,
            count=judged.count,
            of=judged.of,
            answers=judged.answers,
        )

    def _almost(self, required: RuleRequirement, confidence: float) -> CheckOutcome:
        """Count what breaks a rule: does it hold often enough, in all worlds at once or in one?"""
        broken, of, settled, finding, answers, missing = self.result.exceptions(
            required.rule, required.scope
        )
        share = Fraction(of - broken, max(1, of))
        enough = settled and (not of or share >= Fraction(repr(confidence)))
        status: Status = "almost" if enough else "broken"
        if not settled:
            status = "unknown"
        elif not broken:
            status = "holds"
        if of and settled:
            finding += f" That is a confidence of {100 * (1 - broken / of):.4g}%."
        if not settled:
            finding = f"Unknown: {missing}. {finding}"
        passed = enough == (required.kind == "require") and settled
        if passed and required.kind == "require" and not self._direct:
            passed = "surrogate" in self.allow
        return CheckOutcome(
            kind=required.kind,
            what=f"{required.rule} in {100 * confidence:.6g}% or more{self._where(required)}",
            passed=passed,
            status=status,
            finding=finding,
            because=required.because,
            line=required.line,
            count=broken,
            of=of,
            answers=answers,
        )

    # --- invariance ---

    def _invariance(self, required: Invariance) -> CheckOutcome:
        tolerance = required.tolerance
        each = [(world.world, world.flips(required.attributes)) for world in self.result.each]
        fine = [_within(flips, tolerance) for _, flips in each]
        passed = all(fine) if required.scope == "every variant" else any(fine)
        settled = all(self._settled(flips) for _, flips in each)
        whole = settled or "open" in self.allow
        direct = self._direct or "surrogate" in self.allow
        chosen = any(flips.chosen for _, flips in each)
        asked = any(flips.share is not None or flips.of_pairs for _, flips in each)
        finding = _counted(each) if asked else "Unknown: there are no answers to compare."
        if asked and not settled:
            if not _has_rows(each):
                finding += " Not every cell was asked and decided."
            if passed and not whole:
                finding += " To let that pass, give the file: allow: [open]."
        if not direct:
            finding += " To let rules of a binned model pass, give: allow: [surrogate]."
        allowed = f", at most {100 * tolerance:.6g}%" if tolerance else ""
        worst = [f.examples[:SHOWN] for (_, f), ok in zip(each, fine, strict=True) if not ok]
        shown = [pair for rank in zip_longest(*worst) for pair in rank if pair][:SHOWN]
        rows = _has_rows(each)
        return CheckOutcome(
            kind="invariant",
            what=f"{', '.join(required.attributes)}{allowed}{self._where(required)}",
            passed=passed and whole and direct,
            status=(
                "broken"
                if asked and not passed and not (chosen and tolerance)
                else "holds"
                if passed and whole
                else "unknown"
            ),
            finding=finding,
            because=required.because,
            line=required.line,
            count=sum(flips.rows if rows else flips.counted for _, flips in each),
            of=sum(flips.of_rows if rows else flips.of_pairs or 0 for _, flips in each),
            flips=tuple(map(Flip.of, shown)),
        )

    def _settled(self, flips: Flips) -> bool:
        """Whether the share is known: it is proved, or it is that of rows, and all were asked."""
        if flips.proved or not flips.of_rows:
            return flips.proved
        return flips.ever and not flips.of_pairs and not self.result.certificates[0].ended


def _within(flips: Flips, tolerance: float) -> bool:
    """Return whether no more flips; of chosen cells there is no share, and one is too many."""
    if flips.chosen and not flips.of_rows:
        return bool(flips.of_pairs) and not flips.counted
    share = flips.share
    return share is not None and share <= tolerance and (tolerance > 0 or not flips.ever)


def _has_rows(each: list[tuple[str, Flips]]) -> bool:
    return any(flips.of_rows for _, flips in each)


def _counted(each: list[tuple[str, Flips]]) -> str:
    """Return how many pairs differ, in each way of asking; of a classifier, how many rows too."""
    if _has_rows(each):
        return " ".join(flips.sentence for _, flips in each)
    counts = []
    for world, flips in each:
        pairs = f"{flips.counted:,} of {flips.of_pairs or 0:,} pairs"
        if not flips.chosen:
            pairs += f" ({100 * flips.counted / max(1, flips.of_pairs or 0):.3g}%)"
        counts.append(f"{world}: {pairs}" if world else pairs)
    name = each[0][1].feature
    finding = f"Of cells that differ only in {name}, answers differ in {'; '.join(counts)}."
    if half := sum(flips.half_answered for _, flips in each):
        finding += f" In {half:,} of them, only one of the two cells got an answer."
    return finding
