"""Names that certificates had when each kind was a class of its own. Calling one warns."""

from __future__ import annotations

from hornlens.deprecation import deprecated
from hornlens.limits import Reason
from hornlens.logic.certificates import (
    EXACT,
    Certificate,
    bounded,
    cut_off,
    despite_noise,
    ended_early,
    explored,
    pac,
)


def Exact() -> Certificate:  # noqa: N802
    """Return the certificate of an exact result."""
    deprecated(
        "hornlens.Exact",
        "hornlens.certificates.EXACT, or certificate.meets('exact')",
        since="0.3",
        removal="0.5",
    )
    return EXACT


def Bounded(  # noqa: N802
    max_conditions: int | None = None,
    rules: int = 0,
    min_support: int | None = None,
    of: str | None = None,
) -> Certificate:
    """Return the certificate of rules that are complete within bounds."""
    deprecated("hornlens.Bounded", "certificate.complete", since="0.3", removal="0.5")
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
    deprecated("hornlens.Interrupted", "certificate.ended", since="0.3", removal="0.5")
    return ended_early(reason, rules, hypotheses or 0, cells, unasked or 0, max_conditions)


def Pac(  # noqa: N802
    epsilon: float,
    delta: float,
    samples: int,
    measures: str | None = None,
    accepted: int | None = None,
) -> Certificate:
    """Return the certificate of a sampled equivalence query."""
    deprecated(
        "hornlens.Pac",
        "hornlens.certificates.pac, or certificate.joint",
        since="0.3",
        removal="0.5",
    )
    return pac(epsilon, delta, samples, measures, accepted)


def Budget(equivalence_queries: int, samples: int | None = None) -> Certificate:  # noqa: N802
    """Return the certificate of a run whose equivalence queries were used up."""
    deprecated(
        "hornlens.Budget",
        "hornlens.certificates.cut_off, or certificate.ended",
        since="0.3",
        removal="0.5",
    )
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
    deprecated("hornlens.Noisy", "certificate.noise", since="0.3", removal="0.5")
    return despite_noise(prompts, undecided, answers, alpha, most, drift, reasked)


def Explored(answers: int, open: int = 0, sampled: int = 0) -> Certificate:  # noqa: N802
    """Return the certificate of an exploration."""
    deprecated("hornlens.Explored", "certificate.word", since="0.3", removal="0.5")
    return explored(answers, open, sampled)
