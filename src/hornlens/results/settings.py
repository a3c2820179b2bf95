"""How an extraction goes about it: exactly, by samples, or within a budget of queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from hornlens.errors import HornlensError
from hornlens.logic.certificates import check_tolerances
from hornlens.logic.decisions import Policy, check_choices

Equivalence = Literal["auto", "exhaustive", "exact", "pac", "budget"]
MOST_ASKED = 20_000_000
"""So many questions at most are all asked, whatever the limit: their answers are held in memory."""
PAPER_SAMPLES = 3132
"""What the paper's experiment drew for an equivalence query (ε 0.3, δ 0.1, 26 variables)."""


@dataclass(frozen=True)
class Settings:
    """How to extract. `samples` fixes the number of samples a query, as the paper's budget did.

    `exact` is another word for `exhaustive`; `auto` is that if the prompts fit `limit`, else `pac`.
    With `max_conditions`, the rules with at most so many conditions: everything must be asked.
    """

    equivalence: Equivalence = "auto"
    epsilon: float = 0.05
    delta: float = 0.05
    max_equivalence_queries: int = 200
    limit: int = 200_000
    seed: int = 0
    samples: int | None = None
    max_conditions: int | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_choices(self)
        if self.equivalence == "exact":
            object.__setattr__(self, "equivalence", "exhaustive")
        check_tolerances(self.epsilon, self.delta)
        least = {"max_equivalence_queries": 0, "limit": 1, "samples": 1, "max_conditions": 0}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise HornlensError(f"{name} must be {bound} or more, not {value!r}")

    def is_exhaustive(self, questions: int, unit: str = "prompt") -> bool:
        """Say whether everything is asked, of so many questions; too many are an error."""
        if self.equivalence == "exhaustive" and questions > self.limit:
            what = "probe" if unit == "prompt" else "target"
            raise HornlensError(
                f"the {what} has {questions:,} {unit}s, more than --limit {self.limit:,}: "
                "raise the limit, or use --equivalence pac"
            )
        if self.equivalence == "exhaustive" and questions > MOST_ASKED:
            raise HornlensError(
                f"{questions:,} {unit}s cannot all be kept in memory ({MOST_ASKED:,} at most): "
                "use --equivalence pac"
            )
        exhaustive = self.equivalence in ("auto", "exhaustive") and questions <= min(
            self.limit, MOST_ASKED
        )
        if self.max_conditions is not None and not exhaustive:
            raise HornlensError(
                "--max-conditions promises every rule up to that length, which no sample can: "
                f"use --equivalence exhaustive, with a --limit of {questions:,} {unit}s or more"
            )
        return exhaustive


def paper_protocol(settings: Settings, policy: Policy) -> tuple[Settings, Policy]:
    """Return settings and policy as the paper's experiment had them."""
    return (
        replace(settings, equivalence="budget", samples=PAPER_SAMPLES),
        replace(policy, label_unset="reject", abstain="reject", top_k=5, calibration="none"),
    )
