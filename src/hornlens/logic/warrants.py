"""Warrants: what stands behind one rule. It is proved, or tested with a bound, or open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Literal, TypeAlias

from hornlens.counts import plural
from hornlens.errors import InputError

WarrantKind: TypeAlias = Literal["proved", "tested", "open"]
WARRANTS: tuple[WarrantKind, ...] = ("proved", "tested", "open")
"""All kinds, the strongest first."""


def check_count(name: str, value: object) -> None:
    """Reject what is no number of things."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be a number from 0 on, not {value!r}")


def percentage(share: float) -> str:
    """Return a share as a percentage, in digits that claim no more."""
    return f"{100 * share:.6g}%"


def at_most(bound: float) -> str:
    """Return a bound as a percentage in three digits, rounded up: it claims no more.

    >>> at_most(0.0661064), at_most(0.05)
    ('6.62%', '5%')
    """
    digits = Context(3, ROUND_CEILING).create_decimal(100 * Decimal(repr(bound)))
    return f"{digits.normalize():f}%"


def at_least(bound: float) -> str:
    """Return a lower bound as a percentage in three digits, rounded down: it claims no more."""
    digits = Context(3, ROUND_FLOOR).create_decimal(100 * Decimal(repr(bound)))
    return f"{digits.normalize():f}%"


@dataclass(frozen=True)
class Warrant:
    """What is known of one rule.

    *proved*: no case can break it. *tested*: `tested` independent cases were tried and none broke
    it; with a `bound`, at most that share of the rule's own cases break it, with the confidence
    that the certificate states for all rules together. *open*: no recorded answer breaks it, and
    nothing more is known.

    >>> Warrant("tested", tested=90, bound=0.05).sentence
    'Tested in 90 cases, none of which broke it: at most 5% of its cases do.'
    """

    kind: WarrantKind
    tested: int = 0
    bound: float | None = None

    def __post_init__(self) -> None:
        """Reject a warrant that cannot be."""
        if self.kind not in WARRANTS:
            raise ValueError(f"a warrant is {', '.join(WARRANTS)}, not {self.kind!r}")
        check_count("tested", self.tested)
        if self.bound is not None and (self.kind != "tested" or not 0 < self.bound < 1):
            raise ValueError("only a tested rule has a bound, between 0 and 1 (exclusive)")

    @property
    def proved(self) -> bool:
        """Whether no case can break the rule."""
        return self.kind == "proved"

    @property
    def known(self) -> bool:
        """Whether there is a proof, or a test: an open rule has neither."""
        return self.kind != "open"

    def within(self, share: float) -> bool:
        """Return whether at most such a share of the rule's cases can break it."""
        return self.proved or (self.bound is not None and self.bound <= share)

    @property
    def words(self) -> str:
        """The same in a few words, for a column of a table: "tested, at most 5%"."""
        return self.kind if self.bound is None else f"tested, at most {at_most(self.bound)}"

    @property
    def sentence(self) -> str:
        """What may be said of the rule."""
        if self.proved:
            return "Proved: no case breaks it."
        if not self.known:
            return "Open: no recorded answer breaks it, and nothing proves it."
        trials = "Tested by samples, none of which broke it"
        if self.tested:
            trials = f"Tested in {plural(self.tested, 'case')}, none of which broke it"
        if self.bound is None:
            return f"{trials}; no bound is claimed."
        return f"{trials}: at most {at_most(self.bound)} of its cases do."

    def as_json(self) -> dict[str, Any]:
        """Return the warrant as it stands beside a rule in a result's JSON."""
        content: dict[str, Any] = {"kind": self.kind}
        if self.tested:
            content["tested"] = self.tested
        if self.bound is not None:
            content["bound"] = self.bound
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Warrant:
        """Return what `as_json` wrote; anything else is an InputError."""
        try:
            return cls(content["kind"], content.get("tested", 0), content.get("bound"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"has a warrant that cannot be: {error}") from None


PROVED = Warrant("proved")
OPEN = Warrant("open")
