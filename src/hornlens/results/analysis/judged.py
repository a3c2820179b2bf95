"""What a result can be asked: to judge rules, to count flips, to be held against another.

Here is how results with recorded answers answer; a result of another kind has methods of its own.
The work is done in `judging`, `flips`, `rulesets` and `common`, which are loaded when needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from hornlens.logic.certificates import Certificate
from hornlens.logic.named import NamedRule

if TYPE_CHECKING:
    from hornlens.results.analysis.judging import Exceptions, Judgement
    from hornlens.results.analysis.rates import Rates
    from hornlens.results.analysis.rulesets import Verdict
    from hornlens.results.documents.findings import Findings
    from hornlens.results.documents.flips import Flips
    from hornlens.results.documents.requirements import Scope


class JudgedByAnswers:
    """The questions that gates and comparisons ask of a result, answered by recorded answers."""

    @property
    def _findings(self) -> Findings:
        return cast("Findings", self)  # no other class has these methods from here

    # --- held against requirements ---

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What may be claimed of the whole, and of each way of asking."""
        return tuple(each.envelope.certificate for each in (self._findings, *self._findings.worlds))

    @property
    def rule_count(self) -> int:
        """How many rules a gate counts: those of the basis."""
        return len(self._findings.envelope.basis)

    @property
    def questions(self) -> tuple[int, int]:
        """How many questions were answered, and how many were asked, in every way of asking."""
        known = [decision for world in self._findings.each for decision in world.decisions.values()]
        return sum(decision.answered for decision in known), len(known)

    def judge(self, rule: NamedRule | str, scope: Scope = "every variant") -> Judgement:
        """Return what is known of a rule (or its text), in words and with answers that show it."""
        from hornlens.results.analysis.judging import judge_by_answers

        return judge_by_answers(self._findings, NamedRule.given(rule), scope)

    def exceptions(self, rule: NamedRule | str, scope: Scope = "every variant") -> Exceptions:
        """Count the cells that break a rule, among those that it speaks of."""
        from hornlens.results.analysis.judging import exceptions_by_answers

        return exceptions_by_answers(self._findings, NamedRule.given(rule), scope)

    def flips(self, attribute: str | Sequence[str]) -> Flips:
        """Count what changing only an attribute, or several of them at once, does to the answers.

        Counted are the recorded answers, in every way of asking. A name that is no attribute is an
        InputError.
        """
        from hornlens.results.analysis.flips import attributes_named, flips_of_answers
        from hornlens.results.analysis.judging import check_names

        names = [each.name for each in self._findings.space.attributes]
        chosen = attributes_named(attribute)
        check_names(self._findings, chosen, names, "attribute")
        return flips_of_answers(self._findings, [names.index(name) for name in chosen])

    # --- compared with others ---

    @cached_property
    def compared_rules(self) -> tuple[NamedRule, ...]:
        """The rules that are held against other results: those in short form."""
        return tuple(rule for rule, _ in self._findings.envelope.named)

    @cached_property
    def compared_sentences(self) -> tuple[str, ...]:
        """What each of them says, in words."""
        return tuple(map(self._findings.sentence, self._findings.evidence))

    @property
    def compared_rates(self) -> Rates | None:
        """How often each value gets each answer; None where nothing was asked, or cells chosen."""
        findings = self._findings
        return findings.rates if findings.has_rates and findings.asked else None

    @property
    def compared_over(self) -> dict[str, tuple[str, ...]]:
        """The variables, which other results must have as well."""
        return {"variables": self._findings.envelope.vocabulary.names}

    @property
    def has_all_rules(self) -> bool:
        """Whether every rule that holds follows from those that were found."""
        return self._findings.envelope.certificate.has_all

    @cached_property
    def made(self) -> dict[str, str]:
        """How it was made, by setting."""
        from hornlens.results.analysis.rulesets import settings_of

        return settings_of(self._findings)

    @property
    def cell_prompts(self) -> dict[int, tuple[str, ...]]:
        """The prompts of each cell, if there are any."""
        from hornlens.results.analysis.rulesets import prompts_of

        return prompts_of(self._findings)

    def verdict_on(self, rule: NamedRule, owner: Any) -> Verdict:
        """Return what is known of a rule of another result, and the answer that breaks it."""
        from hornlens.results.analysis.rulesets import verdict_by_answers

        return verdict_by_answers(self._findings, rule)

    def common_with(self, others: Sequence[Any]) -> tuple[NamedRule, ...] | None:
        """Return the rules from which all follows that follows from this and from each other one.

        None if there are too many interpretations to work that out.
        """
        from hornlens.results.analysis.common import common_consequences

        common = common_consequences([each.envelope for each in (self._findings, *others)])
        names = self._findings.envelope.vocabulary
        return None if common is None else tuple(NamedRule.of(rule, names) for rule in common)
