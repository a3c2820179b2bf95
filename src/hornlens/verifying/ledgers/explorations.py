"""The ledgers of explorations: of their results, and of the sessions in which answers are kept."""

from __future__ import annotations

from hornlens.verifying.ledger import RECOMPUTED, REWRITTEN, Ledger, intact
from hornlens.verifying.ledgers.common import HEAD

EXPLORATION = Ledger(
    {
        **HEAD,
        "variables[]": RECOMPUTED,
        "background": intact("the background, which was given"),
        "background[].**": intact("the background, which was given"),
        "rules": RECOMPUTED,
        "rules[].**": RECOMPUTED,
        "readable": RECOMPUTED,
        "readable[].**": RECOMPUTED,
        "open": RECOMPUTED,
        "open[].**": RECOMPUTED,
        "non_horn.**": RECOMPUTED,
        "certificate.**": RECOMPUTED,
        "claim": REWRITTEN,
        "statistics.**": RECOMPUTED,
        "space": RECOMPUTED,
        "space.**": RECOMPUTED,
        "model.**": intact("what the exploration is called"),
    }
)
_SAID = intact("what was asked and answered, and by whom")
SESSION = Ledger(
    {
        **HEAD,
        "variables[]": _SAID,
        "answers": _SAID,
        "answers[].**": _SAID,
        "rows": intact("the rows that were known"),
        "rows[].**": intact("the rows that were known"),
        "undone": intact("the answers that were taken back"),
        "undone[].**": intact("the answers that were taken back"),
    }
)
