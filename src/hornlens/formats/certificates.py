"""Certificates read back from JSON: of this format by their properties, of older ones by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from hornlens.errors import InputError
from hornlens.logic.certificates import (
    EXACT,
    PARTS,
    Certificate,
    bounded,
    cut_off,
    ended_early,
    explored,
)
from hornlens.logic.grounds import Complete, Joint, Noise, Trial
from hornlens.logic.scopes import Agreement, Scope


def certificate_from_json(content: Mapping[str, Any]) -> Certificate:
    """Return the certificate that a result's JSON holds, of this format or an older one.

    A kind that is not known is no harm: what is claimed follows from the properties.
    """
    kind = content.get("kind")
    try:
        if "weakest" in content:
            return _read(content)
        if kind not in OLD:
            names = ", ".join(OLD)
            raise InputError(f"certificate: unknown kind {kind!r}; this version knows {names}")
        return OLD[kind](content)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"certificate of kind {kind}: {error}") from error


def _read(content: Mapping[str, Any]) -> Certificate:
    answered = content.get("answered")
    parts = {name: _made(shape, content[name]) for name, shape in PARTS.items() if name in content}
    return Certificate(
        content["weakest"],
        _made(Complete, content["complete"]),
        Scope.from_json(content["scope"]),
        content["rules"],
        content.get("open", 0),
        None if answered is None else (answered[0], answered[1]),
        cells=content.get("cells"),
        unasked=content.get("unasked", 0),
        **parts,
    )


def _made(shape: type[Any], content: Mapping[str, Any]) -> Any:
    """Return a value of some fields; keys that are not known are passed over."""
    names = {each.name for each in fields(shape)}
    return shape(**{name: content[name] for name in content if name in names})


def _old_interrupted(content: Mapping[str, Any]) -> Certificate:
    return ended_early(
        content["reason"],
        content["rules"],
        content.get("hypotheses") or 0,
        content.get("cells"),
        content.get("unasked") or 0,
        content.get("max_conditions"),
    )


OLD: dict[str, Callable[[Mapping[str, Any]], Certificate]] = {
    "exact": lambda content: EXACT,
    "bounded": lambda content: bounded(
        content.get("max_conditions"),
        content.get("rules", 0),
        content.get("min_support"),
        content.get("of") or "",
    ),
    "interrupted": _old_interrupted,
    "noisy": lambda content: Certificate(noise=_made(Noise, content)),
    "pac": lambda content: Certificate("open", joint=_made(Joint, content)),
    "budget_exhausted": lambda content: cut_off(
        content["equivalence_queries"], content.get("samples")
    ),
    "explored": lambda content: explored(
        content["answers"], content.get("open", 0), content.get("sampled", 0)
    ),
}
"""How certificates of envelope.json, format 1, are read: by their kinds."""


def claim_from_json(
    content: Mapping[str, Any], exact_bins: bool, how: str, agreement: Agreement, assumed: bool
) -> Certificate:
    """Return the certificate of an explanation.json, also of one that 0.2 wrote.

    What was measured decides of what it speaks: an old claim of every input is read as one of the
    binned model where the two differ.
    """
    if "weakest" in content:
        return certificate_from_json(content)
    try:
        whole = exact_bins and agreement.whole
        scope = Scope("every input" if whole else "surrogate", "", how, assumed, agreement)
        match content["kind"]:
            case "exact":
                cells = content["cells"]
                return Certificate(complete=Complete(decides=True), scope=scope, cells=cells)
            case "bounded":
                complete = Complete(
                    max_conditions=content["max_conditions"], unsettled=content["unsettled"]
                )
                return Certificate(complete=complete, scope=scope, rules=content["rules"])
            case "pac":
                return Certificate("tested", scope=scope, trial=_made(Trial, content))
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(f"certificate of kind {content.get('kind')}: {error}") from error
    raise InputError(f"certificate of an unknown kind: {content['kind']!r}")
