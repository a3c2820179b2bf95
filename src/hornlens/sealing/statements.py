"""What is signed: an in-toto statement that names every file of a result, and what it claims.

The predicate says in a machine-readable way what the document says: its digest, its certificate,
its claims as metric, comparator, threshold and sample size, and the Merkle root of its answers. All
of that follows from the document, so whoever checks a seal works it out again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hornlens.formats.digests import digest_of
from hornlens.formats.jsonfiles import encoded
from hornlens.sealing.dsse import BadSeal
from hornlens.sealing.merkle import leaf_of, root_of

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:hornlens:result:v1"
"""What kind of predicate ours is; the number is raised when a reader would misread a newer one."""
BROKEN = "cases that break a listed rule"


@dataclass(frozen=True)
class SealStatement:
    """A statement: the SHA-256 of each file by its name, what is claimed, and about the sealing."""

    files: Mapping[str, str]
    facts: Mapping[str, Any]
    """What follows from the document."""
    about: Mapping[str, Any]
    """When it was sealed, with which version, and what had been verified before."""

    def payload(self) -> bytes:
        """Return the bytes that are signed."""
        names = sorted(self.files)
        content = {
            "_type": STATEMENT,
            "subject": [{"name": name, "digest": {"sha256": self.files[name]}} for name in names],
            "predicateType": PREDICATE,
            "predicate": {**self.facts, **self.about},
        }
        return encoded(content, compact=True).encode("utf-8", "backslashreplace")

    @classmethod
    def parse(cls, payload: bytes) -> SealStatement:
        """Return the statement of a payload; BadSeal says why it is none of ours."""
        try:
            content = json.loads(payload)
        except (ValueError, RecursionError):
            raise BadSeal("its payload is not JSON") from None
        if not isinstance(content, dict) or content.get("_type") != STATEMENT:
            raise BadSeal("its payload is no in-toto statement (v1)")
        if content.get("predicateType") != PREDICATE:
            raise BadSeal(f"its predicate is {content.get('predicateType')!r}, not {PREDICATE}")
        try:
            subject = [(each["name"], each["digest"]["sha256"]) for each in content["subject"]]
            predicate = dict(content["predicate"])
            about = {key: predicate.pop(key) for key in ABOUT if key in predicate}
            files = dict(subject)
            if len(files) < len(subject) or not isinstance(about["sealed"], str):
                raise ValueError("a file stands there twice, or there is no time")
        except (KeyError, TypeError, ValueError, AttributeError):
            raise BadSeal("its payload lacks what a statement on a result has") from None
        return cls(files, predicate, about)


ABOUT = ("sealed", "sealed_by", "verified", "against")
"""What a predicate says of the sealing, and not of the document."""


def facts_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a document says, in a machine-readable way."""
    answers = content.get("answers")
    return {
        "digest": digest_of(content),
        "hornlens": content.get("hornlens"),
        "format": content.get("format"),
        "model": (content.get("model") or {}).get("name"),
        "probe": (content.get("probe") or {}).get("name"),
        "certificate": content.get("certificate"),
        "rules": len(content.get("rules", ())),
        "claims": list(claims_of(content)),
        "answers": None if not isinstance(answers, list) else _tree(answers),
    }


def _tree(answers: list[Any]) -> dict[str, Any]:
    root = root_of([leaf_of(answer) for answer in answers])
    return {"count": len(answers), "merkle_root": {"sha256": root.hex()}}


def claims_of(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a document claims: a metric, how it compares with a threshold, and of how many.

    >>> certificate = {"weakest": "proved", "scope": {"of": "cells"}, "answered": [3, 4]}
    >>> answers = [{"winner": "male"}] * 3 + [{"winner": None}]
    >>> for claim in claims_of({"certificate": certificate, "answers": answers}):
    ...     print(*claim.values())
    cases that break a listed rule == 0 cells 3
    questions that were answered == 3 4
    """
    certificate = content.get("certificate") or {}
    if (proved := _proved(content, certificate)) is not None:
        yield proved
    yield from _tested(content, certificate)
    if (answered := certificate.get("answered")) is not None:
        yield _claim("questions that were answered", "==", answered[0], sample_size=answered[1])
    if (agreement := certificate.get("scope", {}).get("agreement")) is not None:
        yield _claim(
            "share of uniform inputs on which the binned model agrees with the model",
            "==",
            agreement["uniform"],
            sample_size=agreement.get("drawn"),
        )


def _proved(content: Mapping[str, Any], certificate: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the claim of rules that are proved: nothing breaks them."""
    if certificate.get("weakest") != "proved" or certificate.get("answered", [1])[0] == 0:
        return None
    answers, cells = content.get("answers"), certificate.get("cells")
    size = None if cells is None else cells - certificate.get("unasked", 0)
    if answers is not None:
        size = sum(answer["winner"] is not None for answer in answers)
    alpha = certificate.get("noise", {}).get("alpha")
    return _claim(
        BROKEN, "==", 0, over=certificate["scope"]["of"], sample_size=size, confidence=_sure(alpha)
    )


def _tested(content: Mapping[str, Any], certificate: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the claims that rest on random cases."""
    joint = certificate.get("joint")
    chance = certificate.get("sift") or certificate.get("trial") or joint or {}
    warrants = [rule.get("warrant", {}) for rule in content.get("rules", ())]
    bounded = [warrant for warrant in warrants if "bound" in warrant]
    if bounded:
        yield _claim(
            f"share of {BROKEN}",
            "<=",
            max(warrant["bound"] for warrant in bounded),
            rules=len(bounded),
            sample_size=min(warrant.get("tested", 0) for warrant in bounded) or None,
            confidence=_sure(chance.get("delta")),
        )
    if joint is not None:
        err = "on which the rules err" if joint.get("whole", True) else "that break a listed rule"
        yield _claim(
            f"share of random cases {err}",
            "<=",
            joint["epsilon"],
            sample_size=joint["samples"],
            confidence=_sure(joint["delta"]),
        )


def _claim(metric: str, comparator: str, threshold: float, **more: Any) -> dict[str, Any]:
    stated = {key: value for key, value in more.items() if value is not None}
    return {"metric": metric, "comparator": comparator, "threshold": threshold, **stated}


def _sure(delta: float | None) -> float | None:
    return None if delta is None else round(1 - delta, 12)
