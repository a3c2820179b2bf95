"""How an extraction goes about it: exactly, by samples, or within a budget of queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from hornlens.errors import HornlensError
from hornlens.logic.certificates import check_tolerances
from hornlens.logic.decisions import Policy, check_choices
from hornlens.logic.levels import parse_detail

Rank = Literal["support", "margin", "surprise"]
Equivalence = Literal["auto", "exhaustive", "exact", "sift", "pac", "budget"]
MOST_ASKED = 20_000_000
"""So many questions at most are all asked, whatever the limit: their answers are held in memory."""
PAPER_SAMPLES = 3132
"""What the paper's experiment drew for an equivalence query (ε 0.3, δ 0.1, 26 variables)."""


@dataclass(frozen=True)
class Settings:
    """How to extract: exactly or by samples, and which rules.

    Args:
        equivalence: "exhaustive" (or "exact") asks everything, "sift" finds all rules with few
            conditions from few questions, "pac" draws samples until the rules are probably
            approximately correct, "budget" stops after so many equivalence queries. "auto" is
            "exhaustive" if the prompts fit `limit`, else "sift".
        epsilon: Sift: the share of its own cells that may break a listed rule. PAC: the share of
            random cells on which the rules may be wrong.
        delta: The probability that this is not so.
        max_equivalence_queries: Budget: how many equivalence queries are asked.
        limit: How many prompts or cells may all be asked; the others ask no more than that, either.
        seed: The seed of all samples.
        samples: How many samples an equivalence query draws, as in the paper's experiment. Default:
            what `epsilon` and `delta` need.
        max_conditions: Only rules with at most this many conditions; all of those, if everything is
            asked. Sift: the label is one of them, so 3 (the default there) is 2 on attributes.
        max_questions: How many prompts or cells are asked at most.
        min_support: Only rules that apply to at least this many prompts, cells or rows.
        min_confidence: Almost-rules as well: those that hold in at least this share (0.95) of the
            cases that they apply to. These, and `detail`, need every answer.
        detail: Choose a few rules for people: a number ("5"), as many as explain a share of the
            rejections ("90%"), the best choice of so many ("best:5"), or "exact".
        exception_cost: For `detail`: how many explained rejections an exception outweighs.
        rank: Which rules come first: those with the most "support", the widest "margin", or the
            most "surprise" (what no other rule says).

    Raises:
        HornlensError: if a value makes no sense.

    >>> from hornlens import extract
    >>> short = Settings(max_conditions=1)
    >>> print(extract(lambda prompt, words: [0.9, 0.1], cache=False, settings=short).rules)
    male → ⊥
    """

    equivalence: Equivalence = "auto"
    epsilon: float = 0.05
    delta: float = 0.05
    max_equivalence_queries: int = 200
    limit: int = 200_000
    seed: int = 0
    samples: int | None = None
    max_conditions: int | None = None
    max_questions: int | None = None
    min_support: int | None = None
    min_confidence: float | None = None
    detail: str | None = None
    exception_cost: float = 1.0
    rank: Rank = "support"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_choices(self)
        if self.equivalence == "exact":
            object.__setattr__(self, "equivalence", "exhaustive")
        check_tolerances(self.epsilon, self.delta)
        least = {"max_equivalence_queries": 0, "limit": 1, "samples": 1, "max_conditions": 0}
        least |= {"max_questions": 1, "min_support": 1, "exception_cost": 0}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise HornlensError(f"{name} must be {bound} or more, not {value!r}")
        if self.min_confidence is not None and not 0 < self.min_confidence < 1:
            raise HornlensError(
                "min_confidence must lie between 0 and 1 (exclusive), not "
                f"{self.min_confidence!r}: rules without exceptions are always listed"
            )
        object.__setattr__(self, "exception_cost", float(self.exception_cost))
        if self.detail is not None:
            parse_detail(self.detail)

    def is_exhaustive(self, questions: int, unit: str = "prompt") -> bool:
        """Say whether everything is asked, of so many questions; too many are an error."""
        if self.equivalence == "exhaustive" and questions > self.limit:
            what = "probe" if unit == "prompt" else "target"
            raise HornlensError(
                f"the {what} has {questions:,} {unit}s, more than --limit {self.limit:,}: "
                "raise the limit, or use --equivalence sift"
            )
        if self.equivalence == "exhaustive" and questions > MOST_ASKED:
            raise HornlensError(
                f"{questions:,} {unit}s cannot all be kept in memory ({MOST_ASKED:,} at most): "
                "use --equivalence sift"
            )
        return self.equivalence in ("auto", "exhaustive") and questions <= min(
            self.limit, MOST_ASKED
        )


def paper_protocol(settings: Settings, policy: Policy) -> tuple[Settings, Policy]:
    """Return settings and policy as the paper's experiment had them."""
    return (
        replace(settings, equivalence="budget", samples=PAPER_SAMPLES),
        replace(policy, label_unset="reject", abstain="reject", top_k=5, calibration="none"),
    )
