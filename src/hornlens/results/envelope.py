"""An envelope as JSON, and back: the part that every envelope.json has, whatever it is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hornlens import __version__
from hornlens.formats.backgrounds import theory_from_json, vocabulary_of
from hornlens.logic.envelope import Certificate, Envelope, NonHorn
from hornlens.logic.named import NamedRule
from hornlens.results.codec import FORMAT


def envelope_as_json(envelope: Envelope) -> dict[str, Any]:
    """Return an envelope as it stands in envelope.json."""
    names = envelope.vocabulary
    non_horn: dict[str, Any] = {
        "count": envelope.non_horn.count,
        "examples": [list(names.names_of(x)) for x in envelope.non_horn.examples],
    }
    if envelope.non_horn.count is None:
        non_horn["at_least"] = envelope.non_horn.at_least
    support: Sequence[int | None] = envelope.support or [None] * len(envelope.readable)
    return {
        "hornlens": __version__,
        "format": FORMAT,
        "variables": list(names.names),
        "background": [NamedRule.of(rule, names).as_json() for rule in envelope.background],
        "rules": [NamedRule.of(rule, names).as_json() for rule in envelope.basis],
        "readable": [
            {**NamedRule.of(rule, names).as_json(), "support": count}
            for rule, count in zip(envelope.readable, support, strict=True)
        ],
        "non_horn": non_horn,
        "certificate": envelope.certificate.as_json(),
        "statistics": dict(envelope.statistics),
    }


def envelope_from_json(content: Mapping[str, Any], path: Path) -> Envelope:
    """Return the envelope of an envelope.json; `path` is for errors."""
    vocabulary = vocabulary_of(content)
    basis, readable, background = (
        theory_from_json(content[key], vocabulary, path)
        for key in ("rules", "readable", "background")
    )
    found, certificate = content["non_horn"], dict(content["certificate"])
    examples = tuple(vocabulary.mask(names) for names in found["examples"])
    support = [line.get("support") for line in content["readable"]]
    return Envelope(
        vocabulary,
        basis,
        background,
        readable,
        Certificate(certificate.pop("kind"), certificate),
        NonHorn(found["count"], examples, found.get("at_least", found["count"] or 0)),
        None if None in support else support,
        content["statistics"],
    )
