"""The ledger of bias scores."""

from __future__ import annotations

from hornlens.verifying.ledger import RECOMPUTED, Ledger, intact
from hornlens.verifying.ledgers.common import HEAD

_SCORES = intact("the scores of each occupation: those of its sentences are not in the file")
_ASKED = intact("what was asked of which models: templates, words, policy, names")
BIAS = Ledger(
    {
        **HEAD,
        "dataset.people": RECOMPUTED,
        "dataset.**": intact("where the people come from"),
        "templates[]": _ASKED,
        "words": _ASKED,
        "words.*": _ASKED,
        "policy.**": _ASKED,
        "models": RECOMPUTED,
        "models[].name": _ASKED,
        "models[].identity": _ASKED,
        "models[].occupations[].occupation": intact("which occupation a line is about"),
        "models[].occupations[].people": RECOMPUTED,
        "models[].occupations[].sentences": _SCORES,
        "models[].occupations[].ppbs": _SCORES,
        "models[].occupations[].ppbs.**": _SCORES,
        "models[].occupations[].normalised.**": _SCORES,
        "models[].occupations[].confusion.**": RECOMPUTED,
        "models[].occupations[].accuracy": RECOMPUTED,
        "models[].overall.sentences": _SCORES,
        "models[].overall.ppbs": RECOMPUTED,
        "models[].overall.**": RECOMPUTED,
        "statistics.occupations": RECOMPUTED,
        "statistics.distinct_prompts": intact("how many prompts were asked"),
    }
)
