"""Rules as JSON lists them: {"if": [names], "then": [names] or null}; of long groups, a line each.

"At most one of these" is n²/2 rules. Where that is many, it stands as {"at_most_one": [names]}.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.lookalikes import alike
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary

MOST_PAIRS = 5_000
"""Up to so many rules a ∧ b → ⊥ are written one by one."""


MOST_ASSUMED = 100_000
"""So many rules at most are taken for granted beyond those of a space's own attributes."""


def theory_as_json(theory: Theory, vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Return a theory as envelope.json lists it: linear in its size."""
    if len(theory) - len(theory.rules) <= MOST_PAIRS:
        return [NamedRule.of(rule, vocabulary).as_json() for rule in theory]
    return [
        *(NamedRule.of(rule, vocabulary).as_json() for rule in theory.rules),
        *({"at_most_one": list(vocabulary.names_of(group))} for group in theory.exclusive),
    ]


def theory_from_json(listed: list[Any], vocabulary: Vocabulary, path: Path) -> Theory:
    """Return the theory of rules as envelope.json lists them; a bad one is an InputError."""
    rules, exclusive = [], []
    for number, item in enumerate(listed, start=1):
        if isinstance(item, dict) and _are_names(item.get("at_most_one")):
            exclusive.append(mask_of_names(item["at_most_one"], vocabulary, path))
            continue
        sides = (item.get("if"), item.get("then", "")) if isinstance(item, dict) else ("", "")
        antecedent, consequent = sides
        if not _are_names(antecedent) or not (consequent is None or _are_names(consequent)):
            raise InputError(
                f'rule {number} is not {{"if": [names], "then": [names] or null}}', path
            )
        head = BOTTOM if consequent is None else mask_of_names(consequent, vocabulary, path)
        rules.append(Rule(mask_of_names(antecedent, vocabulary, path), head))
    return Theory(len(vocabulary), tuple(rules), tuple(exclusive))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def mask_of_names(names: Any, vocabulary: Vocabulary, path: Path) -> int:
    """Return names as a mask; one that the vocabulary lacks is an InputError."""
    for name in names:
        if name not in vocabulary:
            raise InputError(
                f"the target has no variable {name!r}{alike(name, vocabulary.names)}", path
            )
    return vocabulary.mask(names)


def written_out(theory: Theory, path: Path) -> tuple[Rule, ...]:
    """Return all rules of a theory, its groups' as well; too many of them are an InputError."""
    if len(theory) > MOST_ASSUMED:
        raise InputError(f"takes {len(theory):,} rules for granted: {MOST_ASSUMED:,} at most", path)
    return tuple(theory)
