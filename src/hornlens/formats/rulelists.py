"""Rules as JSON lists them: {"if": [names], "then": [names] or null}."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary


def theory_from_json(listed: list[Any], vocabulary: Vocabulary, path: Path) -> Theory:
    """Return the theory of rules as envelope.json lists them; a bad one is an InputError."""
    rules = []
    for number, item in enumerate(listed, start=1):
        sides = (item.get("if"), item.get("then", "")) if isinstance(item, dict) else ("", "")
        antecedent, consequent = sides
        if not _are_names(antecedent) or not (consequent is None or _are_names(consequent)):
            raise InputError(
                f'rule {number} is not {{"if": [names], "then": [names] or null}}', path
            )
        head = BOTTOM if consequent is None else mask_of_names(consequent, vocabulary, path)
        rules.append(Rule(mask_of_names(antecedent, vocabulary, path), head))
    return Theory(len(vocabulary), tuple(rules))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def mask_of_names(names: Any, vocabulary: Vocabulary, path: Path) -> int:
    """Return names as a mask; one that the vocabulary lacks is an InputError."""
    for name in names:
        if name not in vocabulary:
            raise InputError(f"the target has no variable {name!r}", path)
    return vocabulary.mask(names)
