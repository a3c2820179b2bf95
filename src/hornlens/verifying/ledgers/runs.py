"""The ledgers of run.json and review.json, beside the result that they are about, and alone."""

from __future__ import annotations

from hornlens.verifying.ledger import RECOMPUTED, Ledger, intact
from hornlens.verifying.ledgers.common import HEAD, alone

_WENT = intact("when and how the run was made, and how many prompts it sent")
RUN = Ledger(
    {
        **HEAD,
        "python": _WENT,
        "started": _WENT,
        "seconds": _WENT,
        "asked_the_model": _WENT,
        "answered_from_cache": _WENT,
        "key": _WENT,
        "probe": RECOMPUTED,
        "model.**": RECOMPUTED,
        "settings.**": RECOMPUTED,
        "policy.**": RECOMPUTED,
        "certificate.**": RECOMPUTED,
    }
)
RUN_ALONE = alone(RUN, "what was asked of whom, and what may be claimed of it", {})
BIAS_RUN = Ledger(
    {
        **HEAD,
        "python": _WENT,
        "started": _WENT,
        "seconds": _WENT,
        "models": RECOMPUTED,
        "models[].name": RECOMPUTED,
        "models[].asked_the_model": _WENT,
        "models[].answered_from_cache": _WENT,
    }
)
BIAS_RUN_ALONE = alone(BIAS_RUN, "which models were asked", {})
_VERDICTS = intact("what the person said of each reply, and that these replies were drawn")
REVIEW = Ledger(
    {
        **HEAD,
        "seed": _VERDICTS,
        "recorded": RECOMPUTED,
        "agreement.**": RECOMPUTED,
        "replies": _VERDICTS,
        "replies[].agrees": _VERDICTS,
        "replies[].label": intact("how each reply was read"),
        "replies[].reading": intact("how each reply was read"),
        "replies[].**": RECOMPUTED,
    }
)
REVIEW_ALONE = alone(REVIEW, "that the replies are those of a result", {"agreement.**": RECOMPUTED})
