"""The ledgers of comparisons: with the results that they name, and without."""

from __future__ import annotations

from hornlens.verifying.ledger import RECOMPUTED, REWRITTEN, Ledger, intact
from hornlens.verifying.ledgers.common import HEAD, alone

_PATH = intact("where the compared results lie; their digests say which they are")
COMPARISON = Ledger(
    {
        **HEAD,
        "results": REWRITTEN,
        "results[].path": _PATH,
        "results[].digest": RECOMPUTED,
        "results[].name": intact("what the compared results are called"),
        "results[].**": REWRITTEN,
        "comparisons": REWRITTEN,
        "comparisons[].**": REWRITTEN,
        "common": REWRITTEN,
        "common[].**": REWRITTEN,
        "differences": REWRITTEN,
        "differences[].**": REWRITTEN,
        "rates": REWRITTEN,
        "rates[].**": REWRITTEN,
    }
)
_GONE = "the comparison itself: the results that it names are not there"
COMPARISON_ALONE = alone(
    COMPARISON,
    _GONE,
    {
        "comparisons[].left": RECOMPUTED,
        "comparisons[].right": RECOMPUTED,
    },
)
