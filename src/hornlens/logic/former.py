"""Names that certificates had when each kind was a class of its own. Calling one warns."""

from __future__ import annotations

import warnings

from hornlens.limits import Reason
from hornlens.logic.certificates import (
    EXACT,
    Certificate,
    bounded,
    cut_off,
    ended_early,
    explored,
    noisy,
    pac,
)


def _warn(name: str, instead: str) -> None:
    warnings.warn(
        f"hornlens.{name} is deprecated since 0.3: there is one class, Certificate; {instead}",
        DeprecationWarning,
        stacklevel=3,
    )


def Exact() -> Certificate:  # noqa: N802
    """Return the certificate of an exact result."""
    _warn("Exact", "use hornlens.certificates.EXACT, or ask `certificate.meets('exact')`")
    return EXACT


def Bounded(  # noqa: N802
    max_conditions: int | None = None,
    rules: int = 0,
    min_support: int | None = None,
    of: str | None = None,
) -> Certificate:
    """Return the certificate of rules that are complete within bounds."""
    _warn("Bounded", "ask `certificate.complete`")
    return bounded(max_conditions, rules, min_support, of or "")


def Interrupted(  # noqa: N802
    reason: Reason,
    rules: int,
    hypotheses: int | None = None,
    cells: int | None = None,
    unasked: int | None = None,
    max_conditions: int | None = None,
) -> Certificate:
    """Return the certificate of a run that was ended early."""
    _warn("Interrupted", "ask `certificate.ended`")
    return ended_early(reason, rules, hypotheses or 0, cells, unasked or 0, max_conditions)


def Pac(  # noqa: N802
    epsilon: float,
    delta: float,
    samples: int,
    measures: str | None = None,
    accepted: int | None = None,
) -> Certificate:
    """Return the certificate of a sampled equivalence query."""
    _warn("Pac", "use hornlens.certificates.pac, or ask `certificate.joint`")
    return pac(epsilon, delta, samples, measures, accepted)


def Budget(equivalence_queries: int, samples: int | None = None) -> Certificate:  # noqa: N802
    """Return the certificate of a run whose equivalence queries were used up."""
    _warn("Budget", "use hornlens.certificates.cut_off, or ask `certificate.ended`")
    return cut_off(equivalence_queries, samples)


def Noisy(  # noqa: N802
    prompts: int,
    undecided: int,
    answers: int,
    alpha: float | None = None,
    most: int | None = None,
    drift: float | None = None,
    reasked: int | None = None,
) -> Certificate:
    """Return the certificate of a model whose answers vary."""
    _warn("Noisy", "ask `certificate.noise`")
    return noisy(prompts, undecided, answers, alpha, most, drift, reasked)


def Explored(answers: int, open: int = 0, sampled: int = 0) -> Certificate:  # noqa: N802
    """Return the certificate of an exploration."""
    _warn("Explored", "ask `certificate.word`")
    return explored(answers, open, sampled)
