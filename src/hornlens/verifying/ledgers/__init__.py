"""The ledgers of all kinds of documents, and which of them a document goes by."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from hornlens.verifying.kinds import Kind, kind_of
from hornlens.verifying.ledger import Ledger

_PLACES: Mapping[Kind, tuple[str, str]] = {
    "classifier": ("classifiers", "CLASSIFIER"),
    "exploration": ("explorations", "EXPLORATION"),
    "formula": ("formulas", "FORMULA"),
    "learned formula": ("formulas", "LEARNED"),
    "study": ("studies", "STUDY"),
    "times": ("studies", "TIMES"),
    "bias": ("biases", "BIAS"),
    "comparison": ("comparisons", "COMPARISON"),
    "check": ("checks", "CHECK"),
    "session": ("explorations", "SESSION"),
    "review": ("runs", "REVIEW"),
    "run": ("runs", "RUN"),
    "bias run": ("runs", "BIAS_RUN"),
}
"""By kind, the module that has its ledger, and the ledger's name."""


def ledger_of(content: Mapping[str, Any]) -> Ledger | None:
    """Return the ledger of a document; None if its kind has none. What has no kind is refused."""
    kind = kind_of(content)
    if kind == "extraction":  # what can be checked of it depends on what was kept
        from hornlens.verifying.ledgers.extractions import extraction_ledger

        return extraction_ledger(content)
    if (place := _PLACES.get(kind)) is None:
        return None
    module, name = place
    ledger: Ledger | None = getattr(import_module(f"{__name__}.{module}"), name)
    return ledger
