"""What may be claimed of a classifier's rules, each in one true sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Agreement:
    """How often the binned classifier says what the classifier itself says.

    `rows`: of the rows of X; `uniform`: of `drawn` random inputs, each column uniform between its
    least and largest value. Of `cells` cells that these lie in, `mixed` have points with other
    classes than the point that stands for the cell.
    """

    rows: float
    uniform: float
    drawn: int
    cells: int
    mixed: int

    @property
    def sentence(self) -> str:
        """What was found."""
        return (
            f"It agrees with yours on {percent(self.rows)} of the rows and "
            f"{percent(self.uniform)} of {self.drawn:,} uniform inputs; "
            f"{self.mixed:,} of {self.cells:,} cells that were looked at have points of several "
            "classes."
        )


@dataclass(frozen=True)
class Claim:
    """What is claimed: `kind` is exact, bounded or pac, as certificates have it."""

    kind: str
    title: str
    sentence: str
    proved: bool
    """Whether every rule holds of every cell that it speaks of."""
    complete: bool
    """Whether the rules say all that was to be said: every cell, or every rule so short."""
    details: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return it as explanation.json has it."""
        found = asdict(self)
        return {**found.pop("details"), **found}

    def __str__(self) -> str:
        """Return it as people read it."""
        return f"{self.title}: {self.sentence}"


def exact_claim(of: str, cells: int, how: str, every_input: bool, agreement: Agreement) -> Claim:
    """Claim that every cell was asked; `of` says which there are."""
    cell = "cell was" if cells == 1 else "cells were"
    asked = f"{cells:,} {cell} asked, {of}"
    if every_input:
        sentence = (
            f"{asked}; with {how}, that is every input: the rules decide all as the model does."
        )
    else:
        sentence = (
            f"{asked}. Exact for the binned model ({how}), which agrees with yours on "
            f"{percent(agreement.rows)} of the rows and {percent(agreement.uniform)} of uniform "
            "inputs."
        )
    return Claim("exact", "Exact", sentence, True, True, {"cells": cells})


def bounded_claim(
    most: int, rules: int, of: str, every_input: bool, agreement: Agreement, unsettled: int = 0
) -> Claim:
    """Claim that every rule with at most so many conditions is there."""
    rule = f"rule with at most {most} {'condition' if most == 1 else 'conditions'}"
    if unsettled:
        sentence = (
            f"Every one of these rules is proved, {of}; {unsettled:,} sets of at most {most} "
            "conditions were too hard to settle, so that rules may be missing."
        )
    elif rules:
        sentence = f"Every {rule} is here, or follows from one that is: proved, {of}."
    else:
        sentence = f"There is no {rule}: proved, {of}."
    if not every_input:
        sentence += (
            f" That is of the binned model, which agrees with yours on {percent(agreement.rows)} "
            f"of the rows and {percent(agreement.uniform)} of uniform inputs."
        )
    details = {"max_conditions": most, "rules": rules, "unsettled": unsettled}
    return Claim("bounded", "Bounded", sentence, True, not unsettled, details)


def sampled_claim(
    epsilon: float, delta: float, samples: int, least: int, most: int, agreement: Agreement
) -> Claim:
    """Claim what random cells can show of each rule by itself."""
    sentence = (
        f"Not proved: {samples:,} random cells were asked, each feature uniform over its levels. "
        f"Listed are the rules with at most {most} conditions that {least:,} or more of them speak "
        f"for, and none against. With probability {1 - delta:g}, at most {100 * epsilon:g}% of the "
        "cells that a rule speaks of break it, and that is so of all rules at once. The binned "
        f"model agrees with yours on {percent(agreement.rows)} of the rows."
    )
    details = {
        "epsilon": epsilon,
        "delta": delta,
        "samples": samples,
        "least": least,
        "max_conditions": most,
    }
    return Claim("pac", "Probably approximately correct", sentence, False, False, details)


def percent(share: float) -> str:
    """Return a share that is said to be 100% only if it is."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return f"{min(max(100 * share, 0.01), 99.99):.2f}%"
