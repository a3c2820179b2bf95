"""Targets that can be looked into: their rules are worked out, and nobody is asked."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hornlens.extraction.conclude import assuming
from hornlens.limits import Limits
from hornlens.logic.decisions import Policy
from hornlens.logic.envelope import Envelope
from hornlens.results.documents.findings import Findings, Record
from hornlens.results.documents.settings import Settings
from hornlens.targets.protocol import LooksInside, RuleEngine, Target

if TYPE_CHECKING:
    from hornlens.exact.engine import Progress
    from hornlens.extraction.extract import Watch

LEARNED = ("pac", "budget", "sift")
"""With these kinds of equivalence queries a target is asked, whatever it could tell by itself."""


def engine_of(target: Target, settings: Settings) -> RuleEngine | None:
    """Return what works out the rules of a target; None if it has to be asked.

    One whose engine asks its own questions may sift by itself: it says that it `sifts`.
    """
    if not isinstance(target, LooksInside):
        return None
    if settings.equivalence == "sift" and getattr(target, "sifts", False):
        return target.engine(settings)
    if settings.equivalence in LEARNED:
        return None
    return target.engine(settings)


def work_out(
    target: Target,
    engine: RuleEngine,
    settings: Settings,
    policy: Policy | None = None,
    watch: Watch | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Return what an engine finds, as a result in which nobody was asked.

    `watch` sees the rules when they are there, and the end. `progress` is called during the work.
    """
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    envelope = engine(limits, progress)
    if target.space.assumed and envelope.certificate.scope.of == "cells":
        envelope = assuming(envelope)
    if watch is not None:
        _show(envelope, watch)
    findings = Findings.of_envelope(envelope, target.name, target.identity(), policy, settings)
    record = Record(started, time.perf_counter() - clock)
    return replace(findings, record=record, context=getattr(target, "tabled", None))


def _show(envelope: Envelope, watch: Watch) -> None:
    from hornlens.learning.events import Ended, RuleAdded

    for position, rule in enumerate(envelope.basis):
        watch(RuleAdded(position, rule))
    watch(Ended(envelope.certificate))
