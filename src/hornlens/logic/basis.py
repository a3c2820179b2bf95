"""Saturation and the Duquenne–Guigues (DG) basis of a Horn theory.

The DG basis is the theory's fingerprint: saturated on both sides, unique, and no equivalent theory
has fewer rules. Everything here may be taken relative to a background, a theory that is taken for
granted: antecedents then obey it, and its own rules are not part of the basis.
"""

from __future__ import annotations

from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory, forward_chain


def is_left_saturated(theory: Theory) -> bool:
    """Say whether each antecedent falsifies its own rule and obeys every other rule."""
    return all(
        rule.satisfied_by(other.antecedent) == (i != j)
        for i, rule in enumerate(theory.rules)
        for j, other in enumerate(theory.rules)
    )


def is_right_saturated(theory: Theory) -> bool:
    """Say whether each consequent is ⊥ or all that follows from its antecedent."""
    return all(
        rule.consequent in (BOTTOM, theory.closure(rule.antecedent)) for rule in theory.rules
    )


def is_saturated(theory: Theory) -> bool:
    """Say whether the theory is saturated on both sides, that is, a DG basis."""
    return is_left_saturated(theory) and is_right_saturated(theory)


def right_saturate(theory: Theory, background: Theory | None = None) -> Theory:
    """Return the equivalent theory whose consequents say all that follows."""
    known = theory + (background or Theory(theory.width))
    return Theory(
        theory.width, tuple(Rule(r.antecedent, known.closure(r.antecedent)) for r in theory.rules)
    )


def left_saturate(theory: Theory, background: Theory | None = None) -> Theory:
    """Return the equivalent theory whose antecedents obey the other rules.

    Each antecedent grows by what the other rules (and the background) make of it. A rule that
    the others already entail is dropped.
    """
    assumed = background or Theory(theory.width)
    pending = list(theory.rules)
    kept: list[Rule] = []
    while pending:
        rule = pending.pop(0)
        others = (*assumed.rules, *kept, *pending)
        antecedent = forward_chain(others, rule.antecedent, assumed.exclusive)
        if rule.consequent & ~antecedent:
            kept.append(Rule(antecedent, rule.consequent))
    return Theory(theory.width, tuple(kept))


def dg_basis(theory: Theory, background: Theory | None = None) -> Theory:
    """Return the DG basis of `theory`, relative to `background`, in canonical order.

    Right saturation first, left saturation second: the result is saturated on both sides, and the
    same for any two equivalent theories, whatever the order of their rules.
    """
    saturated = left_saturate(right_saturate(theory, background), background)
    return in_canonical_order(saturated)


def in_canonical_order(theory: Theory) -> Theory:
    """Return the theory with its rules sorted: short antecedents first, then vocabulary order."""
    return Theory(theory.width, tuple(sorted(theory.rules, key=lambda rule: rule.key)))
