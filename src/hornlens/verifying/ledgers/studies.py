"""The ledgers of studies, and of their times."""

from __future__ import annotations

from collections.abc import Mapping

from hornlens.verifying.ledger import RECOMPUTED, REWRITTEN, Fate, Ledger, intact
from hornlens.verifying.ledgers.common import HEAD, alone

_STABILITY: Mapping[str, Fate] = {
    "if[]": REWRITTEN,
    "then[]": REWRITTEN,
    "then": REWRITTEN,
    "found": REWRITTEN,
    "entailed": RECOMPUTED,
    "true": RECOMPUTED,
    "published": REWRITTEN,
}
_SHARED: Mapping[str, Fate] = {
    "budget": RECOMPUTED,
    "rules": RECOMPUTED,
    "rules[].**": RECOMPUTED,
}


def _under(prefix: str, fates: Mapping[str, Fate]) -> dict[str, Fate]:
    return {f"{prefix}{pattern}": fate for pattern, fate in fates.items()}


_NAMES = intact("what the study and its models are called")
STUDY = Ledger(
    {
        **HEAD,
        "study.name": _NAMES,
        "study.description": _NAMES,
        "study.models[]": _NAMES,
        "study.probe": RECOMPUTED,
        "study.budgets[]": RECOMPUTED,
        "study.seeds[]": RECOMPUTED,
        "study.stable": RECOMPUTED,
        "study.settings.**": RECOMPUTED,
        "study.policy.**": RECOMPUTED,
        "variables[]": RECOMPUTED,
        "models": RECOMPUTED,
        "models[].model": RECOMPUTED,
        "models[].identity": RECOMPUTED,
        "models[].exact": RECOMPUTED,
        "models[].exact.**": RECOMPUTED,
        "models[].budgets[].budget": RECOMPUTED,
        "models[].budgets": RECOMPUTED,
        "models[].budgets[].runs": RECOMPUTED,
        "models[].budgets[].runs[].precision": REWRITTEN,
        "models[].budgets[].runs[].**": RECOMPUTED,
        "models[].budgets[].rules": REWRITTEN,
        **_under("models[].budgets[].rules[].", _STABILITY),
        "models[].budgets[].mean": RECOMPUTED,
        "models[].budgets[].mean.**": RECOMPUTED,
        "models[].budgets[].published": REWRITTEN,
        **_under("models[].budgets[].published[].", _STABILITY),
        "intersection": RECOMPUTED,
        **_under("intersection[].", _SHARED),
        "published_intersection.**": REWRITTEN,
        "published_intersection": REWRITTEN,
        "common": RECOMPUTED,
        "common.rules[].**": REWRITTEN,
        "common.survival[].**": REWRITTEN,
    }
)
_NO_RUNS = "what the runs found: their files are not there"
STUDY_ALONE = alone(STUDY, _NO_RUNS, {"intersection[].rules[].**": RECOMPUTED})

_STARTED = intact("how long the runs took, and what they asked: only the run.json of each has it")
TIMES = Ledger(
    {
        **HEAD,
        "study": RECOMPUTED,
        "models": RECOMPUTED,
        "models[].model": RECOMPUTED,
        "models[].exact": RECOMPUTED,
        "models[].exact.**": RECOMPUTED,
        "models[].budgets[].budget": RECOMPUTED,
        "models[].budgets[].seconds[]": RECOMPUTED,
        "models[].budgets[].asked_the_model[]": RECOMPUTED,
        "models[].budgets[].published_minutes": intact("what the paper took for a run"),
    }
)
TIMES_ALONE = alone(TIMES, _STARTED.words, {})
