"""Almost-rules: rules that hold but for exceptions, all of which are known."""

from __future__ import annotations

from dataclasses import dataclass

from hornlens.logic.rule import Rule


@dataclass(frozen=True)
class AlmostRule:
    """A rule that the target breaks now and then: it is no rule of the envelope.

    `of` counts what it speaks of: cells in which it rejects something, or rows of a table. In
    `broken` of them the target accepts something that it rejects: these interpretations are
    `exceptions`, all of them. Of a table, `lines` says where each one stands in the file.
    """

    rule: Rule
    of: int
    broken: int
    exceptions: tuple[int, ...]
    lines: tuple[int, ...] = ()

    @property
    def confidence(self) -> float:
        """The share of what it speaks of that does not break it."""
        return 1 - self.broken / self.of


@dataclass(frozen=True)
class AlmostRules:
    """The almost-rules of a target beside its exact rules.

    Every rule with at most `max_conditions` conditions and a confidence of `min_confidence` or more
    follows from the exact rules and these, none of which can be left out. What breaks such a rule
    is among their exceptions.
    """

    min_confidence: float
    max_conditions: int
    min_support: int | None = None
    """How much of anything a rule has to speak of, to be looked at."""
    rules: tuple[AlmostRule, ...] = ()

    @property
    def sentence(self) -> str:
        """What is claimed."""
        most = f"{self.max_conditions:,} condition{'' if self.max_conditions == 1 else 's'}"
        kind = f"rule with at most {most} and a confidence of {self.min_confidence:g} or more"
        if self.min_support:
            kind += f", of {self.min_support:,} cases or more,"
        if not self.rules:
            return f"Every {kind} follows from the exact rules."
        return (
            f"Every {kind} follows from the exact rules and these, and what breaks it is among "
            "the exceptions listed."
        )
