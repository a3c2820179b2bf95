"""Certificates: what a finished run may claim, each kind able to say itself in one true sentence.

A new kind is a new class, named in `Certificate` and in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, ClassVar, TypeAlias

from hornlens.errors import HornlensError, InputError
from hornlens.limits import Reason

SMALLEST = 1e-9
"""The smallest ε and δ that are accepted: less would take more samples than anyone can draw."""

ENDED: dict[Reason, str] = {
    "time_limit": "by its time limit",
    "max_rules": "by the limit on rules",
    "interrupt": "by hand",
}
"""Why a run was ended early, in words."""


class _Certificate:
    """What all kinds share: a name for machines, one for people, and the JSON."""

    kind: ClassVar[str]
    title: ClassVar[str]
    proved: ClassVar[bool] = False
    """Whether every rule holds of every interpretation."""
    complete: ClassVar[bool] = False
    """Whether every Horn rule that holds follows from the rules."""
    settled: ClassVar[bool] = False
    """Whether all of the target was looked at: then what no answer breaks holds."""

    def as_json(self) -> dict[str, Any]:
        """Return the certificate as it stands in envelope.json: its kind, and what is known."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return {"kind": self.kind} | {name: value for name, value in values if value is not None}


@dataclass(frozen=True)
class Exact(_Certificate):
    """Proved, or looked up, for every interpretation.

    >>> Exact().sentence
    'Every interpretation was settled, none was left to sampling.'
    """

    kind: ClassVar[str] = "exact"
    title: ClassVar[str] = "Exact"
    proved: ClassVar[bool] = True
    complete: ClassVar[bool] = True
    settled: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        """What is claimed."""
        return "Every interpretation was settled, none was left to sampling."


@dataclass(frozen=True)
class Bounded(_Certificate):
    """Proved, and complete for rules with at most so many conditions; longer ones may be missing.

    A condition is what a rule's left side says of one attribute, or of the label. `rules` is how
    many rules there are. With `min_support`, sets of conditions that fewer positive examples have
    (or prompts, or cells, as `of` says) were not looked at; then `max_conditions` may be None.

    >>> Bounded(max_conditions=2, rules=7).sentence
    'Every rule with at most 2 conditions follows from these.'
    """

    kind: ClassVar[str] = "bounded"
    title: ClassVar[str] = "Bounded"
    proved: ClassVar[bool] = True
    settled: ClassVar[bool] = True
    max_conditions: int | None = None
    rules: int = 0
    min_support: int | None = None
    of: str | None = None

    def __post_init__(self) -> None:
        """Refuse what can not be."""
        _check_counts(self, "max_conditions", "rules", "min_support")
        if self.max_conditions is None and self.min_support is None:
            raise ValueError("max_conditions or min_support must be there")
        if self.of not in (None, "prompts", "cells"):
            raise ValueError(f"of must be prompts or cells, not {self.of!r}")

    @property
    def sentence(self) -> str:
        """What is claimed."""
        most, rule = self.max_conditions, "rule"
        if most is not None:
            rule += f" with at most {most:,} {'condition' if most == 1 else 'conditions'}"
        if self.min_support and self.of:
            rule += f" that speaks of at least {self.min_support:,} {self.of}"
        elif self.min_support:
            examples = "example has" if self.min_support == 1 else "examples have"
            which = "the conditions of which" if most is None else "which"
            rule += f", {which} at least {self.min_support:,} positive {examples},"
        if not self.rules:
            return f"There is no {rule.rstrip(',')}."
        return f"Every {rule} follows from these."


