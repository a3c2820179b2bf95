"""The ledgers of checks: with the results and requirements that they name, and without."""

from __future__ import annotations

from hornlens.verifying.ledger import RECOMPUTED, REWRITTEN, Ledger, intact
from hornlens.verifying.ledgers.common import HEAD, alone

CHECK = Ledger(
    {
        **HEAD,
        "requirements": intact("where the requirements lie; their digest says which they are"),
        "requirements_digest": RECOMPUTED,
        "passed": RECOMPUTED,
        "results": intact("that these are all results that were checked"),
        "results[].name": intact("where the checked results lie; their digests say which they are"),
        "results[].digest": RECOMPUTED,
        "results[].passed": RECOMPUTED,
        "results[].verified": intact("how far each result was verified then: verify it again"),
        "results[].**": REWRITTEN,
    }
)
_GONE = "the outcomes: the results or requirements that they are about are not there"
CHECK_ALONE = alone(CHECK, _GONE, {"passed": RECOMPUTED, "results[].passed": RECOMPUTED})
