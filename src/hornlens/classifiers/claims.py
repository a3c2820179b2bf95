"""What may be claimed of a classifier's rules, each in one true sentence."""

from __future__ import annotations

from hornlens.results.claims import Agreement, Claim, percent


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