@dataclass(frozen=True)
class Interrupted(_Certificate):
    """Proved, but the run was ended early, for a `reason`: there may be more rules than these.

    `rules` is how many are proved. A learner has `hypotheses` beside them, which are not. Of
    `cells`, where they are counted, `unasked` were not asked: the rules hold whatever they say.
    With `max_conditions`, every rule with at most so many follows already.

    >>> Interrupted("time_limit", rules=3).sentence
    'The run was ended by its time limit: these rules hold; there may be more.'
    """

    kind: ClassVar[str] = "interrupted"
    title: ClassVar[str] = "Interrupted"
    proved: ClassVar[bool] = True
    reason: Reason
    rules: int
    hypotheses: int | None = None
    cells: int | None = None
    unasked: int | None = None
    max_conditions: int | None = None

    def __post_init__(self) -> None:
        """Refuse what can not be."""
        if self.reason not in ENDED:
            raise ValueError(f"reason must be one of {', '.join(ENDED)}, not {self.reason!r}")
        _check_counts(self, "rules", "hypotheses", "cells", "unasked", "max_conditions")

    @property
    def sentence(self) -> str:
        """What is claimed."""
        said = f"The run was ended {ENDED[self.reason]}"
        if self.unasked:
            said += f", before {self.unasked:,} of {self.cells:,} cells were asked"
        more = "there are more" if self.reason == "max_rules" else "there may be more"
        whatever = " whatever the answers would be" if self.unasked else ""
        said += f": these rules hold{whatever}; {more}" if self.rules else ": no rule is proved yet"
        if self.max_conditions is not None:
            most = self.max_conditions
            short = f"at most {most:,} {'condition' if most == 1 else 'conditions'}"
            said += f", but none with {short}" if self.rules else f", and none has {short}"
        if self.hypotheses:
            said += "; the hypotheses are not proved"
        return f"{said}."


@dataclass(frozen=True)
class Pac(_Certificate):
    """Probably approximately correct: wrong on more than ε with probability at most δ.

    `samples` were drawn for the last equivalence query, of which the target accepted `accepted`.
    `measures` says of what ε is a fraction: "interpretations drawn with …".

    >>> print(Pac(epsilon=0.1, delta=0.05, samples=52).sentence)
    With probability 0.95, the rules and the non-Horn negatives beside them err together on at most
    10% of random interpretations.
    """

    kind: ClassVar[str] = "pac"
    title: ClassVar[str] = "Probably approximately correct"
    epsilon: float
    delta: float
    samples: int
    measures: str | None = None
    accepted: int | None = None

    def __post_init__(self) -> None:
        """Refuse to claim what is no claim."""
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not 0 < value < 1:
                raise ValueError(f"{name} must lie between 0 and 1 (exclusive), not {value:g}")

    @property
    def sentence(self) -> str:
        """What is claimed, in figures that claim no more."""
        sure = Decimal(1) - Decimal(repr(self.delta))
        claim = (
            f"With probability {sure:f}, the rules and the non-Horn negatives beside them err "
            f"together on at most {100 * self.epsilon:.6g}% of random "
            f"{self.measures or 'interpretations'}"
        )
        if self.accepted is None:
            return f"{claim}."
        if self.accepted > self.epsilon * self.samples:
            return f"{claim}; the target accepted {self.accepted:,} of the last {self.samples:,}."
        return (
            f"{claim}; but the target accepted only {self.accepted:,} of the last "
            f"{self.samples:,}, so a theory that rejects everything would err on no more of them."
        )


@dataclass(frozen=True)
class Budget(_Certificate):
    """Nothing is claimed: the equivalence queries were used up.

    With `samples`, the last of them found no counterexample in so many, but they are too few to
    support any ε below 1 after so many queries.

    >>> Budget(equivalence_queries=20).sentence
    'The run was cut off after 20 equivalence queries: rules may be missing or too strong.'
    """

    kind: ClassVar[str] = "budget_exhausted"
    title: ClassVar[str] = "Budget exhausted"
    equivalence_queries: int
    samples: int | None = None

    @property
    def sentence(self) -> str:
        """Why nothing is claimed."""
        many = self.equivalence_queries
        queries = f"{many:,} equivalence {'query' if many == 1 else 'queries'}"
        if self.samples is None:
            return f"The run was cut off after {queries}: rules may be missing or too strong."
        return (
            f"There was no counterexample in the last {self.samples:,} samples, which are too few "
            f"to claim anything after {queries}."
        )


