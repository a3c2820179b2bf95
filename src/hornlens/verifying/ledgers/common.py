"""What the ledgers of several kinds of documents have in common."""

from __future__ import annotations

from collections.abc import Mapping

from hornlens.verifying.ledger import REWRITTEN, Fate, Ledger, harmless, intact

VERSION = intact("which version of hornlens wrote it")
HEAD: Mapping[str, Fate] = {
    "hornlens": VERSION,
    "format": harmless("a reader refuses a format that it does not know; the fields are the same"),
    "digest": harmless("it is worked out again"),
}
"""The fields that every document begins or ends with."""


def alone(ledger: Ledger, words: str, but: Mapping[str, Fate]) -> Ledger:
    """Return a ledger for a document whose sources are not there: only `but` is checked then."""
    fates = {
        pattern: fate if fate.kind in ("intact", "harmless") else intact(words)
        for pattern, fate in ledger.fates.items()
    }
    return Ledger({**fates, **but})


def not_rewritten(ledger: Ledger, words: str) -> Ledger:
    """Return a ledger for a document that was not written again: what that covers is unchecked."""
    return Ledger(
        {
            pattern: intact(words) if fate == REWRITTEN else fate
            for pattern, fate in ledger.fates.items()
        }
    )
