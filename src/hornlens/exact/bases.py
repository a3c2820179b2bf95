"""The same rules as other bases: canonical, readable, of one conclusion each, direct."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from hornlens.errors import InputError
from hornlens.exact.envelopes import with_support
from hornlens.exact.premises import PremiseSearch, direct_basis
from hornlens.logic.bits import bits
from hornlens.logic.envelope import Envelope
from hornlens.logic.rule import Rule
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory

Basis: TypeAlias = Literal["readable", "canonical", "unit", "direct"]


def in_basis(envelope: Envelope, basis: Basis, table: Table | None = None) -> Envelope:
    """Return an envelope whose rules, in both of its forms, are those of another basis.

    *canonical*: the DG basis, the fewest rules there can be. *unit*: the readable rules, each with
    one variable (or ⊥) on the right. *direct*, of tables: what follows from a set follows from it
    in one step; it stands alone, without the background.
    """
    if basis == "readable":
        return envelope
    if basis == "canonical":
        rules = envelope.basis
    elif basis == "unit":
        rules = unit(envelope.readable)
    elif table is None:
        raise InputError("the direct basis is of tables; a formula has the other ones")
    elif not envelope.certificate.all_rules:
        raise InputError("the direct basis is of all rules: leave out the limits")
    else:
        rules = direct_basis(PremiseSearch(table.rows, len(table.vocabulary)))
    changed = replace(envelope, basis=rules, readable=rules, support=None)
    return changed if table is None else with_support(changed, table)


def unit(theory: Theory) -> Theory:
    """Return the rules with one variable, or ⊥, on the right of each."""
    return Theory(
        theory.width,
        tuple(
            one
            for rule in theory.rules
            for one in (
                [rule]
                if rule.is_negative
                else [Rule(rule.antecedent, 1 << bit) for bit in bits(rule.new)]
            )
        ),
    )