@dataclass(frozen=True)
class Noisy(_Certificate):
    """Answers vary: the rules are certain, and beside them stand those that are possible.

    Of `prompts`, `undecided` have an answer that is not known. With `alpha`, the others were
    decided by a test of repeated answers, `answers` in all and at most `most` of one prompt. With
    `drift`, one answer with log-probabilities decided each: `reasked` of them were asked again, and
    no lead moved further than that.
    """

    kind: ClassVar[str] = "noisy"
    title: ClassVar[str] = "Certain despite noise"
    proved: ClassVar[bool] = True
    prompts: int
    undecided: int
    answers: int
    alpha: float | None = None
    most: int | None = None
    drift: float | None = None
    reasked: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        counts = (self.prompts, self.undecided, self.answers, self.most or 0, self.reasked or 0)
        if not all(isinstance(n, int) and n >= 0 for n in counts) or self.undecided > self.prompts:
            raise ValueError("numbers of prompts and answers that cannot be")
        if (self.alpha is None) == (self.drift is None):
            raise ValueError("either alpha or drift must be known")
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ValueError(f"alpha must lie between 0 and 1 (exclusive), not {self.alpha:g}")
        if self.drift is not None and not self.drift >= 0:
            raise ValueError(f"drift must be 0 or more, not {self.drift}")

    @property
    def sentence(self) -> str:
        """What is claimed, of what, and on what condition."""
        left = f"{self.undecided:,} of {self.prompts:,} prompts"
        covers = "It covers this wording, this snapshot of the model, and this way of asking it."
        if self.alpha is not None:
            sure = Decimal(1) - Decimal(repr(self.alpha))
            return (
                f"With probability {sure:f} or more, if repeated answers are independent, each of "
                "these rules holds of what is answered most often, and every rule that does "
                f"follows from the possible ones; {left} are undecided after {self.most:,} "
                f"answers at most. {covers}"
            )
        return (
            f"One answer decided each prompt; when {self.reasked:,} were asked again, no lead "
            f"moved by more than {self.drift:.3g}, and {left}, which lead by no more or changed, "
            f"are undecided. No probability is claimed. {covers}"
        )


@dataclass(frozen=True)
class Explored(_Certificate):
    """Everything was asked of experts, in `answers`: what is claimed is claimed on their word.

    Of what was asked, `open` rules are neither known to hold nor known not to; they stand beside
    the others as hypotheses. Of the rules, `sampled` were held against samples only.

    >>> print(Explored(7).sentence)
    By 7 answers, these rules hold, and every rule that holds follows from these.
    """

    kind: ClassVar[str] = "explored"
    title: ClassVar[str] = "Explored"
    proved: ClassVar[bool] = True
    answers: int
    open: int = 0
    sampled: int = 0

    def __post_init__(self) -> None:
        """Refuse what can not be."""
        _check_counts(self, "answers", "open", "sampled")

    @property
    def sentence(self) -> str:
        """What is claimed, and on whose word."""
        answers = f"{self.answers:,} {'answer' if self.answers == 1 else 'answers'}"
        from_these = "these and the hypotheses, which were left open" if self.open else "these"
        said = (
            f"By {answers}, these rules hold, and every rule that holds follows from {from_these}"
        )
        if self.sampled:
            many = "1 yes rests" if self.sampled == 1 else f"{self.sampled:,} times yes rest"
            said += f"; {many} on samples only"
        return f"{said}."


Certificate: TypeAlias = Exact | Bounded | Interrupted | Noisy | Pac | Budget | Explored
KINDS: tuple[type[Certificate], ...] = (Exact, Bounded, Interrupted, Noisy, Pac, Budget, Explored)
EXACT = Exact()


def _check_counts(certificate: _Certificate, *names: str) -> None:
    """Refuse a number that can not be."""
    for name in names:
        value = getattr(certificate, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (whole and value >= 0):
            raise ValueError(f"{name} must be a number from 0 on, not {value!r}")


def certificate_from_json(content: Mapping[str, Any]) -> Certificate:
    """Return the certificate that `as_json` gave; keys that are not known are passed over."""
    kind = content.get("kind")
    found = next((known for known in KINDS if known.kind == kind), None)
    if found is None:
        names = ", ".join(known.kind for known in KINDS)
        raise InputError(f"certificate: unknown kind {kind!r}; this version knows {names}")
    names_of_fields = {field.name for field in fields(found)}
    try:
        return found(**{name: content[name] for name in content if name in names_of_fields})
    except (TypeError, ValueError) as error:
        raise InputError(f"certificate of kind {kind}: {error}") from error


def check_tolerances(epsilon: float, delta: float) -> None:
    """Refuse an ε or δ for which no schedule can be kept."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not SMALLEST <= value < 1:
            raise HornlensError(
                f"--{name} must lie between {SMALLEST:g} and 1 (exclusive), not {value:g}"
            )
