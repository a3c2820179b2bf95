"""Background files: Horn rules that are taken for granted, from DIMACS or from an envelope.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.jsonfiles import read_json
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary


def read_background(path: Path, vocabulary: Vocabulary) -> Theory:
    """Read a background; its variables are matched with the vocabulary's by name."""
    if path.suffix.lower() == ".json":
        return _from_json(path, vocabulary)
    formula = read_dimacs(path)
    if not formula.is_horn:
        broad = next(clause for clause in formula.clauses if not clause.is_horn)
        raise InputError(
            "a background has to be Horn; this clause has two positive literals: "
            + broad.show(formula.vocabulary),
            path,
        )
    rules = []
    for rule in formula.theory():
        names = [formula.vocabulary.names_of(rule.antecedent)]
        if not rule.is_negative:
            names.append(formula.vocabulary.names_of(rule.consequent))
        masks = [_mask(side, vocabulary, path) for side in names]
        rules.append(Rule(masks[0], BOTTOM if rule.is_negative else masks[1]))
    return Theory(len(vocabulary), tuple(rules))


def _from_json(path: Path, vocabulary: Vocabulary) -> Theory:
    """Read the rules and the background of an envelope.json."""
    content = read_json(path)
    listed: list[Any] = []
    for key in ("background", "rules"):
        part = content.get(key, []) if isinstance(content, dict) else None
        if not isinstance(part, list):
            raise InputError('expected {"rules": [{"if": […], "then": […]}, …]}', path)
        listed += part
    return theory_from_json(listed, vocabulary, path)


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
        head = BOTTOM if consequent is None else _mask(consequent, vocabulary, path)
        rules.append(Rule(_mask(antecedent, vocabulary, path), head))
    return Theory(len(vocabulary), tuple(rules))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _mask(names: Any, vocabulary: Vocabulary, path: Path) -> int:
    for name in names:
        if name not in vocabulary:
            raise InputError(f"the target has no variable {name!r}", path)
    return vocabulary.mask(names)
