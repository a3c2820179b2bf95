"""run.json: how a run went, and what may differ in the next one."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hornlens.results.documents.codec import Codec
from hornlens.results.documents.findings import Findings, Record


@dataclass(frozen=True)
class RunRecord:
    """What run.json says. `key`, in a study, is all that decides the run's result."""

    python: str
    started: str
    seconds: float
    asked_the_model: int
    answered_from_cache: int
    probe: str
    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    policy: Mapping[str, Any]
    certificate: Mapping[str, Any]
    key: str = ""

    def __post_init__(self) -> None:
        """Refuse a time that is none."""
        if not 0 <= self.seconds < float("inf"):
            raise ValueError(f"took {self.seconds} seconds")

    @property
    def record(self) -> Record:
        """What an extraction knows of it."""
        return Record(self.started, self.seconds, self.asked_the_model, self.answered_from_cache)


RUN = Codec(RunRecord, "run.json")


def run_record(extraction: Findings, key: str = "") -> RunRecord:
    """Return how an extraction went."""
    record = extraction.record
    return RunRecord(
        platform.python_version(),
        record.started,
        round(record.seconds, 3),
        record.asked,
        record.reused,
        extraction.question.name,
        {"name": extraction.name, "identity": extraction.identity_text},
        asdict(extraction.settings),
        asdict(extraction.policy),
        extraction.envelope.certificate.as_json(),
        key,
    )
