"""Rules as people of formal concept analysis write them: as ConExp and as fcaR print them.

They know no ⊥: what no object has implies all attributes, and the set of all attributes is closed.
"""

from __future__ import annotations

from collections.abc import Sequence

from hornlens.formats.plain import visible
from hornlens.logic.bits import BOTTOM
from hornlens.logic.envelope import Envelope
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory


def without_bottom(theory: Theory) -> Theory:
    """Return a theory with all variables in the place of ⊥; that all imply ⊥ is left out.

    The DG basis so becomes that of a context in which the set of all attributes is closed.
    """
    full = (1 << theory.width) - 1
    return Theory(
        theory.width,
        tuple(
            Rule(rule.antecedent, full) if rule.is_negative else rule
            for rule in theory.rules
            if not (rule.consequent == BOTTOM and rule.antecedent == full)
        ),
    )


def write_conexp(envelope: Envelope) -> str:
    """Return the rules as ConExp lists them: number, support, premise ==> conclusion."""
    lines = []
    for i, (rule, support) in enumerate(_rules(envelope), start=1):
        left, right = _sides(envelope, rule)
        counted = "" if support is None else f"< {support} > "
        lines.append(f"{i} {counted}{' '.join(left) or '{ }'} ==> {' '.join(right)};")
    return "".join(line + "\n" for line in lines)


def write_fcar(envelope: Envelope) -> str:
    """Return the rules as fcaR prints a set of implications."""
    rules = _rules(envelope)
    lines = [f"Implication set with {len(rules)} implications."]
    for i, (rule, _) in enumerate(rules, start=1):
        left, right = _sides(envelope, rule)
        lines.append(f"Rule {i}: {{{', '.join(left)}}} -> {{{', '.join(right)}}}")
    return "\n".join(lines) + "\n"


def _rules(envelope: Envelope) -> list[tuple[Rule, int | None]]:
    full = (1 << envelope.space.width) - 1
    support: Sequence[int | None] = envelope.support or [None] * len(envelope.readable)
    pairs = zip(envelope.readable.rules, support, strict=True)
    kept = ((r, n) for r, n in pairs if not (r.is_negative and r.antecedent == full))
    return [(Rule(r.antecedent, full) if r.is_negative else r, n) for r, n in kept]


def _sides(envelope: Envelope, rule: Rule) -> tuple[list[str], list[str]]:
    names_of = envelope.vocabulary.names_of
    sides = (names_of(rule.antecedent), names_of(rule.new))
    left, right = ([visible(name) for name in side] for side in sides)
    return left, right
