"""What the rules of a run that was ended early have to be: sound, and no more than is claimed."""

from __future__ import annotations

from collections.abc import Callable

from hornlens.verifying.grids import Rule, Wrong
from hornlens.verifying.rules import Envelope, check_by_chaining


def check_interrupted(envelope: Envelope, holds: Callable[[Rule], bool]) -> str:
    """Hold an envelope that may lack rules against its target; return what was found.

    `holds` says of a rule whether nothing that is accepted, or may be, breaks it.
    """
    check_by_chaining(envelope)
    rules, claim = envelope.rules, envelope.certificate
    if claim["rules"] != len(rules):
        raise Wrong(f"certificate: there are {len(rules)} rules, not {claim['rules']}")
    for number, rule in enumerate(rules, 1):
        if not holds(rule):
            raise envelope.wrong(number, "does not hold")
    return f"interrupted: each of {len(rules):,} rules holds"


def follows(rule: Rule, closure: Callable[[int], int | None]) -> bool:
    """Say whether a rule says no more than what all that is accepted has in common."""
    common = closure(rule[0])
    return common is None or (rule[1] is not None and rule[1] & ~common == 0)
