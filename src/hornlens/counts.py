"""Numbers of things, as people write them."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Return "1 rule", "2,000 rules", "0 queries"."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("sis"):
        return f"{count:,} {noun[:-2]}es"
    return f"{count:,} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"
