"""What kind of document a file holds: by the fields that no other kind has together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from hornlens.errors import InputError

Content: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal[
    "classifier",
    "extraction",
    "summary",
    "exploration",
    "formula",
    "learned formula",
    "old table",
    "study",
    "times",
    "bias",
    "comparison",
    "check",
    "session",
    "review",
    "run",
    "bias run",
]

RESULTS: tuple[Kind, ...] = ("classifier", "extraction", "exploration", "formula", "old table")
"""The kinds that hold rules of their own; all others are documents about results or runs."""


def _has(*keys: str) -> Callable[[Content], bool]:
    return lambda content: all(key in content for key in keys)


def _is_explored(content: Content) -> bool:
    certificate = content["certificate"]
    return isinstance(certificate, Mapping) and (
        "word" in certificate or "answers" in certificate  # as format 1 counted them
    )


_FEATURES: tuple[tuple[Kind, Callable[[Content], bool]], ...] = (
    ("classifier", lambda c: "classifier" in c or c.get("kind") == "classifier"),
    ("study", lambda c: _has("study", "models", "variables", "intersection")(c)),
    ("times", lambda c: _has("study", "models")(c) and isinstance(c["study"], str)),
    ("bias", _has("dataset", "templates", "words", "models", "statistics")),
    ("comparison", _has("results", "comparisons")),
    ("check", _has("requirements", "results")),
    ("review", _has("agreement", "replies", "recorded")),
    ("run", _has("started", "seconds", "probe", "certificate", "settings")),
    ("bias run", _has("started", "seconds", "models")),
    ("old table", lambda c: _has("envelope", "rows")(c) and "rules" not in c),
    ("extraction", _has("rules", "certificate", "answers")),
    ("summary", _has("rules", "certificate", "probe")),
    ("exploration", lambda c: _has("rules", "certificate")(c) and _is_explored(c)),
    ("formula", _has("rules", "certificate", "variables")),
    ("learned formula", _has("cnf", "certificate", "variables")),
    ("session", lambda c: _has("variables", "answers")(c) and "certificate" not in c),
)


def kind_of(content: Any) -> Kind:
    """Return what kind of document this is; what fits none is an InputError.

    >>> kind_of({"results": [], "comparisons": []})
    'comparison'
    """
    if isinstance(content, Mapping):
        for kind, holds in _FEATURES:
            if holds(content):
                return kind
    raise InputError("is no document of hornlens that can be verified")
