"""Background files: Horn rules that are taken for granted, from DIMACS or from an envelope.json."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.jsonfiles import read_json
from hornlens.formats.rulelists import mask_of_names, theory_from_json, written_out
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
        masks = [mask_of_names(side, vocabulary, path) for side in names]
        rules.append(Rule(masks[0], BOTTOM if rule.is_negative else masks[1]))
    return Theory(len(vocabulary), tuple(rules))


def _from_json(path: Path, vocabulary: Vocabulary) -> Theory:
    """Read the rules and the background of an envelope.json."""
    content = read_json(path)
    listed: list[Any] = []
    for key in ("background", "rules"):
        part = content.get(key, []) if isinstance(content, dict) else None
        if part is None and isinstance(content, dict):  # no basis: rules of a classifier
            part = content.get("readable")
        if not isinstance(part, list):
            raise InputError('expected {"rules": [{"if": […], "then": […]}, …]}', path)
        listed += part
    rules = written_out(theory_from_json(listed, vocabulary, path), path)
    return Theory(len(vocabulary), rules)


def vocabulary_of(names: Iterable[str]) -> Vocabulary:
    """Return names as what a background file is read over."""
    return Vocabulary(tuple(names))
